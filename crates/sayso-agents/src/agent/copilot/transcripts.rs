//! `~/.copilot/session-state/SESSION/events.jsonl`. Seen with 1.0.102.

use crate::reconcile::transcript::{files, lines, text, time_ms};
use crate::reconcile::{Read, TranscriptCall, as_recorded};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

pub(super) fn read(folder: &Path, since_ms: u64, read: &mut Read) {
    let mut known = HashSet::new();
    let is_events = |path: &Path| path.file_name().is_some_and(|name| name == "events.jsonl");
    for path in files(&folder.join("session-state"), is_events, read) {
        let session = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).map(ToOwned::to_owned);
        lines(&path, &["\"tool.execution_start\""], read, |read, line| {
            let Some(data) = line.get("data") else { return };
            if line.get("type").and_then(Value::as_str) != Some("tool.execution_start") {
                return;
            }
            let call = TranscriptCall {
                agent: super::ROW.name,
                // Of a subagent, if it names one.
                session: text(&line, "agentId").or_else(|| session.clone()),
                id: text(data, "toolCallId"),
                tool: text(data, "toolName").unwrap_or_default(),
                arguments: as_recorded(data.get("arguments").unwrap_or(&Value::Null)),
                time_ms: text(&line, "timestamp").as_deref().and_then(time_ms),
                transcript: path.clone(),
            };
            read.add(call, &mut known, since_ms);
        });
    }
}
