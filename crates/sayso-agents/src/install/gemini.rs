//! Where Gemini CLI keeps its hooks, and what Sayso's look like there. Measured on 0.61.0.

use super::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS};
use super::hooks_json::{Entry, HooksFile, Shape};
use super::json_text::Comments;
use super::{Scope, Setting};
use crate::Agent;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The events that Sayso answers, and whether something is decided there.
const EVENTS: &[(&str, bool)] =
    &[("BeforeTool", true), ("AfterTool", false), ("SessionStart", false), ("SessionEnd", false)];

/// Gemini CLI's settings file with Sayso in it. The command runs in a shell; time-outs are in milliseconds.
pub(super) fn hooks(setting: &Setting) -> Result<HooksFile, String> {
    let command = HookCommand::new(Agent::Gemini, setting)?;
    let entry = |(event, decides): &(&'static str, bool)| {
        let seconds = if *decides { CALL_SECONDS } else { NOTE_SECONDS };
        let handler = json!({
            "type": "command",
            "name": "sayso",
            "command": command.guarded_line(seconds),
            "timeout": u64::from(seconds) * 1000,
        });
        Entry { event, handler }
    };
    Ok(HooksFile {
        agent: Agent::Gemini,
        path: path(setting),
        shape: Shape::Groups,
        comments: Comments::Kept,
        version: None,
        // Measured: a user who turns hooks off turns the machine's off too, unless these settings say that they are on.
        switch: (setting.scope == Scope::Managed).then_some(("hooksConfig", "enabled")),
        entries: EVENTS.iter().map(entry).collect(),
    })
}

fn path(setting: &Setting) -> PathBuf {
    match setting.scope {
        Scope::User => setting.agent_folder_or(".gemini").join("settings.json"),
        Scope::Project => setting.project.join(".gemini/settings.json"),
        Scope::Managed if cfg!(target_os = "macos") => {
            setting.root.join("Library/Application Support/GeminiCli/settings.json")
        }
        Scope::Managed => setting.root.join("etc/gemini-cli/settings.json"),
    }
}

/// What in these settings switches Sayso off.
pub(super) fn switched_off(settings: &Value) -> Vec<String> {
    let mut why = Vec::new();
    if settings.pointer("/hooksConfig/enabled") == Some(&Value::Bool(false)) {
        why.push(
            "`hooksConfig.enabled` is false in these settings, so Sayso sees no calls until it is true.".to_owned(),
        );
    }
    let disabled = settings.pointer("/hooksConfig/disabled").and_then(Value::as_array);
    if disabled.is_some_and(|names| names.iter().any(|name| name == "sayso")) {
        why.push("`hooksConfig.disabled` lists sayso in these settings; remove it there.".to_owned());
    }
    why
}
