//! Zed. It has no hooks: `sayso acp` stands in front of the agents that it starts.

mod install;

use super::{Acp, Folder, McpList, Row};
use crate::install::Comments;
use crate::shell::ShellUse;

pub(super) static ROW: Row = Row {
    name: "zed",
    title: "Zed",
    programs: &["zed", "zeditor"],
    oldest: None,
    not_covered: &[],
    settings: Folder { variables: &[("XDG_CONFIG_HOME", "zed")], below_home: ".config/zed" },
    shell: ShellUse::USUAL,
    dialect: None,
    installer: &install::AgentServers,
    mcp_lists: &[McpList {
        in_project: false,
        path: ".config/zed/settings.json",
        key: "context_servers",
        comments: Comments::Loose,
        projects: None,
    }],
    transcripts: None,
    live: None,
    steering: None,
    acp: Acp::PLAIN,
};
