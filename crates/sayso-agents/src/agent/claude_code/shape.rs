//! The shape of Claude Code's events, which Codex and, on demand, Copilot send too.

use crate::event::{After, Event, HookCall, Occasion};
use crate::json;
use sayso_gate::audit::Ended;
use serde_json::{Map, Value};

/// Reads an event.
pub(in crate::agent) fn read(object: &Map<String, Value>) -> Result<Event, String> {
    let name = json::text(object, "hook_event_name")?.ok_or("The agent's message names no event")?;
    let occasion = occasion(&name, object)?;
    Ok(Event {
        session: json::text(object, "session_id")?,
        transcript: json::text(object, "transcript_path")?,
        cwd: json::folder(object, "cwd")?,
        subagents: json::text(object, "agent_id")?.into_iter().collect(),
        kind: json::text(object, "agent_type")?,
        model: object.get("model").and_then(Value::as_str).map(str::to_owned),
        ..Event::new(name, occasion)
    })
}

fn occasion(name: &str, object: &Map<String, Value>) -> Result<Occasion, String> {
    Ok(match name {
        "PreToolUse" => Occasion::BeforeTool(call(object)),
        "PermissionRequest" => Occasion::Permission(call(object)),
        "PostToolUse" => Occasion::AfterTool(after(object, Some(true))),
        "PostToolUseFailure" => Occasion::AfterTool(after(object, Some(false))),
        "SessionStart" => Occasion::SessionStart,
        "SessionEnd" => Occasion::SessionEnd,
        "SubagentStart" => Occasion::SubagentStart(json::text(object, "agent_type")?),
        "ConfigChange" => {
            let parts = [json::text(object, "source")?, json::text(object, "file_path")?];
            Occasion::ConfigChange(parts.into_iter().flatten().collect::<Vec<_>>().join(": "))
        }
        // They speak of tools after the fact: nothing is left to decide.
        "PostToolBatch" | "PermissionDenied" => Occasion::Other,
        _ if object.contains_key("tool_name") || object.contains_key("tool_input") => Occasion::Unknown,
        _ => Occasion::Other,
    })
}

/// The call of an event.
pub(in crate::agent) fn call(object: &Map<String, Value>) -> Result<HookCall, String> {
    let tool = json::text(object, "tool_name")?.filter(|tool| !tool.trim().is_empty());
    let input = object.get("tool_input").filter(|input| input.is_object());
    let server = match object.get("mcp_server") {
        None | Some(Value::Null) => None,
        Some(Value::Object(server)) => json::text(server, "name")?,
        Some(_) => return Err("The call's `mcp_server` is not an object".to_owned()),
    };
    Ok(HookCall {
        tool: tool.ok_or("The call does not name a tool")?,
        input: input.ok_or("The call's `tool_input` is not an object")?.clone(),
        server,
        id: json::text(object, "tool_use_id")?,
    })
}

/// How a call went. Read leniently: nothing depends on it but the record.
pub(in crate::agent) fn after(object: &Map<String, Value>, ok: Option<bool>) -> After {
    let text = |key| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let response = object.get("tool_response").and_then(Value::as_object);
    let usage = response.and_then(|response| response.get("usage")).and_then(Value::as_object);
    let tokens = |key| usage.and_then(|usage| json::count(usage, &[key]));
    After {
        tool: text("tool_name"),
        id: text("tool_use_id"),
        ended: Ended {
            ok,
            duration_ms: json::count(object, &["duration_ms"]),
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
        },
        error: text("error"),
        command: object.get("tool_input").and_then(|input| input.get("command")?.as_str()).map(str::to_owned),
        interrupted: [object.get("is_interrupt"), response.and_then(|response| response.get("interrupted"))]
            .contains(&Some(&Value::Bool(true))),
        background: object.get("tool_input").and_then(|input| input.get("run_in_background"))
            == Some(&Value::Bool(true)),
    }
}
