//! `~/.gemini/tmp/PROJECT/chats/session-*.jsonl` (one value in older versions: `.json`). Seen with 0.61.0. A message is
//! written again when its calls are done, so calls are known by their ids. A subagent's are in `chats/SESSION/SUBAGENT.jsonl`,
//! where the folder is named by the session that started it; hooks are told that session.

use crate::reconcile::transcript::{files, lines, text, time_ms, whole};
use crate::reconcile::{Read, TranscriptCall, as_recorded};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

pub(super) fn read(folder: &Path, since_ms: u64, read: &mut Read) {
    let mut known = HashSet::new();
    let is_chat = |path: &Path| {
        let in_chats = path.components().any(|part| part.as_os_str() == "chats");
        in_chats && path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json")
    };
    for path in files(&folder.join("tmp"), is_chat, read) {
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let root = folder.filter(|name| *name != "chats").map(ToOwned::to_owned);
        let mut session = None;
        let mut take = |read: &mut Read, value: &Value| {
            session = root.clone().or_else(|| text(value, "sessionId")).or_else(|| session.take());
            let inside = value.pointer("/$set/messages").or_else(|| value.get("messages")).and_then(Value::as_array);
            for message in inside.into_iter().flatten().chain([value]) {
                for call in message.get("toolCalls").and_then(Value::as_array).into_iter().flatten() {
                    let call = TranscriptCall {
                        agent: super::ROW.name,
                        session: session.clone(),
                        id: text(call, "id"),
                        tool: text(call, "name").unwrap_or_default(),
                        arguments: as_recorded(call.get("args").unwrap_or(&Value::Null)),
                        time_ms: text(call, "timestamp").as_deref().and_then(time_ms),
                        transcript: path.clone(),
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
