//! `/v1/audit`: what was recorded: asked for, counted, verified, taken away.

pub(super) mod counts;
pub(super) mod export;
mod recorded;

use super::parameters::{Parameters, blocking, tenant};
use crate::app::App;
use crate::error::ApiError;
use crate::who::{Admin, Caller, Owner};
use axum::Json;
use axum::extract::State;
use recorded::Recorded;
use sayso_gate::audit::{Kind, Log, Order, Query, Verified};
use sayso_policy::Verdict;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

/// Most records in one answer.
const MOST: usize = 1000;

/// What can be asked for. Unknown parameters are refused: a filter that is not understood must not be left out.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only records behind this number, the oldest first.
    after: Option<u64>,
    /// Only records before this number.
    before: Option<u64>,
    /// At most so many, 100 unless it is said, and never more than 1,000.
    limit: Option<usize>,
    /// The newest first unless it is said or `after` is given.
    #[param(inline)]
    order: Option<Ordering>,
    /// `decision` unless it is said; several with commas; `all`.
    #[serde(rename = "kind")]
    kinds: Option<String>,
    /// Not before this, in milliseconds since 1970.
    since: Option<u64>,
    /// Before this.
    until: Option<u64>,
    /// Only of this agent.
    agent: Option<String>,
    /// Only of this session.
    session: Option<String>,
    /// Only of this run.
    run: Option<String>,
    /// Only of this tenant.
    tenant: Option<String>,
    /// Canonical.
    tool: Option<String>,
    /// What the policy said.
    #[param(inline)]
    verdict: Option<Verdict>,
    /// The code of the decisive reason.
    rule: Option<String>,
    /// What stands anywhere in it.
    text: Option<String>,
    /// Of an export.
    #[param(inline)]
    format: Option<export::Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Ordering {
    Newest,
    Oldest,
}

/// Records, and where the next page begins.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditPage)]
pub(super) struct Page {
    records: Vec<Recorded>,
    /// The number to ask for `before`, or `after` where the oldest come first; absent: there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// The same without the format, which is for exports alone.
#[derive(Deserialize)]
#[serde(try_from = "Wanted")]
pub(super) struct Shown(Wanted);

impl TryFrom<Wanted> for Shown {
    type Error = &'static str;

    fn try_from(wanted: Wanted) -> Result<Self, &'static str> {
        if wanted.format.is_some() { Err("`format` is for /v1/audit/export") } else { Ok(Self(wanted)) }
    }
}

impl IntoParams for Shown {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = Wanted::into_params(place);
        all.retain(|parameter| parameter.name != "format");
        all
    }
}

impl Wanted {
    /// The question that this is, for somebody who may see what is theirs.
    fn query(self, caller: &Caller) -> Result<Query, ApiError> {
        Ok(Query {
            kinds: kinds(self.kinds.as_deref())?,
            tenant: tenant(caller, self.tenant)?,
            // Those who page on from a number read forwards.
            order: match (self.order, self.after) {
                (Some(Ordering::Oldest), _) | (None, Some(_)) => Order::OldestFirst,
                (Some(Ordering::Newest), _) | (None, None) => Order::NewestFirst,
            },
            limit: Some(self.limit.unwrap_or(100).min(MOST)),
            after: self.after,
            before: self.before,
            since_ms: self.since,
            until_ms: self.until,
            agent: self.agent,
            session: self.session,
            run: self.run,
            tool: self.tool,
            verdict: self.verdict,
            rule: self.rule,
            text: self.text,
        })
    }
}

/// `decision,approval`; `all`; nothing: decisions.
fn kinds(text: Option<&str>) -> Result<Vec<Kind>, ApiError> {
    let one = |word: &str| Kind::ALL.into_iter().find(|kind| kind.as_str() == word);
    match text {
        None => Ok(vec![Kind::Decision]),
        Some("all") => Ok(Vec::new()),
        Some(text) => text.split(',').map(one).collect::<Option<_>>().ok_or_else(|| {
            let words = Kind::ALL.map(Kind::as_str).join(", ");
            ApiError::malformed(format!("`kind` must be all, or a comma-separated list of {words}."))
        }),
    }
}

/// Finds records.
pub(super) async fn find(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Parameters(Shown(wanted)): Parameters<Shown>,
) -> Result<Json<Page>, ApiError> {
    let query = wanted.query(&caller)?;
    let limit = query.limit.unwrap_or(MOST);
    let found = blocking(move || Ok(app.with_log(|log| log.events(&query))?)).await?;
    let next = (found.len() >= limit && limit > 0).then(|| found.last().map(|last| last.seq)).flatten();
    Ok(Json(Page { records: found.into_iter().map(Recorded::from).collect(), next }))
}

/// What verifying found.
#[derive(Serialize, ToSchema)]
#[schema(as = ChainVerified)]
pub(super) struct Checked {
    /// Nothing was found to be wrong.
    whole: bool,
    #[serde(flatten)]
    verified: Verified,
}

/// Looks at every record. The chain is everybody's, and so is only for those whom no wall stops.
pub(super) async fn verify(State(app): State<Arc<App>>, _: Owner) -> Result<Json<Checked>, ApiError> {
    let verified = blocking(move || {
        app.with_log(Log::fold)?;
        Ok(app.store().verify(None)?)
    });
    let verified = verified.await?;
    Ok(Json(Checked { whole: verified.problems.is_empty(), verified }))
}
