//! `GET /v1/openapi.json`: what this API is, for programs.

use axum::http::header;
use axum::response::IntoResponse;

/// Written by hand; a test compares its paths with the routes.
pub(super) const OPENAPI: &str = include_str!("openapi.json");

/// The description.
pub(super) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}
