//! Gemini CLI on a model of ours.

use crate::live::{KEY, Offline, PROMPT};
use serde_json::json;
use std::process::Command;

pub(super) fn start(command: &mut Command, offline: &Offline<'_>) -> std::io::Result<()> {
    let settings = offline.here.join(".gemini/settings.json");
    if !settings.exists() && offline.here.starts_with(offline.scratch) {
        std::fs::create_dir_all(offline.here.join(".gemini"))?;
        // However the user signs in elsewhere.
        let text = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}, "telemetry": {"enabled": false}});
        std::fs::write(settings, text.to_string())?;
    }
    command.args(["--yolo", "-o", "json", "-p", PROMPT]);
    command.env("GEMINI_API_KEY", KEY).env("GOOGLE_GEMINI_BASE_URL", offline.url);
    command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").env("GEMINI_TELEMETRY_ENABLED", "false");
    Ok(())
}
