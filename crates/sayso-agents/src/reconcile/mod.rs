//! Looking afterwards whether Sayso was asked: every call in the agents' own transcripts must have a decision on record.
//!
//! Transcripts are the agents' and may be huge, damaged or made by an attacker: what is read is bounded in every
//! direction, links are not followed, and what was left out is said.

mod claude_code;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod transcript;

use crate::Agent;
use sayso_gate::Record;
use sayso_gate::audit::redact_arguments;
use serde::Serialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// The most calls that are looked at.
const MOST_CALLS: usize = 200_000;

/// A call in a transcript.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Call {
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
}

/// Where transcripts are.
#[derive(Clone, Debug)]
pub struct Transcripts {
    /// The home folder.
    pub home: PathBuf,
    /// What the environment says about an agent's folders: `CODEX_HOME` and the like.
    pub variables: HashMap<String, PathBuf>,
    /// Only calls since then, in milliseconds since 1970. Calls without a time always count.
    pub since_ms: u64,
}

/// The variables that move agents' folders.
pub const VARIABLES: &[&str] = &["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "XDG_DATA_HOME"];

/// What was found in transcripts.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// How many transcripts there were.
    pub transcripts: usize,
    /// The calls, each once.
    pub calls: Vec<Call>,
    /// What was left out, and why.
    pub skipped: Vec<String>,
}

impl Transcripts {
    fn folder(&self, variable: &str, below_home: &str) -> PathBuf {
        self.variables.get(variable).cloned().unwrap_or_else(|| self.home.join(below_home))
    }

    /// The calls in an agent's transcripts; `None` if Sayso cannot read that agent's.
    #[must_use]
    pub fn read(&self, agent: Agent) -> Option<Read> {
        let mut read = Read::default();
        match agent {
            Agent::ClaudeCode => {
                claude_code::read(&self.folder("CLAUDE_CONFIG_DIR", ".claude"), self.since_ms, &mut read)
            }
            Agent::Codex => codex::read(&self.folder("CODEX_HOME", ".codex"), self.since_ms, &mut read),
            Agent::Gemini => {
                let folder = match self.variables.get("GEMINI_CLI_HOME") {
                    Some(home) => home.join(".gemini"),
                    None => self.home.join(".gemini"),
                };
                gemini::read(&folder, self.since_ms, &mut read);
            }
            Agent::Copilot => copilot::read(&self.folder("COPILOT_HOME", ".copilot"), self.since_ms, &mut read),
            Agent::OpenCode => {
                opencode::read(
                    &self.folder("XDG_DATA_HOME", ".local/share").join("opencode"),
                    self.since_ms,
                    &mut read,
                );
            }
            Agent::Cursor | Agent::OpenClaw | Agent::Zed => return None,
        }
        Some(read)
    }
}

impl Read {
    /// Takes a call, unless there are too many or it is there already: transcripts repeat themselves.
    fn add(&mut self, call: Call, known: &mut HashSet<(Option<String>, String)>, since_ms: u64) {
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
pub fn uncovered(calls: Vec<Call>, records: &[Record]) -> Vec<Call> {
    let mut decisions = Decisions::of(records);
    calls.into_iter().filter(|call| !decisions.cover(call)).collect()
}

/// Decisions by what a call can be recognised by.
struct Decisions {
    /// By agent, session and id of the call.
    by_id: HashSet<(String, String, String)>,
    /// By agent, session, tool and arguments, for agents whose hooks are not told an id; how many of each.
    by_content: HashMap<(String, String, String), usize>,
}

impl Decisions {
    fn of(records: &[Record]) -> Self {
        let mut by_id = HashSet::new();
        let mut by_content: HashMap<_, usize> = HashMap::new();
        for record in records {
            let agent = record.actor.agent.clone().unwrap_or_default();
            let session = record.actor.session.clone().unwrap_or_default();
            match &record.call_id {
                Some(id) => {
                    by_id.insert((agent, session, id.clone()));
                }
                None => {
                    let name = record.called_as.name.clone().unwrap_or_else(|| record.tool.clone());
                    let content = content(&name, record.arguments.as_ref().unwrap_or(&Value::Null));
                    *by_content.entry((agent, session, content)).or_default() += 1;
                }
            }
        }
        Self { by_id, by_content }
    }

    fn cover(&mut self, call: &Call) -> bool {
        let agent = call.agent.to_owned();
        let session = call.session.clone().unwrap_or_default();
        if let Some(id) = &call.id
            && self.by_id.contains(&(agent.clone(), session.clone(), id.clone()))
        {
            return true;
        }
        match self.by_content.get_mut(&(agent, session, content(&call.tool, &call.arguments))) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

/// How a tool with its arguments is compared.
fn content(tool: &str, arguments: &Value) -> String {
    format!("{tool} {arguments}")
}

/// Arguments as the record keeps them, so that both can be compared and neither shows a secret.
fn as_recorded(arguments: &Value) -> Value {
    let parsed;
    let arguments = match arguments {
        // Some agents write an object as text.
        Value::String(text) => {
            parsed = serde_json::from_str(text).unwrap_or_else(|_| arguments.clone());
            &parsed
        }
        other => other,
    };
    redact_arguments(arguments, 4096)
}
