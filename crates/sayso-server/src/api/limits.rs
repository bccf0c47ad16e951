//! `GET /v1/limits`: what the policy limits, what was used of it, and what is left.

use super::parameters::{Parameters, blocking, tenant};
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::who::Admin;
use axum::Json;
use axum::extract::State;
use sayso_gate::limit::{Place, Used};
use sayso_policy::{Allowance, Scope, Usage, Verdict};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Most scopes in one answer.
const MOST: usize = 1000;

/// Which ones.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only of this kind.
    #[param(inline)]
    scope: Option<Scope>,
    /// Only of this tenant.
    tenant: Option<String>,
    /// At most so many scopes, and never more than 1,000.
    limit: Option<usize>,
}

/// The limits.
#[derive(Serialize, ToSchema)]
pub(super) struct Limits {
    /// What the policy in force limits, with nothing used.
    stated: Vec<Budget>,
    /// What was used, the latest first.
    used: Vec<InScope>,
}

/// One limit.
#[derive(Serialize, ToSchema)]
#[schema(as = Limit)]
pub(super) struct Budget {
    scope: Scope,
    /// What is counted, as the policy file calls it: `calls`, `cost` (in millionths), `wall` (in milliseconds).
    what: &'static str,
    /// So much is used.
    used: u64,
    /// So much may be.
    most: u64,
    /// So much is left.
    left: u64,
    /// The stretch of time that a rate is about, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    per_ms: Option<u64>,
    /// What is said of a call beyond it.
    at_limit: Verdict,
    /// File, line and column.
    source: String,
}

/// What was used in one scope.
#[derive(Serialize, ToSchema)]
#[schema(as = Used)]
pub(super) struct InScope {
    scope: Scope,
    #[serde(flatten)]
    place: Place,
    /// When it began, in milliseconds since 1970.
    began_ms: u64,
    /// When it was last used.
    last_ms: u64,
    /// Calls that were let through and not settled yet.
    open: u64,
    usage: Usage,
    /// The limits on it.
    limits: Vec<Budget>,
}

impl From<Allowance> for Budget {
    fn from(it: Allowance) -> Self {
        Self {
            scope: it.scope,
            what: it.key,
            used: it.used,
            most: it.most,
            left: it.left(),
            per_ms: it.per.map(|per| u64::try_from(per.as_millis()).unwrap_or(u64::MAX)),
            at_limit: it.at_limit,
            source: it.source.to_string(),
        }
    }
}

/// The limits of the policy in force where the server was started, and what was used by whom.
pub(super) async fn limits(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Json<Limits>, ApiError> {
    let tenant = tenant(&caller, wanted.tenant)?;
    blocking(move || {
        let in_force = app.gate(Some(Path::new(&app.about.folder)))?.in_force();
        let budgets = |scope: Scope, used: Option<&Used>| -> Vec<Budget> {
            let usage = used.map(|used| used.usage).unwrap_or_default();
            let rates = used.map(|used| used.rates.as_slice()).unwrap_or_default();
            in_force.policy.allowances(scope, usage, rates).into_iter().map(Budget::from).collect()
        };
        let wants = |scope: Scope| wanted.scope.is_none_or(|wanted| wanted == scope);
        let most = wanted.limit.unwrap_or(MOST).min(MOST);
        let found =
            app.store().used_in(tenant.as_deref(), wanted.scope, &in_force.policy.counting(None), most, now_ms())?;
        let used = found.into_iter().map(|used| InScope {
            limits: budgets(used.scope, Some(&used)),
            place: Place::of(used.scope, &used.key),
            scope: used.scope,
            began_ms: used.began_ms,
            last_ms: used.last_ms,
            open: used.open,
            usage: used.usage,
        });
        let stated = Scope::ALL.into_iter().filter(|scope| wants(*scope)).flat_map(|scope| budgets(scope, None));
        Ok(Json(Limits { used: used.collect(), stated: stated.collect() }))
    })
    .await
}
