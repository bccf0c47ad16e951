//! `/v1/audit`: what was recorded: asked for, counted, verified, taken away.

pub(super) mod counts;
pub(super) mod export;

use super::asked::{Asked, blocking, tenant};
use crate::app::App;
use crate::error::ApiError;
use crate::who::{Admin, Caller, Owner};
use axum::Json;
use axum::extract::State;
use sayso_gate::audit::{Chained, Kind, Log, Order, Query, Verified};
use sayso_policy::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Most records in one answer.
const MOST: usize = 1000;

/// What can be asked for. Unknown parameters are refused: a filter that is not understood must not be left out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only records behind this number, the oldest first.
    after: Option<u64>,
    /// Only records before this number.
    before: Option<u64>,
    limit: Option<usize>,
    order: Option<Ordering>,
    #[serde(rename = "kind")]
    kinds: Option<String>,
    /// Not before this, in milliseconds since 1970.
    since: Option<u64>,
    /// Before this.
    until: Option<u64>,
    agent: Option<String>,
    session: Option<String>,
    run: Option<String>,
    tenant: Option<String>,
    tool: Option<String>,
    verdict: Option<Verdict>,
    rule: Option<String>,
    text: Option<String>,
    /// Of an export.
    format: Option<export::Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ordering {
    Newest,
    Oldest,
}

/// Records, and where the next page begins.
#[derive(Serialize)]
pub(super) struct Page {
    records: Vec<Value>,
    /// The number to ask for `before`, or `after` where the oldest come first; absent: there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
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
            ApiError::malformed(format!("`kind` is all, or some of {words}, with commas between them."))
        }),
    }
}

/// Finds records.
pub(super) async fn find(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<Page>, ApiError> {
    if wanted.format.is_some() {
        return Err(ApiError::malformed("`format` is for /v1/audit/export."));
    }
    let query = wanted.query(&caller)?;
    let limit = query.limit.unwrap_or(MOST);
    let found = blocking(move || Ok(app.with_log(|log| log.events(&query))?)).await?;
    let next = (found.len() >= limit && limit > 0).then(|| found.last().map(|last| last.seq)).flatten();
    let records = found.iter().map(as_json).collect::<Result<_, _>>()?;
    Ok(Json(Page { records, next }))
}

/// A record with its number, its hash and its kind.
fn as_json(chained: &Chained) -> Result<Value, ApiError> {
    let line = chained.event.to_line().map_err(|error| ApiError::internal(&error))?;
    let mut value: Value = serde_json::from_str(&line).map_err(|error| ApiError::internal(&error))?;
    if let Some(object) = value.as_object_mut() {
        object.insert("seq".to_owned(), json!(chained.seq));
        object.insert("hash".to_owned(), json!(chained.hash));
    }
    Ok(value)
}

/// What verifying found.
#[derive(Serialize)]
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
