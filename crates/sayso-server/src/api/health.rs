//! `GET /v1/health`: is somebody there?

use axum::Json;
use serde_json::{Value, json};

/// Says that the server runs, and which version.
pub(super) async fn health() -> Json<Value> {
    Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}))
}
