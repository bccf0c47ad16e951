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
