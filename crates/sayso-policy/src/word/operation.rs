//! A normalised tool call.

use crate::word::{Actor, Request, ToolCall, Workspace};
use sayso_shell::{Analysis, Effect, Environment, Files};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What may be asked of the world while a call is normalised and judged.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Files.
    pub files: &'a dyn Files,
    /// The environment in which a command would run.
    pub env: &'a dyn Environment,
}

/// A tool's name in normal form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolName {
    /// The canonical name: trimmed, lower case, aliases resolved (`bash` is `bash_execute`). For an MCP tool
    /// `mcp:server/tool`.
    pub canonical: String,
    /// Every way in which the name can be read: more than one for an ambiguous MCP spelling (`mcp_a_b_c`). Holds
    /// `canonical`.
    pub readings: Vec<String>,
    /// It is an MCP tool, by at least one reading. MCP tools are never aliased to built-in ones.
    pub mcp: bool,
    /// As it arrived.
    pub raw: String,
}

/// What a path effect resolves to: found once, compared many times.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Resolved {
    /// Canonical form: absolute, no links, no `..`; `None` where that cannot be known.
    pub canonical: Option<PathBuf>,
    /// Lexically cleaned form as written; denies look at this one too.
    pub lexical: Option<PathBuf>,
}

/// A normalised tool call: what it is called, who asks, and what it would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The tool.
    pub tool: ToolName,
    /// Derived from tool and arguments; what the agent reports may only tighten.
    pub kind: crate::normalise::Kind,
    /// Who asks.
    pub actor: Actor,
    /// The working directory, if known.
    pub cwd: Option<PathBuf>,
    /// The workspace.
    pub workspace: Workspace,
    /// The home folder, if known.
    pub home: Option<PathBuf>,
    /// What it would do. The `call` itself is the last one.
    pub effects: Vec<Effect>,
    /// Parallel to `effects`.
    pub resolved: Vec<Resolved>,
    /// The analysis of its command, if it has one.
    pub analysis: Option<Analysis>,
    /// Whether the tool's effects are known, so that they decide instead of the call itself.
    pub known: bool,
    /// As it arrived.
    pub request: Request,
}

impl Operation {
    /// Normalises a call and works out its effects.
    #[must_use]
    pub fn new(call: ToolCall, facts: Facts<'_>) -> Self {
        crate::normalise::operation(call, facts)
    }
}
