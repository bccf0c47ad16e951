//! `/v1/plans`: calls that are judged and answered as one question before the first of them runs.

use super::body::{self, Keys};
use super::call::CallBody;
use super::decisions::prepare;
use super::parameters::{Named, Parameters, blocking, tenant};
use crate::app::App;
use crate::error::ApiError;
use crate::who::{Approver, Caller, Role};
use axum::Json;
use axum::extract::State;
use sayso_gate::approval::Standing;
use sayso_gate::audit::Query;
use sayso_gate::plan::{self, Plan};
use sayso_gate::wire::line;
use sayso_gate::{Error, Gate, Once, RealFiles};
use sayso_policy::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Most plans in one answer.
const MOST: usize = 200;

/// A plan.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PlanRequest)]
#[expect(dead_code, reason = "the fields are described, and read one by one")]
pub(super) struct Asked {
    /// The calls, in order; all of one session and workspace.
    #[schema(min_items = 1, max_items = 50)]
    steps: Vec<CallBody>,
}

/// Which plans.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only of this session.
    session: Option<String>,
    /// Only of this agent.
    agent: Option<String>,
    /// Only of this tenant.
    tenant: Option<String>,
    /// At most so many, and never more than 200.
    limit: Option<usize>,
}

/// The plans.
#[derive(Serialize, ToSchema)]
pub(super) struct Plans {
    plans: Vec<Plan>,
}

/// The plan; to whoever may not see it whole, how it stands.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = PlanShown)]
pub(super) enum Shown {
    /// To those who may answer it.
    Whole(Box<Plan>),
    /// To whoever was given its id.
    Stands(PlanStands),
}

/// How a plan stands.
#[derive(Serialize, ToSchema)]
pub(super) struct PlanStands {
    id: String,
    verdict: Verdict,
    /// The first step with that verdict, where it is not allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    decisive: Option<u32>,
    /// How the question about it stands; absent: nobody is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
    /// The steps that have run on its approval, by number.
    used: Vec<u32>,
}

/// Judges a plan, records it, and asks people where it needs them.
pub(super) async fn submit(
    State(app): State<Arc<App>>,
    caller: Caller,
    Keys(body, _): Keys<Asked>,
) -> Result<Json<Plan>, ApiError> {
    let fields = body::object(&body, &["steps"])?;
    let asking = Arc::clone(&app);
    let submitted = blocking(move || {
        let text = fields.said().find(|(key, _)| *key == "steps").map(|(_, text)| text);
        let text = text.ok_or_else(|| ApiError::malformed("`steps` is missing: a list of calls."))?;
        let malformed =
            |error: serde_json::Error| ApiError::malformed(format!("`steps` is not a list of calls: {error}."));
        let steps: Vec<&RawValue> = serde_json::from_str(text).map_err(malformed)?;
        if steps.len() > plan::MOST_STEPS {
            return Err(ApiError::malformed(format!("A plan has at most {} steps.", plan::MOST_STEPS)));
        }
        let (mut calls, mut gate) = (Vec::new(), None::<Arc<Gate>>);
        for (number, step) in (1..).zip(steps) {
            let of_step = |why: String| ApiError::malformed(format!("Step {number}: {why}"));
            let call = line::read(step.get().as_bytes()).1.map_err(of_step)?;
            let (at, planned) = prepare(&asking, &caller, &call, &Once::over(&RealFiles))?.planned();
            gate.get_or_insert(at);
            calls.push(planned);
        }
        let gate = gate.ok_or_else(|| ApiError::malformed("A plan needs at least one step."))?;
        gate.submit_plan(&calls, "http").map_err(refused)
    });
    let submitted = submitted.await?;
    app.tail.look_now();
    Ok(Json(submitted.plan))
}

/// Plans that were submitted, the latest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Approver { caller, .. }: Approver,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Json<Plans>, ApiError> {
    let tenant = tenant(&caller, wanted.tenant)?;
    blocking(move || {
        let limit = Some(wanted.limit.unwrap_or(MOST).min(MOST));
        let query = Query { agent: wanted.agent, session: wanted.session, tenant, limit, ..Query::default() };
        let plans = plan::list(app.store().as_ref(), &query, &|plan| may_see(&app, &caller, plan))?;
        Ok(Json(Plans { plans }))
    })
    .await
}

/// One plan. Whoever was given its id may know how it stands; only whoever may answer it sees it whole.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named,
) -> Result<Json<Shown>, ApiError> {
    blocking(move || {
        let found =
            plan::find(app.store().as_ref(), &id, &|plan| plan.id == id && caller.is_of_their_tenant(&plan.actor));
        let plan = found?.ok_or_else(ApiError::not_found)?;
        if may_see(&app, &caller, &plan) {
            return Ok(Json(Shown::Whole(Box::new(plan))));
        }
        // An approver sees what is addressed to it, and of the rest not even that it is there.
        if caller.role != Role::Agent {
            return Err(ApiError::not_found());
        }
        let Plan { id, verdict, decisive, standing, used, .. } = plan;
        Ok(Json(Shown::Stands(PlanStands { id, verdict, decisive, standing, used })))
    })
    .await
}

/// Whether somebody may see a plan whole: an admin of its tenant, and those who may answer it.
fn may_see(app: &App, caller: &Caller, plan: &Plan) -> bool {
    match caller.role {
        Role::Admin => caller.is_of_their_tenant(&plan.actor),
        Role::Approver => {
            let question = app.store().approval(&plan.id).ok().flatten();
            question.is_some_and(|approval| caller.may_see(&approval.question))
        }
        Role::Agent => false,
    }
}

fn refused(error: Error) -> ApiError {
    match error {
        Error::Plan(why) => ApiError::malformed(format!("This is no plan: {why}.")),
        error => error.into(),
    }
}
