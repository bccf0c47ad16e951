//! OpenAI's Codex.

mod acp;
mod dialect;
mod install;
mod live;
mod managed;
mod transcripts;
mod trust;
mod untold;

use super::{Acp, Folder, Row, Steering, TranscriptsOf};
use crate::shell::{ShellUse, Source, Takes};

pub(super) static ROW: Row = Row {
    name: "codex",
    title: "Codex",
    programs: &["codex"],
    oldest: None,
    not_covered: &[
        "text typed into a program that runs already (`write_stdin`) is not shown to hooks",
        "web searches run on the provider's side",
    ],
    // As `HOME` is written: Codex names its hooks by that when it trusts them.
    settings: Folder { variables: &[("CODEX_HOME", ""), ("HOME", ".codex")], below_home: ".codex" },
    // Codex asks the user database.
    shell: ShellUse { told_by: &[Source::Login, Source::Variable("SHELL")], takes: Takes::Any },
    dialect: Some(&dialect::Codex),
    installer: &install::Hooks,
    mcp_lists: &[],
    transcripts: Some(TranscriptsOf {
        folder: Folder { variables: &[("CODEX_HOME", "")], below_home: ".codex" },
        read: transcripts::read,
    }),
    live: Some(live::start),
    steering: Some(Steering {
        user: &["hooks.json", "config.toml"],
        managed: &["etc/codex/requirements.toml", "etc/codex/config.toml", "etc/codex/managed_config.toml"],
        project: &[".codex/hooks.json", ".codex/config.toml"],
        packages: &["plugins"],
        before: &["PreToolUse"],
        plugins: None,
        own_plugin: "\0",
    }),
    acp: Acp {
        program: Some(("codex-acp", &[])),
        calls_itself: Some("codex"),
        command_is_shell: true,
        edits_show_differences: true,
        edited: acp::edited,
        is_remark: acp::is_remark,
        untold: Some(untold::asks_by_settings),
        ..Acp::PLAIN
    },
};
