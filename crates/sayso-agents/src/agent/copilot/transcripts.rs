//! `~/.copilot/session-state/SESSION/events.jsonl`. Seen with 1.0.102.

use crate::reconcile::transcript::{files, lines, text, time_ms};
use crate::reconcile::{Read, TranscriptCall, as_values};
use sayso_gate::history::Outcome;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What stands in the lines that are of interest.
const WORDS: [&str; 5] = [
    "\"tool.execution_start\"",
    "\"tool.execution_complete\"",
    "\"permission.requested\"",
    "\"permission.completed\"",
    "\"session.start\"",
];

pub(super) fn read(folder: &Path, since_ms: u64, read: &mut Read) {
    let mut known = HashSet::new();
    let is_events = |path: &Path| path.file_name().is_some_and(|name| name == "events.jsonl");
    for path in files(&folder.join("session-state"), is_events, read) {
        let session = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).map(ToOwned::to_owned);
        let mut cwd = None;
        // Questions that people were asked: which call each is about, and when.
        let mut asked: HashMap<String, (String, Option<u64>)> = HashMap::new();
        lines(&path, &WORDS, read, |read, line| {
            let Some(data) = line.get("data") else { return };
            let time = text(&line, "timestamp").as_deref().and_then(time_ms);
            // Of a subagent, if it names one.
            let subagent = text(&line, "agentId");
            let session = subagent.clone().or_else(|| session.clone());
            match line.get("type").and_then(Value::as_str) {
                Some("session.start") => {
                    let folder = data.pointer("/context/cwd").or_else(|| data.get("cwd")).and_then(Value::as_str);
                    cwd = folder.map(PathBuf::from);
                }
                Some("tool.execution_start") => {
                    let call = TranscriptCall {
                        agent: super::ROW.name,
                        session,
                        id: text(data, "toolCallId"),
                        tool: text(data, "toolName").unwrap_or_default(),
                        arguments: as_values(data.get("arguments").unwrap_or(&Value::Null)),
                        time_ms: time,
                        transcript: path.clone(),
                        cwd: cwd.clone(),
                        subagent: subagent.is_some(),
                        outcome: Outcome::Unknown,
                        waited_ms: None,
                    };
                    read.add(call, &mut known, since_ms);
                }
                Some("tool.execution_complete") => {
                    let ran = data.get("success").and_then(Value::as_bool) != Some(false);
                    let outcome = if ran { Outcome::Ran } else { Outcome::Failed };
                    read.ended(&session, text(data, "toolCallId"), outcome, time);
                }
                Some("permission.requested") => {
                    let call = data.pointer("/permissionRequest/toolCallId").and_then(Value::as_str);
                    if let (Some(request), Some(call)) = (text(data, "requestId"), call) {
                        asked.insert(request, (call.to_owned(), time));
                    }
                }
                Some("permission.completed") => {
                    let Some((call, began)) = text(data, "requestId").and_then(|id| asked.remove(&id)) else { return };
                    let kind = data.pointer("/result/kind").and_then(Value::as_str).unwrap_or_default();
                    if let (Some(began), Some(ended)) = (began, time) {
                        read.waited(&session, call.clone(), ended.saturating_sub(began));
                    }
                    if kind == "denied-interactively-by-user" {
                        read.ended(&session, Some(call), Outcome::Refused, time);
                    }
                }
                _ => {}
            }
        });
    }
}
