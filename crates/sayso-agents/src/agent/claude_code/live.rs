//! Claude Code on a model of ours.

use crate::live::{KEY, Offline, PROMPT};
use serde_json::json;
use std::process::Command;

pub(super) fn start(command: &mut Command, offline: &Offline<'_>) -> std::io::Result<()> {
    let url = offline.url;
    // Settings on the command line win over those of the user, whose environment may name another model.
    let settings = json!({"env": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}}).to_string();
    command.args(["-p", PROMPT, "--output-format", "json", "--allowedTools", "Bash", "--settings", &settings]);
    command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", KEY).env("DISABLE_AUTOUPDATER", "1");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    for other in
        ["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_OAUTH_TOKEN"]
    {
        command.env_remove(other);
    }
    Ok(())
}
