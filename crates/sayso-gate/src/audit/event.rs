//! Everything that the chain keeps: decisions, and every change of what the gate remembers.

use crate::audit::{Happening, Record, fresh_id_at, now_ms};
use sayso_policy::{Actor, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a record in the chain is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// What the gate said of a call.
    #[default]
    Decision,
    /// What a way in heard besides: how a call ended, a session that began, settings that changed.
    Happening,
    /// A question for a person: asked, answered, expired, cancelled, void.
    Approval,
    /// A remembered answer: given, used, revoked, expired.
    Grant,
    /// What a limit counts: reserved, settled, given back, reached.
    Limit,
    /// A plan that was submitted: allowed, asked, denied.
    Plan,
    /// A policy: loaded, refused, rolled back, trusted.
    Policy,
    /// A mode: changed.
    Mode,
    /// Something that an operator overrode: break-glass begun and ended.
    Override,
    /// A token for the server: created, revoked.
    Token,
    /// The chain itself: taken over from an earlier version, pruned; what it vouches for: how much of a budget was used.
    Chain,
    /// The server: started, stopped, signed in to with its key, locked because keys were guessed at.
    Server,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Decision,
        Self::Happening,
        Self::Approval,
        Self::Grant,
        Self::Limit,
        Self::Plan,
        Self::Policy,
        Self::Mode,
        Self::Override,
        Self::Token,
        Self::Chain,
        Self::Server,
    ];

    /// The lower-case word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Happening => "happening",
            Self::Approval => "approval",
            Self::Grant => "grant",
            Self::Limit => "limit",
            Self::Plan => "plan",
            Self::Policy => "policy",
            Self::Mode => "mode",
            Self::Override => "override",
            Self::Token => "token",
            Self::Chain => "chain",
            Self::Server => "server",
        }
    }
}

/// One thing that the chain keeps.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A decision.
    Decision(Box<Record>),
    /// What happened around a call.
    Happening(Box<Happening>),
    /// Anything else.
    Change(Box<Change>),
}

/// A change of something that the gate remembers. Texts that came from an agent are redacted by whoever makes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Change {
    /// What it is about; neither a decision nor a happening.
    pub kind: Kind,
    /// Unique; begins with the time, so that ids sort.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// What happened, as a stable word: `asked`, `answered`, `revoked`, `reserved`, `loaded`.
    pub what: String,
    /// To which one: the id of an approval or grant, a scope, a policy's version, a call's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Who did it: a person, `rule:ID`, `webhook:NAME`, `sayso` itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// For whom: the agent and session that it concerns.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub actor: Actor,
    /// The tool it concerns, canonical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The answer that was given, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The rule or reason code that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Everything else.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}

impl Change {
    /// A change that happens now.
    #[must_use]
    pub fn now(kind: Kind, what: impl Into<String>) -> Self {
        let time_ms = now_ms();
        Self {
            kind,
            id: fresh_id_at(time_ms),
            time_ms,
            what: what.into(),
            about: None,
            by: None,
            actor: Actor::default(),
            tool: None,
            verdict: None,
            rule: None,
            detail: Value::Null,
        }
    }
}

/// What tells lines apart. Early ones have no kind: of those, a happening says what, and a decision does not.
#[derive(Deserialize)]
struct Opening {
    kind: Option<Kind>,
    what: Option<serde::de::IgnoredAny>,
}

#[derive(Serialize)]
struct Line<'a, T> {
    kind: Kind,
    #[serde(flatten)]
    of: &'a T,
}

impl Event {
    /// As the chain and the spool keep it: one line of JSON.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Decision(record) => decision_line(record),
            Self::Happening(happening) => happening_line(happening),
            Self::Change(change) => serde_json::to_string(change),
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If it is no event.
    pub fn from_line(line: &str) -> Result<Self, serde_json::Error> {
        let opening: Opening = serde_json::from_str(line)?;
        let early = if opening.what.is_some() { Kind::Happening } else { Kind::Decision };
        match opening.kind.unwrap_or(early) {
            Kind::Decision => serde_json::from_str(line).map(|record| Self::Decision(Box::new(record))),
            Kind::Happening => serde_json::from_str(line).map(|happening| Self::Happening(Box::new(happening))),
            _ => serde_json::from_str(line).map(|change| Self::Change(Box::new(change))),
        }
    }

    /// Says, or unsays, that it came from the spool without the mark of Sayso's own processes.
    pub(crate) fn set_unverified(&mut self, unverified: bool) {
        match self {
            Self::Decision(record) => record.unverified = unverified,
            Self::Happening(happening) => happening.unverified = unverified,
            Self::Change(change) if unverified => match &mut change.detail {
                Value::Object(detail) => drop(detail.insert("unverified".to_owned(), true.into())),
                other => *other = serde_json::json!({"unverified": true, "detail": other.take()}),
            },
            Self::Change(_) => {}
        }
    }

    /// Whether it came from the spool without the mark that Sayso's own processes leave there.
    #[must_use]
    pub fn is_unverified(&self) -> bool {
        match self {
            Self::Decision(record) => record.unverified,
            Self::Happening(happening) => happening.unverified,
            Self::Change(change) => change.detail.get("unverified") == Some(&Value::Bool(true)),
        }
    }

    /// What it is about.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Decision(_) => Kind::Decision,
            Self::Happening(_) => Kind::Happening,
            Self::Change(change) => change.kind,
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Decision(record) => &record.id,
            Self::Happening(happening) => &happening.id,
            Self::Change(change) => &change.id,
        }
    }

    /// When, in milliseconds since 1970.
    #[must_use]
    pub fn time_ms(&self) -> u64 {
        match self {
            Self::Decision(record) => record.time_ms,
            Self::Happening(happening) => happening.time_ms,
            Self::Change(change) => change.time_ms,
        }
    }

    /// Whom it concerns.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        match self {
            Self::Decision(record) => &record.actor,
            Self::Happening(happening) => &happening.actor,
            Self::Change(change) => &change.actor,
        }
    }

    /// The tool it concerns.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Decision(record) => Some(&record.tool),
            Self::Happening(happening) => happening.tool.as_deref(),
            Self::Change(change) => change.tool.as_deref(),
        }
    }

    /// What was said.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Decision(record) => Some(record.verdict),
            Self::Happening(_) => None,
            Self::Change(change) => change.verdict,
        }
    }

    /// The rule that decided.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        match self {
            Self::Decision(record) => record.reasons.first().map(|reason| reason.code.as_str()),
            Self::Happening(_) => None,
            Self::Change(change) => change.rule.as_deref(),
        }
    }
}

impl From<Record> for Event {
    fn from(record: Record) -> Self {
        Self::Decision(Box::new(record))
    }
}

impl From<Happening> for Event {
    fn from(happening: Happening) -> Self {
        Self::Happening(Box::new(happening))
    }
}

impl From<Change> for Event {
    fn from(change: Change) -> Self {
        Self::Change(Box::new(change))
    }
}

/// A decision's line, without taking the record away from its owner.
pub(crate) fn decision_line(record: &Record) -> Result<String, serde_json::Error> {
    // Most fit without a second piece of memory.
    let mut line = Vec::with_capacity(2048);
    serde_json::to_writer(&mut line, &Line { kind: Kind::Decision, of: record })?;
    String::from_utf8(line).map_err(serde::ser::Error::custom)
}

/// The same for what happened.
pub(crate) fn happening_line(happening: &Happening) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Line { kind: Kind::Happening, of: happening })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_reads_back_as_it_was_written() {
        let mut change = Change::now(Kind::Grant, "revoked");
        change.about = Some("g1".into());
        change.detail = serde_json::json!({"uses": 3});
        let event = Event::from(change);
        assert_eq!(Event::from_line(&event.to_line().unwrap()).unwrap(), event);
    }

    #[test]
    fn every_kind_is_written_as_its_word() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn what_is_no_event_is_refused() {
        for line in ["", "{}", "[]", r#"{"kind":"decision"}"#, r#"{"kind":"from-the-future","id":"x"}"#] {
            assert!(Event::from_line(line).is_err(), "{line}");
        }
    }
}
