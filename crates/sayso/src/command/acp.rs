//! `sayso acp`: in the pipe between an editor and its agent.

use crate::choice::PolicyChoice;
use crate::cli::Cli;
use crate::command::doctor::hold::Machine;
use crate::failure::{Failure, Outcome};
use clap::CommandFactory as _;
use sayso_agents::acp::{McpGateway, Setting, run_between, run_component};
use sayso_gate::{Home, Places};
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Start an ACP agent behind a proxy that judges its permission requests, file access and programs.
///
/// Configure the editor with this command instead of the agent's own. What the policy allows is approved, what it
/// denies is rejected, and where it says ask, the editor shows the agent's prompt. Modes in which the agent would not
/// ask are refused until a rule allows them. Without a command, this acts as a component in a chain of ACP proxies.
///
/// A proxy cannot stop what an agent does not ask about: if the agent has hooks, install those too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso acp -- claude-agent-acp
  sayso acp -- gemini --acp
  sayso acp --policy preset:read-only -- opencode acp
  sayso install zed                       write such commands to Zed's settings")]
pub(crate) struct Acp {
    /// The agent's own command
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// The agent's name in the policy and record [default: what it calls itself]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Who asks, as tool layers and rules name it: agent:NAME,team:TEAM/MEMBER,tenant:NAME
    #[arg(long = "as", value_name = "WHO")]
    stated: Option<sayso_policy::Stated>,
    /// Cancel the turn if a call that the policy denies ran without asking
    #[arg(long)]
    cancel_denied: bool,
    /// Home folder whose policy and record to use [default: $HOME]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyChoice,
}

/// Runs it.
pub(crate) fn run(acp: &Acp) -> Outcome {
    if acp.command.is_empty() && std::io::stdin().is_terminal() {
        return Err(Failure::wrong("error: no agent command given\n\n  Try: sayso acp -- claude-agent-acp"));
    }
    let setting = setting(acp)?;
    let code = match acp.command.first() {
        None => run_component(setting)?,
        Some(program) => run_between(setting, &acp.command).map_err(|error| {
            let program = program.to_string_lossy();
            Failure::wrong(format!(
                "error: cannot run {program}: {error}\n\n  Use the agent's own command, on PATH or as a full path."
            ))
        })?,
    };
    Ok(ExitCode::from(code))
}

fn setting(acp: &Acp) -> Result<Setting, Failure> {
    let places = Places::find(acp.home.as_deref().map_or(Home::Environment, Home::At))?;
    let given = acp.policy.texts()?;
    let mut setting = Setting::new(places);
    setting.given = (!given.is_empty()).then_some(given);
    setting.agent.clone_from(&acp.agent);
    setting.stated = acp.stated.clone().unwrap_or_default();
    setting.cancel_denied = acp.cancel_denied;
    setting.settings_count = acp.command.len() == 1;
    setting.can_hold = Machine::look().can_hold();
    setting.gateway = gateway(acp, &setting.places)?;
    Ok(setting)
}

/// How this program starts its own MCP gateway, if it has one.
fn gateway(acp: &Acp, places: &Places) -> Result<Option<McpGateway>, Failure> {
    if Cli::command().find_subcommand("mcp").is_none() {
        return Ok(None);
    }
    let program = std::env::current_exe()?.canonicalize()?;
    let program = program.to_str().ok_or_else(|| Failure::wrong("error: Sayso's own path is not UTF-8"))?;
    // The agent starts it, and must not be able to move it to another policy.
    let home = places.home.to_str().ok_or_else(|| Failure::wrong("error: the home folder's path is not UTF-8"))?;
    let mut arguments = ["mcp", "--home", home].map(str::to_owned).to_vec();
    for policy in &acp.policy.policy {
        // The agent starts it in another folder.
        let policy = match policy.starts_with("preset:") {
            true => policy.clone(),
            false => std::fs::canonicalize(policy)?.to_string_lossy().into_owned(),
        };
        arguments.extend(["--policy".to_owned(), policy]);
    }
    Ok(Some(McpGateway { program: program.to_owned(), arguments }))
}
