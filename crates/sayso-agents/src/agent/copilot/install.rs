//! Where Copilot CLI keeps its hooks, and what Sayso's look like there. Measured on 1.0.102.

use crate::Agent;
use crate::install::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS, Ours};
use crate::install::hooks_json::{Entry, HooksFile, Shape};
use crate::install::part::{Part, is_set};
use crate::install::{Comments, Installer, Scope, Setting};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The events that Sayso answers, and whether something is decided there.
const EVENTS: &[(&str, bool)] = &[
    ("preToolUse", true),
    ("permissionRequest", true),
    ("postToolUse", false),
    ("sessionStart", false),
    ("sessionEnd", false),
    ("subagentStart", false),
];

/// Copilot CLI's hooks.
pub(super) struct Hooks;

impl Installer for Hooks {
    fn parts(&self, setting: &Setting, _: bool) -> Result<Vec<Box<dyn Part>>, String> {
        Ok(vec![Box::new(hooks(setting)?)])
    }

    fn registered(&self, setting: &Setting, text: &str) -> Option<Ours> {
        hooks(setting).ok()?.registered(text)
    }

    fn switched_off(&self, settings: &Value) -> Vec<String> {
        let off = settings.get("disableAllHooks") == Some(&Value::Bool(true));
        let why = || "`disableAllHooks` is on in this file: Sayso is not asked until it is off.".to_owned();
        off.then(why).into_iter().collect()
    }

    fn switched_off_elsewhere(&self, setting: &Setting) -> Vec<String> {
        if setting.scope == Scope::Managed {
            return Vec::new();
        }
        let files = ["settings.json", "config.json"].map(|name| setting.folder_of(&super::ROW).join(name));
        let off = files.iter().filter_map(|path| is_set(path, "/disableAllHooks", true));
        off.map(|path| format!("`disableAllHooks` is on in {path}.")).collect()
    }

    fn runs_calls_of_late_hooks(&self) -> bool {
        true
    }
}

/// A file of hooks beside those of others. Copilot denies when a hook fails and runs the call when one is late: so the
/// hook is ended from outside before that, where the system has a program for it.
fn hooks(setting: &Setting) -> Result<HooksFile, String> {
    let command = HookCommand::new(Agent::COPILOT, setting)?;
    let entry = |(event, decides): &(&'static str, bool)| {
        let seconds = if *decides { CALL_SECONDS } else { NOTE_SECONDS };
        let words = command.limited(seconds);
        let (program, args) = words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        Entry { event, handler: json!({"type": "command", "exec": program, "args": args, "timeoutSec": seconds}) }
    };
    Ok(HooksFile {
        agent: Agent::COPILOT,
        path: path(setting),
        shape: Shape::Flat,
        comments: Comments::Refused,
        version: Some(1),
        switch: None,
        entries: EVENTS.iter().map(entry).collect(),
    })
}

fn path(setting: &Setting) -> PathBuf {
    match setting.scope {
        Scope::User => setting.folder_of(&super::ROW).join("hooks/sayso.json"),
        Scope::Project => setting.project.join(".github/hooks/sayso.json"),
        Scope::Managed => setting.root.join("etc/github-copilot/policy.d/sayso.json"),
    }
}
