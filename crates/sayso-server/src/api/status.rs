//! `GET /v1/status`: what the page says about this server.

use crate::app::{App, in_words};
use crate::error::ApiError;
use crate::who::Approver;
use axum::Json;
use axum::extract::State;
use sayso_gate::audit::Query;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// What is in force, where the record is and how many decisions it holds, what to do next.
pub(super) async fn status(
    State(app): State<Arc<App>>,
    Approver { caller, person }: Approver,
) -> Result<Json<Value>, ApiError> {
    let reader = Arc::clone(&app);
    let count = tokio::task::spawn_blocking(move || reader.with_log(|log| log.count(&Query::default())));
    let decisions = count.await.map_err(|error| ApiError::internal(&error))??;
    let gate = app.gate(Some(Path::new(&app.about.folder)))?;
    let in_force = gate.in_force();
    Ok(Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "enforcing": format!("enforcing {}", in_words(&in_force.files)),
        "notices": in_force.notices.iter().map(|notice| notice.reason.text.clone()).collect::<Vec<_>>(),
        "policy_version": in_force.policy.version(),
        "folder": app.about.folder,
        "next": app.about.next,
        "record": app.places.shown(&app.places.state),
        // How many others asked for is behind the wall.
        "decisions": caller.tenant.is_none().then_some(decisions),
        "tokens_answer": app.trust_tokens,
        "you": person.name,
        "role": caller.role,
    })))
}
