//! A list of calls in the body of `POST /v1/decisions`: each judged in its turn, each answered in its place.

use super::asked::blocking;
use super::decisions::{Answered, asked, wait};
use crate::app::App;
use crate::error::ApiError;
use crate::who::Caller;
use crate::wire::line::{self, Id};
use axum::Json;
use axum::body::Bytes;
use sayso_gate::{Asking, Held, Once, RealFiles};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;

/// Most calls in one body.
pub(super) const MOST: usize = 1000;

/// What became of one call.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Each {
    /// It was judged.
    Answered(Box<Answered>),
    /// It could not be: it must not run.
    Refused {
        /// The caller's own id, given back.
        id: Id,
        /// Why.
        #[serde(flatten)]
        error: Value,
    },
}

/// Whether a body is a list.
pub(super) fn is_list(body: &[u8]) -> bool {
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

/// Judges all calls of a list, in order, in one go. An error in one is the answer to that one.
pub(super) async fn decide(app: Arc<App>, caller: Caller, body: Bytes) -> Result<Json<Vec<Each>>, ApiError> {
    blocking(move || {
        let malformed = |error: serde_json::Error| ApiError::malformed(format!("This is no list of calls: {error}."));
        let calls: Vec<&RawValue> = serde_json::from_slice(&body).map_err(malformed)?;
        if calls.len() > MOST {
            return Err(ApiError::malformed(format!("At most {MOST} calls at a time; these are {}.", calls.len())));
        }
        let all = calls.into_iter().map(|call| {
            let (id, fields) = line::read(call.get().as_bytes());
            let judged = fields.map_err(ApiError::malformed).and_then(|fields| judge(&app, &caller, &fields));
            match judged {
                Ok((judged, question)) => Each::Answered(Box::new(Answered::of(&app, id, judged, question))),
                Err(error) => Each::Refused { id, error: error.body() },
            }
        });
        Ok(Json(all.collect()))
    })
    .await
}

fn judge(app: &App, caller: &Caller, fields: &line::Fields) -> Result<(sayso_gate::Judged, Option<String>), ApiError> {
    // One call would hold up all that follow it; with 0 its question is put, and the caller comes back.
    let wait = wait(fields)?;
    if wait.is_some_and(|wait| wait > Duration::ZERO) {
        return Err(ApiError::malformed(
            "In a list `wait` can only be 0: the question is put, and the call is not held.",
        ));
    }
    let asked = asked(app, caller, fields, &Once::over(&RealFiles))?;
    if wait.is_none() {
        return Ok((asked.judge(Asking::OwnPrompt), None));
    }
    Ok(match asked.hold() {
        Held::Judged(judged) => (*judged, None),
        Held::Waits(question) => (asked.judge(Asking::Ticket { asked: true }), Some(question)),
    })
}
