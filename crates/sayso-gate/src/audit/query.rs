//! What can be asked of the record.

use crate::audit::{Event, Kind, Record};
use sayso_policy::Verdict;
use serde::Serialize;

/// What can be asked of the record. Everything given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Records of these kinds; empty: of all.
    pub kinds: Vec<Kind>,
    /// Not before this, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Before this.
    pub until_ms: Option<u64>,
    /// This agent.
    pub agent: Option<String>,
    /// This session.
    pub session: Option<String>,
    /// This tenant: what is behind its wall is not found.
    pub tenant: Option<String>,
    /// This run.
    pub run: Option<String>,
    /// This verdict.
    pub verdict: Option<Verdict>,
    /// This tool, canonical.
    pub tool: Option<String>,
    /// This rule or reason decided.
    pub rule: Option<String>,
    /// This text somewhere in the record, in any case.
    pub text: Option<String>,
    /// Only records that came after this one, for those who follow.
    pub after: Option<u64>,
    /// Only records that came before this one, for those who page back.
    pub before: Option<u64>,
    /// At most this many; `None`: all.
    pub limit: Option<usize>,
    /// Which end comes first, and is kept under a limit.
    pub order: Order,
}

impl Query {
    /// The text as it stands in a record: as JSON writes it, in lower case.
    pub(crate) fn text_as_written(&self) -> Option<String> {
        self.text.as_deref().map(|text| as_written(text).to_ascii_lowercase())
    }
}

/// A text as it stands in a record: as JSON writes it.
pub(crate) fn as_written(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap_or_default();
    json.strip_prefix('"').and_then(|s| s.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// Which end comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The newest first.
    #[default]
    NewestFirst,
    /// The oldest first.
    OldestFirst,
}

/// What records are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// What was said.
    Verdict,
    /// Who asked.
    Agent,
    /// In which session.
    Session,
    /// For which tool.
    Tool,
    /// Which rule decided.
    Rule,
    /// What it is about.
    Kind,
}

/// Anything in the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Chained {
    /// Its number, without gaps.
    pub seq: u64,
    /// Its hash, in hexadecimal.
    pub hash: String,
    /// What it is.
    pub event: Event,
}

/// A decision in the store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stored {
    /// Its number in the chain: a later record has a higher one.
    pub seq: u64,
    /// The record.
    #[serde(flatten)]
    pub record: Record,
}
