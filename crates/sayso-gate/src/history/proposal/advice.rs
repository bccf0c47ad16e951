//! The narrowest rule that would let one call pass, or refuse it.

use super::need::{Width, needs, on_purpose};
use super::{Ask, Known, Rulebook, WithRules, saved, widest_call};
use crate::approval::named;
use crate::history::PastCall;
use sayso_policy::compare::{Side, compare};
use sayso_policy::{Decision, Facts, Operation, Verdict};
use sayso_shell::{Target, Verb};
use std::collections::BTreeSet;

/// What would let a call pass that a policy asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Rules, as the end of a policy file.
    Rule {
        /// Their text.
        rule: String,
        /// The widest call that they would let pass too.
        widest: Option<String>,
    },
    /// No rule is offered: what to do instead.
    Instead(String),
}

/// The narrowest rule that would let this call pass. It is tried before it is told.
#[must_use]
pub fn allowing(ask: &Ask, rulebook: &Rulebook<'_>, facts: Facts<'_>) -> Advice {
    if let Some(opinion) = on_purpose(&ask.decision) {
        return Advice::Instead(match &opinion.reason.source {
            Some(source) => format!(
                "A rule asks about this on purpose. Approve the call when you are asked, or change the rule at {source}."
            ),
            None => format!(
                "Sayso asks about this on purpose [{}]. Approve the call when you are asked.",
                opinion.reason.code
            ),
        });
    }
    let only = std::slice::from_ref(ask);
    let before = rulebook.with("");
    for width in [Width::Programs, Width::Narrow] {
        let Some(needs) = needs(ask, width, facts).filter(|needs| !needs.is_empty()) else { continue };
        let rule = Known::whole(only, &[needs]).rules_of_all();
        let Some(after) = rulebook.with(&rule) else { continue };
        let passed = saved(only, &BTreeSet::from([0]), &after, facts);
        if !passed.is_empty() {
            let widest = widest_call(only, &passed, before.as_deref(), &after);
            return Advice::Rule { rule, widest };
        }
    }
    Advice::Instead(instead(&ask.operation, &ask.decision))
}

/// What to do about a call for which there is no rule that would not let much more pass.
fn instead(operation: &Operation, decision: &Decision) -> String {
    let asked = decision.effects.iter().filter(|said| said.verdict == Verdict::Ask);
    let runs = asked.filter_map(|said| match operation.effects.get(said.effect?)?.target {
        Target::Program(id) | Target::Option(id) => operation.analysis.as_ref()?.run(id)?.program.base.clone(),
        _ => None,
    });
    let anything = runs.into_iter().find(|name| sayso_policy::GrantSelector::pattern(Verb::Run, name).is_err());
    match anything {
        Some(name) => format!(
            "`{name}` runs whatever it is given, so no rule is offered for it. Approve this exact call when you are asked, or \
             run it held: `sayso run -- COMMAND`."
        ),
        None if decision.effects.iter().any(|said| said.verdict == Verdict::Ask && said.effect.is_none()) => {
            "Sayso cannot see everything this call would do, so no rule is offered for it. Write it as plain commands."
                .to_owned()
        }
        None => {
            "No rule would let this pass without letting much more pass. Approve this exact call when you are asked."
                .to_owned()
        }
    }
}

/// A rule that would refuse a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// Its text, as the end of a policy file.
    pub rule: String,
    /// The smallest call that it would refuse or ask about too, as far as one was found.
    pub also: Option<String>,
}

/// The narrowest rule that would refuse this call. It is tried before it is told.
#[must_use]
pub fn denying(
    past: &PastCall,
    operation: &Operation,
    decision: &Decision,
    rulebook: &Rulebook<'_>,
    facts: Facts<'_>,
) -> Option<Denial> {
    let before = rulebook.with("")?;
    // What asks is what somebody minds; else what stands last.
    let asks = |at: &usize| decision.effects.iter().any(|it| it.effect == Some(*at) && it.verdict == Verdict::Ask);
    let (first, rest): (Vec<usize>, Vec<usize>) = (0..operation.effects.len()).rev().partition(asks);
    // The call of the tool itself comes last: a rule about it is about every command.
    let is_call = |at: &usize| operation.effects.get(*at).is_some_and(|effect| effect.verb == Verb::Call);
    let (calls, rest): (Vec<usize>, Vec<usize>) = first.into_iter().rev().chain(rest).partition(is_call);
    let mut found: Vec<(usize, Denial)> = Vec::new();
    for at in rest.into_iter().chain(calls) {
        for pattern in patterns(operation, at, facts) {
            let (verb, pattern) = pattern;
            let key = if verb == Verb::Call { "tool" } else { verb.as_str() };
            let rule = format!("[[rule]]\ndeny = {{ {key} = {} }}\n", super::list(std::slice::from_ref(&pattern)));
            let Some(after) = rulebook.with(&rule) else { continue };
            let Some((policy, _)) = after.first() else { continue };
            if past.judge_again(policy, operation, facts).verdict == Verdict::Deny {
                found.push((pattern.len(), Denial { rule, also: also(&before, &after, past) }));
            }
        }
        if !found.is_empty() {
            break;
        }
    }
    found.into_iter().max_by_key(|(length, _)| *length).map(|(_, denial)| denial)
}

/// The patterns that name an effect, the narrowest among them.
fn patterns(operation: &Operation, at: usize, facts: Facts<'_>) -> Vec<(Verb, String)> {
    let Some(effect) = operation.effects.get(at) else { return Vec::new() };
    let Some((verb, pattern)) = named(operation, at, facts) else { return Vec::new() };
    let mut all = vec![(verb, pattern.clone())];
    // With the options that this call gives, and the words behind a program without subcommands.
    if let Target::Program(id) = effect.target
        && let Some(run) = operation.analysis.as_ref().and_then(|analysis| analysis.run(id))
    {
        let plain = |word: &str| {
            !word.is_empty()
                && !word.contains(|c: char| "*?[]{}!|@\\".contains(c) || c.is_whitespace() || c.is_control())
        };
        let mut words: Vec<String> = vec![pattern];
        if run.subcommands == 0 && sayso_shell::program::spec(words.first().map_or("", String::as_str)).is_none() {
            let operands = run.words.iter().filter_map(|at| run.argv.get(usize::from(*at))?.exact_str());
            words.extend(operands.take(2).filter(|word| plain(word)).map(str::to_owned));
        }
        let given = run.options.iter().filter(|option| !option.implied && plain(&option.name));
        words.extend(given.map(|option| option.name.clone()));
        words.dedup();
        all.push((verb, words.join(" ")));
    }
    all
}

fn also(before: &[WithRules], after: &[WithRules], past: &PastCall) -> Option<String> {
    let (old, new) = (before.first()?, after.first()?);
    let found = compare(Side { policy: &old.0, texts: &old.1 }, Side { policy: &new.0, texts: &new.1 });
    found.stricter.map(|it| it.shown()).filter(|shown| *shown != past.shown())
}
