//! Copilot CLI's words. Measured on 1.0.102.
//!
//! Registered under a name like `preToolUse`, an event comes in Copilot's own shape, most often without its name;
//! under `PreToolUse` it comes in Claude Code's shape and is answered in Claude Code's words. Arguments come as an
//! object or as a string of JSON. A hook that fails denies the call, one that is late does not.
//!
//! No event has an id of its call. A write and a call of an MCP server are told twice, before the tool and where its
//! permission is asked for, in two shapes. A subagent's events have an id of its own in place of the session's, and
//! name who started it: the session, or another subagent.

use crate::agent::claude_code::dialect as claude_code;
use crate::agent::claude_code::shape as claude_shape;
use crate::dialect::{Dialect, Person};
use crate::event::{After, Event, HookCall, Occasion};
use crate::hook_answer::Word;
use crate::{Agent, HookOutput, json};
use sayso_gate::audit::Ended;
use serde_json::{Map, Value, json};

/// Tools that are themselves a question to a person.
const QUESTIONS: &[&str] = &["ask_user", "AskUserQuestion", "exit_plan_mode"];

pub(super) struct Copilot;

impl Dialect for Copilot {
    fn agent(&self) -> Agent {
        Agent::COPILOT
    }

    /// It runs the hooks of Claude Code's settings too.
    fn told_twice(&self) -> bool {
        true
    }

    fn read(&self, object: &Map<String, Value>) -> Result<Event, String> {
        if object.contains_key("hook_event_name") {
            return claude_like(object);
        }
        let hook = json::text_of(object, &["hookName", "hookEventName"])?;
        let name = hook.unwrap_or_else(|| guessed(object).to_owned());
        let occasion = match name.as_str() {
            "preToolUse" => Occasion::BeforeTool(call(object, "toolName", "toolArgs")),
            "permissionRequest" => Occasion::Permission(call(object, "toolName", "toolInput").map(server_and_tool)),
            "postToolUse" | "postToolUseFailure" => Occasion::AfterTool(after(object)),
            "sessionStart" => Occasion::SessionStart,
            "sessionEnd" => Occasion::SessionEnd,
            "subagentStart" => Occasion::SubagentStart(json::text_of(object, &["agentName", "agentType"])?),
            _ if ["toolName", "toolArgs", "toolInput"].iter().any(|key| object.contains_key(*key)) => Occasion::Unknown,
            _ => Occasion::Other,
        };
        let subagent = json::text(object, "agentId")?;
        let started_by = json::text(object, "parentAgentId")?.filter(|_| subagent.is_some());
        Ok(Event {
            session: started_by.map_or_else(|| json::text(object, "sessionId"), |id| Ok(Some(id)))?,
            transcript: None,
            cwd: json::folder(object, "cwd")?,
            subagents: subagent.into_iter().collect(),
            kind: json::text_of(object, &["agentType", "agentName"])?,
            ..Event::new(name, occasion)
        })
    }

    fn one_record(&self) -> bool {
        true
    }

    fn same_call(&self, call: &HookCall) -> Option<String> {
        let server_and_tool = match &call.server {
            Some(server) => Some(format!("{server}-{}", call.tool)),
            None => call.tool.strip_prefix("mcp-").map(ToOwned::to_owned),
        };
        if let Some(name) = server_and_tool {
            return Some(format!("mcp\0{name}\0{}", call.input));
        }
        let path = ["path", "file_path"].iter().find_map(|key| call.input.get(*key)?.as_str());
        path.filter(|_| is_writer(&call.tool)).map(|path| format!("write\0{path}"))
    }

    fn person(&self, _: &Event) -> Person {
        Person::InQueueOrAtPrompt
    }

    fn rewrites(&self, event: &Event, call: &HookCall) -> bool {
        matches!(event.occasion, Occasion::BeforeTool(_)) && matches!(call.tool.as_str(), "bash" | "Bash")
    }

    fn say(&self, event: &Event, word: Word, why: &str) -> HookOutput {
        let is_question = event.call().is_some_and(|call| QUESTIONS.contains(&call.tool.as_str()));
        let is_claude_like = event.name.starts_with('P');
        match (word, &event.occasion) {
            (Word::Allow(_), _) if is_question => HookOutput::silent(),
            // Copilot goes on to ask whoever sits before it.
            (Word::Ask, Occasion::Permission(_)) => HookOutput::silent(),
            (word, Occasion::Permission(_)) if is_claude_like => claude_code::permission(word, why),
            (word, _) if is_claude_like => claude_code::before_tool(word, why),
            (word, Occasion::Permission(_)) => permission(word, why),
            (word, _) => before_tool(word, why),
        }
    }
}

fn before_tool(word: Word, why: &str) -> HookOutput {
    let decision = match word {
        Word::Allow(permit) => permit.spend(|| "allow"),
        Word::Held(input) => {
            return HookOutput::object(&json!({
                "permissionDecision": "allow", "permissionDecisionReason": why, "modifiedArgs": input.into_input(),
            }));
        }
        Word::Ask => "ask",
        Word::Deny => "deny",
    };
    HookOutput::object(&json!({"permissionDecision": decision, "permissionDecisionReason": why}))
}

fn permission(word: Word, why: &str) -> HookOutput {
    HookOutput::object(&match word {
        Word::Allow(permit) => permit.spend(|| json!({"behavior": "allow"})),
        // Nothing is rewritten here.
        Word::Held(_) | Word::Ask | Word::Deny => json!({"behavior": "deny", "message": why}),
    })
}

/// Which event it is, by what it has. One that has a tool and no result of it is the one before.
fn guessed(object: &Map<String, Value>) -> &'static str {
    let has = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
    match () {
        () if has("toolResult") => "postToolUse",
        () if has("toolName") && has("error") => "postToolUseFailure",
        () if has("toolName") || has("toolArgs") => "preToolUse",
        () if has("toolInput") => "permissionRequest",
        () if has("agentName") && has("stopReason") => "subagentStop",
        () if has("agentName") => "subagentStart",
        () if has("source") => "sessionStart",
        () if has("reason") => "sessionEnd",
        () => "other",
    }
}

fn claude_like(object: &Map<String, Value>) -> Result<Event, String> {
    let mut event = claude_shape::read(object)?.of_provider("github");
    match &mut event.occasion {
        Occasion::BeforeTool(it) | Occasion::Permission(it) => *it = call(object, "tool_name", "tool_input"),
        _ => {}
    }
    if !event.subagents.is_empty() {
        event.session = json::text(object, "parent_agent_id")?.or(event.session);
    }
    Ok(event)
}

fn call(object: &Map<String, Value>, tool: &str, input: &str) -> Result<HookCall, String> {
    let name =
        json::text(object, tool)?.filter(|name| !name.trim().is_empty()).ok_or("The call does not name a tool")?;
    let given = object.get(input).filter(|given| !given.is_null());
    let given = given.ok_or_else(|| format!("The call has no `{input}`"))?;
    let id = json::text_of(object, &["toolCallId", "toolUseId", "tool_use_id", "tool_call_id"])?;
    match (json::object_or_text(given), given) {
        (Some(arguments), _) => Ok(HookCall { tool: mcp_name(&name), input: arguments, server: None, id }),
        // The whole input of its patch tool, which goes by the name of its editor in Claude Code's shape.
        (None, Value::String(patch)) if patch.contains("*** Begin Patch") && is_editor(&name) => {
            Ok(HookCall { tool: "apply_patch".to_owned(), input: given.clone(), server: None, id })
        }
        _ => Err(format!("The call's `{input}` is neither an object nor JSON for one")),
    }
}

/// Tools that write the file that their arguments name. Its permission is asked for as that of `edit`.
fn is_writer(tool: &str) -> bool {
    is_editor(tool) || matches!(tool, "create" | "str_replace" | "insert" | "Write" | "write")
}

fn is_editor(tool: &str) -> bool {
    matches!(tool, "apply_patch" | "Edit" | "edit")
}

/// `server-tool` is how Copilot names MCP tools before a call; its own tools have no `-` in their names. A server may
/// call its tool `x/y`, which must not read as another server's.
fn mcp_name(tool: &str) -> String {
    if tool.contains(['-', '/']) { format!("mcp-{tool}") } else { tool.to_owned() }
}

/// In a permission request the two stand apart: `server/tool`.
fn server_and_tool(call: HookCall) -> HookCall {
    match call.tool.strip_prefix("mcp-").and_then(|name| name.split_once('/')) {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
            HookCall { server: Some(server.to_owned()), tool: tool.to_owned(), ..call }
        }
        _ => call,
    }
}

fn after(object: &Map<String, Value>) -> After {
    let result = object.get("toolResult").and_then(Value::as_object);
    let kind = result.and_then(|result| result.get("resultType")).and_then(Value::as_str);
    let error = object.get("error").or_else(|| result.and_then(|result| result.get("error")));
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    After {
        tool: text("toolName"),
        id: text("toolCallId"),
        ended: Ended {
            ok: kind.map(|kind| kind == "success").or(error.map(|_| false)),
            duration_ms: json::count(object, &["durationMs", "duration"]),
            ..Ended::default()
        },
        error: error.and_then(|error| error.as_str().or_else(|| error.get("message")?.as_str())).map(str::to_owned),
        command: ["toolArgs", "toolInput"]
            .iter()
            .find_map(|key| json::object_or_text(object.get(*key)?)?.get("command")?.as_str().map(str::to_owned)),
        ..After::default()
    }
}
