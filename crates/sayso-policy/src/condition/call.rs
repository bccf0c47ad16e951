//! Conditions on the call as a whole: its arguments, its kind, who asks.

use super::TextList;
use crate::judging::Judging;
use crate::normalise::Kind;
use crate::pattern::Purpose;
use crate::text::Who;
use crate::word::{Actor, Request};
use serde_json::Value;

/// An argument by path; lists on the way are any-of.
pub(super) fn argument(judging: &Judging<'_>, path: &[String], patterns: &TextList) -> bool {
    let Request::Tool { arguments, .. } = &judging.operation.request else { return false };
    let mut found = Vec::new();
    collect(arguments, path, &mut found);
    found.iter().any(|text| patterns.matches(text))
}

fn collect(value: &Value, path: &[String], found: &mut Vec<String>) {
    match (value, path.split_first()) {
        (Value::Array(items), _) => items.iter().for_each(|item| collect(item, path, found)),
        (Value::Object(map), Some((key, rest))) => {
            if let Some(value) = map.get(key) {
                collect(value, rest, found);
            }
        }
        (Value::String(text), None) => found.push(text.clone()),
        (Value::Number(number), None) => found.push(number.to_string()),
        (Value::Bool(flag), None) => found.push(flag.to_string()),
        _ => {}
    }
}

/// What an agent reports counts only against it.
pub(super) fn is_of_kind(judging: &Judging<'_>, kind: Kind, purpose: Purpose) -> bool {
    let (derived, reported) = (judging.operation.kind, judging.operation.reported_kind);
    match purpose {
        Purpose::Permit => derived == kind && reported.is_none_or(|reported| reported == kind),
        Purpose::Restrict => derived == kind || reported == Some(kind),
    }
}

/// Whether one of these asks.
///
/// INVARIANT: what an agent reports of itself counts only against it, unless the file believes it.
pub(super) fn asks(meant: &[Who], actor: &Actor, purpose: Purpose, believes: bool) -> bool {
    let one_of = |actor: &Actor| meant.iter().any(|who| is_actor(who, actor));
    match purpose {
        Purpose::Permit if !believes => one_of(&actor.stated()) || actor.as_product().as_ref().is_some_and(one_of),
        // Most actors have one side.
        _ if actor.reported.is_none() && actor.product.is_none() && !actor.is_claimed() => one_of(actor),
        _ => actor.every_aspect().iter().any(one_of),
    }
}

/// Whether an actor is meant.
pub(crate) fn is_actor(who: &Who, actor: &Actor) -> bool {
    let same = |a: &str, b: Option<&String>| b.is_some_and(|b| b.trim().eq_ignore_ascii_case(a));
    match who {
        Who::Provider(key) => actor.provider_key().is_some_and(|actual| {
            actual.provider == key.provider && (key.model.is_none() || actual.model == key.model)
        }),
        Who::Agent(agent) => same(agent, actor.agent.as_ref()),
        Who::Team { team, member } => {
            same(team, actor.team.as_ref())
                && member.as_ref().is_none_or(|member| {
                    actor.member.as_ref().is_some_and(|actual| {
                        actual.trim().trim_start_matches('@').eq_ignore_ascii_case(member.trim_start_matches('@'))
                    })
                })
        }
        Who::Tenant(tenant) => same(tenant, actor.tenant.as_ref()),
        Who::Subagent => actor.subagent,
    }
}
