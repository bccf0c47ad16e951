//! From a tool call as it arrived to an operation.

use crate::word::{Facts, Operation, ToolCall};
use serde::{Deserialize, Serialize};

/// The kinds of operation of the Agent Client Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reading files or data.
    Read,
    /// Changing files or content.
    Edit,
    /// Removing files or data.
    Delete,
    /// Moving or renaming files.
    Move,
    /// Searching for information.
    Search,
    /// Running commands or code.
    Execute,
    /// Retrieving external data.
    Fetch,
    /// Internal reasoning.
    Think,
    /// Switching the session's mode.
    SwitchMode,
    /// Anything else.
    Other,
}

/// Normalises a call and works out its effects.
pub(crate) fn operation(call: ToolCall, facts: Facts<'_>) -> Operation {
    let _ = facts;
    Operation {
        tool: crate::word::ToolName { canonical: String::new(), readings: Vec::new(), mcp: false, raw: String::new() },
        kind: Kind::Other,
        actor: call.actor,
        cwd: call.cwd,
        workspace: call.workspace,
        home: call.home,
        effects: Vec::new(),
        resolved: Vec::new(),
        analysis: None,
        known: false,
        request: call.request,
    }
}
