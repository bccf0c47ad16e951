//! `sayso hook`: what an agent runs before each of its tool calls.

use crate::choice::PolicyChoice;
use crate::failure::{Failure, Outcome};
use crate::input::call::shells;
use sayso_agents::{Agent, HookSetting, hook_line, hook_process};
use sayso_gate::{Home, Places};
use sayso_policy::Stated;
use sayso_policy::shell::dialect::Shells;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Answer one hook call from an agent: a JSON object on standard input, the answer in that agent's format.
///
/// Agents run this; `sayso install AGENT` sets it up. If anything goes wrong, the call does not run.
#[derive(Debug, clap::Args)]
pub(crate) struct Hook {
    /// The agent: claude-code, codex, gemini, copilot, opencode, cursor or openclaw
    #[arg(value_parser = crate::completing::Completes::agents(), hide_possible_values = true)]
    agent: String,
    /// Home folder whose policy and record to use [default: $HOME]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Seconds to wait for an approver, if one is connected; the agent's own timeout must be at least as long
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u64>,
    /// The shells that run the agent's commands, separated by commas [default: based on your login shell]
    #[arg(long, value_name = "SHELL", value_parser = shells)]
    shell: Option<Shells>,
    /// Who asks, as tool layers and rules name it: agent:NAME,team:TEAM/MEMBER,tenant:NAME
    #[arg(long = "as", value_name = "WHO")]
    stated: Option<Stated>,
    #[command(flatten)]
    policy: PolicyChoice,
}

/// Runs it.
pub(crate) fn run(hook: &Hook) -> Outcome {
    let agent: Agent =
        hook.agent.parse().map_err(|error: sayso_agents::Error| Failure::wrong(format!("error: {error}")))?;
    Ok(hook_process(agent, || setting(agent, hook)))
}

fn setting(agent: Agent, hook: &Hook) -> Result<HookSetting, String> {
    let home = hook.home.as_deref().map_or(Home::Environment, Home::At);
    let places = Places::find(home).map_err(|error| error.to_string())?;
    let given = hook.policy.texts().map_err(|failure| failure.to_string())?;
    let mut setting = HookSetting::new(agent, places, (!given.is_empty()).then_some(given));
    setting.shells = hook.shell;
    setting.stated = hook.stated.clone().unwrap_or_default();
    setting.wait = hook.wait.map(Duration::from_secs);
    Ok(setting)
}

/// An agent waits for this at every call: what `install` registers is read without building the whole command line
/// first. Anything else goes the long way, which explains itself.
pub(crate) fn fast_path() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == "hook").then(|| hook_line(arguments))?
}
