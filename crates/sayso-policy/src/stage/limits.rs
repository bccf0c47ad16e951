//! Stage 7: budgets. Usage so far and what the call would add are handed in; the gate reserves it.

use super::opinions::Opinions;
use super::{FileInForce, Inputs, of_layer};
use crate::state::{Scope, State, Usage};
use crate::text::{File, Limit};
use crate::word::{Code, Layer, Opinion, Source, Stage, Verdict};

/// A limit and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct LimitRule {
    pub limit: Limit,
    pub source: Source,
    /// Reaching the limit is still within it (as some foreign formats have it).
    pub inclusive: bool,
}

/// An opinion of this stage.
pub(crate) struct LimitOpinion {
    pub opinion: Opinion,
    /// It comes from the counter of denied calls, which the essential stage may drop.
    pub blocked: bool,
}

/// One limit of a policy, and how much of it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// What it is counted over.
    pub scope: Scope,
    /// What is counted, as the policy file calls it: `calls`, `cost`, `wall`.
    pub key: &'static str,
    /// How much is used: `cost` in millionths of the currency's unit, `wall` in milliseconds.
    pub used: u64,
    /// How much there is, in the same unit.
    pub most: u64,
    /// What is said once it is used up.
    pub at_limit: Verdict,
    /// The stretch of time that a `rate` is about.
    pub per: Option<std::time::Duration>,
    /// Where it stands.
    pub source: Source,
}

impl Allowance {
    /// How much is left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.used)
    }
}

/// The limits of a scope, and how much of them is used.
pub(crate) fn allowances(rules: &[LimitRule], scope: Scope, state: &State) -> Vec<Allowance> {
    let of_scope = rules.iter().filter(|rule| rule.limit.scope.value == scope);
    let all = of_scope.flat_map(|rule| {
        budgets(&rule.limit, state).map(move |budget| Allowance {
            scope,
            key: budget.key,
            used: budget.used,
            most: budget.most,
            at_limit: rule.limit.at_limit.as_ref().map_or(Verdict::Deny, |at| at.value),
            per: match budget.key {
                "rate" => rule.limit.rate.as_ref().map(|rate| rate.value.per),
                "blocked" => rule.limit.blocked_per,
                _ => None,
            },
            source: rule.source.clone(),
        })
    });
    all.collect()
}

/// One budget at one moment.
struct Budget {
    /// As the policy file calls it.
    key: &'static str,
    name: &'static str,
    used: u64,
    /// What the call would add. Budgets of things that not every call uses stop only those that use them.
    takes: Option<u64>,
    /// It would add more than is known.
    unknown: bool,
    most: u64,
}

/// `[limits]` of a file.
pub(crate) fn section(file: &File) -> Vec<LimitRule> {
    let rule =
        |limit: &Limit| LimitRule { limit: limit.clone(), source: file.source(&limit.scope.span), inclusive: false };
    file.limits.iter().map(rule).collect()
}

/// What the limits of all files say of the call as a whole.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    for FileInForce { file, essential, .. } in &inputs.files {
        let found = reached(&file.limits, &file.layer, inputs.state);
        let counts = |found: &LimitOpinion| !(found.blocked && *essential);
        said.call.extend(found.into_iter().filter(counts).map(|found| found.opinion));
    }
}

/// The limits that have something to say with so much used.
pub(crate) fn reached(rules: &[LimitRule], file: &Layer, state: &State) -> Vec<LimitOpinion> {
    let mut found = Vec::new();
    for rule in rules {
        let scope = rule.limit.scope.value;
        for budget in budgets(&rule.limit, state) {
            let verdict = rule.limit.at_limit.as_ref().map_or(Verdict::Deny, |at| at.value);
            let blocked = budget.name == "denied calls";
            let text = if budget.passed(rule.inclusive && !blocked) {
                format!("The limit on {} for this {} has been reached.", budget.name, scope.as_str())
            } else if budget.unknown {
                // Nobody can say beforehand that it stays within the limit: a person decides.
                let text =
                    format!("Sayso cannot tell how many {} this call would add, and they are limited.", budget.name);
                let opinion = opinion(file, rule, Verdict::Ask, Code::LimitUnknown, text);
                found.push(LimitOpinion { opinion, blocked: false });
                continue;
            } else {
                continue;
            };
            found.push(LimitOpinion { opinion: opinion(file, rule, verdict, Code::Limit, text), blocked });
        }
    }
    found
}

impl Budget {
    fn passed(&self, inclusive: bool) -> bool {
        let full = if inclusive { self.used > self.most } else { self.used >= self.most };
        match self.takes {
            None => full,
            Some(0) => false,
            Some(takes) => self.used.saturating_add(takes) > self.most,
        }
    }
}

fn budgets(limit: &Limit, state: &State) -> impl Iterator<Item = Budget> {
    let scope = limit.scope.value;
    let used = state.usage.get(&scope).copied().unwrap_or_default();
    let takes = state.takes.get(&scope).copied().unwrap_or_default();
    let value = |spanned: &Option<crate::text::Spanned<u64>>| spanned.as_ref().map(|s| s.value);
    // Reached when it is full, and before a call that says itself how much it will add goes beyond it.
    let filling = |key, name, of: fn(&Usage) -> u64, most: Option<u64>| {
        let (used, takes) = (of(&used), of(&takes));
        let takes = (takes > 0).then_some(takes).filter(|_| most.is_some_and(|most| used < most));
        most.map(|most| Budget { key, name, used, takes, unknown: false, most })
    };
    // Reached for those calls that would go beyond it.
    let taking = |key, name, of: fn(&Usage) -> u64, unknown, most: Option<u64>| {
        most.map(|most| Budget { key, name, used: of(&used), takes: Some(of(&takes)), unknown, most })
    };
    let rate = limit.rate.as_ref().map(|rate| Budget {
        key: "rate",
        name: "calls at a time",
        used: state.rates.get(&(scope, rate.value.per)).copied().unwrap_or(0),
        takes: None,
        unknown: false,
        most: rate.value.count,
    });
    let blocked = value(&limit.blocked).map(|most| Budget {
        key: "blocked",
        name: "denied calls",
        used: match limit.blocked_per {
            Some(per) => state.blocked.get(&(scope, per)).copied().unwrap_or(0),
            None => used.blocked,
        },
        takes: None,
        unknown: false,
        most,
    });
    let wall = limit.wall.as_ref().map(|wall| u64::try_from(wall.value.as_millis()).unwrap_or(u64::MAX));
    [
        filling("calls", "calls", |u| u.calls, value(&limit.calls)),
        filling("tokens", "tokens", |u| u.input_tokens.saturating_add(u.output_tokens), value(&limit.tokens)),
        filling("input_tokens", "input tokens", |u| u.input_tokens, value(&limit.input_tokens)),
        filling("output_tokens", "output tokens", |u| u.output_tokens, value(&limit.output_tokens)),
        filling("cost", "cost", |u| u.cost_micros, limit.cost.as_ref().map(|cost| cost.value.micros)),
        filling("wall", "time", |u| u.wall_ms, wall),
        blocked,
        taking("deletes", "deleted files", |u| u.deletes, state.takes_unknown.deletes, value(&limit.deletes)),
        taking("bytes_written", "written bytes", |u| u.bytes_written, false, value(&limit.bytes_written)),
        taking("hosts", "hosts", |u| u.hosts, state.takes_unknown.hosts, value(&limit.hosts)),
        filling("repeats", "repeated calls", |u| u.repeats, value(&limit.repeats)),
        rate,
    ]
    .into_iter()
    .flatten()
}

fn opinion(file: &Layer, rule: &LimitRule, verdict: Verdict, code: Code, text: String) -> Opinion {
    let mut opinion = of_layer(Stage::Limits, verdict, code, text, file.clone());
    opinion.reason.source = Some(rule.source.clone());
    // A grant never answers a limit.
    opinion.always = true;
    opinion
}

/// The scopes and windows that these rules count.
pub(crate) fn count(rules: &[LimitRule], counting: &mut crate::state::Counting) {
    for rule in rules {
        let scope: Scope = rule.limit.scope.value;
        counting.add(scope);
        counting.hosts.extend(rule.limit.hosts.as_ref().map(|_| scope));
        counting.repeats.extend(rule.limit.repeats.as_ref().map(|_| scope));
        match (&rule.limit.blocked, rule.limit.blocked_per) {
            (Some(_), Some(per)) if !counting.blocked_windows.contains(&(scope, per)) => {
                counting.blocked_windows.push((scope, per));
            }
            _ => {}
        }
        counting.blocked.extend(rule.limit.blocked.as_ref().map(|most| (scope, most.value, rule.limit.blocked_per)));
        if let Some(rate) = &rule.limit.rate
            && !counting.windows.contains(&(scope, rate.value.per))
        {
            counting.windows.push((scope, rate.value.per));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Unknown;
    use crate::text;
    use std::time::Duration;

    /// What the limits say to this state.
    fn said(keys: &str, state: &State) -> Vec<String> {
        let file = text::parse("p.toml", &format!("[limits.session]\n{keys}\n")).unwrap();
        let found = reached(&section(&file), &Layer::User, state);
        found.into_iter().map(|found| format!("{} {}", found.opinion.verdict, found.opinion.reason.text)).collect()
    }

    fn state(used: Usage, takes: Usage) -> State {
        let mut state = State::default();
        state.usage.insert(Scope::Session, used);
        state.takes.insert(Scope::Session, takes);
        state.rates.insert((Scope::Session, Duration::from_secs(60)), used.calls);
        state.blocked.insert((Scope::Session, Duration::from_secs(60)), used.blocked);
        state
    }

    #[test]
    fn every_limit_of_the_language_speaks_when_it_is_reached_and_not_before() {
        let full = Usage {
            calls: 3,
            input_tokens: 3,
            output_tokens: 3,
            cost_micros: 3_000_000,
            wall_ms: 3_000,
            blocked: 3,
            deletes: 3,
            bytes_written: 3,
            hosts: 3,
            repeats: 3,
        };
        let one = Usage { calls: 1, deletes: 1, bytes_written: 1, hosts: 1, ..Usage::default() };
        for key in [
            "calls = 3",
            "tokens = 6",
            "input_tokens = 3",
            "output_tokens = 3",
            "cost = \"3.00 USD\"",
            "wall = \"3s\"",
            "blocked = 3",
            "deletes = 3",
            "bytes_written = 3",
            "hosts = 3",
            "repeats = 3",
            "rate = \"3/1m\"",
            "blocked = \"3/1m\"",
        ] {
            assert_eq!(said(key, &state(full, one)).len(), 1, "{key}");
            assert!(said(key, &state(Usage::default(), one)).is_empty(), "{key}");
        }
    }

    #[test]
    fn at_the_limit_the_answer_is_deny_unless_the_file_says_ask() {
        let state = state(Usage { calls: 9, ..Usage::default() }, Usage::default());
        assert!(said("calls = 5", &state).first().unwrap().starts_with("deny "));
        assert!(said("calls = 5\nat_limit = \"ask\"", &state).first().unwrap().starts_with("ask "));
    }

    #[test]
    fn a_call_that_would_go_beyond_a_limit_is_stopped_and_one_that_uses_none_of_it_is_not() {
        let used = Usage { deletes: 8, ..Usage::default() };
        let takes = |deletes| Usage { deletes, ..Usage::default() };
        assert!(said("deletes = 10", &state(used, takes(2))).is_empty());
        assert_eq!(said("deletes = 10", &state(used, takes(3))).len(), 1);
        assert!(said("deletes = 8", &state(used, takes(0))).is_empty());
        let tokens = |n| Usage { input_tokens: n, ..Usage::default() };
        assert!(said("tokens = 10", &state(tokens(5), tokens(5))).is_empty());
        assert_eq!(said("tokens = 10", &state(tokens(5), tokens(6))).len(), 1);
        assert_eq!(said("tokens = 10", &state(tokens(10), tokens(0))).len(), 1);
    }

    #[test]
    fn what_cannot_be_counted_beforehand_is_asked_about() {
        let mut state = state(Usage::default(), Usage { deletes: 1, ..Usage::default() });
        state.takes_unknown = Unknown { deletes: true, hosts: false };
        assert!(
            said("deletes = 10", &state).first().unwrap().starts_with("ask Sayso cannot tell how many deleted files")
        );
        assert!(said("hosts = 10", &state).is_empty());
    }
}
