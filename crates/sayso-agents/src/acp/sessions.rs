//! What is remembered of each session: its folder, its mode, and the calls it told of. All of it is bounded, because
//! an agent that runs for days, or that lies, must not fill the memory.

use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

/// The most sessions that are remembered; the oldest goes first.
const MOST_SESSIONS: usize = 256;
/// The most calls of a session that are remembered.
const MOST_CALLS: usize = 512;
/// Arguments that are larger than this are not kept.
const LARGEST_INPUT: usize = 64 * 1024;
/// The most paths of a call that are remembered.
const MOST_PATHS: usize = 256;
/// The most answers of a person that wait for the write they were about.
const MOST_AGREED: usize = 64;

/// All sessions of one pipe.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: Bounded<Session>,
}

/// One session.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The folder it is about, fixed when the client starts it.
    pub(super) folder: Option<PathBuf>,
    /// The mode that it must come back to.
    pub(super) mode: Option<String>,
    /// Options that the agent itself calls its mode.
    pub(super) mode_options: Vec<String>,
    /// Calls that have not ended.
    pub(super) calls: Bounded<KnownCall>,
    /// The record of the call that was let through last: what a turn used is counted there.
    pub(super) last_record: Option<String>,
    /// What the session has cost so far, as its agent tells, in millionths.
    pub(super) cost_told: u64,
    /// What of it was counted.
    pub(super) cost_counted: u64,
    /// Writes that a person has just agreed to.
    agreed: VecDeque<Agreed>,
}

/// A call as its agent told of it so far.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownCall {
    pub(super) name: Option<String>,
    /// The first title, which some agents make the tool's name.
    pub(super) first_title: Option<String>,
    pub(super) title: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) server: Option<String>,
    pub(super) raw_input: Option<Value>,
    /// What looks like an input in the text that it shows: some agents put it there and nowhere else.
    pub(super) shown_input: Option<Value>,
    /// Every path that it ever pointed to or showed a difference of.
    pub(super) paths: Vec<String>,
    /// Those that it showed a difference of.
    pub(super) diffs: Vec<String>,
    /// It says that it runs in another folder than the session's.
    pub(super) elsewhere: Option<String>,
    /// Permission was asked for it.
    pub(super) asked: bool,
    /// And was not given.
    pub(super) refused: bool,
}

#[derive(Debug)]
struct Agreed {
    path: String,
    content: Option<String>,
}

impl Sessions {
    pub(super) fn get(&self, id: &str) -> Option<&Session> {
        self.known.get(id)
    }

    /// The session, new if it was not known.
    pub(super) fn at(&mut self, id: &str) -> &mut Session {
        self.known.at(id, MOST_SESSIONS)
    }
}

impl Session {
    /// The call, new if it was not known.
    pub(super) fn call(&mut self, id: &str) -> &mut KnownCall {
        self.calls.at(id, MOST_CALLS)
    }

    /// A person agreed to a write: the client's own file request that carries it out is not asked about again.
    pub(super) fn agree(&mut self, path: &str, content: Option<String>) {
        self.agreed.push_back(Agreed { path: path.to_owned(), content });
        if self.agreed.len() > MOST_AGREED {
            self.agreed.pop_front();
        }
    }

    /// Whether a person agreed to exactly this write. One yes is for one write.
    pub(super) fn take_agreed(&mut self, path: &str, content: &str) -> bool {
        let same = |one: &Agreed| one.path == path && one.content.as_deref().is_none_or(|known| known == content);
        match self.agreed.iter().position(same) {
            Some(at) => self.agreed.remove(at).is_some(),
            None => false,
        }
    }
}

impl KnownCall {
    /// Takes over what a later word of the agent adds. What it leaves out stays.
    pub(super) fn learn(&mut self, told: &Value) {
        let text = |key: &str| told.get(key).and_then(Value::as_str).map(str::to_owned);
        let in_meta = || told.pointer("/_meta/toolName").and_then(Value::as_str).map(str::to_owned);
        self.name = text("name").or_else(in_meta).or(self.name.take());
        self.kind = text("kind").or(self.kind.take());
        if let Some(title) = text("title") {
            self.first_title.get_or_insert_with(|| title.clone());
            self.title = Some(title);
        }
        let server = told.pointer("/_meta/claudeCode/mcpServer/name").and_then(Value::as_str);
        self.server = server.map(str::to_owned).or(self.server.take());
        match told.get("rawInput") {
            None | Some(Value::Null) => {}
            Some(input) if weight(input) <= LARGEST_INPUT => self.raw_input = Some(input.clone()),
            Some(_) => self.raw_input = Some(Value::Null),
        }
        self.elsewhere = stated_folder(told).or(self.elsewhere.take());
        self.shown_input = shown_input(told).or(self.shown_input.take());
        // What a later word leaves out is still about to be done.
        add(&mut self.paths, paths(told));
        add(&mut self.diffs, diffs(told));
    }
}

fn add(known: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for path in more {
        if known.len() < MOST_PATHS && !known.contains(&path) {
            known.push(path);
        }
    }
}

/// Text content that is an object in JSON.
fn shown_input(told: &Value) -> Option<Value> {
    let contents = told.get("content")?.as_array()?;
    let texts = contents.iter().filter_map(|one| one.pointer("/content/text")?.as_str());
    let small = texts.filter(|text| text.len() <= LARGEST_INPUT && text.trim_start().starts_with('{'));
    small.filter_map(|text| serde_json::from_str::<Value>(text).ok()).find(Value::is_object)
}

/// The files that it shows a difference of.
fn diffs(told: &Value) -> Vec<String> {
    let contents = told.get("content").and_then(Value::as_array).into_iter().flatten();
    let shown = contents.filter(|one| one.get("type").and_then(Value::as_str) == Some("diff"));
    shown.filter_map(|one| one.get("path")?.as_str()).take(MOST_PATHS).map(str::to_owned).collect()
}

/// The paths that a call shows: where it points to, and what it shows a difference of.
pub(super) fn paths(told: &Value) -> Vec<String> {
    let list = |key: &str| told.get(key).and_then(Value::as_array).into_iter().flatten();
    let found = list("locations").chain(list("content")).filter_map(|one| one.get("path")?.as_str());
    found.take(MOST_PATHS).map(str::to_owned).collect()
}

/// The folder that Gemini CLI names in front of a command's description.
fn stated_folder(told: &Value) -> Option<String> {
    let text = told.pointer("/content/0/content/text")?.as_str()?;
    let rest = text.strip_prefix("[current working directory ").or_else(|| text.strip_prefix("[in "))?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// Roughly how much memory a value takes.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + items.len() * 32,
        Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + 64 + weight(value)).sum(),
        _ => 8,
    }
}

/// A map that forgets its oldest entry when it is full.
#[derive(Debug)]
pub(super) struct Bounded<T> {
    map: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self { map: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T: Default> Bounded<T> {
    pub(super) fn get(&self, key: &str) -> Option<&T> {
        self.map.get(key)
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<T> {
        let found = self.map.remove(key)?;
        self.order.retain(|other| other != key);
        Some(found)
    }

    fn at(&mut self, key: &str, most: usize) -> &mut T {
        if !self.map.contains_key(key) {
            if self.map.len() >= most
                && let Some(oldest) = self.order.pop_front()
            {
                self.map.remove(&oldest);
            }
            self.order.push_back(key.to_owned());
        }
        self.map.entry(key.to_owned()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn memory_stays_bounded_whatever_an_agent_tells() {
        let mut sessions = Sessions::default();
        for n in 0..MOST_SESSIONS * 3 {
            let session = sessions.at(&format!("s{n}"));
            for m in 0..3 {
                session.call(&format!("c{m}")).learn(&json!({"rawInput": {"x": "y".repeat(10)}}));
            }
        }
        assert_eq!(sessions.known.map.len(), MOST_SESSIONS);
        assert_eq!(sessions.known.order.len(), MOST_SESSIONS);
        let session = sessions.at("s");
        for n in 0..MOST_CALLS * 2 {
            session.call(&format!("c{n}"));
        }
        assert_eq!(session.calls.map.len(), MOST_CALLS);
        let mut call = KnownCall::default();
        call.learn(&json!({"rawInput": {"content": "x".repeat(LARGEST_INPUT)}}));
        assert_eq!(call.raw_input, Some(Value::Null));
    }

    #[test]
    fn one_yes_is_for_one_write_of_that_content() {
        let mut session = Session::default();
        session.agree("/a", Some("x".to_owned()));
        assert!(!session.take_agreed("/b", "x"));
        assert!(!session.take_agreed("/a", "y"));
        assert!(session.take_agreed("/a", "x"));
        assert!(!session.take_agreed("/a", "x"));
    }
}
