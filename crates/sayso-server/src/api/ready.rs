//! `GET /v1/ready`: can calls be judged and recorded here, now?

use super::describe::{Described, DescribesAnswer};
use super::parameters::blocking;
use crate::app::App;
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use sayso_gate::reason::{LAST_GOOD, POLICY_REFUSED};
use sayso_policy::ReasonCode;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use utoipa::ToSchema;

/// Less room than this on the disk of the store, and it will soon refuse.
const LEAST_FREE: u64 = 64 * 1024 * 1024;

/// Whether it is, and if not, why. No path and no name: anybody on this machine may ask.
#[derive(Serialize, ToSchema)]
pub(super) struct Ready {
    ready: bool,
    /// What is in the way.
    reasons: Vec<Why>,
}

/// What is in the way.
#[derive(Serialize, ToSchema)]
struct Why {
    /// Stable, kebab-case.
    code: &'static str,
    /// A sentence.
    text: &'static str,
}

/// 200, or 503 with what is in the way.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Result<Ready, ApiError> {
    let reasons = blocking(move || Ok(in_the_way(&app))).await?;
    Ok(Ready { ready: reasons.is_empty(), reasons })
}

impl IntoResponse for Ready {
    fn into_response(self) -> Response {
        let status = if self.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        (status, Json(self)).into_response()
    }
}

impl DescribesAnswer for Ready {
    fn describe(described: &mut Described) {
        described.add_answer::<Self>(200);
        described.add_answer::<Self>(503);
    }
}

fn in_the_way(app: &App) -> Vec<Why> {
    let mut found = Vec::new();
    let mut tell = |code, text| found.push(Why { code, text });
    let writable = app.store().writable();
    let replaced = matches!(writable, Err(sayso_gate::Error::Replaced(_)));
    match writable {
        Ok(()) => {}
        Err(_) if replaced => tell(
            "store-replaced",
            "The database file was deleted, moved or replaced under this server. Nothing is allowed until the server is restarted.",
        ),
        Err(_) => tell("store-refuses", "The database cannot be written. Run `sayso store check` for details."),
    }
    let watched = app.watched.state();
    if (watched.broken.is_some() || app.store().alarm().is_some()) && !replaced {
        tell("chain-broken", "The record has been altered, so nothing is allowed. Run `sayso log verify` for details.");
    }
    if watched.anchor.is_some() {
        tell(
            "anchor-fails",
            "Heads of the record cannot be copied, or do not match. See the server's terminal for details.",
        );
    }
    let free = rustix::fs::statvfs(&app.places.state).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    if free.is_ok_and(|free| free < LEAST_FREE) {
        tell("disk-full", "The database's disk is nearly full. Delete old records with `sayso log prune`.");
    }
    match app.gate(Some(Path::new(&app.about.folder))) {
        Err(_) => tell("policy-unreadable", "The policy cannot be read. Run `sayso lint` for details."),
        Ok(gate) => {
            let in_force = gate.in_force();
            let refused = |code: &ReasonCode| *code == POLICY_REFUSED || *code == LAST_GOOD;
            if in_force.floor.is_some() || in_force.notices.iter().any(|notice| refused(&notice.reason.code)) {
                tell("policy-refused", "A policy file has errors and is not in force. `sayso lint` shows where.");
            }
        }
    }
    found
}
