//! Looking afterwards whether Sayso was asked: every call in the agents' own transcripts must have a decision on record.
//!
//! Transcripts are the agents' and may be huge, damaged or made by an attacker: what is read is bounded in every
//! direction, links are not followed, and what was left out is said.

mod history;
pub(crate) mod transcript;

pub use history::History;

use crate::Agent;
use sayso_gate::Record;
use sayso_gate::audit::redact_arguments;
use sayso_gate::history::Outcome;
use sayso_policy::Actor;
use serde::Serialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// The most calls that are looked at.
pub(crate) const MOST_CALLS: usize = 200_000;

/// A call in a transcript.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TranscriptCall {
    /// Whose transcript.
    pub agent: &'static str,
    /// The session, as the agent names it.
    pub session: Option<String>,
    /// The call, as the agent names it.
    pub id: Option<String>,
    /// The tool, as the agent names it.
    pub tool: String,
    /// The arguments, secrets taken out.
    pub arguments: Value,
    /// When, in milliseconds since 1970, if the transcript says so.
    pub time_ms: Option<u64>,
    /// The file.
    pub transcript: PathBuf,
    /// The working directory, if the transcript says so.
    #[serde(skip)]
    pub cwd: Option<PathBuf>,
    /// A subagent made it.
    #[serde(skip)]
    pub subagent: bool,
    /// What became of it.
    #[serde(skip)]
    pub outcome: Outcome,
    /// How long it waited for a person, in milliseconds, if the transcript says so.
    #[serde(skip)]
    pub waited_ms: Option<u64>,
}

/// Where transcripts are.
#[derive(Clone, Debug)]
pub struct Transcripts {
    /// The home folder.
    pub home: PathBuf,
    /// What the environment says about an agent's folders: `CODEX_HOME` and the like.
    pub variable: fn(&str) -> Option<PathBuf>,
    /// Only calls since then, in milliseconds since 1970. Calls without a time always count.
    pub since_ms: u64,
}

/// What was found in transcripts.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// How many transcripts there were.
    pub transcripts: usize,
    /// The calls, each once.
    pub calls: Vec<TranscriptCall>,
    /// What was left out, and why.
    pub skipped: Vec<String>,
    /// Files, lines and parts that could not be read.
    pub unreadable: usize,
    /// The transcripts.
    pub files: Vec<PathBuf>,
    /// How calls ended.
    endings: HashMap<history::Named, history::Ending>,
}

impl Transcripts {
    /// The calls in an agent's transcripts, secrets taken out of their arguments; `None` if Sayso cannot read that agent's.
    #[must_use]
    pub fn read(&self, agent: Agent) -> Option<Read> {
        let mut read = self.read_whole(agent)?;
        read.calls.iter_mut().for_each(|call| call.arguments = redact_arguments(&call.arguments, 4096));
        Some(read)
    }

    /// The calls as the agent wrote them.
    fn read_whole(&self, agent: Agent) -> Option<Read> {
        let transcripts = agent.row().transcripts.as_ref()?;
        let mut read = Read::default();
        let folder = transcripts.folder.find(&self.home, |name| (self.variable)(name));
        (transcripts.read)(&folder, self.since_ms, &mut read);
        read.settle();
        Some(read)
    }
}

impl Read {
    /// Takes a call, unless there are too many or it is there already: transcripts repeat themselves.
    pub(crate) fn add(&mut self, call: TranscriptCall, known: &mut HashSet<(Option<String>, String)>, since_ms: u64) {
        if call.time_ms.is_some_and(|time| time < since_ms) {
            return;
        }
        if let Some(id) = &call.id
            && !known.insert((call.session.clone(), id.clone()))
        {
            return;
        }
        match self.calls.len() {
            count if count < MOST_CALLS => self.calls.push(call),
            MOST_CALLS => {
                let more = format!("Only the first {MOST_CALLS} calls are looked at.");
                if self.skipped.last() != Some(&more) {
                    self.skipped.push(more);
                }
            }
            _ => {}
        }
    }
}

/// Which calls no decision covers. Every decision covers one call.
#[must_use]
pub fn uncovered(calls: Vec<TranscriptCall>, records: &[Record]) -> Vec<TranscriptCall> {
    let mut decisions = Decisions::of(records);
    calls.into_iter().filter(|call| !decisions.cover(call)).collect()
}

/// Decisions by what a call can be recognised by. A subagent's calls stand in a transcript of its own, under its own id;
/// in the record they are of the session that started it: every id on the way up to that counts.
struct Decisions {
    /// By agent, session or subagent, and id of the call.
    by_id: HashSet<(String, String, String)>,
    /// By agent, session or subagent, tool and arguments, for agents whose hooks are not told an id.
    by_content: HashMap<(String, String, String), Vec<usize>>,
    /// Which of them have covered a call.
    used: Vec<bool>,
}

impl Decisions {
    fn of(records: &[Record]) -> Self {
        let mut by_id = HashSet::new();
        let mut by_content: HashMap<_, Vec<usize>> = HashMap::new();
        for (number, record) in records.iter().enumerate() {
            let agent = record.actor.agent.clone().unwrap_or_default();
            for place in places(&record.actor) {
                match &record.call_id {
                    Some(id) => {
                        by_id.insert((agent.clone(), place, id.clone()));
                    }
                    None => {
                        let name = record.called_as.name.clone().unwrap_or_else(|| record.tool.clone());
                        let arguments = record.arguments.as_ref().unwrap_or(&Value::Null);
                        let content = content(&name, record.called_as.server.as_deref(), arguments);
                        by_content.entry((agent.clone(), place, content)).or_default().push(number);
                    }
                }
            }
        }
        Self { by_id, by_content, used: vec![false; records.len()] }
    }

    fn cover(&mut self, call: &TranscriptCall) -> bool {
        let agent = call.agent.to_owned();
        let session = call.session.clone().unwrap_or_default();
        if let Some(id) = &call.id
            && self.by_id.contains(&(agent.clone(), session.clone(), id.clone()))
        {
            return true;
        }
        let candidates = self.by_content.get(&(agent, session, content(&call.tool, None, &call.arguments)));
        for number in candidates.into_iter().flatten() {
            match self.used.get_mut(*number) {
                Some(used) if !*used => {
                    *used = true;
                    return true;
                }
                _ => {}
            }
        }
        false
    }
}

/// The session of a call, and the subagents it came from.
fn places(actor: &Actor) -> Vec<String> {
    let mut places = Vec::new();
    let mut at = Some(actor);
    while let Some(actor) = at {
        for id in [&actor.session, &actor.run].into_iter().flatten() {
            if !places.contains(id) {
                places.push(id.clone());
            }
        }
        at = actor.parent.as_deref();
    }
    if places.is_empty() {
        places.push(String::new());
    }
    places
}

/// How a tool with its arguments is compared. What agents put together from an MCP server and its tool is spelled in one
/// way before a call and in another in the transcript.
fn content(tool: &str, server: Option<&str>, arguments: &Value) -> String {
    let of_server = server.is_some() || tool.starts_with("mcp") || tool.contains('-');
    if !of_server {
        return format!("{tool} {arguments}");
    }
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let tool = letters(tool);
    match server {
        Some(server) => format!("mcp:{}{tool} {arguments}", letters(server)),
        None => format!("mcp:{} {arguments}", tool.strip_prefix("mcp").unwrap_or(&tool)),
    }
}

/// Arguments as values: some agents write an object as text.
pub(crate) fn as_values(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| arguments.clone()),
        other => other.clone(),
    }
}
