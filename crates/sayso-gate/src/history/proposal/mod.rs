//! Which few rules would avoid most prompts: made from calls that ran, tried on all that asked, the best first and each
//! counted on top of those before it.
//!
//! INVARIANT: a proposal is never made from calls that people refused, nor against a rule that asks or denies, nor for a
//! program that runs whatever it is given or reaches whatever host it is given. What a proposal saves is counted by judging
//! again with its rules, not by what it was made from.

use super::{Outcome, PastCall};
use crate::approval::{asked_about, named};
use crate::policy::with_rules;
use crate::{InForce, Places};
use sayso_policy::compare::{Side, widest};
use sayso_policy::{Decision, Facts, GrantSelector, Operation, Policy, PolicyText, Stage, Verdict};
use sayso_shell::program::{Facets, facets};
use sayso_shell::{HostTarget, PathTarget, RunId, Target, Verb};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Patterns that one rule lists.
const MOST_PATTERNS: usize = 16;
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

/// Rules of one kind that belong together in one rule of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    /// Commands of a program.
    Run(String),
    /// A command, to hosts.
    Fetch(String),
    /// Hosts, whatever reaches them.
    Hosts,
    /// Tools of a server, or of the agent itself.
    Tools(String),
    /// A path or a folder with all below it.
    Path(Verb, String),
}

/// One pattern that a call needs a yes for.
type Need = (Family, String);

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
        let every = |only_programs: bool| -> Vec<BTreeSet<Need>> {
            asks.iter().map(|ask| needs(ask, only_programs, facts).unwrap_or_default()).collect()
        };
        // An allow of a program carries what its operands do, so that its own patterns are mostly enough: which calls pass
        // with those is found for all at once. The others need a yes to each effect.
        let (programs, effects) = (every(true), every(false));
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
                Family::Path(verb, _) => (verb.as_str(), list(patterns)),
            };
            text.push_str(&format!("[[rule]]\nallow = {{ {verb} = {listed} }}\n"));
            if matches!(family, Family::Fetch(_)) {
                text.push_str(&format!("when = {{ host = {} }}\n", list(patterns)));
            }
            text.push('\n');
        }
        text.trim_end().to_owned() + "\n"
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

/// What a call needs a yes for; `None`: no rule is proposed for it.
fn needs(ask: &Ask, only_programs: bool, facts: Facts<'_>) -> Option<BTreeSet<Need>> {
    let (operation, decision) = (&ask.operation, &ask.decision);
    if ask.past.outcome == Outcome::Refused && ask.refused == ask.calls {
        return None;
    }
    // What a rule, a limit or a finding asks about it asks on purpose.
    if decision.asks().any(|(_, opinion)| opinion.stage != Stage::Default || opinion.always) {
        return None;
    }
    let mut found = BTreeSet::new();
    for index in asked_about(operation, decision, facts)? {
        let effect = operation.effects.get(index)?;
        match &effect.target {
            Target::Program(id) | Target::Option(id) => {
                found.extend(program(operation, index, *id, facts)?);
            }
            _ if only_programs => {}
            // The program that reaches a host is allowed to reach that host.
            Target::Host(_) if effect.run.is_some() => {}
            Target::Host(HostTarget::Exact { .. }) => {
                let (_, host) = named(operation, index, facts)?;
                found.insert((Family::Hosts, host));
            }
            Target::Path(target) => {
                found.insert(path(operation, index, effect.verb, target)?);
            }
            Target::Tool => {
                let (_, name) = named(operation, index, facts)?;
                let server = name.split_once('/').map(|(server, _)| server.to_owned());
                GrantSelector::pattern(Verb::Call, &name).ok()?;
                found.insert((Family::Tools(server.unwrap_or_default()), name));
            }
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// A program by its words, and by the hosts that it reaches.
fn program(operation: &Operation, index: usize, id: RunId, facts: Facts<'_>) -> Option<Vec<Need>> {
    let (_, pattern) = named(operation, index, facts)?;
    let pattern = with_first_word(operation, id, pattern);
    // A yes to what runs anything would be a yes to everything.
    GrantSelector::pattern(Verb::Run, &pattern).ok()?;
    let mut hosts = Vec::new();
    for effect in operation.effects.iter().filter(|effect| effect.run == Some(id) && effect.verb == Verb::Connect) {
        match &effect.target {
            Target::Host(HostTarget::Exact { host, .. }) => hosts.push(host.clone()),
            // What the tool's configuration names, no word of the command does.
            Target::Host(HostTarget::Configured(_)) => {}
            _ => return None,
        }
    }
    let reaches = reaches(&pattern);
    if runs_what_follows(&pattern) || (hosts.is_empty() && reaches) {
        return None;
    }
    if !hosts.is_empty() {
        let plain = |host: &String| GrantSelector::pattern(Verb::Connect, host).is_ok();
        return hosts
            .iter()
            .all(plain)
            .then(|| hosts.into_iter().map(|host| (Family::Fetch(pattern.clone()), host)).collect());
    }
    let name = pattern.split(' ').next().unwrap_or_default().to_owned();
    Some(vec![(Family::Run(name), pattern)])
}

/// Of a program that Sayso doesn't know, its first word is taken for a subcommand where it looks like one: a yes to
/// `acmectl status` is none to `acmectl delete`.
fn with_first_word(operation: &Operation, id: RunId, pattern: String) -> String {
    if pattern.contains(' ') || sayso_shell::program::spec(&pattern).is_some() {
        return pattern;
    }
    let run = operation.analysis.as_ref().and_then(|analysis| analysis.run(id));
    let first = run.and_then(|run| run.argv.get(1)).and_then(|word| word.exact_str());
    let is_word = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    match first.filter(is_word) {
        Some(word) => format!("{pattern} {word}"),
        None => pattern,
    }
}

/// Whether a command reaches whatever host stands behind it.
fn reaches(pattern: &str) -> bool {
    // An address among the words of a build is a target or a setting, which the build may go by or not.
    if pattern.split(' ').next().is_some_and(|name| facets(name).has(Facets::BUILDS)) {
        return false;
    }
    let operation = Operation::execute(format!("{pattern} https://host.invalid/x"));
    operation.effects.iter().any(|effect| {
        // Of a program that Sayso doesn't know, every address might be one that it reaches.
        effect.certain
            && effect.verb == Verb::Connect
            && matches!(&effect.target, Target::Host(HostTarget::Exact { host, .. }) if host.contains("host.invalid"))
    })
}

/// What makes a program start, or fetch and start, what its words name.
const STARTS: Facets = Facets::MULTI_CALL
    .and(Facets::ONLY_STARTS)
    .and(Facets::OTHER_USER)
    .and(Facets::OTHER_ROOT)
    .and(Facets::FEEDS)
    .and(Facets::FETCHES);

/// Whether a command runs whatever stands behind it.
fn runs_what_follows(pattern: &str) -> bool {
    let name = pattern.split(' ').next().unwrap_or_default();
    let operation = Operation::execute(format!("{pattern} ./x"));
    let runs = operation.analysis.as_ref().map_or(0, |analysis| analysis.runs.len());
    runs > 1 || facets(name).has(STARTS)
}

/// The folder that a path is in: a project beside this one, a package of the system. What is deleted is not proposed.
fn path(operation: &Operation, index: usize, verb: Verb, target: &PathTarget) -> Option<Need> {
    if !matches!(verb, Verb::Read | Verb::Write) || operation.provenance.has_effect(index) {
        return None;
    }
    let resolved = operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref());
    let path = resolved.or_else(|| target.place())?;
    let whole = matches!(target, PathTarget::Exact(_));
    let pattern = folder(path, operation.home.as_deref(), whole)?;
    GrantSelector::pattern(verb, &pattern).ok()?;
    Some((Family::Path(verb, pattern.clone()), pattern))
}

fn folder(path: &Path, home: Option<&Path>, is_file: bool) -> Option<String> {
    let below_home = home.and_then(|home| path.strip_prefix(home).ok());
    let (start, rest) = match below_home {
        Some(rest) => ("~", rest),
        None => ("", path.strip_prefix("/").ok()?),
    };
    let parts: Vec<&str> = rest.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    let plain = |part: &&str| !part.contains(|c: char| "*?[]{}!|@\\\"".contains(c) || c.is_whitespace());
    if parts.is_empty() || !parts.iter().all(plain) {
        return None;
    }
    // `~/other/**`, but `~/.config/tool/**` and `/opt/tool/**`.
    let hidden = parts.first().is_some_and(|part| part.starts_with('.'));
    let depth = if start == "~" && !hidden { 1 } else { 2 };
    let pattern = match parts.len() {
        length if length > depth || (length == depth && !is_file) => {
            format!("{start}/{}/**", parts.get(..depth)?.join("/"))
        }
        _ if is_file => format!("{start}/{}", parts.join("/")),
        _ => return None,
    };
    Some(pattern)
}

#[cfg(test)]
mod tests;
