//! `GET /v1/audit/export`: records as lines for other programs, read as they are sent.

use super::Wanted;
use crate::api::describe::{Described, DescribesAnswer};
use crate::api::parameters::{Parameters, blocking};
use crate::app::App;
use crate::error::ApiError;
use crate::who::Admin;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use sayso_gate::audit::export::{CSV_HEADER, csv, json};
use sayso_gate::audit::{Log, Order, Query};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Records read at a time.
const PAGE: usize = 500;

/// How it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::api) enum Format {
    /// One JSON object a line.
    #[default]
    Jsonl,
    /// For spreadsheets; no cell is a formula.
    Csv,
}

/// Lines, streamed as they are read.
pub(in crate::api) struct Export(Response);

impl IntoResponse for Export {
    fn into_response(self) -> Response {
        self.0
    }
}

impl DescribesAnswer for Export {
    fn describe(described: &mut Described) {
        described.add_text("Lines, streamed as they are read.", &["application/x-ndjson", "text/csv"]);
    }
}

/// Everything that answers a query, the oldest first, unless there is a limit.
pub(in crate::api) async fn export(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Export, ApiError> {
    let format = wanted.format.unwrap_or_default();
    let limit = wanted.limit;
    let query = Query { order: Order::OldestFirst, ..wanted.query(&caller)? };
    let reader = Arc::clone(&app);
    blocking(move || Ok(reader.with_log(Log::fold)?)).await?;
    let begin = Reading { app, query, left: limit.unwrap_or(usize::MAX), format, begun: false };
    let pages = unfold(Some(begin), |reading| async { next(reading?).await });
    let (kind, name) = match format {
        Format::Jsonl => ("application/x-ndjson", "attachment; filename=\"sayso.jsonl\""),
        Format::Csv => ("text/csv; charset=utf-8", "attachment; filename=\"sayso.csv\""),
    };
    let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)];
    Ok(Export((headers, Body::from_stream(pages)).into_response()))
}

/// How far the reading is.
struct Reading {
    app: Arc<App>,
    query: Query,
    /// Records that are still wanted.
    left: usize,
    format: Format,
    begun: bool,
}

/// The next page, read once the one before is sent, in a thread of its own: nobody who reads slowly keeps a thread or
/// fills the memory. An error breaks the answer off, so that nobody takes a part for the whole.
async fn next(mut reading: Reading) -> Option<(Result<String, std::io::Error>, Option<Reading>)> {
    if !reading.begun {
        reading.begun = true;
        let first = if reading.format == Format::Csv { CSV_HEADER } else { "" };
        return Some((Ok(first.to_owned()), Some(reading)));
    }
    let format = reading.format;
    reading.query.limit = Some(PAGE.min(reading.left));
    let (store, query) = (reading.app.store(), reading.query.clone());
    let page = blocking(move || {
        let found = store.events(&query)?;
        let mut text = String::new();
        for chained in &found {
            match format {
                Format::Csv => text.push_str(&csv(chained)),
                Format::Jsonl => text.push_str(&json(chained).map_err(|error| ApiError::internal(&error))?),
            }
        }
        Ok((found.last().map(|last| last.seq), found.len(), text))
    });
    match page.await {
        Ok((Some(last), count, text)) => {
            reading.query.after = Some(last);
            reading.left = reading.left.saturating_sub(count);
            Some((Ok(text), Some(reading)))
        }
        Ok((None, ..)) => None,
        Err(_) => Some((Err(std::io::Error::other("the record cannot be read")), None)),
    }
}
