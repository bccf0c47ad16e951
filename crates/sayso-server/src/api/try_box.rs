//! `POST /v1/try`: what would be said of a call, and why. Consumes and records nothing.

use super::body::{self, Keys};
use super::call::Trial;
use crate::app::App;
use crate::error::ApiError;
use crate::who::Owner;
use axum::Json;
use axum::extract::State;
use sayso_gate::approval::Question;
use sayso_gate::history::{Ask, PastCall};
use sayso_gate::wire;
use sayso_gate::wire::line::Fields;
use sayso_gate::{Circumstances, FactsOf, RealFiles};
use sayso_policy::explain::{Trace, nearest, trace};
use sayso_policy::{Facts, State as Memory, Verdict};
use serde_json::{Value, json};
use std::sync::Arc;

/// Judges one call without consequences.
///
/// For whoever may see the policy: trials cost nobody anything and leave no trace, so that with enough of them anybody
/// could learn what it says.
pub(super) async fn try_out(
    State(app): State<Arc<App>>,
    _: Owner,
    Keys(body, _): Keys<Trial>,
) -> Result<Json<Trace>, ApiError> {
    let known = [&wire::OF_A_CALL[..], &["nearest"]].concat();
    let fields = body::object(&body, &known)?;
    let judged = tokio::task::spawn_blocking(move || judge(&app, &fields, Under::Mode)).await;
    judged.map_err(|error| ApiError::internal(&error))?.map(Json)
}

/// Where in the command of a question the parts stand that are not allowed, in bytes. `None`: that is not known, or it has
/// no command.
pub(super) fn marks(app: &App, question: &Question) -> Option<Vec<[u32; 2]>> {
    let call = json!({"command": question.command.as_deref()?, "nearest": false});
    let Value::Object(mut call) = call else { return None };
    for (name, folder) in [("cwd", &question.cwd), ("workspace", &question.workspace)] {
        if let Some(folder) = folder {
            call.insert(name.to_owned(), json!(folder));
        }
    }
    let (_, fields) = body::read(Value::Object(call).to_string().as_bytes()).ok()?;
    let tried = judge(app, &fields, Under::Policy).ok()?;
    let asks = tried.effects.into_iter().filter(|effect| effect.verdict != Verdict::Allow);
    Some(asks.filter_map(|effect| effect.span).collect())
}

/// The call of a question, judged by the policy of now, whatever the mode. `None`: not all of it was kept.
pub(super) fn asked(app: &App, question: &Question) -> Option<Ask> {
    if question.left_out || question.env.is_some() || question.held.is_some() {
        return None;
    }
    let mut call = serde_json::Map::new();
    match (&question.command, &question.arguments) {
        (Some(command), _) => drop(call.insert("command".to_owned(), json!(command))),
        (None, Some(arguments)) => {
            call.insert("tool".to_owned(), json!(question.tool));
            call.insert("args".to_owned(), arguments.clone());
        }
        (None, None) => return None,
    }
    for (name, folder) in [("cwd", &question.cwd), ("workspace", &question.workspace)] {
        if let Some(folder) = folder {
            call.insert(name.to_owned(), json!(folder));
        }
    }
    let (_, fields) = body::read(Value::Object(call).to_string().as_bytes()).ok()?;
    let (mut call, env) = wire::call_in(&fields, &RealFiles).ok()?;
    call.actor = question.actor.clone();
    let gate = app.gate_at(call.workspace.root(), call.cwd.as_deref()).ok()?;
    let past = PastCall::new(call.clone());
    let facts = Facts { files: &RealFiles, env: &env };
    let judgement = gate.judge(call, Circumstances::rehearsal(), FactsOf::Call(facts)).past_mode();
    let (operation, decision) = judgement.rehearsed();
    Some(Ask { past, operation: operation?, decision, policy: 0, calls: 1, refused: 0 })
}

/// What a trial is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    /// What would become of the call now.
    Mode,
    /// Why the policy asks: a pending call is shown with the parts that ask, whatever the mode is meanwhile.
    Policy,
}

fn judge(app: &App, fields: &Fields, under: Under) -> Result<Trace, ApiError> {
    let (call, env) = wire::call_in(fields, &RealFiles).map_err(ApiError::malformed)?;
    let gate = app.gate_at(call.workspace.root(), call.cwd.as_deref())?;
    let facts = Facts { files: &RealFiles, env: &env };
    let judgement = gate.judge(call, Circumstances::rehearsal(), FactsOf::Call(facts));
    let judgement = if under == Under::Policy { judgement.past_mode() } else { judgement };
    let mode = judgement.mode();
    let (operation, decision) = judgement.rehearsed();
    let operation = operation.ok_or_else(|| ApiError::internal(&"Sayso failed while judging this."))?;
    // It costs many times the decision itself; whoever only wants to know what asks leaves it out.
    let wanted = match fields.value("nearest").map_err(ApiError::malformed)? {
        None | Some(Value::Bool(true)) => true,
        Some(Value::Bool(false)) => false,
        Some(_) => return Err(ApiError::malformed("`nearest` must be true or false.")),
    };
    // Under a mode that somebody switched on, no change of the call weakens what is said of it.
    let wanted = wanted && mode.by.is_none();
    let changes = wanted.then(|| nearest(&gate.in_force().policy, &operation, &decision, &Memory::default(), facts));
    let changes = changes.unwrap_or_default();
    Ok(trace(&operation, &decision, &changes, mode.run))
}
