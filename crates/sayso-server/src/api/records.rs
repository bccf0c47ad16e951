//! `GET /v1/records`: what was recorded.

use crate::app::App;
use crate::error::ApiError;
use crate::who::Admin;
use axum::Json;
use axum::extract::{Query as Parameters, State};
use sayso_gate::audit::{Order, Query, Stored};
use sayso_policy::Verdict;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most records in one answer.
const MOST: usize = 1000;

/// What can be asked for. Unknown parameters are refused: a filter that is not understood must not be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
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
    asked: Result<Parameters<Asked>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Value>, ApiError> {
    let Parameters(asked) = asked.map_err(|error| ApiError::malformed(error.body_text()))?;
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
        ..Query::default()
    };
    let found = tokio::task::spawn_blocking(move || app.with_log(|log| log.query(&query))).await;
    let found = found.map_err(|error| ApiError::internal(&error))??;
    let theirs: Vec<Stored> =
        found.into_iter().filter(|stored| caller.is_of_their_tenant(&stored.record.actor)).collect();
    Ok(Json(json!({"records": theirs})))
}
