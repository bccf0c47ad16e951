//! Transcripts as past calls: with where each was made, what became of it and how long it waited, as far as the agent wrote
//! that down.

use super::{Read, TranscriptCall, Transcripts};
use crate::Agent;
use sayso_gate::history::{Outcome, PastCall};
use sayso_gate::wire::workspace_at;
use sayso_policy::{Actor, Request, ToolCall};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What an agent's transcripts hold.
#[derive(Debug, Default)]
pub struct History {
    /// The files.
    pub files: Vec<PathBuf>,
    /// The calls, each once. Their arguments are as the agent wrote them: they are to be judged, never written.
    pub calls: Vec<PastCall>,
    /// What was left out, and why.
    pub skipped: Vec<String>,
    /// Files, lines and parts that could not be read.
    pub unreadable: usize,
}

/// A call by its session and its id there.
pub(super) type Named = (Option<String>, String);

/// How a call ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    outcome: Outcome,
    at_ms: Option<u64>,
    waited_ms: Option<u64>,
}

impl Read {
    /// Takes how a call ended. That a person refused it is said once, and then told to the model as a failure.
    pub(crate) fn ended(&mut self, session: &Option<String>, id: Option<String>, outcome: Outcome, at_ms: Option<u64>) {
        let Some(id) = id else { return };
        let ending = self.endings.entry((session.clone(), id)).or_default();
        if ending.outcome != Outcome::Refused {
            (ending.outcome, ending.at_ms) = (outcome, at_ms);
        }
    }

    /// Takes how long a call waited for a person.
    pub(crate) fn waited(&mut self, session: &Option<String>, id: String, waited_ms: u64) {
        self.endings.entry((session.clone(), id)).or_default().waited_ms = Some(waited_ms);
    }

    /// Tells every call how it ended.
    pub(super) fn settle(&mut self) {
        for call in &mut self.calls {
            let Some(id) = &call.id else { continue };
            let Some(ending) = self.endings.get(&(call.session.clone(), id.clone())) else { continue };
            call.outcome = ending.outcome;
            // What was refused did nothing but wait.
            let refused = (ending.outcome == Outcome::Refused).then_some(ending.at_ms).flatten();
            let until_refused = refused.zip(call.time_ms).map(|(end, begin)| end.saturating_sub(begin));
            call.waited_ms = ending.waited_ms.or(until_refused);
        }
    }
}

impl Transcripts {
    /// The calls in an agent's transcripts, to be judged again; `None` if Sayso cannot read that agent's.
    #[must_use]
    pub fn history(&self, agent: Agent) -> Option<History> {
        let read = self.read_whole(agent)?;
        // A session is about the folder that it began in.
        let mut began: HashMap<Option<String>, PathBuf> = HashMap::new();
        for call in &read.calls {
            if let Some(cwd) = &call.cwd {
                began.entry(call.session.clone()).or_insert_with(|| cwd.clone());
            }
        }
        let past = |call: TranscriptCall| {
            let workspace = began.get(&call.session).cloned();
            past(call, workspace.as_deref(), &self.home)
        };
        let calls = read.calls.into_iter().map(past).collect();
        Some(History { files: read.files, calls, skipped: read.skipped, unreadable: read.unreadable })
    }
}

fn past(call: TranscriptCall, workspace: Option<&Path>, home: &Path) -> PastCall {
    let request = Request::Tool { name: call.tool, arguments: call.arguments, server: None };
    let actor = Actor {
        agent: Some(call.agent.to_owned()),
        session: call.session,
        subagent: call.subagent,
        ..Actor::default()
    };
    let mut made = ToolCall { actor, cwd: call.cwd, home: Some(home.to_owned()), ..ToolCall::new(request) };
    if let Some(workspace) = workspace {
        made.workspace = workspace_at(workspace, Some(home));
    }
    let mut past = PastCall::new(made);
    (past.time_ms, past.outcome, past.waited_ms) = (call.time_ms, call.outcome, call.waited_ms);
    past
}
