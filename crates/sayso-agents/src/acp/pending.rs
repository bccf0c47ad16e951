//! Requests that wait for an answer which is not passed on blindly.

use super::later::Queued;
use super::proxy::Side;
use crate::pipe::Id;
use sayso_gate::Prompt;
use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::path::PathBuf;

/// More than this many at once are refused.
const MOST: usize = 4096;

/// Requests that wait, by who answers them and their id.
#[derive(Debug)]
pub(super) struct Waiting {
    all: HashMap<(Side, Id), Pending>,
    /// Makes our ids such as no agent guesses: one that used ours for a request of its own could answer our question.
    secret: u64,
    next: u64,
}

impl Default for Waiting {
    fn default() -> Self {
        // The standard library seeds this from the system's randomness.
        let secret = std::hash::RandomState::new().hash_one(std::process::id());
        Self { all: HashMap::new(), secret, next: 0 }
    }
}

/// What an answer is for.
#[derive(Debug)]
pub(super) enum Pending {
    /// The client answers a permission request of the agent.
    Permission(Box<PermissionAsked>),
    /// The client answers a question of ours; until then the agent's request is held.
    Question { held: Held },
    /// People in Sayso's queue are asked about a request of the agent. Nobody on the pipe answers it.
    Queued(Box<Queued>),
    /// The agent answers `initialize`.
    Initialize,
    /// The agent answers the start of a session: the id is in the answer, or was named.
    Start { session: Option<String>, folder: Option<PathBuf> },
    /// The agent answers a prompt.
    Prompt { session: String },
    /// The agent answers our own change of its mode; the answer to the session's start waits for it.
    Pin { start: Option<PinnedStart> },
}

/// A permission request that the person at the editor sees.
#[derive(Debug)]
pub(super) struct PermissionAsked {
    pub(super) session: String,
    pub(super) offered: Vec<String>,
    pub(super) allowing: Vec<String>,
    pub(super) record: Option<String>,
    pub(super) writes: Vec<(String, Option<String>)>,
    pub(super) prompt: Prompt,
}

/// A request of the agent that waits for a person.
#[derive(Debug)]
pub(super) struct Held {
    /// The line as it came.
    pub(super) line: Vec<u8>,
    /// The raw id.
    pub(super) id: Vec<u8>,
    pub(super) session: String,
    /// Under which limits know it.
    pub(super) record: Option<String>,
    pub(super) prompt: Prompt,
}

/// The answer to a session's start, held until the session is out of its mode.
#[derive(Clone, Debug)]
pub(super) struct PinnedStart {
    /// The raw id of the client's request.
    pub(super) id: Vec<u8>,
    /// The answer, with the mode that will be.
    pub(super) line: Vec<u8>,
    /// The mode it was in.
    pub(super) mode: String,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Remembers one. `false`: the id is taken, or there are too many.
    pub(super) fn add(&mut self, by: Side, id: Id, pending: Pending) -> bool {
        if self.all.len() >= MOST || self.all.contains_key(&(by, id.clone())) {
            return false;
        }
        self.all.insert((by, id), pending);
        true
    }

    /// Who answers the request with this id.
    pub(super) fn by(&self, id: &Id) -> Option<Side> {
        [Side::Client, Side::Agent].into_iter().find(|side| self.all.contains_key(&(*side, id.clone())))
    }

    /// Whether a session is being loaded: what its agent tells meanwhile has happened long ago.
    pub(super) fn is_loading(&self, id: &str) -> bool {
        let loads = |pending: &Pending| matches!(pending, Pending::Start { session: Some(one), .. } if one == id);
        self.all.values().any(loads)
    }

    pub(super) fn take(&mut self, by: Side, id: &Id) -> Option<Pending> {
        self.all.remove(&(by, id.clone()))
    }

    /// Takes the question that holds this request of the agent, with the question's own id.
    pub(super) fn take_question(&mut self, held: &Id) -> Option<(Id, Held)> {
        let found = self.all.iter().find_map(|(key, pending)| match pending {
            Pending::Question { held: one } if Id::read(&one.id).as_ref() == Some(held) => Some(key.clone()),
            _ => None,
        })?;
        match self.all.remove(&found) {
            Some(Pending::Question { held }) => Some((found.1, held)),
            _ => None,
        }
    }

    /// Whether the queue holds the request with this id.
    pub(super) fn is_held(&self, id: &Id) -> bool {
        matches!(self.all.get(&(Side::Client, id.clone())), Some(Pending::Queued(_)))
    }

    /// How many requests the queue holds.
    pub(super) fn queued(&self) -> usize {
        self.all.values().filter(|pending| matches!(pending, Pending::Queued(_))).count()
    }

    /// Takes a request that the queue holds, by its id.
    pub(super) fn take_held(&mut self, id: &Id) -> Option<Queued> {
        let key = (Side::Client, id.clone());
        match self.all.get(&key) {
            Some(Pending::Queued(_)) => match self.all.remove(&key) {
                Some(Pending::Queued(queued)) => Some(*queued),
                _ => None,
            },
            _ => None,
        }
    }

    /// Takes all requests of a session that the queue holds.
    pub(super) fn take_queued(&mut self, session: &str) -> Vec<Queued> {
        self.take_those(|queued| queued.session.as_deref() == Some(session))
    }

    /// Takes all requests that the queue holds.
    pub(super) fn take_all_queued(&mut self) -> Vec<Queued> {
        self.take_those(|_| true)
    }

    fn take_those(&mut self, wanted: impl Fn(&Queued) -> bool) -> Vec<Queued> {
        let is_wanted = |pending: &Pending| matches!(pending, Pending::Queued(queued) if wanted(queued));
        let keys: Vec<Id> =
            self.all.iter().filter(|(_, pending)| is_wanted(pending)).map(|(key, _)| key.1.clone()).collect();
        keys.iter().filter_map(|id| self.take_held(id)).collect()
    }

    /// An id for a request of ours, with its raw JSON.
    pub(super) fn own_id(&mut self) -> (Id, String) {
        self.next += 1;
        let text = format!("sayso-{:016x}-{}", self.secret, self.next);
        (Id::Text(text.clone().into_bytes()), format!("\"{text}\""))
    }
}
