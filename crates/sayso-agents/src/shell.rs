//! Which shell runs an agent's commands.
//!
//! The owner's environment says it when `install` runs, and it is written into the registration: what the agent's
//! environment says later, a tool call may have chosen. Where nothing was written down, the user database says which
//! shell the owner uses.

use sayso_gate::ProcessEnvironment;
use sayso_policy::shell::Dialect;
use sayso_policy::shell::dialect::{InShell, Shells};
use std::sync::OnceLock;

/// Which shell runs the commands of an agent, by what its owner uses.
pub(crate) struct ShellUse {
    /// What the agent goes by, in order.
    pub(crate) told_by: &'static [Source],
    /// Which shells it takes.
    pub(crate) takes: Takes,
}

/// Where an agent finds its owner's shell.
pub(crate) enum Source {
    Variable(&'static str),
    /// The user database.
    Login,
}

/// Which shells an agent takes.
pub(crate) enum Takes {
    Any,
    /// No other, and it looks which of the two is there.
    BashOrZsh,
    /// It runs `bash -c` for everybody.
    BashAlone,
}

impl ShellUse {
    /// Most agents.
    pub(crate) const USUAL: Self = Self { told_by: &[Source::Variable("SHELL"), Source::Login], takes: Takes::Any };
    /// Whoever runs `bash -c` for everybody.
    pub(crate) const BASH: Self = Self { takes: Takes::BashAlone, ..Self::USUAL };

    /// What is registered: a name, or names with commas between them.
    pub(crate) fn to_register(&self, variable: impl Fn(&str) -> Option<String>) -> &'static str {
        let told = self.told_by.iter().find_map(|source| match source {
            Source::Variable(name) => variable(name),
            Source::Login => sayso_gate::login_shell(),
        });
        self.used_for(told.as_deref())
    }

    /// The shells of an agent whose registration names none.
    pub(crate) fn by_login(&self) -> Shells {
        Shells::named(self.used_for(sayso_gate::login_shell().as_deref())).unwrap_or_default()
    }

    /// What runs for an owner who uses this shell.
    fn used_for(&self, shell: Option<&str>) -> &'static str {
        match (&self.takes, shell.and_then(Dialect::named)) {
            (Takes::BashAlone, _) => "bash",
            (_, Some(Dialect::Bash)) => "bash",
            (_, Some(Dialect::Zsh)) => "zsh",
            (Takes::BashOrZsh, _) => "bash,zsh",
            (Takes::Any, Some(Dialect::Sh)) => "sh",
            (Takes::Any, Some(Dialect::Other)) => "ksh",
            // fish and its like are left aside by all of them.
            (Takes::Any, None) => "bash,zsh",
        }
    }
}

/// The environment of agents in a pipe, of which it is not known which they are.
pub(crate) fn in_pipe() -> InShell<ProcessEnvironment> {
    static SHELLS: OnceLock<Shells> = OnceLock::new();
    InShell { env: ProcessEnvironment, shells: *SHELLS.get_or_init(|| ShellUse::USUAL.by_login()) }
}

#[cfg(test)]
mod tests {
    use crate::Agent;

    #[test]
    fn each_agent_is_read_by_the_shell_that_it_uses() {
        for (agent, shell, expected) in [
            (Agent::CLAUDE_CODE, Some("/bin/zsh"), "zsh"),
            (Agent::CLAUDE_CODE, Some("/usr/bin/bash"), "bash"),
            (Agent::CLAUDE_CODE, Some("/bin/sh"), "bash,zsh"),
            (Agent::CLAUDE_CODE, Some("/usr/bin/fish"), "bash,zsh"),
            (Agent::CODEX, Some("/bin/dash"), "sh"),
            (Agent::GEMINI, Some("/bin/zsh"), "bash"),
            (Agent::OPENCODE, None, "bash,zsh"),
            (Agent::CURSOR, Some("mksh"), "ksh"),
        ] {
            assert_eq!(agent.row().shell.used_for(shell), expected, "{agent:?} {shell:?}");
        }
    }

    #[test]
    fn the_owners_environment_says_it_when_it_is_registered() {
        let zsh = |name: &str| (name == "SHELL").then(|| "/bin/zsh".to_owned());
        assert_eq!(Agent::CLAUDE_CODE.row().shell.to_register(zsh), "zsh");
        assert_eq!(Agent::COPILOT.row().shell.to_register(zsh), "bash");
        let both = |name: &str| match name {
            "SHELL" => Some("/bin/zsh".to_owned()),
            "CLAUDE_CODE_SHELL" => Some("/bin/bash".to_owned()),
            _ => None,
        };
        assert_eq!(Agent::CLAUDE_CODE.row().shell.to_register(both), "bash");
    }
}
