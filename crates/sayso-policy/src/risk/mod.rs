//! How much could go wrong: a small linear model over the effects of a call.
//!
//! Each feature counts effects of one kind, and each count adds the points that `model.rs` has for it: no point is
//! negative, so that an effect more never lowers a score. `examples/risk_train.rs` finds the points and writes that file;
//! `docs/risk.md` says from what. A score decides nothing by itself: it orders what people are asked, and where a file says
//! `[risk] ask_above`, an allowed call with a higher one asks.

mod feature;
mod model;

pub use feature::{Counts, Feature};

use crate::compile::Compiler;
use crate::judging::Judging;
use crate::policy::Policy;
use crate::stage::opinions::Opinions;
use crate::stage::{FileInForce, Inputs, of_layer};
use crate::word::{Code, Facts, Operation, Opinion, Source, Stage, Verdict};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The highest score.
pub const HIGHEST: u8 = 100;

/// How much could go wrong, and what makes it so much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Risk {
    /// From 0 to 100.
    pub score: u8,
    /// The score in a word.
    pub word: RiskWord,
    /// What each feature adds, the most first. Their sum is the score, unless it is above 100.
    pub points: Vec<RiskPoints>,
    /// The version of the model.
    pub model: Cow<'static, str>,
}

/// What one feature adds to a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RiskPoints {
    /// The feature, kebab-case.
    pub feature: Cow<'static, str>,
    /// How many effects are counted.
    pub count: u8,
    /// What they add.
    pub points: u16,
}

/// A score in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RiskWord {
    /// Below 25.
    Low,
    /// From 25.
    Moderate,
    /// From 50.
    High,
    /// From 75.
    Severe,
}

impl RiskWord {
    fn of(score: u8) -> Self {
        match score {
            0..25 => Self::Low,
            25..50 => Self::Moderate,
            50..75 => Self::High,
            _ => Self::Severe,
        }
    }

    /// The lower-case word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Moderate => "moderate",
            Self::High => "high",
            Self::Severe => "severe",
        }
    }
}

/// `[risk]` of a file.
#[derive(Clone, Debug)]
pub(crate) struct RiskSection {
    pub ask_above: u8,
    pub source: Option<Source>,
}

/// `[risk]` of a file.
pub(crate) fn section(compiler: &Compiler<'_>) -> Option<RiskSection> {
    let score = compiler.file.ask_above.as_ref()?;
    Some(RiskSection { ask_above: score.value, source: Some(compiler.file.source(&score.span)) })
}

/// Right behind the rules: what scores higher than a file wants asks.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    let mut score = None;
    for FileInForce { file, .. } in &inputs.files {
        let Some(section) = &file.risk else { continue };
        let score = *score.get_or_insert_with(|| self::score(&Counts::of(inputs.judging)));
        if score <= section.ask_above {
            continue;
        }
        let text = format!("The risk score is {score}, above {}.", section.ask_above);
        let mut opinion = of_layer(Stage::Rules, Verdict::Ask, Code::RiskAbove, text, file.layer.clone());
        opinion.reason.source.clone_from(&section.source);
        // Only an answer to this very call counts: a saved one was given to others with a lower score, perhaps.
        said.call.push(Opinion { always: true, ..opinion });
    }
}

/// The score of a call.
#[must_use]
pub fn score(counts: &Counts) -> u8 {
    let sum = counts.each().zip(model::POINTS).fold(0_u16, |sum, ((_, count), points)| {
        sum.saturating_add(u16::from(count).saturating_mul(u16::from(points)))
    });
    u8::try_from(sum).unwrap_or(HIGHEST).min(HIGHEST)
}

/// The score of a call, and what makes it so high.
pub(crate) fn of(judging: &Judging<'_>) -> Risk {
    explained(&Counts::of(judging))
}

fn explained(counts: &Counts) -> Risk {
    let score = score(counts);
    let one = |((feature, count), points): ((Feature, u8), u8)| RiskPoints {
        feature: Cow::Borrowed(feature.as_str()),
        count,
        points: u16::from(count).saturating_mul(u16::from(points)),
    };
    let mut points: Vec<RiskPoints> =
        counts.each().zip(model::POINTS).filter(|((_, count), points)| *count > 0 && *points > 0).map(one).collect();
    points.sort_by_key(|one| std::cmp::Reverse(one.points));
    Risk { score, word: RiskWord::of(score), points, model: Cow::Borrowed(model::VERSION) }
}

impl Policy {
    /// How much could go wrong with a call, for whoever shows it. A decision has it where it asks or denies.
    #[must_use]
    pub fn risk(&self, operation: &Operation, facts: Facts<'_>) -> Risk {
        explained(&self.risk_counts(operation, facts))
    }

    /// What the model counts.
    #[must_use]
    pub fn risk_counts(&self, operation: &Operation, facts: Facts<'_>) -> Counts {
        Counts::of(&Judging::new(operation, facts, self.image.as_ref().map(|image| &image.guards)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn points_explain_the_score_and_name_the_model() {
        let mut counts = Counts::default();
        counts.add(Feature::ReadsSecrets);
        counts.add(Feature::Connects);
        let risk = explained(&counts);
        let sum: u16 = risk.points.iter().map(|it| it.points).sum();
        assert_eq!(u16::from(risk.score), sum.min(100));
        assert_eq!(risk.model, model::VERSION);
        assert!(risk.points.is_sorted_by(|one, other| one.points >= other.points), "{risk:?}");
    }

    #[test]
    fn nothing_scores_nothing() {
        assert_eq!(explained(&Counts::default()).score, 0);
        assert_eq!(RiskWord::of(0), RiskWord::Low);
        assert_eq!(RiskWord::of(100), RiskWord::Severe);
    }

    proptest! {
        #[test]
        fn one_more_of_anything_never_lowers_a_score(found in prop::collection::vec(0..Feature::ALL.len(), 0..40)) {
            let mut counts = Counts::default();
            let mut before = 0;
            for at in found {
                counts.add(Feature::ALL[at]);
                let now = score(&counts);
                prop_assert!(now >= before, "{counts:?}: {now} after {before}");
                before = now;
            }
        }
    }
}
