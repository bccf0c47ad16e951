//! OpenCode on a model of ours.

use crate::live::{KEY, Offline, PROMPT};
use serde_json::json;
use std::process::Command;

pub(super) fn start(command: &mut Command, offline: &Offline<'_>) -> std::io::Result<()> {
    let provider = json!({"npm": "@ai-sdk/openai-compatible", "name": "sayso-live",
        "options": {"baseURL": format!("{}/v1", offline.url), "apiKey": KEY},
        "models": {"scripted": {"name": "scripted", "tool_call": true, "limit": {"context": 100_000, "output": 8000}}}});
    let config = json!({"autoupdate": false, "share": "disabled", "model": "sayso-live/scripted",
        "small_model": "sayso-live/scripted", "provider": {"sayso-live": provider}});
    command.args(["run", "--format", "json", PROMPT]);
    command.env("OPENCODE_CONFIG_CONTENT", config.to_string()).env("OPENCODE_DISABLE_AUTOUPDATE", "1");
    Ok(())
}
