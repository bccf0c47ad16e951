//! What an agent asks for, as it arrived.

use crate::word::{Actor, Workspace};
use serde_json::Value;
use std::path::PathBuf;

/// What an agent asks for, with what is known about where it would run. Nothing in it is trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The request itself.
    pub request: Request,
    /// Who asks.
    pub actor: Actor,
    /// The working directory; `None`: not known.
    pub cwd: Option<PathBuf>,
    /// The folder the session is about.
    pub workspace: Workspace,
    /// The home folder; `None`: not known.
    pub home: Option<PathBuf>,
    /// The kind that the agent reports. It may only tighten.
    pub reported_kind: Option<String>,
}

/// The two shapes of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A command for a shell, as bytes.
    Command(Vec<u8>),
    /// A tool by name, with its arguments.
    Tool {
        /// The name as the agent wrote it.
        name: String,
        /// The arguments as they arrived.
        arguments: Value,
        /// MCP server, where the way in knows it for certain.
        server: Option<String>,
    },
}

impl ToolCall {
    /// A shell command with nothing else known.
    #[must_use]
    pub fn command(command: impl Into<Vec<u8>>) -> Self {
        Self::new(Request::Command(command.into()))
    }

    /// A tool call with nothing else known.
    #[must_use]
    pub fn tool(name: impl Into<String>, arguments: Value) -> Self {
        Self::new(Request::Tool { name: name.into(), arguments, server: None })
    }

    /// A request with nothing else known.
    #[must_use]
    pub fn new(request: Request) -> Self {
        Self {
            request,
            actor: Actor::default(),
            cwd: None,
            workspace: Workspace::unknown(),
            home: None,
            reported_kind: None,
        }
    }
}
