//! `GET /v1/status`: what the page says about this server.

use super::asked::blocking;
use crate::app::{App, in_words};
use crate::error::ApiError;
use crate::who::{Approver, Role};
use axum::Json;
use axum::extract::State;
use sayso_gate::audit::Query;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use utoipa::ToSchema;

/// The status.
#[derive(Serialize, ToSchema)]
pub(super) struct Status {
    /// Of Sayso.
    version: &'static str,
    /// What is in force, in words.
    enforcing: String,
    /// What the owner should know.
    notices: Vec<String>,
    policy_version: String,
    /// The folder in which the try-box begins.
    folder: String,
    /// What to do next, as a command.
    next: String,
    /// Where the record is.
    record: String,
    /// How many decisions it holds that the caller may know of.
    decisions: u64,
    /// Tokens of the store may do more than ask.
    tokens_answer: bool,
    /// The name under which the caller answers.
    you: String,
    role: Role,
}

/// What is in force, where the record is and how many decisions it holds, what to do next.
pub(super) async fn status(
    State(app): State<Arc<App>>,
    Approver { caller, person }: Approver,
) -> Result<Json<Status>, ApiError> {
    let reader = Arc::clone(&app);
    // How many others asked for is behind the wall.
    let theirs = Query { tenant: caller.tenant.clone(), ..Query::default() };
    let (decisions, in_force) = blocking(move || {
        let decisions = reader.with_log(|log| log.count(&theirs))?;
        // Whoever has just changed the policy wants to see that.
        Ok((decisions, reader.gate(Some(Path::new(&reader.about.folder)))?.in_force_now()))
    })
    .await?;
    Ok(Json(Status {
        version: env!("CARGO_PKG_VERSION"),
        enforcing: format!("enforcing {}", in_words(&in_force.files)),
        notices: in_force.notices.iter().map(|notice| notice.reason.text.clone()).collect(),
        policy_version: in_force.policy.version().to_owned(),
        folder: app.about.folder.clone(),
        next: app.about.next.clone(),
        record: app.places.shown(&app.places.state),
        decisions,
        tokens_answer: app.trust_tokens,
        you: person.name,
        role: caller.role,
    }))
}
