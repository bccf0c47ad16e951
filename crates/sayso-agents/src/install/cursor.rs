//! Where Cursor keeps its hooks, and what Sayso's look like there. From its documentation; not measured.

use super::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS};
use super::hooks_json::{Entry, HooksFile, Shape};
use super::json_text::Comments;
use super::{Scope, Setting};
use crate::Agent;
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

/// Cursor's hooks with Sayso in them. The command runs in a shell; `failClosed` makes every failure a block.
pub(super) fn hooks(setting: &Setting) -> Result<HooksFile, String> {
    let command = HookCommand::new(Agent::Cursor, setting)?;
    let entry = |(event, decides): &(&'static str, bool)| {
        let seconds = if *decides { CALL_SECONDS } else { NOTE_SECONDS };
        let mut handler = json!({"command": command.guarded_line(seconds), "timeout": seconds});
        if let (true, Some(handler)) = (*decides, handler.as_object_mut()) {
            handler.insert("failClosed".to_owned(), json!(true));
        }
        Entry { event, handler }
    };
    Ok(HooksFile {
        agent: Agent::Cursor,
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
        Scope::User => setting.agent_folder_or(".cursor").join("hooks.json"),
        Scope::Project => setting.project.join(".cursor/hooks.json"),
        Scope::Managed if cfg!(target_os = "macos") => {
            setting.root.join("Library/Application Support/Cursor/hooks.json")
        }
        Scope::Managed => setting.root.join("etc/cursor/hooks.json"),
    }
}
