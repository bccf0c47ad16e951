//! `GET /v1/openapi.json`: what this API is, for programs.

use super::describe::{Described, DescribesAnswer, document};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::sync::LazyLock;

/// Made when it is first asked for, and kept as text: a server that nobody asks has no more than the code.
pub(super) static OPENAPI: LazyLock<String> = LazyLock::new(|| document(&super::addresses()).to_string());

/// The description.
pub(super) struct Description;

/// Gives it.
pub(super) async fn openapi() -> Description {
    Description
}

impl IntoResponse for Description {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], OPENAPI.as_str()).into_response()
    }
}

impl DescribesAnswer for Description {
    fn describe(described: &mut Described) {
        let content = json!({"application/json": {"schema": {"type": "object"}}});
        described.add_response(200, json!({"description": "This description.", "content": content}));
    }
}
