//! What the gate says, with everything that led to it. Never a bool.

use crate::word::{Answer, Reason, Verdict};
use serde::Serialize;

/// The stages of evaluation, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// What is Sayso's, and what nothing lifts.
    Integrity,
    /// The operator's mode.
    Mode,
    /// Which tools are there at all.
    Tools,
    /// Regular expressions on parameters.
    Patterns,
    /// Tools that must always work.
    Essential,
    /// The verbs and `[[rule]]`s.
    Rules,
    /// Budgets.
    Limits,
    /// Remembered answers.
    Grants,
    /// Nothing spoke.
    Default,
}

/// What one stage says of one effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// Who speaks.
    pub stage: Stage,
    /// What it says.
    pub verdict: Verdict,
    /// Only perhaps: a matcher answered maybe. Such an opinion is an Ask and does not silence `default`.
    pub maybe: bool,
    /// Why.
    pub reason: Reason,
    /// Whom to ask, where the rule names them.
    pub approver: Option<String>,
    /// No grant answers this Ask.
    pub always: bool,
}

/// All opinions on one effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectOpinions {
    /// Index of the effect in its operation; `None`: the call as a whole (modes, limits, tool lists).
    pub effect: Option<usize>,
    /// Their result.
    pub verdict: Verdict,
    /// The opinions, in order of the stages.
    pub opinions: Vec<Opinion>,
    /// Which of them decided.
    pub decisive: Option<usize>,
}

/// What the gate says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision that nobody looks at guards nothing"]
pub struct Decision {
    /// The strictest over all effects.
    pub verdict: Verdict,
    /// What the caller is told; differs from `verdict` in dry-run and shadow.
    pub answer: Answer,
    /// What it would have been where a file's mode is `shadow`.
    pub would: Option<Verdict>,
    /// What becomes of an Ask that nobody can answer, where the files say so.
    pub unanswered: Option<Verdict>,
    /// Why, the decisive reason first.
    pub reasons: Vec<Reason>,
    /// The opinion of every stage on every effect.
    pub effects: Vec<EffectOpinions>,
    /// Which policy said so.
    pub policy_version: String,
}
