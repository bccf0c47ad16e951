//! `POST /v1/decisions`: judges a call by the gate, records it, and answers.

use super::body;
use crate::app::App;
use crate::error::ApiError;
use crate::wire;
use crate::wire::line::{Fields, Id};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::HeaderMap;
use sayso_gate::{Asking, Circumstances, Expected, RealFiles};
use sayso_policy::{Facts, Reason};
use serde::Serialize;
use std::sync::Arc;

/// The answer.
#[derive(Serialize)]
pub(super) struct Answered {
    /// The caller's own id, given back.
    id: Id,
    verdict: &'static str,
    reasons: Vec<Reason>,
    /// The id of the record.
    record: String,
}

/// Judges one call.
pub(super) async fn decisions(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<Json<Answered>, ApiError> {
    let (id, fields) = body::object(&headers, bytes)?;
    // The gate blocks: it looks at files and appends to the record.
    let judged = tokio::task::spawn_blocking(move || judge(&app, id, &fields)).await;
    judged.map_err(|error| ApiError::internal(&error))?.map(Json)
}

fn judge(app: &App, id: Id, fields: &Fields) -> Result<Answered, ApiError> {
    let (mut call, env) = wire::call(fields).map_err(ApiError::malformed)?;
    // The first call of a session fixes its folder; later ones cannot move it.
    if let Some(session) = &call.actor.session
        && let Some(root) = call.workspace.root()
    {
        let fixed = app.sessions.workspace(session, root)?;
        call.workspace = wire::workspace_at(&fixed, call.home.as_deref());
    }
    let circumstances = Circumstances {
        way_in: "http".to_owned(),
        event: None,
        call_id: fields.string("call_id").map_err(ApiError::malformed)?,
        asking: Asking::OwnPrompt,
        expected: Expected::default(),
    };
    let gate = app.gate(call.workspace.root())?;
    let judged = gate.judge_in(call, &circumstances, Facts { files: &RealFiles, env: &env });
    Ok(Answered {
        id,
        verdict: judged.decision.answer.as_str(),
        reasons: judged.decision.reasons,
        record: judged.record.id,
    })
}
