//! `~/.claude/projects/PROJECT/SESSION.jsonl`, and its subagents in folders beside it. Seen with 2.1.325.

use crate::reconcile::transcript::{files, lines, text, time_ms};
use crate::reconcile::{Read, TranscriptCall, as_recorded};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

pub(super) fn read(folder: &Path, since_ms: u64, read: &mut Read) {
    let mut known = HashSet::new();
    let is_transcript = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    for path in files(&folder.join("projects"), is_transcript, read) {
        lines(&path, &["\"tool_use\""], read, |read, line| {
            let blocks = line.pointer("/message/content").and_then(Value::as_array);
            for block in blocks.into_iter().flatten() {
                if block.get("type").and_then(Value::as_str) != Some("tool_use") {
                    continue;
                }
                let call = TranscriptCall {
                    agent: super::ROW.name,
                    session: text(&line, "sessionId"),
                    id: text(block, "id"),
                    tool: text(block, "name").unwrap_or_default(),
                    arguments: as_recorded(block.get("input").unwrap_or(&Value::Null)),
                    time_ms: text(&line, "timestamp").as_deref().and_then(time_ms),
                    transcript: path.clone(),
                };
                read.add(call, &mut known, since_ms);
            }
        });
    }
}
