//! The HTTP API, one file for each thing that can be asked.

mod body;
mod decisions;
mod health;
mod openapi;
mod records;
mod session;
mod status;
mod stream;
#[cfg(test)]
mod tests;
mod try_box;

pub(crate) use body::MAX_BODY;

use crate::app::App;
use crate::error::ApiError;
use crate::guard;
use axum::Router;
use axum::routing::{get, post};
use std::sync::Arc;

/// Everything below `/v1`.
///
/// INVARIANT: a GET changes nothing. What shows the record needs a token over TCP; asking for a decision does not, as
/// any program of this machine may ask.
pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let for_readers = Router::new()
        .route("/v1/status", get(status::status))
        .route("/v1/records", get(records::records))
        .route("/v1/stream", get(stream::stream))
        .route_layer(axum::middleware::from_fn_with_state(Arc::clone(app), guard::signed_in));
    Router::new()
        .route("/v1/health", get(health::health))
        .route("/v1/openapi.json", get(openapi::openapi))
        .route("/v1/session", post(session::session))
        .route("/v1/decisions", post(decisions::decisions))
        .route("/v1/try", post(try_box::try_out))
        .merge(for_readers)
        .fallback(async || ApiError::not_found())
        .method_not_allowed_fallback(async || ApiError::wrong_method())
}
