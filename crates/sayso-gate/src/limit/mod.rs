//! Budgets: what a call takes from them, what they are counted over, and what became of it.

mod amount;
pub(crate) mod same;
mod scope;

pub(crate) use amount::Takes;
pub use scope::Place;
pub(crate) use scope::{is_of, is_session, keys};

use sayso_policy::{Actor, Scope, Usage};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a call may run before what it was expected to use, and did not report, is given back.
pub const RESERVED_MS: u64 = 60 * 60 * 1000;

/// What a caller expects a call to use, beyond what can be seen from the call itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Expected {
    /// Tokens that the model will read.
    pub input_tokens: u64,
    /// Tokens that the model will write.
    pub output_tokens: u64,
    /// Cost in millionths of the currency's unit.
    pub cost_micros: u64,
}

/// What became of a call that was let through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcome {
    /// It did not run after all: everything that was reserved for it is given back.
    pub not_run: bool,
    /// Tokens that the model read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// What it cost, in millionths of the currency's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Bytes that it wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_written: Option<u64>,
    /// Paths that it removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletes: Option<u64>,
}

/// Which call an outcome is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// By the id of its record, for whoever made it.
    Record(String),
    /// By the id of its record, for a caller who was told it.
    Reported {
        /// The record.
        record: String,
        /// Who says so.
        by: Reporter,
    },
    /// By the caller's own id, within its session.
    Call {
        /// Who says so.
        by: Reporter,
        /// The session.
        session: Option<String>,
        /// The caller's id of the call.
        call_id: String,
    },
}

/// Who says what became of a call: whoever asked for it, by the same way in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reporter {
    /// Which way in.
    pub way_in: String,
    /// Whose call it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Which agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who that was, as far as the way in knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asker: Option<String>,
}

impl Reporter {
    /// This actor, by this way in.
    #[must_use]
    pub fn of(actor: &Actor, way_in: &str) -> Self {
        Self {
            way_in: way_in.to_owned(),
            tenant: actor.tenant.clone(),
            agent: actor.agent.clone(),
            asker: actor.asker.clone(),
        }
    }
}

impl Which {
    /// Whether this may be about a call that somebody asked for. Ids of calls are no secret: another agent, another
    /// tenant or another way in would give back what a call has taken, or charge it with what it did not use. Nor is
    /// a record's: what was asked with a token is told with it.
    pub(crate) fn may_be_told_of(&self, asked: &Reporter) -> bool {
        let same = |own: &Option<String>, theirs: &Option<String>| own.is_none() || own == theirs;
        match self {
            Self::Record(_) => true,
            Self::Reported { by, .. } => {
                let known = by.way_in == asked.way_in && by.asker == asked.asker;
                known && same(&by.tenant, &asked.tenant) && same(&by.agent, &asked.agent)
            }
            Self::Call { by, .. } => by == asked,
        }
    }
}

/// What is reserved for one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reservation {
    /// The id of the decision's record.
    pub id: String,
    /// The caller's own id of the call.
    pub call_id: Option<String>,
    /// Who asked for it.
    pub by: Reporter,
    /// The tool, canonical.
    pub tool: String,
    /// What is taken from every scope.
    pub takes: Usage,
    /// The hosts it contacts.
    pub hosts: Vec<String>,
    /// Names the call, to see it repeated.
    pub call: String,
    /// When what was only expected is given back.
    pub expires_ms: u64,
}

/// What was used in one scope, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Used {
    /// The kind of scope.
    pub scope: Scope,
    /// Which one: the session, agent, tenant or day.
    pub key: String,
    /// When it began, in milliseconds since 1970.
    pub began_ms: u64,
    /// When it was last used.
    pub last_ms: u64,
    /// What was used, what is reserved included.
    pub usage: Usage,
    /// Calls that are let through and not settled yet.
    pub open: u64,
    /// Calls within the stretches of time that a rate is about, where somebody asked for them.
    #[serde(skip)]
    pub rates: Vec<(Duration, u64)>,
}
