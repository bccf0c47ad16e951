//! `GET /v1/team`: who uses this server, how that goes and what needs looking after. For whoever looks after many.

use super::parameters::{Parameters, blocking, tenant};
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::token::Token;
use crate::who::{Admin, Role};
use axum::Json;
use axum::extract::State;
use sayso_gate::approval::{Approval, Standing};
use sayso_gate::audit::{Kind, Log, Query, Record};
use sayso_gate::store::Questions;
use sayso_policy::{Answer, Holding};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Decisions that are looked at, and questions, the latest first of each.
const LOOKED_AT: usize = 5_000;
/// How far back, unless it is said.
const DAYS_MS: u64 = 7 * 24 * 60 * 60 * 1000;
/// Names of one caller that are listed.
const NAMES: usize = 8;

/// Since when.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only what happened since then, in milliseconds since 1970; the last seven days unless it is said.
    since: Option<u64>,
    /// Only of this tenant.
    tenant: Option<String>,
}

/// The team.
#[derive(Serialize, ToSchema)]
pub(super) struct Team {
    since_ms: u64,
    /// Callers, the one that was seen last first.
    callers: Vec<TeamCaller>,
    /// People who answered, the one with most answers first.
    people: Vec<Answerer>,
    tokens: Vec<TokenShown>,
    waits: Waits,
    /// The version of the policy in force here.
    policy_version: String,
    /// There may be more decisions or questions than were looked at: the numbers are of the latest.
    more: bool,
    /// How many decisions, and questions, are looked at at most.
    looked_at: usize,
}

/// A machine or token that asks for decisions.
#[derive(Serialize, ToSchema)]
struct TeamCaller {
    /// `token NAME`, `user UID`, `this machine` for hooks, or `without a token`.
    name: String,
    /// It showed a token; else it is only what it says it is.
    proven: bool,
    /// Its agents.
    agents: Vec<String>,
    /// The people it acts for.
    members: Vec<String>,
    /// How it came in: `http`, `hook claude-code`.
    ways: Vec<String>,
    sessions: usize,
    allowed: u64,
    asked: u64,
    denied: u64,
    /// How many of its runs were held by the kernel, or had to be.
    held: u64,
    /// The version that judged its last call.
    policy_version: String,
    last_ms: u64,
    pending: usize,
}

/// Somebody who answered.
#[derive(Serialize, ToSchema)]
struct Answerer {
    name: String,
    allowed: usize,
    denied: usize,
    /// Half of the answers took no longer, in milliseconds.
    median_ms: u64,
}

/// A token, never its secret.
#[derive(Serialize, ToSchema)]
#[schema(as = TeamToken)]
struct TokenShown {
    name: String,
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<String>,
    expires_ms: u64,
    /// Neither expired nor revoked.
    good: bool,
}

/// How long questions waited.
#[derive(Default, Serialize, ToSchema)]
struct Waits {
    answered: usize,
    /// Nobody answered in time.
    expired: usize,
    /// The caller gave up, or what the question was about changed.
    cancelled: usize,
    pending: usize,
    /// Half of the answers took no longer, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    median_ms: Option<u64>,
    /// Nine of ten answers took no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    nine_of_ten_ms: Option<u64>,
    /// The oldest that waits, asked in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_ms: Option<u64>,
}

/// Sums it up.
pub(super) async fn team(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Json<Team>, ApiError> {
    let tenant = tenant(&caller, wanted.tenant)?;
    blocking(move || {
        app.with_log(Log::fold)?;
        let now = now_ms();
        let since_ms = wanted.since.unwrap_or_else(|| now.saturating_sub(DAYS_MS));
        let query = Query {
            kinds: vec![Kind::Decision],
            tenant: tenant.clone(),
            since_ms: Some(since_ms),
            limit: Some(LOOKED_AT),
            ..Query::default()
        };
        let records = app.store().query(&query)?;
        // The limit is before the time: of a long memory not all that is too old is read.
        let which = Questions { tenant: tenant.as_deref(), limit: LOOKED_AT, ..Questions::all() };
        let mut questions = app.store().questions(&which, &|_| true)?;
        questions.retain(|approval| approval.question.asked_ms >= since_ms);
        let more = records.len() == LOOKED_AT || questions.len() == LOOKED_AT;
        let all = app.tokens.all().map_err(|error| ApiError::internal(&error))?;
        let theirs = all.iter().filter(|token| tenant.is_none() || token.tenant == tenant);
        let tokens = theirs.map(|token| TokenShown {
            name: token.name.clone(),
            role: token.role,
            tenant: token.tenant.clone(),
            expires_ms: token.expires_ms,
            good: token.revoked_ms.is_none() && now < token.expires_ms,
        });
        let folder = std::path::Path::new(&app.about.folder);
        Ok(Json(Team {
            since_ms,
            callers: callers(records.iter().map(|stored| &stored.record), &questions, &all),
            people: people(&questions),
            tokens: tokens.collect(),
            waits: waits(&questions),
            policy_version: app.gate(Some(folder))?.in_force_now().policy.version().to_owned(),
            more,
            looked_at: LOOKED_AT,
        }))
    })
    .await
}

#[derive(Default)]
struct Seen {
    proven: bool,
    agents: BTreeSet<String>,
    members: BTreeSet<String>,
    ways: BTreeSet<String>,
    sessions: BTreeSet<String>,
    counts: [u64; 3],
    held: u64,
    policy_version: String,
    last_ms: u64,
}

/// Callers over HTTP who showed no token.
const WITHOUT: &str = "without a token";

/// Who asks: whoever showed a token under its name, and everybody else by the machine or user they come from.
fn name_of(asker: Option<&str>) -> String {
    match asker {
        None => "this machine".to_owned(),
        Some("anybody") => WITHOUT.to_owned(),
        Some(asker) => asker.to_owned(),
    }
}

fn callers<'r>(records: impl Iterator<Item = &'r Record>, questions: &[Approval], tokens: &[Token]) -> Vec<TeamCaller> {
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    for record in records {
        let actor = &record.actor;
        // A record of a call over HTTP keeps the name of the token as the agent's; nobody else may ask under it.
        let named = actor.agent.as_deref().filter(|name| tokens.iter().any(|token| token.name == *name));
        let name = match (&actor.asker, record.way_in.as_str(), named) {
            (None, "http", Some(name)) => format!("token {name}"),
            (None, "http", None) => WITHOUT.to_owned(),
            (asker, ..) => name_of(asker.as_deref()),
        };
        let unproven = name == WITHOUT;
        let one = seen.entry(name).or_default();
        one.proven |= !unproven && !actor.is_claimed();
        one.agents.extend(actor.agent.clone().filter(|_| one.agents.len() < NAMES));
        one.members.extend(actor.member.clone().filter(|_| one.members.len() < NAMES));
        if one.ways.len() < NAMES {
            one.ways.insert(record.way_in.clone());
        }
        one.sessions.extend(actor.session.clone());
        let [allowed, asked, denied] = &mut one.counts;
        match record.answer {
            Answer::Allow | Answer::DryRun => *allowed += 1,
            Answer::Ask => *asked += 1,
            Answer::Deny => *denied += 1,
        }
        one.held += u64::from(matches!(record.hold, Some(Holding::Required(_) | Holding::Wanted(_))));
        if record.time_ms >= one.last_ms {
            (one.last_ms, one.policy_version) = (record.time_ms, record.policy.clone());
        }
    }
    let waits = |name: &str| {
        let pending = questions.iter().filter(|it| it.standing == Standing::Pending);
        pending.filter(|it| name_of(it.question.actor.asker.as_deref()) == name).count()
    };
    let one = |(name, seen): (String, Seen)| {
        let [allowed, asked, denied] = seen.counts;
        TeamCaller {
            pending: waits(&name),
            name,
            proven: seen.proven,
            agents: seen.agents.into_iter().collect(),
            members: seen.members.into_iter().collect(),
            ways: seen.ways.into_iter().collect(),
            sessions: seen.sessions.len(),
            allowed,
            asked,
            denied,
            held: seen.held,
            policy_version: seen.policy_version,
            last_ms: seen.last_ms,
        }
    };
    let mut callers: Vec<TeamCaller> = seen.into_iter().map(one).collect();
    callers.sort_by_key(|caller| std::cmp::Reverse(caller.last_ms));
    callers
}

fn people(questions: &[Approval]) -> Vec<Answerer> {
    let mut answered: BTreeMap<&str, (usize, usize, Vec<u64>)> = BTreeMap::new();
    for approval in questions {
        for given in &approval.answers {
            let one = answered.entry(&given.person.name).or_default();
            match given.reply.verdict {
                sayso_policy::Verdict::Deny => one.1 += 1,
                _ => one.0 += 1,
            }
            one.2.push(given.time_ms.saturating_sub(approval.question.asked_ms));
        }
    }
    let one = |(name, (allowed, denied, mut took)): (&str, (usize, usize, Vec<u64>))| Answerer {
        name: name.to_owned(),
        allowed,
        denied,
        median_ms: part(&mut took, 50).unwrap_or(0),
    };
    let mut people: Vec<Answerer> = answered.into_iter().map(one).collect();
    people.sort_by_key(|one| std::cmp::Reverse(one.allowed + one.denied));
    people
}

fn waits(questions: &[Approval]) -> Waits {
    let mut waits = Waits::default();
    let mut took = Vec::new();
    for approval in questions {
        match approval.standing {
            Standing::Pending => {
                waits.pending += 1;
                let asked = approval.question.asked_ms;
                waits.oldest_ms = Some(waits.oldest_ms.map_or(asked, |oldest| oldest.min(asked)));
            }
            Standing::Expired => waits.expired += 1,
            Standing::Cancelled => waits.cancelled += 1,
            Standing::Approved | Standing::Denied => {
                waits.answered += 1;
                took.extend(
                    approval.answers.last().map(|last| last.time_ms.saturating_sub(approval.question.asked_ms)),
                );
            }
        }
    }
    waits.median_ms = part(&mut took, 50);
    waits.nine_of_ten_ms = part(&mut took, 90);
    waits
}

/// So many of a hundred are no larger.
fn part(all: &mut [u64], percent: usize) -> Option<u64> {
    all.sort_unstable();
    all.get((all.len().saturating_sub(1)) * percent / 100).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_hundred_are_of_what_there_is() {
        assert_eq!(part(&mut [], 50), None);
        assert_eq!((part(&mut [7], 50), part(&mut [7], 90)), (Some(7), Some(7)));
        let mut all: Vec<u64> = (1..=100).rev().collect();
        assert_eq!((part(&mut all, 50), part(&mut all, 90)), (Some(50), Some(90)));
    }
}
