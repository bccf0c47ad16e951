//! What one session or run did, from its first record to its last.

use serde::Serialize;

/// What records are gathered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryOf {
    /// Sessions.
    Session,
    /// Runs.
    Run,
}

/// What one session or run did. The id is the agent's own word: two tenants may use the same one, and are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Course))]
pub struct SessionHistory {
    /// Its id.
    pub id: String,
    /// Whose it is.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub tenant: Option<String>,
    /// The agents that named it, at most 16.
    pub agents: Vec<String>,
    /// The sessions it belongs to, of a run; at most 16.
    pub sessions: Vec<String>,
    /// The workspace of its latest decision.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub workspace: Option<String>,
    /// When it was first seen, in milliseconds since 1970.
    pub first_ms: u64,
    /// When it was last seen.
    pub last_ms: u64,
    /// The number of its last record.
    pub last_seq: u64,
    /// Decisions, by what the policy said.
    pub decisions: DecisionCounts,
}

/// Decisions, by what the policy said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Said))]
pub struct DecisionCounts {
    /// Allowed.
    pub allow: u64,
    /// Asked about.
    pub ask: u64,
    /// Denied.
    pub deny: u64,
}
