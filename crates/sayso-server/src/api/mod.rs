//! The HTTP API, one file for each thing that can be asked.

mod approvals;
mod asked;
mod audit;
mod batch;
mod body;
mod decisions;
mod grants;
mod health;
mod limits;
mod links;
mod metrics;
mod openapi;
mod outcomes;
mod policy;
mod ready;
mod session;
mod sessions;
mod socket;
mod status;
mod stream;
#[cfg(test)]
mod tests;
mod tools;
mod try_box;

pub(crate) use body::MAX_BODY;

use crate::app::App;
use crate::error::ApiError;
use crate::who;
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};
use std::sync::Arc;

/// Everything below `/v1`. What each needs of its caller stands in its handler's arguments: `Approver`, `Admin`, or
/// nothing for what any program of this machine may ask.
///
/// INVARIANT: a GET changes nothing.
pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/v1/health", get(health::health))
        .route("/v1/ready", get(ready::ready))
        .route("/metrics", get(metrics::metrics))
        .route("/v1/openapi.json", get(openapi::openapi))
        .route("/v1/session", post(session::session).layer(small()))
        .route("/v1/decisions", post(decisions::decisions))
        .route("/v1/outcomes", post(outcomes::outcomes))
        .route("/v1/try", post(try_box::try_out))
        .route("/v1/tools/filter", post(tools::filter))
        .route("/v1/approvals", get(approvals::list))
        .route("/v1/approvals/{id}", get(approvals::show))
        .route("/v1/approvals/{id}/preview", get(approvals::preview_width))
        .route("/v1/approvals/{id}/answer", post(approvals::answer))
        .route("/v1/links/question", post(links::question).layer(small()))
        .route("/v1/links/answer", post(links::answer).layer(small()))
        .route("/v1/grants", get(grants::list))
        .route("/v1/grants/{id}", delete(grants::revoke))
        .route("/v1/limits", get(limits::limits))
        .route("/v1/sessions", get(sessions::sessions))
        .route("/v1/sessions/{id}", get(sessions::session))
        .route("/v1/runs", get(sessions::runs))
        .route("/v1/runs/{id}", get(sessions::run))
        .route("/v1/status", get(status::status))
        .route("/v1/policy", get(policy::show))
        .route("/v1/policy/validate", post(policy::validate))
        .route("/v1/policy/versions", get(policy::versions))
        .route("/v1/policy/versions/{version}", get(policy::version))
        .route("/v1/policy/activate", post(policy::activate))
        .route("/v1/policy/rollback", post(policy::rollback))
        .route("/v1/audit", get(audit::find))
        .route("/v1/audit/counts", get(audit::counts::counts))
        .route("/v1/audit/verify", get(audit::verify))
        .route("/v1/audit/export", get(audit::export::export))
        .route("/v1/stream", get(stream::stream))
        .route_layer(axum::middleware::from_fn_with_state(Arc::clone(app), identify_and_count))
        .fallback(async || ApiError::not_found())
        .method_not_allowed_fallback(async || ApiError::wrong_method())
}

/// Finds out who sends a request, and counts the answer. One step and not two: each is paid for with every decision.
async fn identify_and_count(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let response = match who::identify(&app, request) {
        Ok(request) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    app.metrics.answered(response.status());
    response
}

/// For what anybody may send from anywhere: nothing but a key or a link is in it.
fn small() -> axum::extract::DefaultBodyLimit {
    axum::extract::DefaultBodyLimit::max(4096)
}
