//! `GET /v1/records`: what was recorded.

use super::asked::{Asked, blocking};
use crate::app::App;
use crate::error::ApiError;
use crate::who::Admin;
use axum::Json;
use axum::extract::State;
use sayso_gate::audit::{Order, Query};
use sayso_policy::Verdict;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most records in one answer.
const MOST: usize = 1000;

/// What can be asked for. Unknown parameters are refused: a filter that is not understood must not be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    after: Option<u64>,
    limit: Option<usize>,
    order: Option<Ordering>,
    agent: Option<String>,
    session: Option<String>,
    tool: Option<String>,
    verdict: Option<Verdict>,
    text: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ordering {
    Newest,
    Oldest,
}

/// Finds records.
pub(super) async fn records(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Asked(asked): Asked<Wanted>,
) -> Result<Json<Value>, ApiError> {
    let query = Query {
        after: asked.after,
        limit: Some(asked.limit.unwrap_or(100).min(MOST)),
        // Those who page on from a number read forwards.
        order: match (asked.order, asked.after) {
            (Some(Ordering::Oldest), _) | (None, Some(_)) => Order::OldestFirst,
            (Some(Ordering::Newest), _) | (None, None) => Order::NewestFirst,
        },
        agent: asked.agent,
        session: asked.session,
        tool: asked.tool,
        verdict: asked.verdict,
        text: asked.text,
        tenant: caller.tenant,
        ..Query::default()
    };
    let found = blocking(move || Ok(app.with_log(|log| log.query(&query))?)).await?;
    Ok(Json(json!({"records": found})))
}
