//! The agents that Sayso knows by name.

use crate::Error;

/// An agent that Sayso can stand in the way of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex.
    Codex,
    /// Google's Gemini CLI.
    Gemini,
    /// GitHub's Copilot CLI.
    Copilot,
    /// OpenCode.
    OpenCode,
    /// Cursor.
    Cursor,
    /// OpenClaw.
    OpenClaw,
    /// Zed. It has no hooks: its agents are guarded through ACP.
    Zed,
}

impl Agent {
    /// Every agent.
    pub const ALL: &[Self] = &[
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::OpenCode,
        Self::Cursor,
        Self::OpenClaw,
        Self::Zed,
    ];

    /// Its name on the command line and in the record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
            Self::Cursor => "cursor",
            Self::OpenClaw => "openclaw",
            Self::Zed => "zed",
        }
    }

    /// Its name as its makers write it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
            Self::OpenCode => "OpenCode",
            Self::Cursor => "Cursor",
            Self::OpenClaw => "OpenClaw",
            Self::Zed => "Zed",
        }
    }

    /// Whether it runs a program, or a plugin of ours, before its tool calls.
    #[must_use]
    pub fn has_hooks(self) -> bool {
        self != Self::Zed
    }
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Agent {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|agent| agent.name() == name).ok_or_else(|| Error::UnknownAgent(name.to_owned()))
    }
}
