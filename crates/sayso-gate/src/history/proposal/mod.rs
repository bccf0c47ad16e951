//! Which few rules would avoid most prompts: made from calls that ran, tried on all that asked, the best first and each
//! counted on top of those before it.
//!
//! INVARIANT: a proposal is never made from calls that people refused, nor against a rule that asks or denies, nor for a
//! program that runs whatever it is given or reaches whatever host it is given. What a proposal saves is counted by judging
//! again with its rules, not by what it was made from.

mod advice;
mod need;

pub use advice::{Advice, Denial, allowing, denying};

use super::PastCall;
use crate::policy::with_rules;
use crate::{InForce, Places};
use need::{Family, Need, Width, needs};
use sayso_policy::compare::{Side, widest};
use sayso_policy::{Decision, Facts, Operation, Policy, PolicyText, Verdict};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Patterns that one rule lists.
const MOST_PATTERNS: usize = 24;
/// Scripts of one folder by which the folder is proposed instead.
const MANY_SCRIPTS: usize = 3;
/// Rules that one proposal has.
const MOST_RULES: usize = 3;
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
        let together: BTreeSet<Family> = chosen.union(&best).cloned().collect();
        let after = rulebook.with(&known.rules(&together));
        let saved = after.as_ref().map(|after| saved(asks, &open, after, facts)).unwrap_or_default();
        let (Some(after), false) = (after, saved.is_empty()) else {
            refused_sets.insert(best);
            continue;
        };
        let count = |of: &dyn Fn(&Ask) -> usize| saved.iter().filter_map(|at| asks.get(*at)).map(of).sum();
        let widest = widest_call(asks, &saved, before.as_deref(), &after);
        found.push(Proposal {
            rule: known.rules(&best),
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
        Self::whole(asks, &needs.collect::<Vec<_>>())
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
    ) -> Option<BTreeSet<Family>> {
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
        let gain = |set: &BTreeSet<Family>| -> usize {
            lacking.iter().filter(|(families, _)| families.is_subset(set)).map(|(_, calls)| calls).sum()
        };
        let candidates = lacking.keys().filter(|set| !refused.contains(*set));
        let ranked = candidates.map(|set| (gain(set), std::cmp::Reverse(set.len()), std::cmp::Reverse(set)));
        ranked.max().map(|(_, _, set)| set.0.clone())
    }

    fn may_be_proposed(&self, (family, pattern): &Need) -> bool {
        self.patterns.get(family).is_some_and(|known| known.contains(pattern))
    }

    fn rules_of_all(&self) -> String {
        self.rules(&self.patterns.keys().cloned().collect())
    }

    /// These families as tables that can stand behind whatever a file holds.
    fn rules(&self, families: &BTreeSet<Family>) -> String {
        let mut text = String::new();
        for family in families {
            let Some(patterns) = self.patterns.get(family) else { continue };
            let (verb, listed) = match family {
                Family::Run(_) => ("run", list(patterns)),
                Family::Fetch(command) => ("run", list(std::slice::from_ref(command))),
                Family::Hosts => ("connect", list(patterns)),
                Family::Tools(_) => ("tool", list(patterns)),
                Family::Path(verb) => (verb.as_str(), list(patterns)),
                Family::Scripts(_) => ("run", list(patterns)),
            };
            text.push_str(&format!("[[rule]]\nallow = {{ {verb} = {listed} }}\n"));
            match family {
                Family::Fetch(_) => text.push_str(&format!("when = {{ host = {} }}\n", list(patterns))),
                // The path of a script means the project's own only while it runs there.
                Family::Scripts(_) => text.push_str("when = { within = \".\" }\n"),
                _ => {}
            }
            text.push('\n');
        }
        text.trim_end().to_owned() + "\n"
    }
}

/// Where many scripts of one folder are run, whoever says yes to those says it to the folder.
fn in_folders(all: &mut [BTreeSet<Need>]) {
    fn folder((family, pattern): &Need) -> Option<&str> {
        let (folder, _) = pattern.rsplit_once('/').filter(|_| matches!(family, Family::Scripts(_)))?;
        (!folder.ends_with('.')).then_some(folder)
    }
    let mut scripts: BTreeMap<(Family, String), BTreeSet<String>> = BTreeMap::new();
    for need in all.iter().flatten() {
        if let Some(folder) = folder(need) {
            scripts.entry((need.0.clone(), folder.to_owned())).or_default().insert(need.1.clone());
        }
    }
    scripts.retain(|_, names| names.len() >= MANY_SCRIPTS);
    for needs in all {
        let wider = |need: Need| match folder(&need).map(str::to_owned) {
            Some(folder) if scripts.contains_key(&(need.0.clone(), folder.clone())) => (need.0, format!("{folder}/*")),
            _ => need,
        };
        *needs = std::mem::take(needs).into_iter().map(wider).collect();
    }
}

/// One pattern as a string, several as a list.
fn list(patterns: &[String]) -> String {
    let quoted: Vec<String> = patterns.iter().map(|it| serde_json::Value::String(it.clone()).to_string()).collect();
    match quoted.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

#[cfg(test)]
mod tests;
