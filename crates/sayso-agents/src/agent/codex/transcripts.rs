//! `~/.codex/sessions/YEAR/MONTH/DAY/rollout-*.jsonl`. Seen with 0.166.0; versions before
//! 0.32 wrote the same items without an envelope, and the session in the first line. What a provider runs on its own side (web
//! searches) never passes through the agent and is left out.

use crate::reconcile::transcript::{files, lines, text, time_ms};
use crate::reconcile::{Read, TranscriptCall, as_values};
use sayso_gate::history::Outcome;
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What stands in the lines that are of interest.
const WORDS: [&str; 8] = [
    "\"instructions\"",
    "\"session_meta\"",
    "\"turn_context\"",
    "\"function_call\"",
    "\"custom_tool_call\"",
    "\"local_shell_call\"",
    "\"function_call_output\"",
    "\"custom_tool_call_output\"",
];

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
        let mut cwd = None;
        let mut subagent = false;
        // Older versions tell the time of the session alone.
        let mut began = None;
        lines(&path, &WORDS, read, |read, line| {
            let (payload, envelope) = match line.get("payload") {
                Some(payload) => (payload, line.get("type").and_then(Value::as_str)),
                None if line.get("type").is_some() => (&line, Some("response_item")),
                // The first line of an older version.
                None if session.is_none() && line.get("instructions").is_some() => {
                    session = text(&line, "id");
                    began = text(&line, "timestamp").as_deref().and_then(time_ms);
                    return;
                }
                None => return,
            };
            let kind = payload.get("type").and_then(Value::as_str);
            match (envelope, kind) {
                (Some("session_meta"), _) => {
                    session = text(payload, "id").or_else(|| text(payload, "session_id"));
                    cwd = text(payload, "cwd");
                    subagent = payload.pointer("/source/subagent").is_some();
                }
                (Some("turn_context"), _) => cwd = text(payload, "cwd").or(cwd.take()),
                (Some("response_item"), Some("function_call_output" | "custom_tool_call_output")) => {
                    let time = text(&line, "timestamp").as_deref().and_then(time_ms);
                    read.ended(&session, text(payload, "call_id"), outcome(payload), time);
                }
                (Some("response_item"), Some("function_call" | "custom_tool_call" | "local_shell_call")) => {
                    let input = ["arguments", "input", "action"].iter().find_map(|key| payload.get(*key));
                    let arguments = as_values(input.unwrap_or(&Value::Null));
                    let own = text(&arguments, "workdir").filter(|folder| Path::new(folder).is_absolute());
                    let call = TranscriptCall {
                        agent: super::ROW.name,
                        session: session.clone(),
                        id: text(payload, "call_id"),
                        tool: text(payload, "name").unwrap_or_else(|| "local_shell".to_owned()),
                        arguments,
                        time_ms: text(&line, "timestamp").as_deref().and_then(time_ms).or(began),
                        transcript: path.clone(),
                        cwd: own.or_else(|| cwd.clone()).map(PathBuf::from),
                        subagent,
                        outcome: Outcome::Unknown,
                        waited_ms: None,
                    };
                    read.add(call, &mut known, since_ms);
                }
                _ => {}
            }
        });
    }
}

/// A person's no is told as an output of its own; an exit code stands in the text, or in JSON in the text.
fn outcome(payload: &Value) -> Outcome {
    let output = payload.get("output").unwrap_or(&Value::Null);
    let said = output.as_str().or_else(|| output.get("content").and_then(Value::as_str)).unwrap_or_default();
    if matches!(said, "exec command rejected by user" | "patch rejected by user" | "rejected by user") {
        return Outcome::Refused;
    }
    let code = ["\"exit_code\":", "exited with code ", "Exit code: "].iter().find_map(|before| {
        let (_, rest) = said.split_once(before)?;
        let digits: String = rest.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
        digits.parse::<i64>().ok()
    });
    if code.is_some_and(|code| code != 0) { Outcome::Failed } else { Outcome::Ran }
}
