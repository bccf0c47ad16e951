//! Copilot CLI on a model of ours.

use crate::live::{KEY, Offline, PROMPT};
use std::process::Command;

pub(super) fn start(command: &mut Command, offline: &Offline<'_>) -> std::io::Result<()> {
    command.args(["-p", PROMPT, "--allow-all-tools", "--no-auto-update"]);
    command.env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", offline.url)).env("COPILOT_PROVIDER_API_KEY", KEY);
    command.env("COPILOT_MODEL", "scripted").env("COPILOT_OFFLINE", "true");
    Ok(())
}
