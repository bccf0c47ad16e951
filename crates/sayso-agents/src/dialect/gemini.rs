//! Gemini CLI's words. Measured on 0.61.0.
//!
//! `BeforeTool` is asked before every call. `allow` is no objection, Gemini's own policy still speaks; `ask` makes it
//! ask a person, and without one the call is denied. An empty answer counts as none at all, and then standard error is
//! read in its place: so every answer about a call is an object. Subagents' calls come without a sign of their own.

use super::{Dialect, Person};
use crate::event::{After, Call, Event, Occasion};
use crate::said::Word;
use crate::{Agent, HookOutput, json};
use sayso_gate::audit::Ended;
use serde_json::{Map, Value, json};

pub(super) struct Gemini;

impl Dialect for Gemini {
    fn agent(&self) -> Agent {
        Agent::Gemini
    }

    fn project_variable(&self) -> Option<&'static str> {
        Some("GEMINI_PROJECT_DIR")
    }

    fn read(&self, object: &Map<String, Value>) -> Result<Event, String> {
        let name = json::text(object, "hook_event_name")?.ok_or("What the agent sent names no event")?;
        let occasion = match name.as_str() {
            "BeforeTool" => Occasion::BeforeTool(call(object)),
            "AfterTool" => Occasion::AfterTool(after(object)),
            "SessionStart" => Occasion::SessionStart,
            "SessionEnd" => Occasion::SessionEnd,
            // What the model may choose from, and notices of Gemini's own prompt: nothing runs by them.
            "BeforeToolSelection" | "Notification" => Occasion::Other,
            _ if object.contains_key("tool_name") || object.contains_key("tool_input") => Occasion::Unknown,
            _ => Occasion::Other,
        };
        Ok(Event {
            session: json::text(object, "session_id")?,
            transcript: json::text(object, "transcript_path")?,
            cwd: json::folder(object, "cwd")?,
            ..Event::new(name, occasion)
        })
    }

    fn person(&self, _: &Event) -> Person {
        Person::InQueueOrAtPrompt
    }

    fn say(&self, _: &Event, word: Word, why: &str) -> HookOutput {
        HookOutput::object(&match word {
            Word::Allow(permit) => {
                drop(permit);
                json!({"decision": "allow"})
            }
            Word::Ask => json!({"decision": "ask", "reason": why}),
            Word::Deny => json!({"decision": "deny", "reason": why}),
        })
    }
}

fn call(object: &Map<String, Value>) -> Result<Call, String> {
    let tool = json::text(object, "tool_name")?.filter(|tool| !tool.trim().is_empty());
    let input = object.get("tool_input").filter(|input| input.is_object());
    // Gemini cuts and cleans the names it puts together from server and tool; here are the two as they are.
    let (server, of_server) = match object.get("mcp_context") {
        None | Some(Value::Null) => (None, None),
        Some(Value::Object(context)) => (json::text(context, "server_name")?, json::text(context, "tool_name")?),
        Some(_) => return Err("The call's `mcp_context` is not an object".to_owned()),
    };
    let of_server = of_server.filter(|_| server.is_some());
    Ok(Call {
        tool: tool.map(|tool| of_server.unwrap_or(tool)).ok_or("The call names no tool")?,
        input: input.ok_or("The call's `tool_input` is not an object")?.clone(),
        server,
        id: None,
    })
}

fn after(object: &Map<String, Value>) -> After {
    let response = object.get("tool_response").and_then(Value::as_object);
    let error = response.and_then(|response| response.get("error")).filter(|error| !error.is_null());
    let message = |error: &Value| match error.get("message").unwrap_or(error) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    After {
        tool: object.get("tool_name").and_then(Value::as_str).map(str::to_owned),
        id: None,
        ended: Ended { ok: response.map(|_| error.is_none()), ..Ended::default() },
        error: error.map(message),
    }
}
