//! What is known of a server's tools, and what the client is shown of them.

use super::call::McpCall;
use super::definition::Definition;
use super::guard::{Guard, Port, lock};
use super::pins::Standing;
use super::result::Shape;
use super::schema::Checker;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long the server may take to list its tools when we ask.
const LISTING: Duration = Duration::from_secs(30);
/// How many pages of a list are fetched.
const MOST_PAGES: usize = 50;
/// How many tools of a server are known at once.
const MOST_TOOLS: usize = 4_000;

/// The tools of a server.
#[derive(Default)]
pub(super) struct Tools {
    by_name: HashMap<String, Arc<Tool>>,
    /// Nothing is missing, as far as we know.
    pub(super) complete: bool,
    /// Another life of the server may know other tools: they must be fetched first.
    pub(super) doubtful: bool,
}

/// One of them.
pub(super) struct Tool {
    pub(super) definition: Definition,
    /// A person must look at it before it is used.
    pub(super) open: bool,
    checker: OnceLock<Checker>,
}

impl Guard {
    /// A tool is as it was accepted, after all.
    pub(super) fn settle(&self, tool: &Tool) {
        if tool.open {
            let settled = Tool { definition: tool.definition.clone(), open: false, checker: OnceLock::new() };
            lock(&self.tools).by_name.insert(settled.definition.name.clone(), Arc::new(settled));
        }
    }

    pub(super) fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        let tools = lock(&self.tools);
        tools.by_name.get(name).filter(|_| !tools.doubtful).cloned()
    }

    /// Asks the server for its tools. `false`: it does not answer.
    pub(super) fn fetch(&self, call: &McpCall, to_server: &dyn Port) -> bool {
        {
            let mut tools = lock(&self.tools);
            if tools.doubtful {
                *tools = Tools::default();
            }
        }
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let mut params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            if let (false, Some(fields)) = (call.of_client.is_empty(), params.as_object_mut()) {
                fields.insert("_meta".to_owned(), Value::Object(call.of_client.clone()));
            }
            let params = params.to_string();
            let reply = self.request(to_server, "tools/list", Some(params.as_bytes()), LISTING);
            let result = match reply {
                None => return false,
                // It has none, and says so in its own way.
                Some(None) => break,
                Some(Some(result)) => result,
            };
            let Some(shape) = Shape::of(&result) else { return false };
            let next = next_cursor(&result).filter(|next| cursor.as_ref() != Some(next));
            if let Some(tools) = shape.tools {
                self.list(tools.get(), next.is_none());
            }
            match next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        lock(&self.tools).complete = true;
        true
    }

    /// Takes note of a page of the list of tools. What the client is to be shown instead; `None`: the page as it is.
    pub(crate) fn list(&self, raw: &str, last: bool) -> Option<String> {
        let Ok(entries) = serde_json::from_str::<Vec<&RawValue>>(raw) else { return Some("[]".to_owned()) };
        let read: Vec<_> = entries.iter().map(|entry| Definition::read(entry)).collect();
        let definitions: Vec<Definition> = read.iter().filter_map(|one| one.as_ref().ok().cloned()).collect();
        let standings = self.pins.observe(&self.server, &self.reached, &definitions, last);
        let mut standings = standings.ok().map(Vec::into_iter);
        let mut shown: Vec<Cow<'_, str>> = Vec::with_capacity(entries.len());
        let mut same = true;
        for (entry, read) in entries.iter().zip(read) {
            let Ok(definition) = read else {
                same = false;
                continue;
            };
            // Without pins nothing is known to be as it was.
            let standing = match standings.as_mut() {
                Some(standings) => standings.next(),
                None => None,
            };
            let visible = self.judge.shows(&self.server, &definition.name);
            let (open, instead) = match standing {
                Some(Standing::Settled) => (false, None),
                Some(Standing::Open { shown, .. }) => (true, Some(shown.to_string())),
                None => (true, None),
            };
            same &= visible && instead.is_none();
            if visible {
                shown.push(instead.map_or(Cow::Borrowed(entry.get()), Cow::Owned));
            }
            self.know(definition, open);
        }
        (!same).then(|| format!("[{}]", shown.join(",")))
    }

    fn know(&self, definition: Definition, open: bool) {
        let mut tools = lock(&self.tools);
        if tools.doubtful {
            *tools = Tools::default();
        }
        let known = tools.by_name.get(&definition.name);
        if known.is_some_and(|tool| tool.open == open && tool.definition.hash == definition.hash) {
            return;
        }
        if tools.by_name.len() < MOST_TOOLS || known.is_some() {
            let name = definition.name.clone();
            tools.by_name.insert(name, Arc::new(Tool { definition, open, checker: OnceLock::new() }));
        }
    }
}

impl Tool {
    pub(super) fn checker(&self) -> &Checker {
        self.checker.get_or_init(|| Checker::new(self.definition.input_schema()))
    }
}

pub(crate) fn next_cursor(result: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Page {
        #[serde(rename = "nextCursor")]
        next: Option<String>,
    }
    serde_json::from_slice::<Page>(result).ok().and_then(|page| page.next).filter(|next| !next.is_empty())
}
