//! GitHub's Copilot CLI.

mod dialect;
mod install;
mod live;
mod transcripts;

use super::{Acp, Folder, Row, Steering, TranscriptsOf};
use crate::shell::ShellUse;

pub(super) static ROW: Row = Row {
    name: "copilot",
    title: "Copilot CLI",
    programs: &["copilot"],
    oldest: None,
    not_covered: &["`disableAllHooks` skips all but managed hooks"],
    settings: Folder { variables: &[("COPILOT_HOME", "")], below_home: ".copilot" },
    shell: ShellUse::BASH,
    dialect: Some(&dialect::Copilot),
    installer: &install::Hooks,
    mcp_lists: &[],
    transcripts: Some(TranscriptsOf {
        folder: Folder { variables: &[("COPILOT_HOME", "")], below_home: ".copilot" },
        read: transcripts::read,
    }),
    live: Some(live::start),
    steering: Some(Steering {
        user: &["hooks", "config.json", "settings.json"],
        managed: &["etc/github-copilot/policy.d"],
        project: &[
            ".github/hooks",
            ".github/copilot/settings.json",
            ".claude/settings.json",
            ".claude/settings.local.json",
        ],
        packages: &["installed-plugins", "plugins"],
        before: &["preToolUse", "PreToolUse"],
        plugins: None,
        own_plugin: "\0",
    }),
    acp: Acp {
        program: Some(("copilot", &["--acp"])),
        calls_itself: Some("copilot"),
        // The programs that it saw in the command.
        is_remark: |key, value| key == "commands" && value.is_array(),
        // It names its modes by their address. Its mode `autopilot` asks nobody.
        asking_modes: &[
            "https://agentclientprotocol.com/protocol/session-modes#agent",
            "https://agentclientprotocol.com/protocol/session-modes#plan",
        ],
        ..Acp::PLAIN
    },
};
