//! The agents that Sayso knows by name.

use crate::Error;

/// An agent whose hooks Sayso answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Anthropic's Claude Code.
    ClaudeCode,
}

impl Agent {
    /// Every agent.
    pub const ALL: &[Self] = &[Self::ClaudeCode];

    /// Its name on the command line and in the record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
        }
    }
}

impl std::str::FromStr for Agent {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|agent| agent.name() == name).ok_or_else(|| Error::UnknownAgent(name.to_owned()))
    }
}
