//! Where Codex keeps its hooks, and what Sayso's look like there. Measured on 0.166.0.

use super::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS};
use super::hooks_json::{Entry, HooksFile, Shape};
use super::json_text::Comments;
use super::{Scope, Setting};
use crate::Agent;
use serde_json::json;
use std::path::PathBuf;

/// The events that Sayso answers, and whether something is decided there.
pub(super) const EVENTS: &[(&str, bool)] = &[
    ("PreToolUse", true),
    ("PermissionRequest", true),
    ("PostToolUse", false),
    ("SessionStart", false),
    ("SessionEnd", false),
    ("SubagentStart", false),
];

/// Codex's hooks with Sayso in them. The command runs in a shell, and Codex runs the call after every failure but exit
/// code 2 with a reason: so the line makes that of every failure.
pub(super) fn hooks(setting: &Setting) -> Result<HooksFile, String> {
    let command = HookCommand::new(Agent::Codex, setting)?;
    let entry = |(event, decides): &(&'static str, bool)| {
        let seconds = kept_seconds(event, if *decides { CALL_SECONDS } else { NOTE_SECONDS });
        let line = command.guarded_line(seconds);
        Entry { event, handler: json!({"type": "command", "command": line, "timeout": seconds}) }
    };
    Ok(HooksFile {
        agent: Agent::Codex,
        path: folder(setting).join("hooks.json"),
        shape: Shape::Groups,
        comments: Comments::Refused,
        version: None,
        switch: None,
        entries: EVENTS.iter().map(entry).collect(),
    })
}

/// How long Codex waits for a hook that asks for so many seconds. It cuts what an ending session waits for, and goes by
/// what is left when it compares the hook with the one that was trusted.
pub(super) fn kept_seconds<T: Ord + From<u8>>(event: &str, seconds: T) -> T {
    if event == "SessionEnd" { seconds.min(T::from(3)) } else { seconds }
}

/// The folder of the layer that hooks are put in.
pub(super) fn folder(setting: &Setting) -> PathBuf {
    match setting.scope {
        Scope::User => user_folder(setting),
        Scope::Project => setting.project.join(".codex"),
        Scope::Managed => setting.root.join("etc/codex"),
    }
}

/// The user's own folder, where trust is kept for every layer.
pub(super) fn user_folder(setting: &Setting) -> PathBuf {
    setting.agent_folder_or(".codex")
}
