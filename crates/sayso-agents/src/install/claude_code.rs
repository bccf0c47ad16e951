//! Where Claude Code keeps its hooks, and what Sayso's look like there. Measured on 2.1.325.

use super::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS};
use super::hooks_json::{Entry, HooksFile, Shape};
use super::json_text::Comments;
use super::{Scope, Setting};
use crate::Agent;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The events that Sayso answers, and whether something is decided there: then a failure of the hook blocks.
const EVENTS: &[(&str, bool)] = &[
    ("PreToolUse", true),
    ("PermissionRequest", true),
    ("PostToolUse", false),
    ("PostToolUseFailure", false),
    ("SessionStart", false),
    ("SessionEnd", false),
    ("SubagentStart", false),
    ("ConfigChange", true),
];

/// Claude Code's settings file with Sayso in it. Started without a shell.
pub(super) fn hooks(setting: &Setting) -> Result<HooksFile, String> {
    let command = HookCommand::new(Agent::ClaudeCode, setting)?;
    let entry = |(event, decides): &(&'static str, bool)| {
        let seconds = if *decides { CALL_SECONDS } else { NOTE_SECONDS };
        let mut handler = json!({
            "type": "command",
            "command": command.program(),
            "args": command.arguments(seconds),
            "timeout": seconds,
        });
        if let (true, Some(handler)) = (*decides, handler.as_object_mut()) {
            handler.insert("onFailure".to_owned(), json!("block"));
        }
        Entry { event, handler }
    };
    Ok(HooksFile {
        agent: Agent::ClaudeCode,
        path: path(setting),
        shape: Shape::Groups,
        comments: Comments::Refused,
        version: None,
        switch: None,
        entries: EVENTS.iter().map(entry).collect(),
    })
}

fn path(setting: &Setting) -> PathBuf {
    match setting.scope {
        Scope::User => setting.agent_folder_or(".claude").join("settings.json"),
        Scope::Project => setting.project.join(".claude/settings.json"),
        Scope::Managed if cfg!(target_os = "macos") => {
            setting.root.join("Library/Application Support/ClaudeCode/managed-settings.json")
        }
        Scope::Managed => setting.root.join("etc/claude-code/managed-settings.json"),
    }
}

/// What in these settings switches Sayso off.
pub(super) fn switched_off(settings: &Value) -> Vec<String> {
    let mut why = Vec::new();
    if settings.get("disableAllHooks") == Some(&Value::Bool(true)) {
        why.push("`disableAllHooks` is on in these settings, so Sayso sees no calls until it is off.".to_owned());
    }
    why
}
