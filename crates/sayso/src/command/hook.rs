//! `sayso hook`: what an agent runs before each of its tool calls.

use crate::choice::PolicyChoice;
use crate::failure::{Failure, Outcome};
use crate::input::call::shells;
use sayso_agents::{Agent, HookSetting, hook_process};
use sayso_gate::{Home, Places};
use sayso_policy::shell::dialect::Shells;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Answer one hook call from an agent: a JSON object on standard input, the answer in that agent's format.
///
/// Agents run this; `sayso install AGENT` sets it up. If anything goes wrong, the call does not run.
#[derive(Debug, clap::Args)]
pub(crate) struct Hook {
    /// The agent: claude-code, codex, gemini, copilot, opencode, cursor or openclaw
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
    setting.wait = hook.wait.map(Duration::from_secs);
    Ok(setting)
}

/// An agent waits for this at every call. The arguments that `install` registers are read without building the whole
/// command line first; anything else goes the long way, which explains itself.
pub(crate) fn fast_path() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != "hook" {
        return None;
    }
    let hook = parse(arguments)?;
    hook.agent.parse::<Agent>().ok()?;
    Some(run(&hook).unwrap_or_else(|failure| failure.report()))
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Option<Hook> {
    let agent = arguments.next()?.into_string().ok().filter(|agent| !agent.starts_with('-'))?;
    let mut hook = Hook { agent, home: None, wait: None, shell: None, policy: PolicyChoice::default() };
    while let Some(argument) = arguments.next() {
        match argument.to_str()? {
            "--home" if hook.home.is_none() => hook.home = Some(arguments.next()?.into()),
            "--wait" if hook.wait.is_none() => hook.wait = Some(arguments.next()?.to_str()?.parse().ok()?),
            "--shell" if hook.shell.is_none() => hook.shell = Some(Shells::named(arguments.next()?.to_str()?)?),
            "--policy" => hook.policy.policy.push(arguments.next()?.into_string().ok()?),
            _ => return None,
        }
    }
    Some(hook)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Option<Hook> {
        parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn what_install_registers_takes_the_short_way() {
        let hook =
            parsed(&["claude-code", "--home", "/home/x", "--wait", "600", "--policy", "a", "--policy", "preset:ci"])
                .unwrap();
        assert_eq!(hook.agent, "claude-code");
        assert_eq!(hook.home, Some("/home/x".into()));
        assert_eq!(hook.wait, Some(600));
        assert_eq!(hook.policy.policy, ["a", "preset:ci"]);
        assert_eq!(hook.shell, None);
        let hook = parsed(&["claude-code", "--home", "/home/x", "--shell", "zsh", "--wait", "600"]).unwrap();
        assert_eq!(hook.shell, Shells::named("zsh"));
    }

    #[test]
    fn anything_else_goes_the_long_way() {
        for arguments in [
            &["--help"][..],
            &["claude-code", "--help"],
            &["claude-code", "--home"],
            &[],
            &["claude-code", "x"],
            &["claude-code", "--shell", "fish"],
        ] {
            assert!(parsed(arguments).is_none(), "{arguments:?}");
        }
    }
}
