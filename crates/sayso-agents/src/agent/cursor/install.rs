//! Where Cursor keeps its hooks, and what Sayso's look like there. From its documentation; not measured.

use crate::Agent;
use crate::install::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS, Ours};
use crate::install::hooks_json::{Entry, HooksFile, Shape};
use crate::install::part::Part;
use crate::install::{Comments, Installer, Scope, Setting};
use serde_json::json;
use std::path::PathBuf;

/// The events that Sayso answers, and whether something is decided there: then a failure of the hook blocks.
const EVENTS: &[(&str, bool)] = &[
    ("preToolUse", true),
    ("beforeShellExecution", true),
    ("beforeMCPExecution", true),
    ("beforeReadFile", true),
    ("subagentStart", true),
    ("postToolUse", false),
    ("sessionStart", false),
    ("sessionEnd", false),
];

/// Cursor's hooks.
pub(super) struct Hooks;

impl Installer for Hooks {
    fn parts(&self, setting: &Setting, _: bool) -> Result<Vec<Box<dyn Part>>, String> {
        Ok(vec![Box::new(hooks(setting)?)])
    }

    fn registered(&self, setting: &Setting, text: &str) -> Option<Ours> {
        hooks(setting).ok()?.registered(text)
    }
}

/// Its hooks with Sayso in them. The command runs in a shell; `failClosed` makes every failure a block.
fn hooks(setting: &Setting) -> Result<HooksFile, String> {
    let command = HookCommand::new(Agent::CURSOR, setting)?;
    let entry = |(event, decides): &(&'static str, bool)| {
        let seconds = if *decides { CALL_SECONDS } else { NOTE_SECONDS };
        let mut handler = json!({"command": command.guarded_line(seconds), "timeout": seconds});
        if let (true, Some(handler)) = (*decides, handler.as_object_mut()) {
            handler.insert("failClosed".to_owned(), json!(true));
        }
        Entry { event, handler }
    };
    Ok(HooksFile {
        agent: Agent::CURSOR,
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
        Scope::User => setting.folder_of(&super::ROW).join("hooks.json"),
        Scope::Project => setting.project.join(".cursor/hooks.json"),
        Scope::Managed if cfg!(target_os = "macos") => {
            setting.root.join("Library/Application Support/Cursor/hooks.json")
        }
        Scope::Managed => setting.root.join("etc/cursor/hooks.json"),
    }
}
