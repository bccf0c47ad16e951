//! What the gate says, with everything that led to it. Never a bool.

use crate::word::{Answer, Approvers, Code, Holding, Layer, Reason, Verdict};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The stages of evaluation, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
    /// The kernel's bounds around a run.
    Hold,
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
    pub approver: Option<Arc<Approvers>>,
    /// No grant answers this Ask.
    pub always: bool,
    /// The grant that speaks, by its id.
    pub grant: Option<String>,
}

impl Opinion {
    /// Whether it says what was found of the tool itself, which is no rule of anybody's.
    #[must_use]
    pub fn is_finding(&self) -> bool {
        self.stage == Stage::Tools && self.reason.layer == Layer::BuiltIn
    }

    /// Names what asks: which stage, for which reason, by which line of which file. A yes is none to what asks later on.
    #[must_use]
    pub fn ask_key(&self) -> String {
        let source = self.reason.source.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{:?} {} {source}", self.stage, self.reason.code).to_lowercase()
    }
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
    /// Whether the run is to be held.
    pub hold: Option<Holding>,
    /// Why, the decisive reason first.
    pub reasons: Vec<Reason>,
    /// The opinion of every stage on every effect.
    pub effects: Vec<EffectOpinions>,
    /// Which policy said so.
    pub policy_version: String,
    /// What is to be remembered of the call if it runs, where some rule may ask about it later and this does not deny it.
    pub deeds: Option<crate::past::Deeds>,
    /// How much could go wrong, where somebody looks at it or a file asks by it.
    pub risk: Option<crate::risk::Risk>,
}

impl Decision {
    /// Every opinion because of which a person must be asked.
    pub fn asks(&self) -> impl Iterator<Item = (Option<usize>, &Opinion)> {
        self.effects.iter().filter(|effect| effect.verdict == Verdict::Ask).flat_map(|effect| {
            effect.opinions.iter().filter(|opinion| opinion.verdict == Verdict::Ask).map(|o| (effect.effect, o))
        })
    }

    /// Whom the asks are addressed to, each once; `None` stands for anybody who may answer at all. All of them must
    /// say yes. Never empty: an Ask that no stage gave is for anybody.
    #[must_use]
    pub fn addressees(&self) -> Vec<Option<Arc<Approvers>>> {
        let mut found: Vec<Option<Arc<Approvers>>> = Vec::new();
        for (_, ask) in self.asks() {
            if !found.contains(&ask.approver) {
                found.push(ask.approver.clone());
            }
        }
        // Whom a rule names can answer for anybody.
        if found.iter().any(Option::is_some) {
            found.retain(Option::is_some);
        } else if found.is_empty() {
            found.push(None);
        }
        found
    }

    /// The grants that answered an effect, each with the effect's index.
    pub fn granted(&self) -> impl Iterator<Item = (Option<usize>, &str)> {
        self.effects.iter().flat_map(|effect| {
            effect.opinions.iter().filter_map(|opinion| Some((effect.effect, opinion.grant.as_deref()?)))
        })
    }

    /// Whether a rule of a policy or a remembered answer of a person denied it: that counts as a blocked call. A
    /// limit, a mode, a default, arguments that do not fit and a question that nobody answered do not.
    #[must_use]
    pub fn denied_by_rule(&self) -> bool {
        self.verdict == Verdict::Deny
            && self.effects.iter().flat_map(|effect| &effect.opinions).any(|opinion| {
                opinion.verdict == Verdict::Deny
                    && opinion.reason.code != Code::ForeignDefault
                    && !opinion.is_finding()
                    && matches!(
                        opinion.stage,
                        Stage::Integrity | Stage::Tools | Stage::Patterns | Stage::Rules | Stage::Grants
                    )
            })
    }
}
