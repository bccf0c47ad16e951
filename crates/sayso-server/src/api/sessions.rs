//! `/v1/sessions` and `/v1/runs`: who works on what, since when, and how that went.

use super::grants::Shown;
use super::parameters::{Named, Parameters, blocking, tenant};
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::who::Admin;
use axum::Json;
use axum::extract::State;
use sayso_gate::approval::{Approval, Question};
use sayso_gate::audit::{HistoryOf, Log, Query, SessionHistory};
use sayso_gate::store::{GrantsWanted, Questions};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Most sessions, and most questions of one, in one answer.
const MOST: usize = 500;

/// Which ones.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only those of this agent.
    agent: Option<String>,
    /// Only of this tenant.
    tenant: Option<String>,
    /// Only with records since then, in milliseconds since 1970.
    since: Option<u64>,
    /// Only those whose last record came before this one, to page on.
    before: Option<u64>,
    /// At most so many, 100 unless it is said, and never more than 500.
    limit: Option<usize>,
}

/// Which one, where several tenants use the same id.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Whose {
    /// The tenant that it belongs to.
    tenant: Option<String>,
}

/// Sessions.
#[derive(Serialize, ToSchema)]
pub(super) struct Sessions {
    sessions: Vec<Listed>,
}

/// Runs.
#[derive(Serialize, ToSchema)]
pub(super) struct Runs {
    runs: Vec<Listed>,
}

/// A session or run, in a list.
#[derive(Serialize, ToSchema)]
#[schema(as = CourseListed)]
pub(super) struct Listed {
    #[serde(flatten)]
    history: SessionHistory,
    /// Questions of it that wait.
    pending: usize,
}

/// A session or run, with what waits and what is remembered for it.
#[derive(Serialize, ToSchema)]
#[schema(as = CourseDetail)]
pub(super) struct Detail {
    #[serde(flatten)]
    history: SessionHistory,
    /// Questions of it that wait; of a long call the beginning.
    pending: Vec<Approval>,
    /// Answers that are remembered for it alone and in force.
    grants: Vec<Shown>,
}

/// Sessions, the one with the latest record first.
pub(super) async fn sessions(
    State(app): State<Arc<App>>,
    admin: Admin,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Json<Sessions>, ApiError> {
    Ok(Json(Sessions { sessions: list(app, admin, wanted, HistoryOf::Session).await? }))
}

/// Runs, the one with the latest record first.
pub(super) async fn runs(
    State(app): State<Arc<App>>,
    admin: Admin,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Json<Runs>, ApiError> {
    Ok(Json(Runs { runs: list(app, admin, wanted, HistoryOf::Run).await? }))
}

/// One session.
pub(super) async fn session(
    State(app): State<Arc<App>>,
    admin: Admin,
    Named(id): Named,
    Parameters(whose): Parameters<Whose>,
) -> Result<Json<Detail>, ApiError> {
    detail(app, admin, whose, HistoryOf::Session, id).await
}

/// One run.
pub(super) async fn run(
    State(app): State<Arc<App>>,
    admin: Admin,
    Named(id): Named,
    Parameters(whose): Parameters<Whose>,
) -> Result<Json<Detail>, ApiError> {
    detail(app, admin, whose, HistoryOf::Run, id).await
}

async fn list(app: Arc<App>, Admin(caller): Admin, wanted: Wanted, of: HistoryOf) -> Result<Vec<Listed>, ApiError> {
    let query = Query {
        tenant: tenant(&caller, wanted.tenant)?,
        agent: wanted.agent,
        since_ms: wanted.since,
        before: wanted.before,
        limit: Some(wanted.limit.unwrap_or(100).min(MOST)),
        ..Query::default()
    };
    blocking(move || {
        app.with_log(Log::fold)?;
        let found = app.store().session_histories(of, &query)?;
        let listed = |history: SessionHistory| Ok(Listed { pending: waiting(&app, of, &history)?.len(), history });
        found.into_iter().map(listed).collect()
    })
    .await
}

async fn detail(
    app: Arc<App>,
    Admin(caller): Admin,
    whose: Whose,
    of: HistoryOf,
    id: String,
) -> Result<Json<Detail>, ApiError> {
    let tenant = tenant(&caller, whose.tenant)?;
    let (what, list) = match of {
        HistoryOf::Session => ("session", "/v1/sessions"),
        HistoryOf::Run => ("run", "/v1/runs"),
    };
    blocking(move || {
        app.with_log(Log::fold)?;
        let (session, run) = match of {
            HistoryOf::Session => (Some(id), None),
            HistoryOf::Run => (None, Some(id)),
        };
        let query = Query { tenant, session, run, limit: Some(1), ..Query::default() };
        let found = app.store().session_histories(of, &query)?.into_iter().next();
        let history = found.ok_or_else(|| ApiError::no_such(what, list))?;
        let pending = waiting(&app, of, &history)?;
        let now = now_ms();
        let sessions =
            if of == HistoryOf::Session { std::slice::from_ref(&history.id) } else { history.sessions.as_slice() };
        let mut grants = Vec::new();
        for session in sessions {
            let which = GrantsWanted { in_force: true, session: Some(session), ..GrantsWanted::default() };
            let theirs = app.store().remembered(&which, now)?.into_iter();
            let theirs = theirs.filter(|kept| kept.grant.actor.tenant == history.tenant);
            grants.extend(theirs.map(|kept| Shown::of(kept, now)));
        }
        Ok(Json(Detail { history, pending, grants }))
    })
    .await
}

/// Questions of a session or run that wait.
fn waiting(app: &App, of: HistoryOf, history: &SessionHistory) -> Result<Vec<Approval>, ApiError> {
    let session = (of == HistoryOf::Session).then_some(history.id.as_str());
    let which =
        Questions { pending: true, session, tenant: history.tenant.as_deref(), limit: MOST, ..Questions::default() };
    let of_it = |question: &Question| {
        let actor = &question.actor;
        let named = if of == HistoryOf::Session { &actor.session } else { &actor.run };
        actor.tenant == history.tenant && named.as_deref() == Some(history.id.as_str())
    };
    Ok(app.store().questions(&which, &of_it)?.into_iter().map(Approval::brief).collect())
}
