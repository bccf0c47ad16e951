//! What happened around calls, as it is kept: how a call ended, sessions that began and ended, settings that changed.
//!
//! A decision is a [`Record`](crate::Record). This is everything else that a way in hears from an agent. It goes
//! through the same spool, a line each, told apart by its `what`.

use crate::audit::record::{fresh_id_at, kept, now_ms};
use crate::audit::redact;
use sayso_policy::Actor;
use serde::{Deserialize, Serialize};

/// What happened. Fields that a later version adds are tolerated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Happening {
    /// What it was.
    pub what: What,
    /// Unique; begins with the time, so that ids sort.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// Which way in: `hook claude-code`.
    pub way_in: String,
    /// The way in's own word for it: `PostToolUse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Whose doing it was.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub actor: Actor,
    /// The agent's own id of the call, for one that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool as the agent calls it, for a call that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// How it went, for a call that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// How it was held, for a run that was, and what became of its permit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// In words: the error, the file that changed; secrets taken out, long text cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// It came from the spool without the mark that Sayso's own processes leave there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
}

/// Kinds of happenings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A call has run, or failed.
    CallEnded,
    /// A session began; its workspace is fixed from here on.
    SessionStarted,
    /// A session ended.
    SessionEnded,
    /// An agent started another one, whose ceiling it is.
    SubagentStarted,
    /// A person answered at the caller's own prompt.
    PromptAnswered,
    /// Settings of the agent changed while it ran: somebody may be switching the guard off.
    SettingsChanged,
    /// The agent told what it plans.
    Planned,
    /// The agent told what it used of tokens or money.
    Used,
    /// A run has ended that the kernel held.
    HeldRun,
    /// A run was let through that the policy wants held, and that cannot be held here.
    NotHeld,
    /// A call that counted only under a hold has ended, and nobody had come for its permit: it may have run without.
    Unheld,
    /// Somebody came with a permit of a held run that is not honoured. Nothing ran.
    PermitRefused,
}

/// How a run was held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Held {
    /// The id of the record of the decision that let it run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// `whole` or `files`; `None`: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The exit code of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u8>,
    /// What was held back. The run can make it say anything: it informs, and decides nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub back: Vec<HeldBackRecord>,
    /// How much more was held back.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: u64,
}

/// Something that a hold refused, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeldBackRecord {
    /// `read`, `write`, `connect` or `socket`.
    pub verb: String,
    /// What it was about; secrets taken out, long text cut.
    pub target: String,
    /// How often.
    pub count: u64,
}

/// How many things that were held back are kept, and how much of each.
const BACK_KEPT: usize = 50;
const TARGET_KEPT: usize = 512;

impl Held {
    /// The same, fit to be kept.
    fn fit(&self) -> Self {
        let dropped = self.back.len().saturating_sub(BACK_KEPT);
        Self {
            record: self.record.as_deref().map(|id| redact::cut(id, 128)),
            level: self.level.as_deref().map(|level| redact::cut(level, 16)),
            code: self.code,
            back: self.back.iter().take(BACK_KEPT).map(HeldBackRecord::fit).collect(),
            more: self.more.saturating_add(u64::try_from(dropped).unwrap_or(u64::MAX)),
        }
    }
}

impl HeldBackRecord {
    fn fit(&self) -> Self {
        let target = redact::cut(&kept(&self.target), TARGET_KEPT);
        Self { verb: redact::cut(&self.verb, 16), target, count: self.count }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How a call went, as the agent tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Ended {
    /// Whether it succeeded; `None`: the agent does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Tokens that the model read for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

impl Happening {
    /// Something that happens now.
    #[must_use]
    pub fn new(what: What, way_in: impl Into<String>, actor: Actor) -> Self {
        let time_ms = now_ms();
        Self {
            what,
            id: fresh_id_at(time_ms),
            time_ms,
            way_in: way_in.into(),
            event: None,
            actor,
            call_id: None,
            tool: None,
            workspace: None,
            ended: None,
            held: None,
            text: None,
            unverified: false,
        }
    }

    /// The same with an agent's text made fit to be kept.
    pub(crate) fn fit(&self) -> Self {
        let cut = |text: &Option<String>, most| text.as_deref().map(|text| redact::cut(text, most));
        Self {
            event: cut(&self.event, 128),
            call_id: cut(&self.call_id, 128),
            tool: cut(&self.tool, 256),
            held: self.held.as_ref().map(Held::fit),
            text: self.text.as_deref().map(kept),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_made_a_hold_say_is_bounded_and_holds_no_keys() {
        let mut happening = Happening::new(What::HeldRun, "run", Actor::default());
        let token = format!("ghp_{}", "a".repeat(36));
        let one = |number: usize| HeldBackRecord {
            verb: "connect".to_owned(),
            target: format!("{token}.h{number}.{}", "x".repeat(10_000)),
            count: 1,
        };
        happening.held = Some(Held { back: (0..200).map(one).collect(), more: 7, ..Held::default() });
        let held = happening.fit().held.unwrap();
        assert_eq!((held.back.len(), held.more), (50, 157));
        assert!(held.back.iter().all(|back| back.target.len() < 1024 && !back.target.contains(&token)));
    }

    #[test]
    fn the_words_of_held_runs_stay_what_they_are() {
        let words = [What::HeldRun, What::NotHeld, What::Unheld, What::PermitRefused];
        let words: Vec<String> = words.iter().map(|what| serde_json::to_string(what).unwrap()).collect();
        assert_eq!(words, ["\"held-run\"", "\"not-held\"", "\"unheld\"", "\"permit-refused\""]);
    }
}
