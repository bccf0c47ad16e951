//! `~/.claude/projects/PROJECT/SESSION.jsonl`, and its subagents in folders beside it. Seen with 2.1.325.

use crate::reconcile::transcript::{files, lines, text, time_ms};
use crate::reconcile::{Read, TranscriptCall, as_values};
use sayso_gate::history::Outcome;
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How a result begins that a person's no is told with.
const REFUSED: [&str; 2] =
    ["The user doesn't want to proceed with this tool use", "The user doesn't want to take this action right now"];

pub(super) fn read(folder: &Path, since_ms: u64, read: &mut Read) {
    let mut known = HashSet::new();
    let is_transcript = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    for path in files(&folder.join("projects"), is_transcript, read) {
        lines(&path, &["\"tool_use\"", "\"tool_result\""], read, |read, line| {
            let session = text(&line, "sessionId");
            let time = text(&line, "timestamp").as_deref().and_then(time_ms);
            let blocks = line.pointer("/message/content").and_then(Value::as_array);
            for block in blocks.into_iter().flatten() {
                match block.get("type").and_then(Value::as_str) {
                    Some("tool_use") => {}
                    Some("tool_result") => {
                        read.ended(&session, text(block, "tool_use_id"), outcome(block), time);
                        continue;
                    }
                    _ => continue,
                }
                let call = TranscriptCall {
                    agent: super::ROW.name,
                    session: session.clone(),
                    id: text(block, "id"),
                    tool: text(block, "name").unwrap_or_default(),
                    arguments: as_values(block.get("input").unwrap_or(&Value::Null)),
                    time_ms: time,
                    transcript: path.clone(),
                    cwd: text(&line, "cwd").map(PathBuf::from),
                    subagent: line.get("isSidechain").and_then(Value::as_bool).unwrap_or(false),
                    outcome: Outcome::Unknown,
                    waited_ms: None,
                };
                read.add(call, &mut known, since_ms);
            }
        });
    }
}

fn outcome(result: &Value) -> Outcome {
    if result.get("is_error").and_then(Value::as_bool) != Some(true) {
        return Outcome::Ran;
    }
    let content = result.get("content").unwrap_or(&Value::Null);
    let said = content.as_str().or_else(|| content.pointer("/0/text").and_then(Value::as_str)).unwrap_or_default();
    if REFUSED.iter().any(|begin| said.starts_with(begin)) { Outcome::Refused } else { Outcome::Failed }
}
