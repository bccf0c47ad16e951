//! OpenCode.

mod dialect;
mod install;
mod live;
mod transcripts;

use super::{Acp, Folder, Row, Steering, TranscriptsOf};
use crate::shell::ShellUse;

pub(super) static ROW: Row = Row {
    name: "opencode",
    title: "OpenCode",
    programs: &["opencode"],
    oldest: None,
    not_covered: &["`opencode --pure` and OPENCODE_PURE=1 load no plugins"],
    settings: Folder { variables: &[("XDG_CONFIG_HOME", "opencode")], below_home: ".config/opencode" },
    shell: ShellUse::USUAL,
    dialect: Some(&dialect::OpenCode),
    installer: &install::Plugin,
    mcp_lists: &[],
    transcripts: Some(TranscriptsOf {
        folder: Folder { variables: &[("XDG_DATA_HOME", "opencode")], below_home: ".local/share/opencode" },
        read: transcripts::read,
    }),
    live: Some(live::start),
    steering: Some(Steering {
        user: &["plugins", "plugin", "opencode.json", "opencode.jsonc", "config.json"],
        managed: &["etc/opencode/opencode.json"],
        project: &[
            ".opencode/plugins",
            ".opencode/plugin",
            ".opencode/opencode.json",
            "opencode.json",
            "opencode.jsonc",
        ],
        packages: &[],
        before: &[],
        plugins: Some("plugin"),
        own_plugin: install::MARK,
    }),
    acp: Acp {
        program: Some(("opencode", &["acp"])),
        calls_itself: Some("opencode"),
        first_title_is_tool: true,
        command_is_shell: true,
        // Its default agent asks as its own rules say.
        asking_modes: &["build"],
        ..Acp::PLAIN
    },
};
