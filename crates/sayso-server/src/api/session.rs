//! `POST /v1/session`: the key of the terminal for a token of this tab.

use super::body;
use crate::app::App;
use crate::error::ApiError;
use crate::key::Refusal;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// Exchanges a key.
pub(super) async fn session(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, ApiError> {
    let (_, fields) = body::object(&headers, bytes)?;
    let key = fields.string("key").map_err(ApiError::malformed)?;
    let key = key.ok_or_else(|| ApiError::malformed("`key` is missing."))?;
    match app.keys.exchange(&key, Instant::now()) {
        Ok(token) => {
            (app.announce)(&app.keys.key());
            Ok(Json(json!({"token": token})))
        }
        Err(Refusal::Wrong) => Err(ApiError::key_refused(
            StatusCode::FORBIDDEN,
            "This key is not good, or was used. The terminal of `sayso serve` shows the one that works.",
        )),
        Err(Refusal::TooMany) => {
            Err(ApiError::key_refused(StatusCode::TOO_MANY_REQUESTS, "Too many wrong keys. Wait a minute."))
        }
        Err(Refusal::NoRandomness) => Err(ApiError::internal(&"The system gives no randomness for a token.")),
    }
}
