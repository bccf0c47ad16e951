//! What must be remembered, handed in as a value so that evaluation stays pure.

use crate::word::{Actor, Verdict};
use sayso_shell::Verb;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that a decision may depend on beyond policy and operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// What was used so far, by scope.
    pub usage: BTreeMap<Scope, Usage>,
    /// The digest of this exact operation, for grants that are bound to it.
    pub digest: Option<String>,
    /// Remembered answers that may apply to this actor and workspace.
    pub grants: Vec<Grant>,
    /// Earlier calls of this session by tool, for files that limit how often one tool is called.
    pub recent: Vec<RecentCall>,
}

/// An earlier call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentCall {
    /// The tool's canonical name.
    pub tool: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// What a limit is counted over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One session.
    Session,
    /// One run.
    Run,
    /// One agent.
    Agent,
    /// One tenant.
    Tenant,
    /// One day.
    Day,
}

/// What was used so far in one scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Calls made.
    pub calls: u64,
    /// Tokens read by the model.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// Cost in millionths of the currency's unit.
    pub cost_micros: u64,
    /// Milliseconds since the scope began.
    pub wall_ms: u64,
    /// Calls denied by a rule or a person.
    pub blocked: u64,
    /// Paths removed.
    pub deletes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Different hosts contacted.
    pub hosts: u64,
    /// How often this very call was made already.
    pub repeats: u64,
    /// Calls within the stretch of time that the scope's `rate` is about.
    pub calls_in_window: u64,
}

/// A remembered answer of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its id.
    pub id: String,
    /// What it answers: a verb and a pattern of the policy language, or an exact operation by digest.
    pub selector: GrantSelector,
    /// The workspace it was given in; it counts nowhere else.
    pub workspace: Option<String>,
    /// The session it was given in, for grants that end with it.
    pub session: Option<String>,
    /// How often it may still be used; `None`: without bound.
    pub uses_left: Option<u32>,
    /// When it ends, in milliseconds since 1970.
    pub expires_ms: Option<u64>,
    /// Who gave it. It answers only an Ask that this person could have answered.
    pub giver: String,
    /// Allow, or a remembered Deny.
    pub verdict: Verdict,
    /// Whom it was given to, where that is bound.
    #[serde(default)]
    pub actor: Actor,
}

/// What a grant answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantSelector {
    /// This exact operation, by its digest.
    Digest(String),
    /// Effects of this verb that match this pattern.
    Pattern {
        /// The verb.
        verb: Verb,
        /// A pattern of the policy language.
        pattern: String,
    },
}
