//! `sayso uninstall`: takes Sayso out of an agent's way.

use super::install::{Change, failure, say};
use crate::failure::Outcome;
use sayso_agents::Agent;
use sayso_agents::install::{plan_uninstall, plan_uninstall_mcp};
use std::process::ExitCode;

/// Restore an agent's settings exactly as they were before `sayso install`.
///
/// Other changes made since then stay; only Sayso's entries are removed. On a terminal, it asks before writing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  sayso uninstall claude-code")]
pub(crate) struct Uninstall {
    /// The agent: claude-code, codex, gemini, copilot, opencode, cursor or openclaw; or mcp
    #[arg(value_parser = crate::completing::Completes::agents(), hide_possible_values = true)]
    agent: String,
    #[command(flatten)]
    change: Change,
}

/// Runs it.
pub(crate) fn run(uninstall: &Uninstall) -> Outcome {
    let plan = if uninstall.agent == "mcp" {
        plan_uninstall_mcp(&uninstall.change.setting(None)?)
    } else {
        let agent: Agent = uninstall.agent.parse().map_err(failure)?;
        plan_uninstall(agent, &uninstall.change.setting(Some(agent))?)
    };
    let plan = plan.map_err(failure)?;
    if !plan.changes() {
        return say(&format!("{} is not guarded; nothing to remove.\n", uninstall.agent));
    }
    if !uninstall.change.made(&plan, "uninstall", &uninstall.agent)? {
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("\n{} is no longer guarded.\n", uninstall.agent))
}
