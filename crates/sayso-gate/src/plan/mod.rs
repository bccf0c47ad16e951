//! Plans: a list of calls that is judged and answered as one question before the first of them runs.
//!
//! A plan is judged step by step, as if the steps before had run (`judge`). One that needs a person is a question as any
//! other, with its steps; a yes to it is a saved answer for each step (`grants`) that is used once, and counts only when the
//! step before it has been used. So nothing here lets a call pass: the stage of grants does, and only what asked when the
//! plan was approved.
//!
//! A plan is kept as a record of the chain and nowhere else, whatever was said of it: it goes when `sayso log prune` lets
//! the records of its time go.

mod active;
mod judge;

pub(crate) use active::is_active;
pub use judge::{PlannedCall, Submitted};

use crate::approval::{Approval, Reply, Standing};
use crate::audit::{EffectRecord, Kind, Query, ReasonRecord};
use crate::grant::Kept;
use crate::store::Store;
use crate::{Error, audit};
use sayso_policy::{Actor, Grant, GrantSelector, PlanStep, Risk, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Steps that a plan may have.
pub const MOST_STEPS: usize = 50;
/// How much text of all steps together is kept, in bytes: a person must be able to look at it.
pub const MOST_TEXT: usize = 256 * 1024;
/// Plans that are looked through for those that somebody may see, or that have an id in them.
const LOOKED_THROUGH: usize = 10_000;
/// Longest id that is looked for, in bytes; none is as long.
const LONGEST_ID: usize = 128;

/// A plan, and what was said of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Plan {
    /// Its id. The question about it has the same.
    pub id: String,
    /// When it was submitted, in milliseconds since 1970.
    pub time_ms: u64,
    /// Who submitted it, and will make the calls.
    pub actor: Actor,
    /// Which way in.
    pub way_in: String,
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Which policy judged it.
    pub policy: String,
    /// The strictest of its steps.
    pub verdict: Verdict,
    /// The first step with that verdict, where it is not allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisive: Option<u32>,
    /// Its steps, in order.
    pub steps: Vec<Step>,
    /// How the question about it stands; absent: nobody is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// The steps that have run on its approval, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<u32>,
}

/// One call of a plan. Everything an agent wrote is redacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Step {
    /// Which, counted from 1.
    pub number: u32,
    /// The tool, canonical.
    pub tool: String,
    /// The command, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The variables that the call brings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Value>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the policy says of it, after the steps before it.
    pub verdict: Verdict,
    /// Why, the decisive reason first.
    pub reasons: Vec<ReasonRecord>,
    /// What it would do.
    pub effects: Vec<EffectRecord>,
    /// Effects beyond those listed.
    #[serde(default)]
    pub more_effects: usize,
    /// The call is so long that not all of it was kept: nobody can look at the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
    /// Why it asks again when it runs, whatever is said of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// How much could go wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// What asks: each stage, code and line of a file. A yes is none to what asks later on.
    #[serde(default)]
    pub asks: Vec<String>,
    /// What exactly it is: the digest of operation, files, session and policy.
    pub digest: String,
}

/// A plan, as the question about it has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanAsked {
    /// Its steps, in order.
    pub steps: Vec<Step>,
    /// How long it may be carried out once it is approved, in milliseconds.
    pub lasts_ms: u64,
}

/// The step of an approved plan that a call was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanUse {
    /// The plan.
    pub id: String,
    /// Which step, counted from 1.
    pub step: u32,
    /// How many it has.
    pub of: u32,
    /// The saved answer that the call used up.
    pub grant: String,
}

impl PlanUse {
    pub(crate) fn of(step: &PlanStep, grant: &str) -> Self {
        Self { id: step.plan.clone(), step: step.step, of: step.of, grant: grant.to_owned() }
    }
}

/// The saved answer to one step of a plan is named for both, so that the one behind it can name it.
fn grant_id(plan: &str, step: u32) -> String {
    format!("{plan}-step{step}")
}

/// What a yes to a plan is saved as: an answer for each step, in order.
pub(crate) fn grants(approval: &Approval, plan: &PlanAsked, reply: &Reply, now_ms: u64) -> Vec<Kept> {
    if reply.verdict != Verdict::Allow {
        return Vec::new();
    }
    let question = &approval.question;
    let of = u32::try_from(plan.steps.len()).unwrap_or(u32::MAX);
    let mut after = None;
    let mut kept = Vec::new();
    // INVARIANT: a step that runs what an earlier one makes gets none, for nobody has seen what it will be.
    for step in plan.steps.iter().filter(|step| step.again.is_none()) {
        let id = grant_id(&question.id, step.number);
        let grant = Grant {
            id: id.clone(),
            selector: GrantSelector::Digest(step.digest.clone()),
            workspace: question.site.clone(),
            session: question.actor.session.clone(),
            uses_left: Some(1),
            expires_ms: Some(now_ms.saturating_add(plan.lasts_ms)),
            givers: approval.answers.iter().map(|given| given.person.clone()).collect(),
            verdict: Verdict::Allow,
            actor: Actor {
                tenant: question.actor.tenant.clone(),
                agent: question.actor.agent.clone(),
                asker: question.actor.asker.clone(),
                ..Actor::default()
            },
            plan: Some(PlanStep {
                plan: question.id.clone(),
                step: step.number,
                of,
                after: after.replace(id),
                asks: step.asks.clone(),
            }),
        };
        let words = format!("step {} of {of} of plan {}", step.number, question.id);
        kept.push(Kept {
            grant,
            given_ms: now_ms,
            approval: Some(question.id.clone()),
            words,
            revoked_ms: None,
            used: 0,
            last_used_ms: None,
        });
    }
    kept
}

impl Plan {
    /// The plan with how the question about it stands now, and which steps have run on it.
    fn now(mut self, store: &dyn Store) -> Result<Self, Error> {
        let Some(approval) = store.approval(&self.id)? else { return Ok(self) };
        self.standing = Some(approval.standing);
        if approval.standing == Standing::Approved {
            for step in &self.steps {
                if !store.uses(&grant_id(&self.id, step.number), 1)?.is_empty() {
                    self.used.push(step.number);
                }
            }
        }
        Ok(self)
    }
}

/// The plans that were submitted, the latest first, each as it stands now. What `theirs` refuses is not found.
///
/// # Errors
/// If the store refuses.
pub fn list(store: &dyn Store, query: &Query, theirs: &dyn Fn(&Plan) -> bool) -> Result<Vec<Plan>, Error> {
    kept(store, query, theirs, query.limit.unwrap_or(usize::MAX))?.into_iter().map(|plan| plan.now(store)).collect()
}

/// The plans as they were recorded, and nothing of how they stand.
fn kept(store: &dyn Store, query: &Query, theirs: &dyn Fn(&Plan) -> bool, most: usize) -> Result<Vec<Plan>, Error> {
    let query = Query { kinds: vec![Kind::Plan], limit: Some(LOOKED_THROUGH), ..query.clone() };
    let plans = store.events(&query)?.into_iter().filter_map(|chained| match chained.event {
        audit::Event::Change(change) => serde_json::from_value::<Plan>(change.detail).ok(),
        _ => None,
    });
    Ok(plans.filter(|plan| theirs(plan)).take(most).collect())
}

/// The plan whose id this is, or begins so.
///
/// # Errors
/// If the store refuses, or several begin so.
pub fn find(store: &dyn Store, id: &str, theirs: &dyn Fn(&Plan) -> bool) -> Result<Option<Plan>, Error> {
    if id.len() > LONGEST_ID {
        return Ok(None);
    }
    // The record is named for the plan: the store finds it by that, and need not read all others.
    let query = Query { text: Some(id.to_owned()).filter(|id| !id.is_empty()), ..Query::default() };
    let mut found = kept(store, &query, &|plan| plan.id.starts_with(id) && theirs(plan), 2)?;
    match found.len() {
        0 | 1 => found.pop().map(|plan| plan.now(store)).transpose(),
        _ => Err(Error::Plan(format!("several plans start with {id}; type more of the id"))),
    }
}
