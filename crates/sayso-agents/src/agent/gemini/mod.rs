//! Google's Gemini CLI.

mod dialect;
mod install;
mod live;
mod transcripts;

use super::{Acp, Folder, Row, Steering, TranscriptsOf};
use crate::shell::ShellUse;

pub(super) static ROW: Row = Row {
    name: "gemini",
    title: "Gemini CLI",
    programs: &["gemini"],
    oldest: None,
    not_covered: &["`hooksConfig.enabled: false` in any settings skips hooks"],
    settings: Folder { variables: &[("GEMINI_CLI_HOME", ".gemini")], below_home: ".gemini" },
    shell: ShellUse::BASH,
    dialect: Some(&dialect::Gemini),
    installer: &install::Settings,
    mcp_lists: &[],
    transcripts: Some(TranscriptsOf {
        folder: Folder { variables: &[("GEMINI_CLI_HOME", ".gemini")], below_home: ".gemini" },
        read: transcripts::read,
    }),
    live: Some(live::start),
    steering: Some(Steering {
        user: &["settings.json", "extensions"],
        managed: &["etc/gemini-cli/settings.json", "etc/gemini-cli/system-defaults.json"],
        project: &[".gemini/settings.json"],
        packages: &["extensions"],
        before: &["BeforeTool"],
        plugins: None,
        own_plugin: "\0",
    }),
    acp: Acp {
        program: Some(("gemini", &["--acp"])),
        calls_itself: Some("gemini"),
        title_is_command: true,
        ..Acp::PLAIN
    },
};
