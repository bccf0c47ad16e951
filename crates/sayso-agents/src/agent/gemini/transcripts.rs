//! `~/.gemini/tmp/PROJECT/chats/session-*.jsonl` (one value in older versions: `.json`). Seen with 0.61.0. A message is
//! written again when its calls are done, so calls are known by their ids. A subagent's are in `chats/SESSION/SUBAGENT.jsonl`,
//! where the folder is named by the session that started it; hooks are told that session.

use crate::reconcile::transcript::{files, lines, text, time_ms, whole};
use crate::reconcile::{Read, TranscriptCall, as_values};
use sayso_gate::history::Outcome;
use serde_json::Value;
use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub(super) fn read(folder: &Path, since_ms: u64, read: &mut Read) {
    let mut known = HashSet::new();
    let is_chat = |path: &Path| {
        let in_chats = path.components().any(|part| part.as_os_str() == "chats");
        in_chats && path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json")
    };
    for path in files(&folder.join("tmp"), is_chat, read) {
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let root = folder.filter(|name| *name != "chats").map(ToOwned::to_owned);
        let cwd = project(&path);
        let mut session = None;
        let mut take = |read: &mut Read, value: &Value| {
            session = root.clone().or_else(|| text(value, "sessionId")).or_else(|| session.take());
            let inside = value.pointer("/$set/messages").or_else(|| value.get("messages")).and_then(Value::as_array);
            for message in inside.into_iter().flatten().chain([value]) {
                for call in message.get("toolCalls").and_then(Value::as_array).into_iter().flatten() {
                    let outcome = match call.get("status").and_then(Value::as_str) {
                        Some("success") => Outcome::Ran,
                        Some("error") => Outcome::Failed,
                        Some("cancelled") => Outcome::Refused,
                        _ => Outcome::Unknown,
                    };
                    if outcome != Outcome::Unknown {
                        read.ended(&session, text(call, "id"), outcome, None);
                    }
                    let call = TranscriptCall {
                        agent: super::ROW.name,
                        session: session.clone(),
                        id: text(call, "id"),
                        tool: text(call, "name").unwrap_or_default(),
                        arguments: as_values(call.get("args").unwrap_or(&Value::Null)),
                        time_ms: text(call, "timestamp").as_deref().and_then(time_ms),
                        transcript: path.clone(),
                        cwd: cwd.clone(),
                        subagent: root.is_some(),
                        outcome: Outcome::Unknown,
                        waited_ms: None,
                    };
                    read.add(call, &mut known, since_ms);
                }
            }
        };
        if path.extension().is_some_and(|extension| extension == "json") {
            if let Some(value) = whole(&path, read) {
                take(read, &value);
            }
        } else {
            lines(&path, &["\"sessionId\"", "\"toolCalls\""], read, |read, value| take(read, &value));
        }
    }
}

/// The project's folder, which stands in a file beside its chats.
fn project(chat: &Path) -> Option<PathBuf> {
    let folder = chat.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "chats"))?.parent()?;
    let named = folder.join(".project_root");
    // A link could lead to anything.
    if !named.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(named).ok()?.take(4096).read_to_string(&mut text).ok()?;
    Some(PathBuf::from(text.trim())).filter(|path| path.is_absolute())
}
