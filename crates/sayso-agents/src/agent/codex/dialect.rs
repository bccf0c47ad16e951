//! Codex's words. Measured on 0.166.0.
//!
//! Codex reads answers with a strict schema, and runs the call when it does not like one: a plain `allow` or `ask`, a
//! denial without a reason, and any field it does not know are all failures of the hook. So an Allow is silence, and a
//! denial holds exactly the three fields that it must.
//!
//! `PreToolUse` cannot ask, and `codex exec` never asks at all: an Ask is held by the queue, or denied with a reason
//! that tells how to get a yes. `PermissionRequest` fires where Codex itself would ask; there silence leaves it to the
//! person before Codex.

use crate::agent::claude_code::dialect as claude_code;
use crate::agent::claude_code::shape as claude_shape;
use crate::dialect::{Dialect, Person};
use crate::event::{Event, HookCall, Occasion};
use crate::hook_answer::Word;
use crate::{Agent, HookOutput};
use serde_json::{Map, Value, json};

pub(super) struct Codex;

impl Dialect for Codex {
    fn agent(&self) -> Agent {
        Agent::CODEX
    }

    fn read(&self, object: &Map<String, Value>) -> Result<Event, String> {
        let mut event = claude_shape::read(object)?.of_provider("openai");
        // A subagent's is its own; the session is the root's, and its workspace is all theirs.
        event.transcript = None;
        match &mut event.occasion {
            Occasion::BeforeTool(Ok(call)) => own_name(call),
            Occasion::Permission(Ok(call)) => {
                wants_more(call);
                own_name(call);
            }
            // Codex does not say whether a call succeeded.
            Occasion::AfterTool(after) => after.ended.ok = None,
            _ => {}
        }
        Ok(event)
    }

    fn person(&self, event: &Event) -> Person {
        match event.occasion {
            Occasion::Permission(_) => Person::InQueueOrAtPrompt,
            _ => Person::InQueue,
        }
    }

    fn rewrites(&self, event: &Event, call: &HookCall) -> bool {
        matches!(event.occasion, Occasion::BeforeTool(_)) && call.tool == "exec_command"
    }

    fn say(&self, event: &Event, word: Word, why: &str) -> HookOutput {
        match (word, &event.occasion) {
            (Word::Ask, Occasion::Permission(_)) => HookOutput::silent(),
            (word, Occasion::Permission(_)) => claude_code::permission(word, why),
            (Word::Allow(permit), _) => permit.spend(HookOutput::silent),
            // With new input, and only then, it may say allow.
            (Word::Held(input), _) => claude_code::held(input, None),
            (Word::Ask | Word::Deny, _) => claude_code::before_tool(Word::Deny, why),
        }
    }
}

/// Codex tells its tool for commands by Claude Code's name. By its own name it is known for what it is: one whose
/// terminal stays open, and into which can be typed without a hook.
fn own_name(call: &mut HookCall) {
    if call.tool == "Bash" {
        "exec_command".clone_into(&mut call.tool);
    }
}

/// Codex asks a person when a command is to leave its sandbox or to reach the network, and tells so in a description
/// alone. A yes to the command is no yes to that, so the call is judged as what it asks for.
fn wants_more(call: &mut HookCall) {
    let Some(fields) = call.input.as_object_mut() else { return };
    let target = fields.get("description").and_then(Value::as_str).and_then(|text| text.strip_prefix("network-access"));
    if let Some(target) = target {
        let target = target.trim().to_owned();
        call.tool = "network_access".to_owned();
        call.input = json!({"host": target, "url": format!("https://{target}"), "command": fields.get("command")});
    } else if fields.contains_key("command") && call.tool != "apply_patch" {
        fields.insert("with_escalated_permissions".to_owned(), Value::Bool(true));
    }
}
