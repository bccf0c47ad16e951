//! Where Gemini CLI keeps its hooks, and what Sayso's look like there. Measured on 0.61.0.

use crate::Agent;
use crate::install::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS, Ours};
use crate::install::hooks_json::{Entry, HooksFile, Shape};
use crate::install::part::{Part, is_set};
use crate::install::{Comments, Installer, Scope, Setting};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The events that Sayso answers, and whether something is decided there.
const EVENTS: &[(&str, bool)] =
    &[("BeforeTool", true), ("AfterTool", false), ("SessionStart", false), ("SessionEnd", false)];

/// Gemini CLI's settings.
pub(super) struct Settings;

impl Installer for Settings {
    fn parts(&self, setting: &Setting, _: bool) -> Result<Vec<Box<dyn Part>>, String> {
        Ok(vec![Box::new(hooks(setting)?)])
    }

    fn registered(&self, setting: &Setting, text: &str) -> Option<Ours> {
        hooks(setting).ok()?.registered(text)
    }

    fn switched_off(&self, settings: &Value) -> Vec<String> {
        let mut why = Vec::new();
        if settings.pointer("/hooksConfig/enabled") == Some(&Value::Bool(false)) {
            why.push(
                "`hooksConfig.enabled` is false in these settings: Sayso is not asked until it is true.".to_owned(),
            );
        }
        let disabled = settings.pointer("/hooksConfig/disabled").and_then(Value::as_array);
        if disabled.is_some_and(|names| names.iter().any(|name| name == "sayso")) {
            why.push("`hooksConfig.disabled` lists sayso in these settings; remove it there.".to_owned());
        }
        why
    }

    fn switched_off_elsewhere(&self, setting: &Setting) -> Vec<String> {
        // The machine's switch wins over those of users and projects.
        if setting.scope == Scope::Managed {
            return Vec::new();
        }
        let files = [
            setting.folder_of(&super::ROW).join("settings.json"),
            setting.project.join(".gemini/settings.json"),
            setting.root.join("etc/gemini-cli/settings.json"),
        ];
        let off = files.iter().filter_map(|path| is_set(path, "/hooksConfig/enabled", false));
        off.map(|path| format!("`hooksConfig.enabled` is false in {path}.")).collect()
    }

    fn runs_calls_of_late_hooks(&self) -> bool {
        true
    }
}

/// The settings file with Sayso in it. The command runs in a shell; time-outs are in milliseconds.
fn hooks(setting: &Setting) -> Result<HooksFile, String> {
    let command = HookCommand::new(Agent::GEMINI, setting)?;
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
        agent: Agent::GEMINI,
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
        Scope::User => setting.folder_of(&super::ROW).join("settings.json"),
        Scope::Project => setting.project.join(".gemini/settings.json"),
        Scope::Managed if cfg!(target_os = "macos") => {
            setting.root.join("Library/Application Support/GeminiCli/settings.json")
        }
        Scope::Managed => setting.root.join("etc/gemini-cli/settings.json"),
    }
}
