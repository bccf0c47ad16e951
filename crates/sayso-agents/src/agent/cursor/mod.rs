//! Cursor.

mod dialect;
mod install;

use super::{Acp, Folder, McpList, Row};
use crate::install::Comments;
use crate::shell::ShellUse;

pub(super) static ROW: Row = Row {
    name: "cursor",
    title: "Cursor",
    programs: &["cursor-agent", "cursor"],
    oldest: None,
    not_covered: &["not measured: Cursor does not run here without its service"],
    settings: Folder { variables: &[], below_home: ".cursor" },
    shell: ShellUse::USUAL,
    dialect: Some(&dialect::Cursor),
    installer: &install::Hooks,
    mcp_lists: &[
        McpList {
            in_project: true,
            path: ".cursor/mcp.json",
            key: "mcpServers",
            comments: Comments::Refused,
            projects: None,
        },
        McpList {
            in_project: false,
            path: ".cursor/mcp.json",
            key: "mcpServers",
            comments: Comments::Refused,
            projects: None,
        },
    ],
    transcripts: None,
    live: None,
    steering: None,
    acp: Acp { calls_itself: Some("cursor"), ..Acp::PLAIN },
};
