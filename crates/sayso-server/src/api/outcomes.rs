//! `POST /v1/outcomes`: what became of a call that was let through.

use super::asked::blocking;
use super::body;
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::who::Caller;
use crate::wire::line::Fields;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::HeaderMap;
use sayso_gate::audit::{Ended, Event, Happening, What};
use sayso_gate::store::{Ledger as _, Records as _};
use sayso_gate::{Outcome, Reporter, Which};
use sayso_policy::Actor;
use serde_json::{Value, json};
use std::sync::Arc;

/// What may be said of one.
const KNOWN: [&str; 14] = [
    "record",
    "call_id",
    "session",
    "agent",
    "tenant",
    "ok",
    "not_run",
    "duration_ms",
    "input_tokens",
    "output_tokens",
    "cost_micros",
    "bytes_written",
    "deletes",
    "text",
];

/// Takes an outcome down, counts what was used, and gives back what was reserved and not used.
pub(super) async fn outcomes(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, ApiError> {
    let fields = body::object(&headers, bytes, &KNOWN)?;
    blocking(move || take_down(&app, &caller, &fields)).await.map(Json)
}

fn take_down(app: &App, caller: &Caller, fields: &Fields) -> Result<Value, ApiError> {
    let text = |key: &str| fields.string(key).map_err(ApiError::malformed);
    let number = |key: &str| match fields.value(key).map_err(ApiError::malformed)? {
        None => Ok(None),
        Some(value) => match value.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(ApiError::malformed(format!("`{key}` must be a whole number."))),
        },
    };
    let flag = |key: &str| match fields.value(key).map_err(ApiError::malformed)? {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(flag)),
        Some(_) => Err(ApiError::malformed(format!("`{key}` must be true or false."))),
    };
    let (record, call_id, session) = (text("record")?, text("call_id")?, text("session")?);
    let mut actor =
        Actor { session: session.clone(), agent: text("agent")?, tenant: text("tenant")?, ..Actor::default() };
    app.sign(caller, &mut actor, None)?;
    let by = Reporter::of(&actor, "http");
    let which = match (record, &call_id) {
        (Some(record), _) => Which::Reported { record, by },
        (None, Some(call_id)) => Which::Call { by, session, call_id: call_id.clone() },
        (None, None) => return Err(ApiError::malformed("Give `record`, or `call_id` with its `session`.")),
    };
    let mut outcome = Outcome {
        not_run: flag("not_run")?.unwrap_or(false),
        input_tokens: number("input_tokens")?,
        output_tokens: number("output_tokens")?,
        cost_micros: number("cost_micros")?,
        bytes_written: number("bytes_written")?,
        deletes: number("deletes")?,
    };
    // To give back what a call has taken loosens a limit, and ids of calls are no secret: a child of the agent would say
    // of each call of its agent's that it did not run. The id of a record is known to whoever asked.
    if outcome.not_run && caller.person.is_none() && matches!(which, Which::Call { .. }) {
        return Err(ApiError::malformed("`not_run` needs the `record` that the decision named, or a token."));
    }
    // The id of a record is told to the agent itself, and it would say of each of its calls that it did not run: a limit
    // on calls, rates, repeats or deletes would be none. So without a token only what was expected is given back.
    if outcome.not_run && caller.person.is_none() {
        outcome.not_run = false;
        for expected in [&mut outcome.input_tokens, &mut outcome.output_tokens, &mut outcome.cost_micros] {
            expected.get_or_insert(0);
        }
    }
    let ended = Ended {
        ok: flag("ok")?,
        duration_ms: number("duration_ms")?,
        input_tokens: outcome.input_tokens,
        output_tokens: outcome.output_tokens,
    };
    let mut happening = Happening::new(What::CallEnded, "http", actor);
    happening.call_id = call_id;
    happening.text = text("text")?.map(|text| sayso_gate::audit::redact_text(&text).chars().take(4096).collect());
    happening.ended = Some(ended);
    let counted = app.store().settle_in(caller.tenant.as_deref(), &which, &outcome, now_ms())?;
    app.store().append(&[Event::Happening(Box::new(happening))], &[])?;
    Ok(json!({"counted": counted}))
}
