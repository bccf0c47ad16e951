//! Where Copilot CLI keeps its hooks, and what Sayso's look like there. Measured on 1.0.102.

use super::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS};
use super::hooks_json::{Entry, HooksFile, Shape};
use super::json_text::Comments;
use super::{Scope, Setting};
use crate::Agent;
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

/// A file of hooks beside those of others. Copilot denies when a hook fails and runs the call when one is late: so the
/// hook is ended from outside before that, where the system has a program for it.
pub(super) fn hooks(setting: &Setting) -> Result<HooksFile, String> {
    let command = HookCommand::new(Agent::Copilot, setting)?;
    let entry = |(event, decides): &(&'static str, bool)| {
        let seconds = if *decides { CALL_SECONDS } else { NOTE_SECONDS };
        let words = command.limited(seconds);
        let (program, args) = words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        Entry { event, handler: json!({"type": "command", "exec": program, "args": args, "timeoutSec": seconds}) }
    };
    Ok(HooksFile {
        agent: Agent::Copilot,
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
        Scope::User => setting.agent_folder_or(".copilot").join("hooks/sayso.json"),
        Scope::Project => setting.project.join(".github/hooks/sayso.json"),
        Scope::Managed => setting.root.join("etc/github-copilot/policy.d/sayso.json"),
    }
}

/// What in this file switches Sayso off.
pub(super) fn switched_off(settings: &Value) -> Vec<String> {
    let mut why = Vec::new();
    if settings.get("disableAllHooks") == Some(&Value::Bool(true)) {
        why.push("`disableAllHooks` is on in this file, so Sayso sees no calls until it is off.".to_owned());
    }
    why
}
