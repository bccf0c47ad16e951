//! OpenClaw.

mod dialect;
mod install;
mod plugin_list;

use super::{Acp, Folder, Row};
use crate::shell::ShellUse;

pub(super) static ROW: Row = Row {
    name: "openclaw",
    title: "OpenClaw",
    programs: &["openclaw"],
    oldest: None,
    not_covered: &["`plugins.enabled: false` and `plugins.deny` load no plugin; not measured end to end"],
    settings: Folder { variables: &[("OPENCLAW_STATE_DIR", "")], below_home: ".openclaw" },
    shell: ShellUse::USUAL,
    dialect: Some(&dialect::OpenClaw),
    installer: &install::Plugin,
    mcp_lists: &[],
    transcripts: None,
    live: None,
    steering: None,
    acp: Acp { calls_itself: Some("openclaw"), ..Acp::PLAIN },
};
