//! Which shell runs an agent's commands.
//!
//! The owner's environment says it when `install` runs, and it is written into the registration: what the agent's
//! environment says later, a tool call may have chosen. Where nothing was written down, the user database says which
//! shell the owner uses.

use crate::Agent;
use sayso_gate::ProcessEnvironment;
use sayso_policy::shell::Dialect;
use sayso_policy::shell::dialect::{InShell, Shells};
use std::sync::OnceLock;

/// What is registered: a name, or names with commas between them.
pub(crate) fn to_register(agent: Agent, variable: impl Fn(&str) -> Option<String>) -> &'static str {
    let login = sayso_gate::login_shell();
    let said = match agent {
        Agent::ClaudeCode => variable("CLAUDE_CODE_SHELL").or_else(|| variable("SHELL")).or(login),
        // Codex asks the user database.
        Agent::Codex => login.or_else(|| variable("SHELL")),
        _ => variable("SHELL").or(login),
    };
    used_by(agent, said.as_deref())
}

/// The shells of an agent whose registration names none.
pub(crate) fn by_login(agent: Agent) -> Shells {
    Shells::named(used_by(agent, sayso_gate::login_shell().as_deref())).unwrap_or_default()
}

/// The environment of agents in a pipe, of which it is not known which they are.
pub(crate) fn in_pipe() -> InShell<ProcessEnvironment> {
    static SHELLS: OnceLock<Shells> = OnceLock::new();
    InShell { env: ProcessEnvironment, shells: *SHELLS.get_or_init(|| by_login(Agent::Zed)) }
}

/// What an agent runs for an owner who uses this shell.
fn used_by(agent: Agent, shell: Option<&str>) -> &'static str {
    match (agent, shell.and_then(Dialect::named)) {
        // They run `bash -c` for everybody.
        (Agent::Gemini | Agent::Copilot, _) => "bash",
        (_, Some(Dialect::Bash)) => "bash",
        (_, Some(Dialect::Zsh)) => "zsh",
        // Claude Code takes no other shell, and looks which of the two is there.
        (Agent::ClaudeCode, _) => "bash,zsh",
        (_, Some(Dialect::Sh)) => "sh",
        (_, Some(Dialect::Other)) => "ksh",
        // fish and its like are left aside by all of them.
        (_, None) => "bash,zsh",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_is_read_by_the_shell_that_it_uses() {
        for (agent, shell, expected) in [
            (Agent::ClaudeCode, Some("/bin/zsh"), "zsh"),
            (Agent::ClaudeCode, Some("/usr/bin/bash"), "bash"),
            (Agent::ClaudeCode, Some("/bin/sh"), "bash,zsh"),
            (Agent::ClaudeCode, Some("/usr/bin/fish"), "bash,zsh"),
            (Agent::Codex, Some("/bin/dash"), "sh"),
            (Agent::Gemini, Some("/bin/zsh"), "bash"),
            (Agent::OpenCode, None, "bash,zsh"),
            (Agent::Cursor, Some("mksh"), "ksh"),
        ] {
            assert_eq!(used_by(agent, shell), expected, "{agent:?} {shell:?}");
        }
    }

    #[test]
    fn the_owners_environment_says_it_when_it_is_registered() {
        let zsh = |name: &str| (name == "SHELL").then(|| "/bin/zsh".to_owned());
        assert_eq!(to_register(Agent::ClaudeCode, zsh), "zsh");
        assert_eq!(to_register(Agent::Copilot, zsh), "bash");
        let both = |name: &str| match name {
            "SHELL" => Some("/bin/zsh".to_owned()),
            "CLAUDE_CODE_SHELL" => Some("/bin/bash".to_owned()),
            _ => None,
        };
        assert_eq!(to_register(Agent::ClaudeCode, both), "bash");
    }
}
