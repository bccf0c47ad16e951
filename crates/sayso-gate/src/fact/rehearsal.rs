//! Facts of sessions that nobody runs: `check --jsonl` keeps them for as long as it reads.
//!
//! Nothing is written then, so what a file holds is told by the call that wrote it, and a call that asks counts as one that
//! somebody said yes to: the calls of a transcript did run.

use sayso_policy::{Answer, Decision, EarlierCall, Facts, Known, Operation, Past, Policy};
use std::collections::HashMap;

/// Sessions that are kept in mind.
const MOST: usize = 4096;

/// What sessions would have done.
#[derive(Debug, Default)]
pub struct Rehearsal {
    sessions: HashMap<String, Known>,
    calls: usize,
}

impl Rehearsal {
    /// What a session has done so far. Without a session every call stands alone.
    #[must_use]
    pub fn past(&self, session: Option<&str>) -> Past {
        let known = session.and_then(|session| self.sessions.get(session));
        known.cloned().map_or_else(Past::default, |known| Past::when_asked(move || known.clone()))
    }

    /// Keeps what a call does, if it may run.
    pub fn note(&mut self, policy: &Policy, operation: &Operation, decision: &Decision, past: &Past, facts: Facts<'_>) {
        let Some(session) = operation.actor.session.clone().filter(|_| policy.remembers()) else { return };
        if !matches!(decision.answer, Answer::Allow | Answer::Ask) {
            return;
        }
        self.calls += 1;
        if self.sessions.len() >= MOST && !self.sessions.contains_key(&session) {
            return;
        }
        let known = self.sessions.entry(session).or_insert_with(|| Known { rehearsed: true, ..Known::default() });
        let deeds = decision.deeds.clone().unwrap_or_else(|| policy.deeds(operation, facts));
        let text = sayso_policy::explain::effect::command_text(operation);
        let text = text.map(|text| String::from_utf8_lossy(text).into_owned());
        let call = EarlierCall {
            id: format!("rehearsed-{}", self.calls),
            time_ms: crate::audit::now_ms(),
            command: crate::audit::redact_text(&text.unwrap_or_else(|| operation.tool.canonical.clone())),
        };
        if decision.answer == Answer::Ask {
            known.approved.extend(policy.wrote(operation, past, facts).into_iter().filter_map(|file| file.content));
        }
        for (key, certain) in deeds.after {
            known.after.entry(key).or_insert((certain, call.clone()));
        }
        known.written.extend(deeds.written.into_iter().map(|path| (path, call.clone())));
    }
}
