//! `GET /v1/health`: is somebody there?

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

/// Yes.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    status: Well,
    /// Of Sayso.
    version: &'static str,
}

/// There is no other answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Well {
    Ok,
}

/// Says that the server runs, and which version.
pub(super) async fn health() -> Json<Health> {
    Json(Health { status: Well::Ok, version: env!("CARGO_PKG_VERSION") })
}
