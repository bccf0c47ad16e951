//! What a limit is counted over.
//!
//! A session's and a run's id are the agent's own words: an agent that makes up new ones begins anew there. The agent
//! is named by the way in, and the day by the clock: limits that must hold belong to those. Whoever asks without a token
//! names even the agent itself; what such callers use is counted under whatever they say and once more under who they are
//! ([`unproven`]), so that another name is no new budget.

use sayso_policy::{Actor, Scope};
use serde::Serialize;

/// Agents above an agent whose budgets its calls are taken from.
const MOST_PARENTS: usize = 8;

/// The key of every scope that a call counts in. What is not known counts too, as one of its own: an agent that leaves
/// its session out is not without limits. What an agent starts uses the budgets of those above it as well: an agent
/// would have others do what it may not do any more. The wall of a tenant stands there too.
pub(crate) fn keys(actor: &Actor, scopes: &[Scope], now_ms: u64) -> Vec<(Scope, String)> {
    let mut found: Vec<(Scope, String)> = Vec::new();
    let (mut next, mut below) = (Some(actor), None::<Actor>);
    for _ in 0..=MOST_PARENTS {
        let Some(current) = next else { break };
        let whole = match &below {
            None => current.clone(),
            // Where it is not said, a parent is in the session of what it started.
            Some(below) => Actor {
                tenant: below.tenant.clone(),
                asker: below.asker.clone(),
                agent: current.agent.clone().or_else(|| below.agent.clone()),
                session: current.session.clone().or_else(|| below.session.clone()),
                run: current.run.clone(),
                ..Actor::default()
            },
        };
        for scope in scopes {
            let key = (*scope, key(&whole, *scope, now_ms));
            if !found.contains(&key) {
                found.push(key);
            }
        }
        next = current.parent.as_deref();
        below = Some(whole);
    }
    found.extend(scopes.iter().filter_map(|scope| unproven(actor, *scope, now_ms)));
    found
}

/// INVARIANT: no name that a caller without a token makes up gives it a new budget: all that come in like it, the users of
/// a socket and everybody on TCP, share one agent's, and one session's and one run's for each day. A day, since those are
/// over by then where names are honest.
fn unproven(actor: &Actor, scope: Scope, now_ms: u64) -> Option<(Scope, String)> {
    let asker = actor.asker.as_ref().filter(|_| actor.is_claimed())?;
    let all = format!("-{OPENED_BY}{}", named(&Some(asker.clone())));
    let nobody = || "-".to_owned();
    let day = now_ms / DAY_MS;
    let parts = match scope {
        Scope::Agent => vec![nobody(), all],
        Scope::Session => vec![nobody(), nobody(), format!("{all}{OPENED_BY}{day}")],
        Scope::Run => vec![nobody(), nobody(), nobody(), format!("{all}{OPENED_BY}{day}")],
        // Their tenant is nobody's, and the day is everybody's.
        Scope::Tenant | Scope::Day => return None,
    };
    Some((scope, parts.join("/")))
}

fn key(actor: &Actor, scope: Scope, now_ms: u64) -> String {
    // A tenant that nobody vouches for is none: whoever makes up a new one would begin a new day.
    let tenant = if actor.is_claimed() { named(&None) } else { named(&actor.tenant) };
    let agent = || named(&actor.agent);
    let parts = match scope {
        Scope::Tenant => vec![tenant],
        Scope::Agent => vec![tenant, agent()],
        Scope::Session => vec![tenant, agent(), session(actor)],
        Scope::Run => vec![tenant, agent(), session(actor), named(&actor.run)],
        Scope::Day => vec![tenant, (now_ms / DAY_MS).to_string()],
    };
    parts.join("/")
}

const DAY_MS: u64 = 86_400_000;

/// What stands between a session's name and who opened it. No name holds this: its `%` would be escaped.
const OPENED_BY: &str = "%40";

/// A session of one caller is none of another's, whatever both call it: nobody uses up or stops another's.
fn session(actor: &Actor) -> String {
    match &actor.asker {
        None => named(&actor.session),
        Some(_) => format!("{}{OPENED_BY}{}", named(&actor.session), named(&actor.asker)),
    }
}

/// A part of a key. Escaped, so that no name reads like two parts or like an unknown one.
fn named(part: &Option<String>) -> String {
    match part.as_deref().map(str::trim).filter(|part| !part.is_empty()) {
        None => "-".to_owned(),
        Some("-") => "%2d".to_owned(),
        Some(part) => part.replace('%', "%25").replace('/', "%2f").chars().take(512).collect(),
    }
}

/// Whether a key, of whatever scope, belongs to a tenant: its first part always names one.
pub(crate) fn is_of(tenant: &str, key: &str) -> bool {
    // An empty name would read as the key of those who have no tenant.
    !tenant.trim().is_empty() && key.split('/').next() == Some(named(&Some(tenant.to_owned())).as_str())
}

/// Whether the key of a session is one of the sessions of this name, whoever opened it.
pub(crate) fn is_session(session: &str, key: &str) -> bool {
    Place::of(Scope::Session, key).session.as_deref() == Some(session.trim())
}

/// What a key stands for, part by part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Place {
    /// The tenant.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub tenant: Option<String>,
    /// The agent.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub agent: Option<String>,
    /// The session.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub session: Option<String>,
    /// The run.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub run: Option<String>,
    /// The day, since 1970.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub day: Option<u64>,
}

impl Place {
    /// Of a key of this scope.
    #[must_use]
    pub fn of(scope: Scope, key: &str) -> Self {
        let mut parts = key.split('/').map(|part| plain(part.split(OPENED_BY).next().unwrap_or(part)));
        let mut next = || parts.next().flatten();
        let tenant = next();
        if scope == Scope::Day {
            return Self { tenant, day: next().and_then(|day| day.parse().ok()), ..Self::default() };
        }
        Self { tenant, agent: next(), session: next(), run: next(), day: None }
    }
}

fn plain(part: &str) -> Option<String> {
    (part != "-").then(|| part.replace("%2d", "-").replace("%2f", "/").replace("%25", "%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_reads_like_another_scopes_key() {
        let actor = |agent: &str, session: &str| Actor {
            agent: Some(agent.to_owned()),
            session: Some(session.to_owned()),
            ..Actor::default()
        };
        let key = |actor: &Actor| keys(actor, &[Scope::Session], 0).remove(0).1;
        assert_ne!(key(&actor("a/b", "c")), key(&actor("a", "b/c")));
        assert_ne!(key(&actor("a", "-")), key(&Actor { session: None, ..actor("a", "") }));
        assert_eq!(key(&actor("a", " ")), key(&Actor { session: None, ..actor("a", "") }));
        assert_ne!(key(&actor("a%2fb", "c")), key(&actor("a/b", "c")));
    }

    #[test]
    fn a_key_reads_back_and_belongs_to_one_tenant() {
        let actor = Actor {
            tenant: Some("a/b".into()),
            agent: Some("%2f".into()),
            session: Some("-".into()),
            ..Actor::default()
        };
        for (scope, key) in keys(&actor, &Scope::ALL, 86_400_000) {
            let place = Place::of(scope, &key);
            assert_eq!(place.tenant.as_deref(), Some("a/b"), "{key}");
            assert!(is_of("a/b", &key) && !is_of("a", &key) && !is_of("", &key), "{key}");
            assert!(!is_of("", &keys(&Actor::default(), &[scope], 0)[0].1));
            assert_eq!(place.day, (scope == Scope::Day).then_some(1));
            if scope == Scope::Run {
                assert_eq!(
                    (place.agent.as_deref(), place.session.as_deref(), place.run),
                    (Some("%2f"), Some("-"), None)
                );
            }
        }
    }

    #[test]
    fn what_an_agent_starts_uses_its_budgets_too_and_those_of_no_other_tenant() {
        let parent = Actor { agent: Some("lead".into()), tenant: Some("b".into()), ..Actor::default() };
        let child = Actor {
            agent: Some("helper".into()),
            tenant: Some("a".into()),
            session: Some("s".into()),
            parent: Some(Box::new(parent)),
            ..Actor::default()
        };
        let found: Vec<String> =
            keys(&child, &[Scope::Session, Scope::Tenant], 0).into_iter().map(|(_, key)| key).collect();
        assert_eq!(found, ["a/helper/s", "a", "a/lead/s"]);
        let mut deep = Actor::default();
        for n in 0..1000 {
            deep = Actor { agent: Some(n.to_string()), parent: Some(Box::new(deep)), ..Actor::default() };
        }
        assert_eq!(keys(&deep, &[Scope::Agent], 0).len(), 9);
    }

    #[test]
    fn names_without_a_token_share_a_budget_with_all_that_come_in_alike() {
        let of = |name: &str, asker: &str| Actor {
            agent: Some(name.into()),
            session: Some(name.into()),
            run: Some(name.into()),
            asker: Some(asker.into()),
            ..Actor::default()
        };
        let shared = |one: &Actor, other: &Actor, now: u64| {
            let (one, other) = (keys(one, &Scope::ALL, 0), keys(other, &Scope::ALL, now));
            one.into_iter().filter(|key| other.contains(key)).map(|(scope, _)| scope).collect::<Vec<_>>()
        };
        let (a, b) = (of("a", "anybody"), of("b", "anybody"));
        for scope in Scope::ALL {
            assert!(shared(&a, &b, 1).contains(&scope), "{scope:?}");
        }
        assert_eq!(shared(&a, &b, DAY_MS), [Scope::Tenant, Scope::Agent], "sessions and runs begin anew with the day");
        assert_eq!(shared(&a, &of("b", "user 1000"), 1), [Scope::Tenant, Scope::Day], "they come in another way");
        for proven in ["token x", "owner x"] {
            assert_eq!(shared(&of("a", proven), &of("b", proven), 1), [Scope::Tenant, Scope::Day], "{proven}");
            assert_eq!(keys(&of("a", proven), &Scope::ALL, 0).len(), 5, "{proven}");
        }
        // What nobody is called is none of those that somebody is.
        let unnamed = Actor { asker: Some("anybody".into()), ..Actor::default() };
        let all: std::collections::BTreeSet<_> =
            keys(&unnamed, &Scope::ALL, 0).into_iter().map(|(_, key)| key).collect();
        assert_eq!(all.len(), 8, "{all:?}");
        for (scope, key) in keys(&a, &Scope::ALL, 0) {
            assert_eq!(Place::of(scope, &key).tenant, None, "{key}");
        }
    }

    #[test]
    fn a_new_session_is_no_new_agent_and_no_new_day() {
        let one = Actor { agent: Some("a".into()), session: Some("1".into()), ..Actor::default() };
        let two = Actor { session: Some("2".into()), ..one.clone() };
        let wide = [Scope::Agent, Scope::Tenant, Scope::Day];
        assert_eq!(keys(&one, &wide, 5), keys(&two, &wide, 6));
        assert_ne!(keys(&one, &[Scope::Session, Scope::Run], 5), keys(&two, &[Scope::Session, Scope::Run], 5));
        assert_ne!(keys(&one, &[Scope::Day], 0), keys(&one, &[Scope::Day], 86_400_000));
    }
}
