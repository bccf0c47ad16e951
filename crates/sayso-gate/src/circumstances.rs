//! How a call came in, and who can be asked about it.

use crate::audit::Peer;
use crate::limit::Expected;
use sayso_policy::{CanHold, ToolFinding};
use std::time::Instant;

/// How a call came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// Which way in: `hook claude-code`, `http`.
    pub way_in: String,
    /// The process that asked, where the system names it.
    pub peer: Option<Peer>,
    /// Its own word for what happened: `PreToolUse`.
    pub event: Option<String>,
    /// The caller's own id of the call.
    pub call_id: Option<String>,
    /// Who can be asked.
    pub asking: Asking,
    /// What the call is expected to use, where the caller knows.
    pub expected: Expected,
    /// What the way in has found of the tool.
    pub findings: Vec<ToolFinding>,
    /// How strongly the way in can hold what it lets pass.
    ///
    /// INVARIANT: whoever the way in belongs to says so, never the call.
    pub can_hold: CanHold,
}

impl Circumstances {
    /// Those of a call that nobody makes: for `check` and the like, whose answers nobody acts on.
    #[must_use]
    pub fn rehearsal() -> Self {
        Self::of(String::new(), Asking::Rehearsal)
    }

    /// Those of a call of which nothing is known but the way in and who can be asked.
    #[must_use]
    pub fn of(way_in: String, asking: Asking) -> Self {
        let expected = Expected::default();
        Self {
            way_in,
            peer: None,
            event: None,
            call_id: None,
            asking,
            expected,
            findings: Vec::new(),
            can_hold: CanHold::No,
        }
    }
}

/// Who can be asked where the policy says Ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// The caller has a prompt of its own and shows it for an Ask.
    OwnPrompt,
    /// Nobody.
    Nobody,
    /// The queue may hold the call until this moment, while an approver is connected; then `otherwise`. Where nobody
    /// is connected, `otherwise` at once, so that nobody is asked twice for one call.
    Queue {
        /// The caller's own deadline, with room for its answer.
        until: Instant,
        /// What is left when nobody answered.
        otherwise: Otherwise,
    },
    /// The caller holds the call itself and comes back: the question is put, whoever is connected, and stays.
    Ticket {
        /// People were asked already: no new question is put.
        asked: bool,
    },
    /// Nobody, for nobody makes the call: what the files say under the operator's mode is said, an Ask stays one, and
    /// nothing else that is remembered counts. It never comes with a permit.
    Rehearsal,
}

/// What is left of asking when the queue gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// The caller's own prompt.
    OwnPrompt,
    /// Nobody: `unanswered` speaks, else Deny.
    Nobody,
}

impl Asking {
    /// Whether the caller itself can ask somebody.
    #[must_use]
    pub fn has_own_prompt(self) -> bool {
        matches!(self, Self::OwnPrompt | Self::Queue { otherwise: Otherwise::OwnPrompt, .. })
    }
}
