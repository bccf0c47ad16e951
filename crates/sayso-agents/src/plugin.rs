//! What Sayso's own plugins say to `sayso hook opencode` and `sayso hook openclaw`, and what they hear.
//!
//! OpenCode and OpenClaw run no program before a call; they run plugins. Sayso's plugin there is a few lines that start
//! `sayso hook AGENT`, write one JSON object to its standard input, close it, and read one JSON object from its standard
//! output. This page is the contract between the two.
//!
//! In, for every event:
//!
//! | key | |
//! |---|---|
//! | `event` | `tool.before`, `permission`, `tool.after`, `session.start`, `session.end`, `subagent.start` or `config.change` |
//! | `sessionID` | the agent's id of the session |
//! | `parentSessionID` | the session that started this one, for a subagent; or `agentID`, the subagent's own id |
//! | `cwd` | where commands would run, absolute |
//! | `directory` | the project's folder as the agent knows it, absolute: fixes the workspace at the session's first word |
//!
//! with `tool.before` and `permission` also `tool` (the agent's own name), `args` (an object, exactly as the tool would
//! get it), `callID`, and `server` if the agent says which MCP server the tool is of; with `tool.after` also `tool`,
//! `callID`, `ok` (a boolean), and where known `durationMs`, `tokens` (`{"input": 1, "output": 2}`) and `error`; with
//! `subagent.start` also `agent`, its kind; with `config.change` also `file`.
//!
//! ```json
//! {"event":"tool.before","tool":"bash","args":{"command":"ls"},"sessionID":"ses_1","callID":"call_1","cwd":"/p","directory":"/p"}
//! ```
//!
//! Out, with exit code 0: one object on one line,
//!
//! ```json
//! {"decision":"allow","reason":"..."}
//! ```
//!
//! where `decision` is `allow`, `deny`, `ask` (OpenClaw only: it has a prompt of its own that a plugin can call for) or,
//! for events at which nothing is decided, `none`. `args`, if it is there, replaces the call's arguments.
//!
//! INVARIANT for a plugin: a call runs only after exit code 0 and a whole object whose `decision` is `allow`. Anything
//! else (another exit code, no output, output that is no such object, a process that cannot be started) stops the call,
//! with standard error as the reason where there is any.

use crate::event::{After, Event, HookCall, Occasion};
use crate::hook_answer::Word;
use crate::{HookOutput, json};
use sayso_gate::audit::Ended;
use serde_json::{Map, Value, json};

/// Reads an event.
pub(crate) fn read(object: &Map<String, Value>) -> Result<Event, String> {
    let name = json::text(object, "event")?.ok_or("The plugin's message names no event")?;
    let occasion = match name.as_str() {
        "tool.before" => Occasion::BeforeTool(call(object)),
        "permission" => Occasion::Permission(call(object)),
        "tool.after" => Occasion::AfterTool(after(object)),
        "session.start" => Occasion::SessionStart,
        "session.end" => Occasion::SessionEnd,
        "subagent.start" => Occasion::SubagentStart(json::text(object, "agent")?),
        "config.change" => Occasion::ConfigChange(json::text(object, "file")?.unwrap_or_default()),
        // The plugin is ours: an event that this version does not know is of another version, and may be one to decide.
        _ => Occasion::Unknown,
    };
    let session = json::text(object, "sessionID")?;
    let parent = json::text(object, "parentSessionID")?;
    let subagent = json::text(object, "agentID")?;
    // A subagent works in the workspace of the session that started it, and that session is its ceiling.
    let (session, subagents) = match (parent, session, subagent) {
        (Some(parent), child, _) => (Some(parent), child.into_iter().collect()),
        (None, session, subagent) => (session, subagent.into_iter().collect()),
    };
    Ok(Event {
        session,
        cwd: json::folder(object, "cwd")?,
        project: json::folder(object, "directory")?,
        subagents,
        kind: json::text(object, "agentType")?,
        model: json::text(object, "model")?.filter(|model| model.contains('/')),
        ..Event::new(name, occasion)
    })
}

fn call(object: &Map<String, Value>) -> Result<HookCall, String> {
    let tool = json::text(object, "tool")?.filter(|tool| !tool.trim().is_empty());
    let input = object.get("args").and_then(json::object_or_text);
    Ok(HookCall {
        tool: tool.ok_or("The call does not name a tool")?,
        input: input.ok_or("The call's `args` are not an object")?,
        server: json::text(object, "server")?,
        id: json::text(object, "callID")?,
    })
}

fn after(object: &Map<String, Value>) -> After {
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let tokens = object.get("tokens").and_then(Value::as_object);
    let count = |key| tokens.and_then(|tokens| json::count(tokens, &[key]));
    After {
        tool: text("tool"),
        id: text("callID"),
        ended: Ended {
            ok: object.get("ok").and_then(Value::as_bool),
            duration_ms: json::count(object, &["durationMs"]),
            input_tokens: count("input"),
            output_tokens: count("output"),
        },
        error: text("error"),
        command: object.get("args").and_then(|args| args.get("command")?.as_str()).map(str::to_owned),
        interrupted: object.get("interrupted") == Some(&Value::Bool(true)),
        ..After::default()
    }
}

/// Answers an event about a call.
pub(crate) fn say(word: Word, why: &str) -> HookOutput {
    let decision = match word {
        Word::Allow(permit) => permit.spend(|| "allow"),
        Word::Held(input) => {
            return HookOutput::object(&json!({"decision": "allow", "reason": why, "args": input.into_input()}));
        }
        Word::Ask => "ask",
        Word::Deny => "deny",
    };
    HookOutput::object(&json!({"decision": decision, "reason": why}))
}

/// Answers an event at which nothing is decided.
pub(crate) fn nothing() -> HookOutput {
    HookOutput::object(&json!({"decision": "none", "reason": ""}))
}
