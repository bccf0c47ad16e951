//! Which few rules would avoid most prompts: made from calls that ran, tried on all that asked, the best first and each
//! counted on top of those before it.
//!
//! INVARIANT: a proposal is never made from calls that people refused, nor against a rule that asks or denies, nor for a
//! program that runs whatever it is given or reaches whatever host it is given. What a proposal saves is counted by judging
//! again with its rules, not by what it was made from.

mod advice;
mod family;
mod harm;
mod need;
mod script;

pub use advice::{Advice, Denial, allowing, denying};

use super::PastCall;
use crate::policy::with_rules;
use crate::{InForce, Places};
use family::{Family, in_folders, list};
use need::{Need, Width, needs};
use sayso_policy::compare::{Side, widest};
use sayso_policy::{Decision, Facts, Operation, Policy, PolicyText, Verdict};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Patterns that one rule lists.
const MOST_PATTERNS: usize = 48;
/// Kinds of rules that one proposal has.
const MOST_RULES: usize = 3;
/// How often patterns are taken back that would let something pass that says that it loses something.
const MOST_RETRACTED: usize = 64;
/// Calls that are shown of each proposal.
const SHOWN: usize = 5;

/// Calls that a policy asks about and that cannot be told apart.
#[derive(Debug)]
pub struct Ask {
    /// One of them.
    pub past: PastCall,
    /// What it would do.
    pub operation: Operation,
    /// What the policy says of it.
    pub decision: Decision,
    /// The number of its policy in the [`Rulebook`].
    pub policy: usize,
    /// How many there are.
    pub calls: usize,
    /// Of those, how many people refused.
    pub refused: usize,
}

/// Rules that would have avoided prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// The rules, as the end of a policy file.
    pub rule: String,
    /// How many prompts they avoid, beyond those that the proposals before avoid.
    pub saved: usize,
    /// Of those, how many people refused.
    pub refused: usize,
    /// Some of the calls, each once, secrets taken out.
    pub examples: Vec<String>,
    /// The widest call that they would let pass too.
    pub widest: Option<String>,
}

/// The policies that calls were judged by, each with rules more on request.
#[derive(Debug)]
pub struct Rulebook<'a> {
    places: &'a Places,
    policies: Vec<Arc<InForce>>,
}

/// A policy with rules more, and its texts.
type WithRules = (Policy, Vec<PolicyText>);

impl<'a> Rulebook<'a> {
    /// These policies, by number.
    #[must_use]
    pub fn new(places: &'a Places, policies: Vec<Arc<InForce>>) -> Self {
        Self { places, policies }
    }

    fn with(&self, rules: &str) -> Option<Vec<WithRules>> {
        self.policies.iter().map(|in_force| with_rules(self.places, in_force, rules)).collect()
    }
}

/// The proposals for these asks, at most so many.
#[must_use]
pub fn proposals(asks: &[Ask], rulebook: &Rulebook<'_>, most: usize, facts: Facts<'_>) -> Vec<Proposal> {
    let known = Known::of(asks, rulebook, facts);
    let mut chosen: BTreeSet<Family> = BTreeSet::new();
    let mut open: BTreeSet<usize> = (0..asks.len()).collect();
    let mut refused_sets: BTreeSet<BTreeSet<Family>> = BTreeSet::new();
    let mut found = Vec::new();
    let mut before = rulebook.with("");
    while found.len() < most {
        let Some(best) = known.best(asks, &open, &chosen, &refused_sets) else { break };
        let together: BTreeSet<Family> = chosen.union(&best.families).cloned().collect();
        let after = rulebook.with(&known.rules(&together));
        let saved = after.as_ref().map(|after| saved(asks, &open, after, facts)).unwrap_or_default();
        let (Some(after), false) = (after, saved.is_empty()) else {
            refused_sets.insert(best.wanted);
            continue;
        };
        let count = |of: &dyn Fn(&Ask) -> usize| saved.iter().filter_map(|at| asks.get(*at)).map(of).sum();
        let widest = widest_call(asks, &saved, before.as_deref(), &after);
        found.push(Proposal {
            rule: known.rules(&best.families),
            saved: count(&|ask| ask.calls),
            refused: count(&|ask| ask.refused),
            examples: examples(asks, &saved),
            widest,
        });
        open.retain(|at| !saved.contains(at));
        (chosen, before) = (together, Some(after));
    }
    found
}

/// The asks that pass with rules more.
fn saved(asks: &[Ask], open: &BTreeSet<usize>, policies: &[WithRules], facts: Facts<'_>) -> BTreeSet<usize> {
    let passes = |at: &usize| {
        let ask = asks.get(*at);
        ask.and_then(|ask| Some((ask, policies.get(ask.policy)?))).is_some_and(|(ask, (policy, _))| {
            ask.past.judge_again(policy, &ask.operation, facts).verdict == Verdict::Allow
        })
    };
    open.iter().copied().filter(passes).collect()
}

fn widest_call(
    asks: &[Ask],
    saved: &BTreeSet<usize>,
    before: Option<&[WithRules]>,
    after: &[WithRules],
) -> Option<String> {
    let number = asks.get(*saved.first()?)?.policy;
    let (old, new) = (before?.get(number)?, after.get(number)?);
    let found = widest(Side { policy: &old.0, texts: &old.1 }, Side { policy: &new.0, texts: &new.1 })?;
    Some(found.shown())
}

fn examples(asks: &[Ask], saved: &BTreeSet<usize>) -> Vec<String> {
    let mut all: Vec<&Ask> = saved.iter().filter_map(|at| asks.get(*at)).collect();
    all.sort_by_key(|ask| std::cmp::Reverse(ask.calls));
    let mut shown: Vec<String> = Vec::new();
    for ask in all {
        let text = ask.past.shown();
        if shown.len() < SHOWN && !shown.contains(&text) {
            shown.push(text);
        }
    }
    shown
}

/// What is proposed next.
struct Best {
    families: BTreeSet<Family>,
    /// Those that calls need, without their kin.
    wanted: BTreeSet<Family>,
}

/// What calls need, and which patterns may be proposed.
struct Known {
    /// By the number of the ask; empty: no proposal is made for it.
    needs: Vec<BTreeSet<Need>>,
    patterns: BTreeMap<Family, Vec<String>>,
}

impl Known {
    fn of(asks: &[Ask], rulebook: &Rulebook<'_>, facts: Facts<'_>) -> Self {
        let every = |width: Width| -> Vec<BTreeSet<Need>> {
            let mut all: Vec<_> = asks.iter().map(|ask| needs(ask, width, facts).unwrap_or_default()).collect();
            in_folders(&mut all);
            all
        };
        // An allow of a program carries what its operands do, so that its own patterns are mostly enough: which calls pass
        // with those is found for all at once. The others need a yes to each effect.
        let (programs, effects) = (every(Width::Programs), every(Width::Effects));
        let all: BTreeSet<usize> = (0..asks.len()).collect();
        let with = |needs: &[BTreeSet<Need>]| {
            let policies = rulebook.with(&Self::whole(asks, needs).rules_of_all());
            policies.map(|policies| saved(asks, &all, &policies, facts)).unwrap_or_default()
        };
        let (enough, possible) = (with(&programs), with(&effects));
        let needs = programs.into_iter().zip(effects).enumerate().map(|(at, (programs, effects))| {
            if enough.contains(&at) && !programs.is_empty() {
                programs
            } else if possible.contains(&at) {
                effects
            } else {
                BTreeSet::new()
            }
        });
        Self::whole(asks, &needs.collect::<Vec<_>>()).retract(asks, rulebook, facts)
    }

    /// The patterns that calls which ran need, those of most calls first.
    fn whole(asks: &[Ask], needs: &[BTreeSet<Need>]) -> Self {
        let mut counts: BTreeMap<&Need, (usize, usize)> = BTreeMap::new();
        for (ask, needs) in asks.iter().zip(needs) {
            for need in needs {
                let count = counts.entry(need).or_default();
                count.0 += ask.calls.saturating_sub(ask.refused);
                count.1 += ask.refused;
            }
        }
        let mut by_family: BTreeMap<Family, Vec<(usize, String)>> = BTreeMap::new();
        for ((family, pattern), (ran, refused)) in counts {
            // Where people refuse one in five, they want to be asked.
            if ran > 0 && refused * 5 <= ran {
                by_family.entry(family.clone()).or_default().push((ran, pattern.clone()));
            }
        }
        let patterns = by_family.into_iter().map(|(family, mut patterns)| {
            patterns.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            patterns.truncate(MOST_PATTERNS);
            (family, patterns.into_iter().map(|(_, pattern)| pattern).collect())
        });
        Self { needs: needs.to_vec(), patterns: patterns.collect() }
    }

    /// The families that most open asks need and nothing else beyond what is chosen.
    fn best(
        &self,
        asks: &[Ask],
        open: &BTreeSet<usize>,
        chosen: &BTreeSet<Family>,
        refused: &BTreeSet<BTreeSet<Family>>,
    ) -> Option<Best> {
        let mut lacking: BTreeMap<BTreeSet<Family>, usize> = BTreeMap::new();
        for at in open {
            let (Some(needs), Some(ask)) = (self.needs.get(*at), asks.get(*at)) else { continue };
            if needs.is_empty() || !needs.iter().all(|need| self.may_be_proposed(need)) {
                continue;
            }
            let families: BTreeSet<Family> =
                needs.iter().map(|(family, _)| family).filter(|family| !chosen.contains(family)).cloned().collect();
            if !families.is_empty() && families.len() <= MOST_RULES {
                *lacking.entry(families).or_default() += ask.calls;
            }
        }
        // Kin are proposed together, so that they count together.
        let covered = |families: &BTreeSet<Family>, set: &BTreeSet<Family>| {
            families.iter().all(|it| set.iter().any(|own| own.is_kin(it)))
        };
        let gain = |set: &BTreeSet<Family>| -> usize {
            lacking.iter().filter(|(families, _)| covered(families, set)).map(|(_, calls)| calls).sum()
        };
        let candidates = lacking.keys().filter(|set| !refused.contains(*set));
        let ranked = candidates.map(|set| (gain(set), std::cmp::Reverse(set.len()), std::cmp::Reverse(set)));
        let (_, _, set) = ranked.max()?;
        let kin = self.patterns.keys().filter(|it| !chosen.contains(*it) && set.0.iter().any(|own| own.is_kin(it)));
        Some(Best { families: kin.chain(set.0).cloned().collect(), wanted: set.0.clone() })
    }

    fn may_be_proposed(&self, (family, pattern): &Need) -> bool {
        self.patterns.get(family).is_some_and(|known| known.contains(pattern))
    }

    fn rules_of_all(&self) -> String {
        self.rules(&self.patterns.keys().cloned().collect())
    }

    /// These families as tables that can stand behind whatever a file holds.
    fn rules(&self, families: &BTreeSet<Family>) -> String {
        let rules = families.iter().filter_map(|family| Some(family.rule(self.patterns.get(family)?)));
        rules.collect::<Vec<_>>().join("\n")
    }

    /// Takes back every pattern that would let a call pass that says that it loses something, whatever it was made from.
    fn retract(mut self, asks: &[Ask], rulebook: &Rulebook<'_>, facts: Facts<'_>) -> Self {
        let mut left: BTreeSet<usize> =
            (0..asks.len()).filter(|at| asks.get(*at).is_some_and(harm::call_loses)).collect();
        for _ in 0..MOST_RETRACTED {
            let open = left;
            let passing = |known: &Self| {
                let policies = rulebook.with(&known.rules_of_all());
                policies.map(|policies| saved(asks, &open, &policies, facts)).unwrap_or_default()
            };
            let all = passing(&self);
            let Some(first) = all.first().copied() else { return self };
            let without = |family: &Family, pattern: Option<&String>| {
                let mut patterns = self.patterns.clone();
                match (pattern, patterns.get_mut(family)) {
                    (Some(pattern), Some(known)) => known.retain(|it| it != pattern),
                    _ => drop(patterns.remove(family)),
                }
                patterns.retain(|_, known| !known.is_empty());
                Self { needs: Vec::new(), patterns }
            };
            let culprit = self.patterns.iter().find_map(|(family, patterns)| {
                let whole = without(family, None);
                if passing(&whole).contains(&first) {
                    return None;
                }
                let one = patterns.iter().map(|it| without(family, Some(it)));
                Some(one.into_iter().find(|rest| !passing(rest).contains(&first)).unwrap_or(whole))
            });
            // Several let it pass, each by itself: rather none than one of them.
            self.patterns = culprit.map(|rest| rest.patterns).unwrap_or_default();
            left = all;
        }
        Self { needs: self.needs, patterns: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests;
