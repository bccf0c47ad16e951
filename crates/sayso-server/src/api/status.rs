//! `GET /v1/status`: what the page says about this server.

use super::parameters::blocking;
use crate::app::{App, HoldStatus, enforcing, in_words};
use crate::error::ApiError;
use crate::who::{Approver, Role};
use axum::Json;
use axum::extract::State;
use sayso_gate::audit::Query;
use sayso_gate::{EffectiveMode, InForce};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use utoipa::ToSchema;

/// The status.
#[derive(Serialize, ToSchema)]
pub(super) struct Status {
    /// Of Sayso.
    version: &'static str,
    /// What is in force, in words: the mode and the policy.
    enforcing: String,
    mode: EffectiveMode,
    /// What the owner should know.
    notices: Vec<String>,
    policy_version: String,
    /// The folder in which the try-box begins.
    folder: String,
    /// What to do next, as a command.
    next: String,
    /// Where the record is.
    record: String,
    /// What is wrong with the record, as far as it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    alarm: Option<String>,
    /// When all of it was last checked, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_ms: Option<u64>,
    /// How many decisions it holds that the caller may know of.
    decisions: u64,
    /// What this machine can hold, and which agents run held; absent where the server was not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<HoldStatus>,
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
    let (decisions, in_force, mode, hold) = blocking(move || {
        // Where the store was taken away, the page says that, and not that nothing can be shown.
        let decisions = match reader.with_log(|log| log.count(&theirs)) {
            Err(sayso_gate::Error::Replaced(_)) => 0,
            counted => counted?,
        };
        // Whoever has just changed the policy wants to see that.
        let in_force = reader.gate(Some(Path::new(&reader.about.folder)))?.in_force_now();
        let mode = EffectiveMode::now(&reader.places, &in_force);
        Ok((decisions, in_force, mode, reader.about.hold.map(|look| look(&reader.places))))
    })
    .await?;
    Ok(Json(Status {
        version: env!("CARGO_PKG_VERSION"),
        enforcing: enforcing(&mode, &in_words(&in_force.files)),
        mode,
        notices: notices(&app, &in_force),
        policy_version: in_force.policy.version().to_owned(),
        folder: app.about.folder.clone(),
        next: app.about.next.clone(),
        record: app.places.shown(&app.places.state),
        alarm: app.watched.state().broken,
        checked_ms: app.watched.state().checked_ms,
        decisions,
        hold,
        tokens_answer: app.trust_tokens,
        you: person.name,
        role: caller.role,
    }))
}

/// What the owner should know: of the policy, and of the record.
fn notices(app: &App, in_force: &InForce) -> Vec<String> {
    let watched = app.watched.state();
    let alarm = watched.broken.map(|why| format!("The record has been altered: {why}."));
    let policy = in_force.notices.iter().map(|notice| notice.reason.text.clone());
    alarm.into_iter().chain(watched.anchor).chain(policy).collect()
}
