//! `GET /v1/audit/counts`: how much was decided, how often people were asked, and which rules would have saved that.

use crate::api::parameters::{Parameters, blocking, tenant};
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::who::Admin;
use axum::Json;
use axum::extract::State;
use sayso_gate::audit::{By, Kind, Log, Query};
use sayso_gate::history::{Answered, Savings, savings};
use sayso_gate::store::Store;
use sayso_policy::Verdict;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Names that are told one by one.
const MOST_NAMES: usize = 50;
/// Names that are told over time.
const MOST_LINES: usize = 12;
/// Stretches of time in one answer.
const MOST_STRETCHES: u64 = 400;
/// What stands in the record of a held run that was refused something.
const HELD_BACK: &str = "\"back\":[";
const HOUR: u64 = 60 * 60 * 1000;
const WEEK: u64 = 7 * 24 * HOUR;

/// What is counted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(in crate::api) struct Wanted {
    /// Not before this, in milliseconds since 1970; a week ago, from the hour's beginning on, unless it is said.
    since: Option<u64>,
    /// Before this; now unless it is said.
    until: Option<u64>,
    /// Only of this agent.
    agent: Option<String>,
    /// Only of this session.
    session: Option<String>,
    /// Only of this tenant.
    tenant: Option<String>,
    /// What the counts over time are by; the verdict unless it is said.
    #[param(inline)]
    by: Option<Counted>,
    /// The length of a stretch of time, in milliseconds; an hour unless it is said, and longer where there were too many.
    #[param(minimum = 1)]
    step: Option<u64>,
    /// Whether to find out which rules would have saved prompts, which takes longer.
    #[serde(default)]
    #[param(default = false)]
    savings: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Counted {
    #[default]
    Verdict,
    Agent,
    Rule,
    Tool,
    Session,
}

/// The counts.
#[derive(Serialize, ToSchema)]
pub(in crate::api) struct Counts {
    /// In milliseconds since 1970.
    since: u64,
    /// In milliseconds since 1970.
    until: u64,
    /// The length of a stretch of time in `over_time`, in milliseconds.
    step: u64,
    decisions: u64,
    by_verdict: Vec<Count>,
    by_agent: Vec<Count>,
    by_rule: Vec<Count>,
    over_time: Vec<Stretch>,
    prompts: Prompts,
}

/// How many.
#[derive(Serialize, ToSchema)]
pub(in crate::api) struct Count {
    what: String,
    count: u64,
}

/// How many in a stretch of time.
#[derive(Serialize, ToSchema)]
pub(in crate::api) struct Stretch {
    /// When it begins, in milliseconds since 1970.
    from: u64,
    what: String,
    count: u64,
}

/// How often people were asked.
#[derive(Serialize, ToSchema)]
pub(in crate::api) struct Prompts {
    /// Decisions that were an Ask.
    asked: u64,
    /// The rules that asked.
    by_rule: Vec<Count>,
    /// What people answered, and how long they were waited for.
    answers: Answered,
    /// What held runs tried and were refused.
    held_back: u64,
    /// Rules that would have saved some of them, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    savings: Option<Savings>,
}

/// Counts decisions.
pub(in crate::api) async fn counts(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Json<Counts>, ApiError> {
    if wanted.step == Some(0) {
        return Err(ApiError::malformed("`step` must be at least 1 millisecond."));
    }
    // What was recorded in this very millisecond counts too.
    let until = wanted.until.unwrap_or_else(|| now_ms().saturating_add(1));
    // From a full hour on: those are counted as records come.
    let since = wanted.since.unwrap_or_else(|| until.saturating_sub(WEEK) / HOUR * HOUR);
    let least = until.saturating_sub(since).div_ceil(MOST_STRETCHES);
    // In whole hours, unless another length is said: those are counted as records come.
    let step = match wanted.step {
        Some(step) => step.max(least).max(1),
        None => least.max(1).div_ceil(HOUR) * HOUR,
    };
    let by = match wanted.by.unwrap_or_default() {
        Counted::Verdict => By::Verdict,
        Counted::Agent => By::Agent,
        Counted::Rule => By::Rule,
        Counted::Tool => By::Tool,
        Counted::Session => By::Session,
    };
    let query = Query {
        kinds: vec![Kind::Decision],
        tenant: tenant(&caller, wanted.tenant)?,
        since_ms: Some(since),
        until_ms: Some(until),
        agent: wanted.agent,
        session: wanted.session,
        ..Query::default()
    };
    blocking(move || {
        app.with_log(Log::fold)?;
        let store = app.store();
        let asked = Query { verdict: Some(Verdict::Ask), ..query.clone() };
        let held_back = Query { kinds: vec![Kind::Happening], text: Some(HELD_BACK.to_owned()), ..query.clone() };
        let saved = || savings(&*store, &app.places, &query, |workspace| Ok(app.gate(workspace)?.in_force()));
        let prompts = Prompts {
            asked: store.count(&asked)?,
            by_rule: count(store.as_ref(), &asked, By::Rule)?,
            answers: Answered::of(&*store, since, until, query.tenant.as_deref())?,
            held_back: store.count(&held_back)?,
            savings: wanted.savings.then(saved).transpose()?,
        };
        Ok(Json(Counts {
            since,
            until,
            step,
            decisions: store.count(&query)?,
            by_verdict: count(store.as_ref(), &query, By::Verdict)?,
            by_agent: count(store.as_ref(), &query, By::Agent)?,
            by_rule: count(store.as_ref(), &query, By::Rule)?,
            over_time: over_time(store.as_ref(), &query, by, step)?,
            prompts,
        }))
    })
    .await
}

fn count(store: &dyn Store, query: &Query, by: By) -> Result<Vec<Count>, ApiError> {
    let found = store.count_by(query, by)?.into_iter().take(MOST_NAMES);
    Ok(found.map(|(what, count)| Count { what, count }).collect())
}

/// Names are the agent's own words and may be any number: only the most frequent are told over time.
fn over_time(store: &dyn Store, query: &Query, by: By, step: u64) -> Result<Vec<Stretch>, ApiError> {
    let most: Vec<String> = store.count_by(query, by)?.into_iter().take(MOST_LINES).map(|(what, _)| what).collect();
    let found = store.over_time(query, by, step)?.into_iter().filter(|(_, what, _)| most.contains(what));
    Ok(found.map(|(from, what, count)| Stretch { from, what, count }).collect())
}
