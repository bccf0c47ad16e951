//! `GET /v1/openapi.json`: what this API is, for programs.

use axum::http::header;
use axum::response::IntoResponse;

/// Written by hand, and held to the code by tests: its addresses are the routes, its parameters are those that are
/// understood, and what it says needs a token does. `./test openapi` holds requests and answers to it.
pub(super) const OPENAPI: &str = include_str!("openapi.json");

/// The description.
pub(super) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}
