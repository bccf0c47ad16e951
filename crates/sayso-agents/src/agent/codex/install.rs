//! Where Codex keeps its hooks, and what Sayso's look like there. Measured on 0.166.0.

use super::managed;
use super::trust::{self, Trust};
use crate::Agent;
use crate::install::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS, Ours};
use crate::install::hooks_json::{Entry, HooksFile, Shape};
use crate::install::part::Part;
use crate::install::{Comments, Finding, Installer, Scope, Setting};
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

/// Codex's hooks, and its trust in them.
pub(super) struct Hooks;

impl Installer for Hooks {
    fn parts(&self, setting: &Setting, trust: bool) -> Result<Vec<Box<dyn Part>>, String> {
        if setting.scope == Scope::Managed {
            return Ok(vec![Box::new(managed::requirements(setting)?)]);
        }
        let mut parts: Vec<Box<dyn Part>> = vec![Box::new(hooks(setting)?)];
        if trust {
            parts.push(Box::new(Trust::new(setting)?));
        }
        Ok(parts)
    }

    fn registered(&self, setting: &Setting, text: &str) -> Option<Ours> {
        match setting.scope {
            Scope::Managed => managed::registered(text),
            Scope::User | Scope::Project => hooks(setting).ok()?.registered(text),
        }
    }

    fn untrusted(&self, setting: &Setting, text: &str) -> Vec<Finding> {
        if setting.scope == Scope::Managed { Vec::new() } else { trust::missing(setting, text) }
    }

    fn trust_question(&self, setting: &Setting) -> Option<&'static str> {
        (setting.scope != Scope::Managed).then_some(
            "Codex runs no hook before you trust it. Record your trust in this hook, so that it runs at once?",
        )
    }

    fn advice(&self, setting: &Setting) -> Option<&'static str> {
        (setting.scope != Scope::Managed && !setting.trust).then_some(
            "Codex runs no hook before you trust it: it asks at its next start, or `sayso install codex --trust` records your yes.",
        )
    }

    fn runs_calls_of_late_hooks(&self) -> bool {
        true
    }
}

/// The hooks with Sayso in them. The command runs in a shell, and Codex runs the call after every failure but exit
/// code 2 with a reason: so the line makes that of every failure.
pub(super) fn hooks(setting: &Setting) -> Result<HooksFile, String> {
    let command = HookCommand::new(Agent::CODEX, setting)?;
    let entry = |(event, decides): &(&'static str, bool)| {
        let seconds = kept_seconds(event, if *decides { CALL_SECONDS } else { NOTE_SECONDS });
        let line = command.guarded_line(seconds);
        Entry { event, handler: json!({"type": "command", "command": line, "timeout": seconds}) }
    };
    Ok(HooksFile {
        agent: Agent::CODEX,
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
        Scope::User => setting.folder_of(&super::ROW),
        Scope::Project => setting.project.join(".codex"),
        Scope::Managed => setting.root.join("etc/codex"),
    }
}
