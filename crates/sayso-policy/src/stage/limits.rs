//! Stage 7: budgets. Usage so far is handed in; what a call adds is reserved by the gate.

use crate::state::{Scope, State, Usage};
use crate::text::Limit;
use crate::word::{Layer, Opinion, Reason, Source, Stage, Verdict};
use std::borrow::Cow;

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

pub(crate) fn judge(rules: &[LimitRule], file: &Layer, state: &State, found: &mut Vec<LimitOpinion>) {
    for rule in rules {
        let scope = rule.limit.scope.value;
        let usage = state.usage.get(&scope).copied().unwrap_or_default();
        for (name, used, most) in counted(&rule.limit, &usage) {
            let over = if rule.inclusive && name != "denied calls" { used > most } else { used >= most };
            if over {
                let verdict = rule.limit.at_limit.as_ref().map_or(Verdict::Deny, |at| at.value);
                found.push(LimitOpinion {
                    opinion: opinion(file, rule, verdict, name, scope),
                    blocked: name == "denied calls",
                });
            }
        }
    }
}

fn counted(limit: &Limit, usage: &Usage) -> impl Iterator<Item = (&'static str, u64, u64)> {
    let pair = |name, used, most: Option<u64>| most.map(|most| (name, used, most));
    let value = |spanned: &Option<crate::text::Spanned<u64>>| spanned.as_ref().map(|s| s.value);
    [
        pair("calls", usage.calls, value(&limit.calls)),
        pair("tokens", usage.input_tokens.saturating_add(usage.output_tokens), value(&limit.tokens)),
        pair("input tokens", usage.input_tokens, value(&limit.input_tokens)),
        pair("output tokens", usage.output_tokens, value(&limit.output_tokens)),
        pair("cost", usage.cost_micros, limit.cost.as_ref().map(|cost| cost.value.micros)),
        pair(
            "time",
            usage.wall_ms,
            limit.wall.as_ref().map(|wall| u64::try_from(wall.value.as_millis()).unwrap_or(u64::MAX)),
        ),
        pair("denied calls", usage.blocked, value(&limit.blocked)),
        pair("deleted files", usage.deletes, value(&limit.deletes)),
        pair("written bytes", usage.bytes_written, value(&limit.bytes_written)),
        pair("hosts", usage.hosts, value(&limit.hosts)),
        pair("repeated calls", usage.repeats, value(&limit.repeats)),
        pair("calls at a time", usage.calls_in_window, limit.rate.as_ref().map(|rate| rate.value.count)),
    ]
    .into_iter()
    .flatten()
}

fn opinion(file: &Layer, rule: &LimitRule, verdict: Verdict, name: &str, scope: Scope) -> Opinion {
    let scope = match scope {
        Scope::Session => "session",
        Scope::Run => "run",
        Scope::Agent => "agent",
        Scope::Tenant => "tenant",
        Scope::Day => "day",
    };
    Opinion {
        stage: Stage::Limits,
        verdict,
        maybe: false,
        reason: Reason {
            code: Cow::Borrowed("limit"),
            text: format!("The limit on {name} for this {scope} is reached."),
            layer: file.clone(),
            source: Some(rule.source.clone()),
        },
        approver: None,
        // A grant never answers a limit.
        always: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    /// The names of the limits that speak at this usage.
    fn speaking(keys: &str, usage: Usage) -> Vec<String> {
        let file = text::parse("p.toml", &format!("[limits.session]\n{keys}\n")).unwrap();
        let rules: Vec<LimitRule> = file
            .limits
            .iter()
            .map(|limit| LimitRule { limit: limit.clone(), source: file.source(&limit.scope.span), inclusive: false })
            .collect();
        let mut state = State::default();
        state.usage.insert(Scope::Session, usage);
        let mut found = Vec::new();
        judge(&rules, &Layer::User, &state, &mut found);
        found.into_iter().map(|found| format!("{} {}", found.opinion.verdict, found.opinion.reason.text)).collect()
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
            calls_in_window: 3,
        };
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
        ] {
            assert_eq!(speaking(key, full).len(), 1, "{key}");
            assert!(speaking(key, Usage::default()).is_empty(), "{key}");
        }
    }

    #[test]
    fn at_the_limit_the_answer_is_deny_unless_the_file_says_ask() {
        let usage = Usage { calls: 9, ..Usage::default() };
        assert!(speaking("calls = 5", usage).first().unwrap().starts_with("deny "));
        assert!(speaking("calls = 5\nat_limit = \"ask\"", usage).first().unwrap().starts_with("ask "));
    }
}
