//! `GET /v1/status`: what the page says about this server.

use super::asked::blocking;
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
    // How many others asked for is behind the wall.
    let theirs = Query { tenant: caller.tenant.clone(), ..Query::default() };
    let decisions = blocking(move || Ok(reader.with_log(|log| log.count(&theirs))?)).await?;
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
        "decisions": decisions,
        "tokens_answer": app.trust_tokens,
        "you": person.name,
        "role": caller.role,
    })))
}
