//! A list of calls in the body of `POST /v1/decisions`: each judged in its turn, each answered in its place.

use super::decisions::{Answered, Needs, asking, prepare, wait};
use super::parameters::blocking;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::who::Caller;
use axum::body::Bytes;
use sayso_gate::wire::line::{self, Id};
use sayso_gate::{Once, RealFiles, Recorded, Unsaid};
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;

/// Most calls in one body.
pub(super) const MOST: usize = 1000;

/// What became of one call.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = DecisionOrError)]
pub(super) enum Each {
    /// It was judged.
    Answered(Box<Answered>),
    /// It could not be: it must not run.
    Refused {
        /// The caller's own id, given back.
        #[schema(value_type = Value)]
        id: Id,
        /// Why.
        #[serde(flatten)]
        error: ErrorBody,
    },
}

/// Whether a body is a list.
pub(super) fn is_list(body: &[u8]) -> bool {
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

/// Judges all calls of a list, in order, in one go. An error in one is the answer to that one.
pub(super) async fn decide(app: Arc<App>, caller: Caller, body: Bytes) -> Result<Vec<Each>, ApiError> {
    blocking(move || {
        let malformed =
            |error: serde_json::Error| ApiError::malformed(format!("This is not a list of calls: {error}."));
        let calls: Vec<&RawValue> = serde_json::from_slice(&body).map_err(malformed)?;
        if calls.len() > MOST {
            return Err(ApiError::malformed(format!("At most {MOST} calls at a time; this has {}.", calls.len())));
        }
        let mut list = List { app: &app, told: Vec::with_capacity(calls.len()), unsaid: Vec::new() };
        for call in calls {
            let (id, fields) = line::read(call.get().as_bytes());
            match fields.map_err(ApiError::malformed).and_then(|fields| look(&app, &caller, &fields)) {
                Ok(Looked::Unsaid(unsaid)) => list.later(id, unsaid),
                Ok(Looked::Needs(Needs { at, aside }, wait)) => {
                    // What was said before it is recorded before it.
                    list.record();
                    let mut judged = at.settle(*aside, asking(wait)).record();
                    let question = judged.question.take();
                    list.told.push(Each::said(&app, id, judged.into(), question));
                }
                Err(error) => list.told.push(Each::Refused { id, error: error.body() }),
            }
        }
        list.record();
        Ok(list.told)
    })
    .await
}

impl Each {
    fn said(app: &App, id: Id, recorded: Recorded, question: Option<String>) -> Self {
        Self::Answered(Box::new(Answered::of(app, id, recorded, question)))
    }
}

/// Answers in their places, and what is not recorded yet.
struct List<'a> {
    app: &'a App,
    told: Vec<Each>,
    /// With the places of their answers.
    unsaid: Vec<(usize, Unsaid)>,
}

impl List<'_> {
    /// INVARIANT: until it is recorded, what stands in its place lets nothing run.
    fn later(&mut self, id: Id, unsaid: Unsaid) {
        self.unsaid.push((self.told.len(), unsaid));
        self.told.push(Each::Refused { id, error: ApiError::internal(&"It was not recorded.").body() });
    }

    /// Records what is not recorded yet, together.
    fn record(&mut self) {
        let (places, unsaid): (Vec<usize>, Vec<Unsaid>) = std::mem::take(&mut self.unsaid).into_iter().unzip();
        for (place, recorded) in places.into_iter().zip(Unsaid::record_all(unsaid)) {
            if let Some(told) = self.told.get_mut(place)
                && let Each::Refused { id, .. } = told
            {
                *told = Each::said(self.app, std::mem::take(id), recorded, None);
            }
        }
    }
}

/// What comes of a first look at one call.
enum Looked {
    /// It is said once it is recorded.
    Unsaid(Unsaid),
    Needs(Needs, Option<Duration>),
}

fn look(app: &App, caller: &Caller, fields: &line::Fields) -> Result<Looked, ApiError> {
    // One call would hold up all that follow it; with 0 its question is put, and the caller comes back.
    let wait = wait(fields)?;
    if wait.is_some_and(|wait| wait > Duration::ZERO) {
        return Err(ApiError::malformed("In a list, `wait` can only be 0: the call becomes pending and is not held."));
    }
    let looked = Once::over(&RealFiles);
    Ok(match prepare(app, caller, fields, &looked)?.judge(&looked) {
        Ok(unsaid) => Looked::Unsaid(unsaid),
        Err(needs) => Looked::Needs(needs, wait),
    })
}
