//! The agents that Sayso knows by name: a folder each, and a line each in the table below.
//!
//! An agent's folder holds all that is known of it: its row (`mod.rs`), how it tells of events and wants to be answered
//! (`dialect.rs`), where its settings are and what Sayso's look like there (`install.rs`), its transcripts, and how it
//! is started on a model of ours (`live.rs`). Everybody else asks the row.
//!
//! INVARIANT: an [`Agent`] cannot be matched on. What differs between agents is a field of [`Row`], so that whoever adds
//! one is told by the compiler what has to be known of it.

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod openclaw;
mod opencode;
mod row;
mod zed;

pub(crate) use row::{Acp, McpList, Row, Steering};

use row::{Folder, Oldest, TranscriptsOf};

use crate::Error;

/// An agent that Sayso can stand in the way of.
#[derive(Clone, Copy)]
pub struct Agent(&'static Row);

impl Agent {
    /// Anthropic's Claude Code.
    pub const CLAUDE_CODE: Self = Self(&claude_code::ROW);
    /// OpenAI's Codex.
    pub const CODEX: Self = Self(&codex::ROW);
    /// Google's Gemini CLI.
    pub const GEMINI: Self = Self(&gemini::ROW);
    /// GitHub's Copilot CLI.
    pub const COPILOT: Self = Self(&copilot::ROW);
    /// OpenCode.
    pub const OPENCODE: Self = Self(&opencode::ROW);
    /// Cursor.
    pub const CURSOR: Self = Self(&cursor::ROW);
    /// OpenClaw.
    pub const OPENCLAW: Self = Self(&openclaw::ROW);
    /// Zed. It has no hooks: its agents are guarded through ACP.
    pub const ZED: Self = Self(&zed::ROW);

    /// Every agent.
    pub const ALL: &[Self] = &[
        Self::CLAUDE_CODE,
        Self::CODEX,
        Self::GEMINI,
        Self::COPILOT,
        Self::OPENCODE,
        Self::CURSOR,
        Self::OPENCLAW,
        Self::ZED,
    ];

    /// What is known of it.
    pub(crate) fn row(self) -> &'static Row {
        self.0
    }

    /// Its name on the command line and in the record.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Its name as its makers write it.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// Whether it runs a program, or a plugin of ours, before its tool calls.
    #[must_use]
    pub fn has_hooks(self) -> bool {
        self.0.dialect.is_some()
    }

    /// Ways past its own hooks, as its page in `docs/agents` says.
    #[must_use]
    pub fn not_covered(self) -> &'static [&'static str] {
        self.0.not_covered
    }

    /// What is wrong with a version of it that is too old to be guarded.
    #[must_use]
    pub fn too_old(self, version: &str) -> Option<&'static str> {
        let oldest = self.0.oldest.as_ref()?;
        let numbers: Vec<u64> = version.split('.').map_while(|part| part.parse().ok()).collect();
        (!numbers.is_empty() && numbers.as_slice() < oldest.version).then_some(oldest.why)
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Agent {}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
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
