//! Several servers behind one: the client sees one server that has all their tools.
//!
//! A message of the client goes one of three ways:
//!
//! - **By name.** Tools and prompts carry their server's name in front (`github__get_issue`). The name in the request
//!   says whose it is; that part is cut out in place, every other byte stays, and the [`Upstream`] takes the line as if
//!   it stood alone: its guard judges it there, under the server's own name.
//! - **By key.** Resources and tasks have names of their server's choosing, which nobody may change. [`Routes`] remembers
//!   who listed or announced which, and the first one keeps it, so that no server can take over another's.
//! - **To all.** Greetings and lists are asked of every server that can answer, at the same time and page by page, on a
//!   thread of their own, and put into one answer. Whoever does not answer in time is left out, and the rest stands.
//!
//! The other way there is less to do: answers go back under the ids that the client gave, and a request of a server gets
//! an id that says which one it came from, so that the client's answer finds it again.

use super::guard::Port;
use super::tools::next_cursor;
use super::upstream::{Upstream, json_member};
use crate::pipe::{Id, Message, Reader, error_line, replaced, result_line};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Between a server's name and its tool's.
pub(crate) const BETWEEN: &str = "__";
/// How long a server may take to greet: it may have to be fetched first.
const GREETING: Duration = Duration::from_secs(60);
/// How long a server may take for a page of a list.
const LISTING: Duration = Duration::from_secs(30);
const MOST_PAGES: usize = 50;
/// How many resources and tasks are remembered.
const MOST_ROUTES: usize = 50_000;
const UNKNOWN_METHOD: i64 = -32601;
const WRONG_PARAMETERS: i64 = -32602;

/// Which server a resource or a task belongs to.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_key: HashMap<String, usize>,
    order: VecDeque<String>,
    /// The plain beginnings of resource templates.
    templates: Vec<(String, usize)>,
}

impl Routes {
    fn note(&self, key: String, upstream: usize) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // INVARIANT: the first server that names a resource keeps it; a later one cannot take it over.
        if known.by_key.contains_key(&key) {
            return;
        }
        if known.order.len() >= MOST_ROUTES
            && let Some(oldest) = known.order.pop_front()
        {
            known.by_key.remove(&oldest);
        }
        known.order.push_back(key.clone());
        known.by_key.insert(key, upstream);
    }

    fn find(&self, key: &str) -> Option<usize> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.by_key.get(key).copied().or_else(|| {
            let uri = key.strip_prefix("resource ")?;
            let longest = known.templates.iter().filter(|(start, _)| uri.starts_with(start.as_str()));
            longest.max_by_key(|(start, _)| start.len()).map(|(_, upstream)| *upstream)
        })
    }

    fn note_template(&self, template: &str, upstream: usize) {
        let start = template.split('{').next().unwrap_or_default().to_owned();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.templates.len() < 1_000 && !known.templates.iter().any(|(other, _)| *other == start) {
            known.templates.push((start, upstream));
        }
    }

    /// A result that announces a task: who is asked about it later.
    pub(crate) fn note_task(&self, upstream: usize, result: &[u8]) {
        if memchr::memmem::find(result, b"taskId").is_none() {
            return;
        }
        let value: Option<Value> = serde_json::from_slice(result).ok();
        let task = value.as_ref().and_then(|value| value.pointer("/task/taskId").or(value.get("taskId")));
        if let Some(id) = task.and_then(Value::as_str) {
            self.note(format!("task {id}"), upstream);
        }
    }
}

/// What is done for a request: its method, its id and its parameters.
type Work = fn(&Arc<Multiplexer>, &str, &[u8], Option<&[u8]>);

/// Several servers behind one.
pub(crate) struct Multiplexer {
    upstreams: Vec<Arc<Upstream>>,
    client: Arc<dyn Port>,
    routes: Arc<Routes>,
    /// What each server can do, by its own greeting; `None`: it has not greeted.
    capabilities: Mutex<Vec<Option<Value>>>,
}

/// What lists are called, where their entries are, and what goes by their name.
const LISTS: &[(&str, &str, &str)] = &[
    ("tools/list", "tools", "tools"),
    ("prompts/list", "prompts", "prompts"),
    ("resources/list", "resources", "resources"),
    ("resources/templates/list", "resourceTemplates", "resources"),
    ("tasks/list", "tasks", "tasks"),
];

impl Multiplexer {
    pub(crate) fn new(upstreams: Vec<Arc<Upstream>>, client: Arc<dyn Port>, routes: Arc<Routes>) -> Arc<Self> {
        let capabilities = Mutex::new(vec![None; upstreams.len()]);
        Arc::new(Self { upstreams, client, routes, capabilities })
    }

    /// A message of the client.
    pub(crate) fn hear_client(self: &Arc<Self>, message: &Message<'_>) {
        let Some(method) = message.method.as_deref() else { return self.answer(message) };
        let Some(id) = message.id else { return self.notification(method, message) };
        match method {
            "initialize" => self.apart(message, Self::initialize),
            "ping" => self.say(result_line(id, &json!({}))),
            "logging/setLevel" => self.apart(message, Self::set_level),
            list if LISTS.iter().any(|(name, ..)| *name == list) => self.apart(message, Self::list),
            "tools/call" | "prompts/get" => self.by_name(message, &["params", "name"]),
            "completion/complete" => self.completion(message),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                self.by_key(message, "uri", "resource")
            }
            "tasks/get" | "tasks/result" | "tasks/cancel" => self.by_key(message, "taskId", "task"),
            _ => self.say(error_line(
                Some(id),
                UNKNOWN_METHOD,
                "Sayso: with several servers this method has no addressee.",
                None,
            )),
        }
    }

    fn say(&self, line: Vec<u8>) {
        self.client.say(line);
    }

    /// What waits for servers runs on a thread of its own.
    fn apart(self: &Arc<Self>, message: &Message<'_>, work: Work) {
        let (Some(id), Some(method)) = (message.id, message.method.as_deref()) else { return };
        let (this, id, method) = (Arc::clone(self), id.to_vec(), method.to_owned());
        let (params, own_id) = (message.params.map(<[u8]>::to_vec), id.clone());
        let run = move || work(&this, &method, &id, params.as_deref());
        if std::thread::Builder::new().name("mcp-multiplexer".to_owned()).spawn(run).is_err() {
            self.say(error_line(Some(&own_id), -32603, "Sayso: too many messages are pending.", None));
        }
    }

    fn initialize(self: &Arc<Self>, _: &str, id: &[u8], params: Option<&[u8]>) {
        let wanted: Value = params.and_then(|params| serde_json::from_slice(params).ok()).unwrap_or_default();
        let can_ask = wanted.get("capabilities").is_some_and(super::elicit::can_ask);
        let greet = |upstream: &Arc<Upstream>| {
            upstream.guard.client_can_ask(can_ask);
            let reply = upstream.request("initialize", params, GREETING).flatten();
            reply.and_then(|result| serde_json::from_slice::<Value>(&upstream.guard.greeting(&result)).ok())
        };
        let greetings: Vec<Option<Value>> = std::thread::scope(|scope| {
            let threads: Vec<_> = self.upstreams.iter().map(|upstream| scope.spawn(move || greet(upstream))).collect();
            threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
        });
        for (upstream, _) in self.upstreams.iter().zip(&greetings).filter(|(_, greeting)| greeting.is_none()) {
            eprintln!("sayso: the MCP server {} does not greet; its tools are missing", upstream.guard.server);
        }
        let version = greetings.iter().flatten().filter_map(|g| g.get("protocolVersion")?.as_str()).min();
        let Some(version) = version else {
            return self.say(error_line(
                Some(id),
                -32603,
                "Sayso: none of the servers can be reached [mcp-server-gone].",
                None,
            ));
        };
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": merged_capabilities(&greetings),
            "serverInfo": {"name": "sayso", "version": env!("CARGO_PKG_VERSION")},
        });
        let instructions: Vec<String> = self
            .upstreams
            .iter()
            .zip(&greetings)
            .filter_map(|(upstream, greeting)| {
                let text = greeting.as_ref()?.get("instructions")?.as_str()?;
                Some(format!("{}: {text}", upstream.guard.server))
            })
            .collect();
        if let (false, Some(fields)) = (instructions.is_empty(), result.as_object_mut()) {
            fields.insert("instructions".to_owned(), instructions.join("\n\n").into());
        }
        *self.capabilities.lock().unwrap_or_else(PoisonError::into_inner) =
            greetings.iter().map(|greeting| greeting.as_ref()?.get("capabilities").cloned()).collect();
        self.say(result_line(id, &result));
    }

    /// The servers that have greeted and can do this.
    fn able(&self, what: &str) -> Vec<Arc<Upstream>> {
        let capabilities = self.capabilities.lock().unwrap_or_else(PoisonError::into_inner);
        let can = |upstream: &&Arc<Upstream>| {
            capabilities.get(upstream.index).and_then(Option::as_ref).is_some_and(|c| c.get(what).is_some())
        };
        self.upstreams.iter().filter(can).cloned().collect()
    }

    fn list(self: &Arc<Self>, method: &str, id: &[u8], _: Option<&[u8]>) {
        let Some((_, key, capability)) = LISTS.iter().find(|(name, ..)| *name == method) else { return };
        let able = self.able(capability);
        let pages: Vec<Vec<Vec<u8>>> = std::thread::scope(|scope| {
            let threads: Vec<_> = able.iter().map(|upstream| scope.spawn(|| pages(upstream, method))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
        });
        // In their order: of two names that look alike, the first server's is the one that is imitated.
        let found = able.iter().zip(&pages).flat_map(|(upstream, pages)| self.entries(upstream, pages, key));
        let entries = found.collect::<Vec<_>>().join(",");
        let line =
            [b"{\"jsonrpc\":\"2.0\",\"id\":", id, format!(",\"result\":{{\"{key}\":[{entries}]}}}}\n").as_bytes()]
                .concat();
        self.say(line);
    }

    /// All entries of one server's list, raw, with the server's name in front of theirs.
    fn entries(&self, upstream: &Upstream, pages: &[Vec<u8>], key: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (number, page) in pages.iter().enumerate() {
            let last = number + 1 == pages.len() && next_cursor(page).is_none();
            let Some(list) = json_member(page, key).and_then(|raw| String::from_utf8(raw).ok()) else { continue };
            let list = match key {
                "tools" => upstream.guard.list(&list, last).unwrap_or(list),
                _ => list,
            };
            let entries: Vec<&RawValue> = serde_json::from_str(&list).unwrap_or_default();
            found.extend(entries.iter().filter_map(|entry| self.entry(upstream, key, entry.get())));
        }
        found
    }

    fn entry(&self, upstream: &Upstream, key: &str, raw: &str) -> Option<String> {
        let text =
            |name: &str| json_member(raw.as_bytes(), name).and_then(|raw| serde_json::from_slice::<String>(&raw).ok());
        match key {
            "tools" | "prompts" => {
                let name = Value::from(format!("{}{BETWEEN}{}", upstream.guard.server, text("name")?)).to_string();
                String::from_utf8(replaced(raw.as_bytes(), &["name"], name.as_bytes())?).ok()
            }
            "resources" => {
                self.routes.note(format!("resource {}", text("uri")?), upstream.index);
                Some(raw.to_owned())
            }
            "resourceTemplates" => {
                self.routes.note_template(&text("uriTemplate")?, upstream.index);
                Some(raw.to_owned())
            }
            _ => {
                self.routes.note(format!("task {}", text("taskId")?), upstream.index);
                Some(raw.to_owned())
            }
        }
    }

    fn set_level(self: &Arc<Self>, method: &str, id: &[u8], params: Option<&[u8]>) {
        for upstream in self.able("logging") {
            let _ = upstream.request(method, params, LISTING);
        }
        self.say(result_line(id, &json!({})));
    }

    /// To the server whose name stands in front; the name goes without it.
    fn by_name(self: &Arc<Self>, message: &Message<'_>, path: &[&str]) {
        let mut name = message.params.map(<[u8]>::to_vec);
        for key in path.iter().skip(1) {
            name = name.and_then(|object| json_member(&object, key));
        }
        let name: Option<String> = name.and_then(|raw| serde_json::from_slice(&raw).ok());
        let found = name.as_deref().and_then(|name| {
            self.upstreams.iter().find_map(|upstream| {
                let rest = name.strip_prefix(upstream.guard.server.as_str())?.strip_prefix(BETWEEN)?;
                (!rest.is_empty()).then_some((upstream, rest))
            })
        });
        let line = found.and_then(|(upstream, rest)| {
            Some((upstream, replaced(message.line, path, Value::from(rest).to_string().as_bytes())?))
        });
        match line {
            Some((upstream, mut line)) => {
                line.push(b'\n');
                let mut reader = Reader::default();
                if let Ok(Some(message)) = reader.read(&line) {
                    upstream.hear_client(&message, &line);
                }
            }
            None => self.nobody(message, "no server has anything of this name"),
        }
    }

    fn completion(self: &Arc<Self>, message: &Message<'_>) {
        let reference = message.params.and_then(|params| json_member(params, "ref"));
        let uri = reference.as_ref().and_then(|reference| json_member(reference, "uri"));
        match uri.and_then(|raw| serde_json::from_slice::<String>(&raw).ok()) {
            Some(uri) => self.to(message, self.routes.find(&format!("resource {uri}")), "resource"),
            None => self.by_name(message, &["params", "ref", "name"]),
        }
    }

    fn by_key(self: &Arc<Self>, message: &Message<'_>, key: &str, what: &str) {
        let value = message.params.and_then(|params| json_member(params, key));
        let value: Option<String> = value.and_then(|raw| serde_json::from_slice(&raw).ok());
        let upstream = value.and_then(|value| self.routes.find(&format!("{what} {value}")));
        self.to(message, upstream, what);
    }

    fn to(&self, message: &Message<'_>, upstream: Option<usize>, what: &str) {
        match upstream.and_then(|at| self.upstreams.get(at)) {
            Some(upstream) => upstream.hear_client(message, message.line),
            None => self.nobody(message, &format!("no server has listed this {what} yet; list first")),
        }
    }

    fn nobody(&self, message: &Message<'_>, why: &str) {
        self.say(error_line(message.id, WRONG_PARAMETERS, &format!("Sayso: {why}."), None));
    }

    fn notification(&self, method: &str, message: &Message<'_>) {
        let about = message.params.filter(|_| method == "notifications/cancelled");
        let about = about.and_then(|params| json_member(params, "requestId")).and_then(|raw| Id::read(&raw));
        for upstream in &self.upstreams {
            if about.is_none() || about.as_ref().is_some_and(|id| upstream.waits_for(id) || upstream.guard.holds(id)) {
                upstream.hear_client(message, message.line);
            }
        }
    }

    /// An answer of the client: to us, or to the server whose place its id names.
    fn answer(&self, message: &Message<'_>) {
        if self.upstreams.iter().any(|upstream| upstream.guard.takes(message)) {
            return;
        }
        let Some(Id::Text(text)) = message.key() else { return };
        let Ok(text) = String::from_utf8(text) else { return };
        let Some((index, id)) = text.strip_prefix("sayso-").and_then(|rest| rest.split_once(':')) else { return };
        let Some(upstream) = index.parse().ok().and_then(|at: usize| self.upstreams.get(at)) else { return };
        if Id::read(id.as_bytes()).is_none() {
            return;
        }
        if let Some(mut line) = replaced(message.line, &["id"], id.as_bytes()) {
            line.push(b'\n');
            let mut reader = Reader::default();
            if let Ok(Some(message)) = reader.read(&line) {
                upstream.hear_client(&message, &line);
            }
        }
    }
}

/// The pages of one server's list.
fn pages(upstream: &Arc<Upstream>, method: &str) -> Vec<Vec<u8>> {
    let mut pages: Vec<Vec<u8>> = Vec::new();
    let mut cursor: Option<String> = None;
    while pages.len() < MOST_PAGES {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor})).to_string();
        let Some(Some(page)) = upstream.request(method, Some(params.as_bytes()), LISTING) else { break };
        let next = next_cursor(&page).filter(|next| cursor.as_ref() != Some(next));
        pages.push(page);
        match next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    pages
}

fn merged_capabilities(greetings: &[Option<Value>]) -> Value {
    let mut merged = Map::new();
    for capabilities in greetings.iter().flatten().filter_map(|g| g.get("capabilities")?.as_object()) {
        for (name, value) in capabilities.iter().filter(|(name, _)| *name != "experimental") {
            let entry = merged.entry(name.clone()).or_insert_with(|| json!({}));
            if let (Some(into), Some(from)) = (entry.as_object_mut(), value.as_object()) {
                for (key, value) in from {
                    // What one server can do is offered; one that cannot says so when it is asked.
                    if into.get(key) != Some(&Value::Bool(true)) {
                        into.insert(key.clone(), value.clone());
                    }
                }
            }
        }
    }
    Value::Object(merged)
}
