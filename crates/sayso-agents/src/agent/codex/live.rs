//! Codex on a model of ours.

use crate::live::{KEY, Offline, PROMPT};
use std::process::Command;

pub(super) fn start(command: &mut Command, offline: &Offline<'_>) -> std::io::Result<()> {
    let provider = format!(
        "model_providers.sayso-live={{name=\"sayso-live\",base_url=\"{}/v1\",wire_api=\"responses\",env_key=\"SAYSO_LIVE_KEY\",request_max_retries=0,stream_max_retries=0}}",
        offline.url
    );
    command.args(["exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access"]);
    command.args(["-c", &provider, "-c", "model_provider=\"sayso-live\"", "-c", "model=\"scripted\"", PROMPT]);
    command.env("SAYSO_LIVE_KEY", KEY);
    Ok(())
}
