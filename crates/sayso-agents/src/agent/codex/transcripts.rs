//! `~/.codex/sessions/YEAR/MONTH/DAY/rollout-*.jsonl`. Seen with 0.166.0. What a provider runs on its own side (web
//! searches) never passes through the agent and is left out.

use crate::reconcile::transcript::{files, lines, text, time_ms};
use crate::reconcile::{Read, TranscriptCall, as_recorded};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

pub(super) fn read(folder: &Path, since_ms: u64, read: &mut Read) {
    let mut known = HashSet::new();
    let is_rollout = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("rollout-") && name.ends_with(".jsonl")
    };
    let mut all = files(&folder.join("sessions"), is_rollout, read);
    all.extend(files(&folder.join("archived_sessions"), is_rollout, read));
    for path in all {
        let mut session = None;
        lines(
            &path,
            &["\"session_meta\"", "\"function_call\"", "\"custom_tool_call\"", "\"local_shell_call\""],
            read,
            |read, line| {
                let Some(payload) = line.get("payload") else { return };
                let kind = payload.get("type").and_then(Value::as_str);
                match (line.get("type").and_then(Value::as_str), kind) {
                    (Some("session_meta"), _) => session = text(payload, "id").or_else(|| text(payload, "session_id")),
                    (Some("response_item"), Some("function_call" | "custom_tool_call" | "local_shell_call")) => {
                        let input = ["arguments", "input", "action"].iter().find_map(|key| payload.get(*key));
                        let call = TranscriptCall {
                            agent: super::ROW.name,
                            session: session.clone(),
                            id: text(payload, "call_id"),
                            tool: text(payload, "name").unwrap_or_else(|| "local_shell".to_owned()),
                            arguments: as_recorded(input.unwrap_or(&Value::Null)),
                            time_ms: text(&line, "timestamp").as_deref().and_then(time_ms),
                            transcript: path.clone(),
                        };
                        read.add(call, &mut known, since_ms);
                    }
                    _ => {}
                }
            },
        );
    }
}
