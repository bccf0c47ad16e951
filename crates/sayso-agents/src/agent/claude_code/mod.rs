//! Anthropic's Claude Code.

pub(super) mod dialect;
mod install;
mod live;
pub(super) mod shape;
mod transcripts;

use super::{Acp, Folder, McpList, Oldest, Row, Steering, TranscriptsOf};
use crate::install::Comments;
use crate::shell::{ShellUse, Source, Takes};

pub(super) static ROW: Row = Row {
    name: "claude-code",
    title: "Claude Code",
    programs: &["claude"],
    oldest: Some(Oldest {
        version: &[2, 1, 295],
        why: "This Claude Code does not know `onFailure`: if Sayso is gone, calls pass. Update it to 2.1.295 or later.",
    }),
    not_covered: &["`claude --bare`, `--safe-mode` and `disableAllHooks` skip all but managed hooks"],
    settings: Folder { variables: &[("CLAUDE_CONFIG_DIR", "")], below_home: ".claude" },
    shell: ShellUse {
        told_by: &[Source::Variable("CLAUDE_CODE_SHELL"), Source::Variable("SHELL"), Source::Login],
        takes: Takes::BashOrZsh,
    },
    dialect: Some(&dialect::ClaudeCode),
    installer: &install::Settings,
    mcp_lists: &[
        McpList { in_project: true, path: ".mcp.json", key: "mcpServers", comments: Comments::Refused, projects: None },
        McpList {
            in_project: false,
            path: ".claude.json",
            key: "mcpServers",
            comments: Comments::Refused,
            projects: Some("projects"),
        },
    ],
    transcripts: Some(TranscriptsOf {
        folder: Folder { variables: &[("CLAUDE_CONFIG_DIR", "")], below_home: ".claude" },
        read: transcripts::read,
    }),
    live: Some(live::start),
    steering: Some(Steering {
        user: &["settings.json", "settings.local.json", "plugins/installed_plugins.json"],
        managed: &["etc/claude-code/managed-settings.json", "etc/claude-code/managed-settings.d"],
        project: &[".claude/settings.json", ".claude/settings.local.json"],
        packages: &["plugins"],
        before: &["PreToolUse"],
        plugins: None,
        own_plugin: "\0",
    }),
    acp: Acp { program: Some(("claude-agent-acp", &[])), calls_itself: Some("claude"), ..Acp::PLAIN },
};
