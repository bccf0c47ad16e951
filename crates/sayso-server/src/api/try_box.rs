//! `POST /v1/try`: what would be said of a call, and why. Consumes and records nothing.

use super::body::{self, Keys};
use super::call::Trial;
use crate::app::App;
use crate::error::ApiError;
use crate::who::Owner;
use axum::Json;
use axum::extract::State;
use sayso_gate::approval::Question;
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
    let judged = tokio::task::spawn_blocking(move || judge(&app, &fields)).await;
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
    let tried = judge(app, &fields).ok()?;
    let asks = tried.effects.into_iter().filter(|effect| effect.verdict != Verdict::Allow);
    Some(asks.filter_map(|effect| effect.span).collect())
}

fn judge(app: &App, fields: &Fields) -> Result<Trace, ApiError> {
    let (call, env) = wire::call_in(fields, &RealFiles).map_err(ApiError::malformed)?;
    let gate = app.gate_at(call.workspace.root(), call.cwd.as_deref())?;
    let facts = Facts { files: &RealFiles, env: &env };
    let judgement = gate.judge(call, Circumstances::rehearsal(), FactsOf::Call(facts));
    let (operation, decision) = judgement.rehearsed();
    let operation = operation.ok_or_else(|| ApiError::internal(&"Sayso failed while judging this."))?;
    // It costs many times the decision itself; whoever only wants to know what asks leaves it out.
    let wanted = match fields.value("nearest").map_err(ApiError::malformed)? {
        None | Some(Value::Bool(true)) => true,
        Some(Value::Bool(false)) => false,
        Some(_) => return Err(ApiError::malformed("`nearest` must be true or false.")),
    };
    let changes = wanted.then(|| nearest(&gate.in_force().policy, &operation, &decision, &Memory::default(), facts));
    let changes = changes.unwrap_or_default();
    Ok(trace(&operation, &decision, &changes))
}
