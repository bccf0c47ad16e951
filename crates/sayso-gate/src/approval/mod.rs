//! An Ask that waits for a person: addressed, expiring, bound to the exact operation.

mod answer;
mod digest;
mod preview;
mod wait;
mod width;

pub use answer::{Given, Refused, Remember, Reply};
pub(crate) use answer::{Outlook, outlook, satisfied};
pub use digest::{Bound, BoundFile};
pub use preview::{Preview, preview};
pub(crate) use wait::{Waited, wait_for};
pub use width::{Offer, Width};
pub(crate) use width::{asked_about, named, offers};

use crate::audit::{EffectRecord, ReasonRecord};
use crate::plan::PlanAsked;
use sayso_policy::{Actor, Approvers, Person, Risk};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a question waits where its addressees' table does not say.
pub const USUAL_WAIT_MS: u64 = 15 * 60 * 1000;
/// Questions of one session that may wait at a time: an agent must not bury the one that matters.
pub const MOST_PENDING: usize = 20;
/// Whoever waits for questions says so this often.
pub const HEARTBEAT_MS: u64 = 2_000;
/// Whoever has not said so for this long is gone.
pub const GONE_AFTER_MS: u64 = 6_000;

/// How a question stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It waits.
    Pending,
    /// All whom it is addressed to said yes.
    Approved,
    /// Somebody said no.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// It is void: the caller gave up or asked itself, or what it is about has changed.
    Cancelled,
}

impl Standing {
    /// The lower-case word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A question as it is asked. Everything an agent wrote is redacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Question {
    /// Its id.
    pub id: String,
    /// When it was asked, in milliseconds since 1970.
    pub asked_ms: u64,
    /// When it ends.
    pub expires_ms: u64,
    /// What exactly it is about: the digest of operation, files and policy.
    pub digest: String,
    /// The same whatever the policy: what an exact grant is bound to.
    pub exact: String,
    /// Files that would run, as they were: a change makes it void.
    pub files: Vec<BoundFile>,
    /// Which policy asks.
    pub policy: String,
    /// Who asks.
    pub actor: Actor,
    /// Which way in.
    pub way_in: String,
    /// The tool, canonical.
    pub tool: String,
    /// The command, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The variables that the call brings, where they are not what they are there anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Value>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The name under which grants know the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Why it is asked, the decisive reason first.
    pub reasons: Vec<ReasonRecord>,
    /// What asks: each stage, code and line of a file. A yes is none to what asks later on.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub asks: Vec<String>,
    /// What the call would do.
    pub effects: Vec<EffectRecord>,
    /// Effects beyond those listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_effects: usize,
    /// The call is so long that not all of it was kept: nobody can look at the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
    /// Why a yes holds once and is not remembered: not every file that the call goes by can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_once: Option<String>,
    /// This is a short form; the question itself holds more of the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub folded: bool,
    /// Who must answer: all of them. `None` stands for anybody who may answer at all.
    pub addressees: Vec<Option<Approvers>>,
    /// What a yes can be remembered as, the narrowest first. Empty: only once.
    pub offers: Vec<Offer>,
    /// The held run that wants it, while it waits or after it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldRun>,
    /// The plan that it is about: all its steps are answered together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<PlanAsked>>,
    /// How much could go wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
}

/// A held run that wants something beyond its bounds. It explains a question; nothing is bound to it but what people see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeldRun {
    /// The id of the record by which it may run.
    pub record: String,
    /// What runs; redacted.
    pub command: String,
    /// How long a plain yes lasts.
    pub lasts: Lasts,
}

/// How long a plain yes to what a held run wants lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Lasts {
    /// The run waits, and has it until it ends.
    Run,
    /// Something in the hold of a session waits, and all of the session's runs have it until the hold ends.
    Session,
    /// The run has ended: the next one has it, once.
    Next,
    /// The run has ended, and what it changed is made or thrown away.
    Changes,
}

/// A question and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Approval {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// How it stands.
    pub standing: Standing,
    /// When that was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_ms: Option<u64>,
    /// When the call that it is about ran on it. A yes is used once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_ms: Option<u64>,
    /// Why it was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The answers so far, in their order.
    pub answers: Vec<Given>,
    /// The highest group that may answer too by now, because nobody below it did in time or somebody said so. Its people
    /// are among the addressees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalated: Option<String>,
}

impl Approval {
    /// The same with the short form of its question.
    #[must_use]
    pub fn brief(self) -> Self {
        Self { question: self.question.brief(), ..self }
    }
}

/// Somebody who waits for questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// Of this connection.
    pub id: String,
    /// Who.
    pub person: Person,
    /// How: `terminal`, `page`, `webhook`.
    pub via: String,
}

impl Question {
    /// The question with as much of the call as a record keeps, for lists and for those who are told that it was asked.
    #[must_use]
    pub fn brief(mut self) -> Self {
        let (command, arguments) = (self.command.as_deref(), self.arguments.as_ref());
        if let Some((command, arguments, env)) = crate::audit::shortened(command, arguments, self.env.as_ref()) {
            (self.command, self.arguments, self.env, self.folded) = (command, arguments, env, true);
        }
        self
    }

    /// Has those answer too whom it has reached by now, after its time or, where somebody said so, at once. The name of
    /// the highest group.
    pub(crate) fn escalate(&mut self, now_ms: u64, said: bool) -> Option<String> {
        let waited = now_ms.saturating_sub(self.asked_ms);
        let mut highest = None;
        for to in self.addressees.iter_mut().flatten() {
            if let Some((all, name)) = to.escalated(waited, usize::from(said)) {
                *to = all;
                highest = Some(name);
            }
        }
        highest
    }

    /// How many parts it has that can be answered one by one; 0: it is one question.
    #[must_use]
    pub fn parts(&self) -> usize {
        let changes = self.held.as_ref().filter(|held| held.lasts == Lasts::Changes);
        let all = changes.and(self.arguments.as_ref()).and_then(|arguments| arguments.get("changes"));
        all.and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// Its risk score; the highest of its steps for a plan.
    #[must_use]
    pub fn risk_score(&self) -> u8 {
        self.risk.as_ref().map_or(0, |risk| risk.score)
    }

    /// Whether somebody may answer it at all: one of those it is addressed to, and not the one who asks.
    ///
    /// Without addressees the person on whose behalf the agent works may answer; where a rule names approvers, that
    /// is what they are for: a second pair of eyes. A name that is only claimed keeps nobody from answering: else whoever
    /// asks under the owner's name would take the question away from its owner.
    #[must_use]
    pub fn may_be_answered_by(&self, person: &Person) -> bool {
        self.addressees.iter().any(|to| may_answer(&self.actor, to.as_ref(), person))
    }
}

/// Whether somebody may answer for one of those whom an actor's question is addressed to.
pub(crate) fn may_answer(actor: &Actor, to: Option<&Approvers>, person: &Person) -> bool {
    let is = |name: &Option<String>| !actor.is_claimed() && name.as_deref() == Some(person.name.as_str());
    if actor.and_above().any(|current| is(&current.agent)) {
        return false;
    }
    to.is_none_or(|to| to.include(person) && !is(&actor.member))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
