//! `POST /v1/outcomes`: what became of a call that was let through.

use super::body::{Asks, Body};
use super::parameters::blocking;
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::who::Caller;
use axum::Json;
use axum::extract::State;
use sayso_gate::audit::{Ended, Event, Happening, What};
use sayso_gate::{Outcome, Reporter, Which};
use sayso_policy::Actor;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Which call: by `record`, or by `call_id` within `session`, with the `agent` and `tenant` that the call named. Whoever
/// asks with a token reports with it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Outcome)]
pub(super) struct Report {
    /// As the decision named it.
    record: Option<String>,
    /// The caller's own id of the call.
    call_id: Option<String>,
    session: Option<String>,
    /// As the call's context named it; with a token, the token's own name counts.
    agent: Option<String>,
    /// As the call's context named it; with a token of a tenant, that one counts.
    tenant: Option<String>,
    /// Whether it succeeded.
    ok: Option<bool>,
    /// It did not run. With a token the call is given back to its limits; without one only the tokens and the cost that
    /// were expected are, and only by `record`.
    #[schema(default = false)]
    not_run: Option<bool>,
    duration_ms: Option<u64>,
    /// Tokens that the model read for it.
    input_tokens: Option<u64>,
    /// Tokens that the model wrote for it.
    output_tokens: Option<u64>,
    /// In millionths of the currency's unit.
    cost_micros: Option<u64>,
    bytes_written: Option<u64>,
    /// Paths removed.
    deletes: Option<u64>,
    /// In words: the error. Secrets are taken out, and a long one is cut.
    text: Option<String>,
}

impl Asks for Report {
    const EITHER: &'static [&'static [&'static str]] = &[&["record"], &["call_id"]];
}

/// Taken down.
#[derive(Serialize, ToSchema)]
pub(super) struct TakenDown {
    /// Limits were in force for the call.
    counted: bool,
}

/// Takes an outcome down, counts what was used, and gives back what was reserved and not used.
pub(super) async fn outcomes(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(report): Body<Report>,
) -> Result<Json<TakenDown>, ApiError> {
    blocking(move || take_down(&app, &caller, report)).await.map(Json)
}

fn take_down(app: &App, caller: &Caller, said: Report) -> Result<TakenDown, ApiError> {
    let mut actor = Actor { session: said.session.clone(), agent: said.agent, tenant: said.tenant, ..Actor::default() };
    app.sign(caller, &mut actor, None)?;
    let actor = app.gate(None)?.owned(actor);
    let by = Reporter::of(&actor, "http");
    let which = match (said.record, &said.call_id) {
        (Some(record), _) => Which::Reported { record, by },
        (None, Some(call_id)) => Which::Call { by, session: said.session, call_id: call_id.clone() },
        (None, None) => return Err(ApiError::malformed("Give `record`, or `call_id` with its `session`.")),
    };
    let mut outcome = Outcome {
        not_run: said.not_run.unwrap_or(false),
        input_tokens: said.input_tokens,
        output_tokens: said.output_tokens,
        cost_micros: said.cost_micros,
        bytes_written: said.bytes_written,
        deletes: said.deletes,
    };
    // To give back what a call has taken loosens a limit, and ids of calls are no secret: a child of the agent would say
    // of each call of its agent's that it did not run. The id of a record is known to whoever asked.
    if outcome.not_run && caller.person.is_none() && matches!(which, Which::Call { .. }) {
        return Err(ApiError::malformed("`not_run` needs the `record` from the decision, or a token."));
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
        ok: said.ok,
        duration_ms: said.duration_ms,
        input_tokens: outcome.input_tokens,
        output_tokens: outcome.output_tokens,
    };
    let mut happening = Happening::new(What::CallEnded, "http", actor);
    happening.call_id = said.call_id;
    happening.text = said.text.map(|text| sayso_gate::audit::redact_text(&text).chars().take(4096).collect());
    happening.ended = Some(ended);
    let counted = app.store().settle_in(caller.tenant.as_deref(), &which, &outcome, now_ms())?;
    app.store().append(&[Event::Happening(Box::new(happening))], &[])?;
    Ok(TakenDown { counted })
}
