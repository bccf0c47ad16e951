//! Answers, and what they come to.

use super::{Question, Width};
use sayso_policy::{Approvers, Person, Verdict};
use serde::{Deserialize, Serialize};

/// What somebody says to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reply {
    /// Allow or Deny.
    pub verdict: Verdict,
    /// For how long.
    pub remember: Remember,
    /// For what else, where it is remembered.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub width: Width,
    /// Which of the question's parts are meant, by number from 0; `None`: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<u32>>,
}

/// For how long an answer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Remember {
    /// For this one call.
    Once,
    /// For the rest of the session.
    Session,
    /// Until it is revoked.
    Always,
}

impl Reply {
    /// A yes to this one call.
    #[must_use]
    pub fn allow_once() -> Self {
        Self { verdict: Verdict::Allow, remember: Remember::Once, width: Width::Exact, parts: None }
    }

    /// A no to this one call.
    #[must_use]
    pub fn deny() -> Self {
        Self { verdict: Verdict::Deny, ..Self::allow_once() }
    }

    /// The same, for some of the question's parts.
    #[must_use]
    pub fn for_parts(mut self, parts: Vec<u32>) -> Self {
        self.parts = Some(parts);
        self
    }

    /// Whether it means this part of the question.
    #[must_use]
    pub fn means(&self, part: usize) -> bool {
        self.parts.as_ref().is_none_or(|parts| parts.iter().any(|it| usize::try_from(*it) == Ok(part)))
    }

    /// The same, remembered.
    #[must_use]
    pub fn remembered(mut self, remember: Remember, width: Width) -> Self {
        (self.remember, self.width) = (remember, width);
        self
    }
}

/// An answer that counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Given {
    /// Who gave it.
    pub person: Person,
    /// How: `terminal`, `page`, `webhook`.
    pub via: String,
    /// What they said.
    pub reply: Reply,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
}

/// Why an answer does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such question.
    #[error("there is no pending call {0}")]
    Unknown(String),
    /// It is answered, expired or cancelled already.
    #[error("it is already {}", .0.as_str())]
    Over(super::Standing),
    /// It is not for them to answer.
    #[error("{0} cannot answer this: it is for {1}")]
    NotTheirs(String, String),
    /// They asked it.
    #[error("{0} made this call and cannot approve it: someone else must")]
    Own(String),
    /// They answered before; the first answer counts.
    #[error("{0} has already answered this")]
    Again(String),
    /// Everybody they could answer for has answered.
    #[error("everyone {0} could answer for has already answered")]
    Answered(String),
    /// What it is about has changed since it was asked.
    #[error("{0} has changed since this was asked, so it is void")]
    Changed(String),
    /// The answer cannot be remembered this way.
    #[error("{0}")]
    NotOffered(String),
}

/// What the answers so far come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outlook {
    /// Somebody has still to answer.
    Open,
    /// All said yes; what they all want to have remembered.
    Approved(Reply),
    /// Somebody said no, and this.
    Denied(Reply),
}

/// What the answers so far come to. They are in the order in which they were given.
pub(crate) fn outlook(question: &Question, answers: &[Given]) -> Outlook {
    if let Some(no) = answers.iter().find(|given| given.reply.verdict != Verdict::Allow) {
        return Outlook::Denied(no.reply.clone());
    }
    let people: Vec<Person> = answers.iter().map(|given| given.person.clone()).collect();
    let satisfied = question.addressees.iter().all(|to| satisfied(to.as_ref(), &people));
    let mut replies = answers.iter().map(|given| given.reply.clone());
    match replies.next() {
        Some(first) if satisfied => Outlook::Approved(replies.fold(first, narrower)),
        _ => Outlook::Open,
    }
}

/// Whether an addressee needs no more answers.
pub(crate) fn satisfied(to: Option<&Approvers>, people: &[Person]) -> bool {
    match to {
        None => !people.is_empty(),
        Some(approvers) => approvers.satisfied_by(people),
    }
}

/// Several people said yes: what is remembered is what all of them wanted, at the least.
fn narrower(one: Reply, other: Reply) -> Reply {
    let width = if one.width == other.width { one.width } else { Width::Exact };
    let parts = match (one.parts, other.parts) {
        (Some(one), Some(other)) => Some(one.into_iter().filter(|part| other.contains(part)).collect()),
        (one, other) => one.or(other),
    };
    Reply { remember: one.remember.min(other.remember), width, parts, verdict: one.verdict }
}
