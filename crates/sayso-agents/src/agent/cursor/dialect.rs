//! Cursor's words, by its documentation; not measured, for its agent needs an account.
//!
//! `preToolUse` comes before every call, but an `ask` there is taken for an allow. `beforeShellExecution` and
//! `beforeMCPExecution` come after it for commands and MCP tools, and do ask: an Ask at `preToolUse` is passed on to
//! them, and is a denial for every other tool. `beforeReadFile` and `subagentStart` know no Ask either. Both spellings
//! of the messages are written, for versions before 2 know only the older one.

use crate::dialect::{Dialect, Person};
use crate::event::{After, Event, HookCall, Occasion};
use crate::hook_answer::Word;
use crate::{Agent, HookOutput, json};
use sayso_gate::audit::Ended;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

pub(super) struct Cursor;

impl Dialect for Cursor {
    fn agent(&self) -> Agent {
        Agent::CURSOR
    }

    fn project_variable(&self) -> Option<&'static str> {
        Some("CURSOR_PROJECT_DIR")
    }

    /// It runs the hooks of Claude Code's settings too.
    fn told_twice(&self) -> bool {
        true
    }

    fn read(&self, object: &Map<String, Value>) -> Result<Event, String> {
        let name = json::text(object, "hook_event_name")?.ok_or("The agent's message names no event")?;
        let occasion = match name.as_str() {
            "preToolUse" => Occasion::BeforeTool(tool(object)),
            "beforeShellExecution" => Occasion::BeforeTool(command(object)),
            "beforeMCPExecution" => Occasion::BeforeTool(mcp(object)),
            "beforeReadFile" | "beforeTabFileRead" => Occasion::BeforeTool(file(object)),
            "subagentStart" => Occasion::BeforeTool(subagent(object)),
            "postToolUse" | "afterShellExecution" | "afterMCPExecution" => {
                Occasion::AfterTool(after(object, Some(true)))
            }
            "postToolUseFailure" => Occasion::AfterTool(after(object, Some(false))),
            "sessionStart" => Occasion::SessionStart,
            "sessionEnd" => Occasion::SessionEnd,
            // They speak of edits and answers after the fact, and of what a person typed.
            "afterFileEdit" | "afterTabFileEdit" | "beforeSubmitPrompt" | "subagentStop" | "stop" => Occasion::Other,
            name if name.starts_with("before") || object.contains_key("tool_name") => Occasion::Unknown,
            _ => Occasion::Other,
        };
        let cwd = json::folder(object, "cwd")?;
        Ok(Event {
            session: json::text_of(object, &["conversation_id", "session_id"])?,
            transcript: None,
            model: object.get("model").and_then(Value::as_str).map(str::to_owned),
            project: root(object, cwd.as_ref())?,
            cwd,
            ..Event::new(name, occasion)
        })
    }

    fn person(&self, event: &Event) -> Person {
        match event.name.as_str() {
            "beforeShellExecution" | "beforeMCPExecution" => Person::InQueueOrAtPrompt,
            "preToolUse" if asks_later(event) => Person::AtPrompt,
            _ => Person::InQueue,
        }
    }

    fn comes_later(&self, event: &Event) -> bool {
        event.name != "preToolUse"
    }

    fn say(&self, event: &Event, word: Word, why: &str) -> HookOutput {
        let permission = match word {
            Word::Allow(permit) => return permit.spend(|| HookOutput::object(&json!({"permission": "allow"}))),
            Word::Ask if self.person(event) != Person::InQueue => "ask",
            // Nothing is rewritten: no live proof that this agent runs what stands in `updated_input` can be had.
            Word::Held(_) | Word::Ask | Word::Deny => "deny",
        };
        HookOutput::object(&json!({
            "permission": permission,
            "user_message": why, "agent_message": why,
            "userMessage": why, "agentMessage": why,
        }))
    }

    fn nothing(&self, event: &Event) -> HookOutput {
        HookOutput::object(&match event.name.as_str() {
            "beforeSubmitPrompt" => json!({"continue": true}),
            _ => json!({}),
        })
    }
}

/// Whether another event of the same call comes after this one, at which Cursor does ask.
fn asks_later(event: &Event) -> bool {
    event.call().is_some_and(|call| call.tool == "Shell" || call.server.is_some())
}

fn tool(object: &Map<String, Value>) -> Result<HookCall, String> {
    let tool = named(object)?;
    if tool.starts_with("MCP:") {
        return mcp(object);
    }
    Ok(HookCall { tool, input: arguments(object)?, server: None, id: json::text(object, "tool_use_id")? })
}

fn command(object: &Map<String, Value>) -> Result<HookCall, String> {
    let command = json::text(object, "command")?.ok_or("The call has no `command`")?;
    Ok(HookCall { tool: "Shell".to_owned(), input: json!({"command": command}), server: None, id: None })
}

/// The name of its server is not told, and a server may call its tool `github/get_issue`. So it gets a server's name
/// that is none: no rule allows it by name, and a person is asked.
fn mcp(object: &Map<String, Value>) -> Result<HookCall, String> {
    let name = named(object)?;
    let tool = name.strip_prefix("MCP:").unwrap_or(&name).to_owned();
    let id = json::text(object, "tool_use_id")?;
    Ok(HookCall { tool, input: arguments(object)?, server: Some("?".to_owned()), id })
}

fn file(object: &Map<String, Value>) -> Result<HookCall, String> {
    let path = json::text(object, "file_path")?.ok_or("The call has no `file_path`")?;
    // Not the content: what the file holds decides nothing, and may be long.
    let mut input = json!({"file_path": path});
    if let (Some(attachments), Some(fields)) = (object.get("attachments"), input.as_object_mut()) {
        let paths = attached(attachments).ok_or("The call's `attachments` are not files")?;
        fields.insert("files".to_owned(), Value::Array(paths));
    }
    Ok(HookCall { tool: "Read".to_owned(), input, server: None, id: None })
}

fn attached(attachments: &Value) -> Option<Vec<Value>> {
    let path =
        |one: &Value| one.get("file_path").or_else(|| one.get("filePath")).filter(|path| path.is_string()).cloned();
    match attachments {
        Value::Null => Some(Vec::new()),
        Value::Array(all) => all.iter().map(path).collect(),
        _ => None,
    }
}

fn subagent(object: &Map<String, Value>) -> Result<HookCall, String> {
    let mut input = Map::new();
    for key in ["subagent_type", "task", "subagent_model"] {
        if let Some(text) = json::text(object, key)? {
            input.insert(key.to_owned(), text.into());
        }
    }
    Ok(HookCall {
        tool: "Task".to_owned(),
        input: Value::Object(input),
        server: None,
        id: json::text(object, "tool_call_id")?,
    })
}

fn named(object: &Map<String, Value>) -> Result<String, String> {
    let name = json::text(object, "tool_name")?.filter(|name| !name.trim().is_empty());
    name.ok_or_else(|| "The call does not name a tool".to_owned())
}

fn arguments(object: &Map<String, Value>) -> Result<Value, String> {
    let arguments = object.get("tool_input").and_then(json::object_or_text);
    arguments.ok_or_else(|| "The call's `tool_input` is neither an object nor JSON for one".to_owned())
}

/// The folder of the workspace that the agent is in; the first one where that is not told.
fn root(object: &Map<String, Value>, cwd: Option<&PathBuf>) -> Result<Option<PathBuf>, String> {
    let wrong = || "The agent's message has `workspace_roots` that are not paths".to_owned();
    let roots = match object.get("workspace_roots") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(roots)) => {
            roots.iter().map(|root| root.as_str().map(PathBuf::from)).collect::<Option<Vec<_>>>()
        }
        Some(_) => None,
    };
    let mut roots = roots.ok_or_else(wrong)?;
    roots.retain(|root| root.is_absolute());
    let holds = |root: &&PathBuf| cwd.is_none_or(|cwd| cwd.starts_with(root));
    Ok(roots.iter().find(holds).cloned())
}

fn after(object: &Map<String, Value>, ok: Option<bool>) -> After {
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    After {
        tool: text("tool_name").or_else(|| object.contains_key("command").then(|| "Shell".to_owned())),
        id: text("tool_use_id"),
        ended: Ended { ok, duration_ms: json::count(object, &["duration"]), ..Ended::default() },
        error: text("error_message"),
        command: text("command"),
        ..After::default()
    }
}
