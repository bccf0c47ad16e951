//! Where Claude Code keeps its hooks, and what Sayso's look like there. Measured on 2.1.325.

use crate::Agent;
use crate::install::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS, Ours};
use crate::install::hooks_json::{Entry, HooksFile, Shape};
use crate::install::part::{Part, is_set};
use crate::install::{Comments, Installer, Scope, Setting};
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

/// Claude Code's settings.
pub(super) struct Settings;

impl Installer for Settings {
    fn parts(&self, setting: &Setting, _: bool) -> Result<Vec<Box<dyn Part>>, String> {
        Ok(vec![Box::new(hooks(setting)?)])
    }

    fn registered(&self, setting: &Setting, text: &str) -> Option<Ours> {
        hooks(setting).ok()?.registered(text)
    }

    fn switched_off(&self, settings: &Value) -> Vec<String> {
        let off = settings.get("disableAllHooks") == Some(&Value::Bool(true));
        let why = || "`disableAllHooks` is on in these settings: Sayso is not asked until it is off.".to_owned();
        off.then(why).into_iter().collect()
    }

    fn switched_off_elsewhere(&self, setting: &Setting) -> Vec<String> {
        // Managed hooks run whatever users and projects say.
        if setting.scope == Scope::Managed {
            return Vec::new();
        }
        let user = setting.folder_of(&super::ROW);
        let project = setting.project.join(".claude");
        let managed = setting.root.join("etc/claude-code/managed-settings.json");
        let all = [user.join("settings.json"), project.join("settings.json"), project.join("settings.local.json")];
        let disabled = all.iter().chain([&managed]).filter_map(|path| is_set(path, "/disableAllHooks", true));
        let only = is_set(&managed, "/allowManagedHooksOnly", true);
        let off = disabled.map(|path| format!("`disableAllHooks` is on in {path}."));
        off.chain(only.map(|path| {
            format!(
                "`allowManagedHooksOnly` is on in {path}: only `sayso install claude-code --managed` has an effect."
            )
        }))
        .collect()
    }
}

/// The settings file with Sayso in it. Started without a shell.
fn hooks(setting: &Setting) -> Result<HooksFile, String> {
    let command = HookCommand::new(Agent::CLAUDE_CODE, setting)?;
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
        agent: Agent::CLAUDE_CODE,
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
        Scope::User => setting.folder_of(&super::ROW).join("settings.json"),
        Scope::Project => setting.project.join(".claude/settings.json"),
        Scope::Managed if cfg!(target_os = "macos") => {
            setting.root.join("Library/Application Support/ClaudeCode/managed-settings.json")
        }
        Scope::Managed => setting.root.join("etc/claude-code/managed-settings.json"),
    }
}
