//! `/v1/grants`: remembered answers, and taking one back.

use super::parameters::{Named, Parameters, blocking, tenant};
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::who::Admin;
use axum::Json;
use axum::extract::State;
use sayso_gate::grant::Kept;
use sayso_gate::store::GrantsWanted;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Most of them in one answer.
const MOST: usize = 1000;

/// Which ones.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Those that are used up, ended or taken back too.
    #[serde(default)]
    #[param(default = false)]
    all: bool,
    /// Only for this session.
    session: Option<String>,
    /// Only of this tenant.
    tenant: Option<String>,
    /// At most so many, and never more than 1,000.
    limit: Option<usize>,
}

/// Remembered answers.
#[derive(Serialize, ToSchema)]
#[schema(as = Grants)]
pub(super) struct Remembered {
    grants: Vec<Shown>,
}

/// A remembered answer, and how it stands now.
#[derive(Serialize, ToSchema)]
#[schema(as = GrantShown)]
pub(super) struct Shown {
    #[serde(flatten)]
    kept: Kept,
    /// Whether it may still answer something.
    in_force: bool,
    /// What it answers, in short: `run: git push`.
    answers: String,
}

impl Shown {
    pub(super) fn of(kept: Kept, now_ms: u64) -> Self {
        Self { in_force: kept.is_in_force(now_ms), answers: kept.selector(), kept }
    }
}

/// Lists them, the latest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Json<Remembered>, ApiError> {
    let tenant = tenant(&caller, wanted.tenant)?;
    blocking(move || {
        let which = GrantsWanted {
            in_force: !wanted.all,
            tenant: tenant.as_deref(),
            session: wanted.session.as_deref(),
            limit: Some(wanted.limit.unwrap_or(MOST).min(MOST)),
            ..GrantsWanted::default()
        };
        let now = now_ms();
        let found = app.store().remembered(&which, now)?;
        Ok(Json(Remembered { grants: found.into_iter().map(|kept| Shown::of(kept, now)).collect() }))
    })
    .await
}

/// Takes one back: the next such call is asked about again.
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Named(id): Named,
) -> Result<Json<Shown>, ApiError> {
    let by = caller.person.as_ref().map(|person| person.name.clone()).ok_or_else(ApiError::signed_out)?;
    let telling = Arc::clone(&app);
    let revoked = blocking(move || {
        let now = now_ms();
        let which = GrantsWanted { id: Some(&id), tenant: caller.tenant.as_deref(), ..GrantsWanted::default() };
        let none = || ApiError::no_such("saved answer in force", "/v1/grants");
        app.store().remembered(&which, now)?.pop().ok_or_else(none)?;
        if !app.store().revoke(&id, &by, now)? {
            return Err(none());
        }
        let kept = app.store().remembered(&which, now)?.pop().ok_or_else(none)?;
        Ok(Json(Shown::of(kept, now)))
    })
    .await;
    telling.tail.look_now();
    revoked
}
