//! Calls on which two policies differ, grouped by what decided.

use super::{Outcome, PastCall, Said};
use sayso_policy::{Facts, Policy, Verdict};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Calls that are shown of each group.
const SHOWN: usize = 3;

/// What two policies say of the same calls.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Flips {
    /// Calls that were judged by both.
    pub calls: usize,
    /// How many of them the earlier policy asks about.
    pub asked_before: usize,
    /// How many of them the later one asks about.
    pub asked_after: usize,
    /// Groups of calls that get another verdict, those that are milder now first.
    pub flips: Vec<Flip>,
}

/// Calls that get another verdict for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Flip {
    /// What the earlier policy says.
    pub old: Said,
    /// What the later one says.
    pub new: Said,
    /// How many calls.
    pub calls: usize,
    /// Of those, how many people refused.
    pub refused: usize,
    /// Some of them, each once, secrets taken out.
    pub examples: Vec<String>,
}

impl Flip {
    /// Whether the later policy is milder.
    #[must_use]
    pub fn is_looser(&self) -> bool {
        self.new.verdict < self.old.verdict
    }
}

impl Flips {
    /// Judges calls by two policies.
    #[must_use]
    pub fn of<'c>(old: &Policy, new: &Policy, calls: impl IntoIterator<Item = &'c PastCall>, facts: Facts<'_>) -> Self {
        let both = |past: &PastCall| {
            let say = |policy: &Policy| Said::of(&past.judge(policy, facts).1);
            Ok::<_, std::convert::Infallible>(Some((say(old), say(new))))
        };
        Self::said(calls, both).unwrap_or_default()
    }

    /// Takes what is said of calls before and after, each judged once; what is not said of one, it is left out.
    pub(super) fn said<'c, E>(
        calls: impl IntoIterator<Item = &'c PastCall>,
        mut say: impl FnMut(&PastCall) -> Result<Option<(Said, Said)>, E>,
    ) -> Result<Self, E> {
        let mut found = Self::default();
        let mut known: HashMap<String, Option<(Said, Said)>> = HashMap::new();
        let mut groups: BTreeMap<(Said, Said), Flip> = BTreeMap::new();
        for past in calls {
            let likeness = past.likeness();
            if !known.contains_key(&likeness) {
                known.insert(likeness.clone(), say(past)?);
            }
            let Some(Some(both)) = known.get(&likeness) else { continue };
            found.calls += 1;
            found.asked_before += usize::from(both.0.verdict == Verdict::Ask);
            found.asked_after += usize::from(both.1.verdict == Verdict::Ask);
            if both.0.verdict == both.1.verdict {
                continue;
            }
            let flip = groups.entry(both.clone()).or_insert_with(|| Flip {
                old: both.0.clone(),
                new: both.1.clone(),
                calls: 0,
                refused: 0,
                examples: Vec::new(),
            });
            flip.calls += 1;
            flip.refused += usize::from(past.outcome == Outcome::Refused);
            let shown = past.shown();
            if flip.examples.len() < SHOWN && !flip.examples.contains(&shown) {
                flip.examples.push(shown);
            }
        }
        found.flips = groups.into_values().collect();
        found.flips.sort_by_key(|flip| (!flip.is_looser(), std::cmp::Reverse(flip.calls)));
        Ok(found)
    }

    /// How many calls got this verdict from the later policy and another one from the earlier.
    #[must_use]
    pub fn to(&self, verdict: Verdict) -> usize {
        self.flips.iter().filter(|flip| flip.new.verdict == verdict).map(|flip| flip.calls).sum()
    }

    /// Whether any call is judged milder.
    #[must_use]
    pub fn is_looser(&self) -> bool {
        self.flips.iter().any(Flip::is_looser)
    }
}
