//! Gemini CLI's words. Measured on 0.61.0.
//!
//! `BeforeTool` is asked before every call. `allow` is no objection, Gemini's own policy still speaks; `ask` makes it
//! ask a person, for certain only in some of its tools ([`ASKED`]) and with a person at its terminal: without one the
//! question never ends if an MCP server is configured, and other tools run. So elsewhere an Ask waits for an approver, or
//! is a denial. An empty answer counts as none at all, and then standard error is
//! read in its place: so every answer about a call is an object. Subagents' calls come without a sign of their own.

use crate::dialect::{Dialect, Person};
use crate::event::{After, Event, HookCall, Occasion};
use crate::hook_answer::Word;
use crate::seat::Seat;
use crate::{Agent, HookOutput, json};
use sayso_gate::audit::Ended;
use serde_json::{Map, Value, json};

pub(super) struct Gemini;

/// Tools for which `ask` leads to a prompt in every mode, read in 0.61.0. Not those of MCP servers: one with
/// `"trust": true`, or that was allowed once for good, runs without. Not `replace` and `write_file`: they ask nothing
/// where the change cannot be shown, and it may be possible by the time it is made. Not `invoke_agent`,
/// `activate_skill`, `enter_plan_mode`, `exit_plan_mode` and `ask_user`, which go by their own rules.
const ASKED: &[&str] = &[
    "run_shell_command",
    "web_fetch",
    "google_web_search",
    "read_file",
    "read_many_files",
    "list_directory",
    "glob",
    "grep_search",
    "search_file_content",
];

/// With a person before it: by its own test for that, and with no argument but these.
static SEAT: Seat = Seat {
    programs: &["gemini"],
    switches: &["-y", "--yolo", "-d", "--debug", "-s", "--sandbox", "--skip-trust", "--screen-reader"],
    options: &["-m", "--model", "--approval-mode", "-i", "--prompt-interactive", "--include-directories"],
    absent: &["CI", "GITHUB_ACTIONS"],
};

impl Dialect for Gemini {
    fn agent(&self) -> Agent {
        Agent::GEMINI
    }

    fn project_variable(&self) -> Option<&'static str> {
        Some("GEMINI_PROJECT_DIR")
    }

    fn read(&self, object: &Map<String, Value>) -> Result<Event, String> {
        let name = json::text(object, "hook_event_name")?.ok_or("The agent's message names no event")?;
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

    fn person(&self, event: &Event) -> Person {
        let asked = |call: &HookCall| call.server.is_none() && ASKED.contains(&call.tool.as_str());
        if event.call().is_some_and(asked) { Person::InQueueOrSeated(&SEAT) } else { Person::InQueue }
    }

    fn rewrites(&self, event: &Event, call: &HookCall) -> bool {
        event.name == "BeforeTool" && call.server.is_none() && call.tool == "run_shell_command"
    }

    fn say(&self, _: &Event, word: Word, why: &str) -> HookOutput {
        HookOutput::object(&match word {
            Word::Allow(permit) => permit.spend(|| json!({"decision": "allow"})),
            Word::Held(input) => json!({"decision": "allow", "hookSpecificOutput": {
                "hookEventName": "BeforeTool", "tool_input": input.into_input(),
            }}),
            Word::Ask => json!({"decision": "ask", "reason": why}),
            Word::Deny => json!({"decision": "deny", "reason": why}),
        })
    }
}

fn call(object: &Map<String, Value>) -> Result<HookCall, String> {
    let tool = json::text(object, "tool_name")?.filter(|tool| !tool.trim().is_empty());
    let input = object.get("tool_input").filter(|input| input.is_object());
    // Gemini cuts and cleans the names it puts together from server and tool; here are the two as they are.
    let (server, of_server) = match object.get("mcp_context") {
        None | Some(Value::Null) => (None, None),
        Some(Value::Object(context)) => (json::text(context, "server_name")?, json::text(context, "tool_name")?),
        Some(_) => return Err("The call's `mcp_context` is not an object".to_owned()),
    };
    let of_server = of_server.filter(|_| server.is_some());
    Ok(HookCall {
        tool: tool.map(|tool| of_server.unwrap_or(tool)).ok_or("The call does not name a tool")?,
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
        command: object.get("tool_input").and_then(|input| input.get("command")?.as_str()).map(str::to_owned),
        background: object.get("tool_input").and_then(|input| input.get("is_background")) == Some(&Value::Bool(true)),
        ..After::default()
    }
}
