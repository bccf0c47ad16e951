//! OpenCode's words, by way of Sayso's plugin there: [`crate::plugin`] is the contract. Its hooks measured on 1.18.33.
//!
//! A plugin cannot make OpenCode ask: an Ask is held by the queue, or denied with a reason that tells how to get a yes.
//! OpenCode does not limit how long a plugin takes. A subagent has a session of its own.

use crate::dialect::{Dialect, Person};
use crate::event::{Event, HookCall, Occasion};
use crate::hook_answer::Word;
use crate::{Agent, HookOutput, plugin};
use serde_json::{Map, Value};

/// OpenCode's own tools. Every other name with a `_` in it is put together from an MCP server and its tool.
const OWN: &[&str] = &["apply_patch", "plan_enter", "plan_exit", "code_search", "web_fetch", "web_search"];

pub(super) struct OpenCode;

impl Dialect for OpenCode {
    fn agent(&self) -> Agent {
        Agent::OPENCODE
    }

    fn read(&self, object: &Map<String, Value>) -> Result<Event, String> {
        let mut event = plugin::read(object)?;
        if let Occasion::BeforeTool(Ok(call)) | Occasion::Permission(Ok(call)) = &mut event.occasion {
            spell(call);
        }
        Ok(event)
    }

    fn person(&self, _: &Event) -> Person {
        Person::InQueue
    }

    fn rewrites(&self, event: &Event, call: &HookCall) -> bool {
        event.name == "tool.before" && call.server.is_none() && call.tool == "bash"
    }

    fn say(&self, _: &Event, word: Word, why: &str) -> HookOutput {
        plugin::say(if matches!(word, Word::Ask) { Word::Deny } else { word }, why)
    }

    fn nothing(&self, _: &Event) -> HookOutput {
        plugin::nothing()
    }
}

fn spell(call: &mut HookCall) {
    // Also where it begins with `mcp`: that is how somebody called a server, whose tools must not read as another's.
    if call.server.is_none() && call.tool.contains('_') && !OWN.contains(&call.tool.as_str()) {
        call.tool = format!("mcp_{}", call.tool);
    }
}
