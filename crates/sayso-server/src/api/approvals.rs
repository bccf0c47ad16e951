//! `/v1/approvals`: questions that wait for a person, and their answers.

use super::body::{Asks, Body};
use super::parameters::{Named, Parameters, blocking, tenant};
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::told::Stands;
use crate::who::{Approver, Caller, Role};
use axum::Json;
use axum::extract::State;
use sayso_gate::approval::{Approval, Preview, Question, Remember, Reply, Width, preview};
use sayso_gate::store::{Answering, Questions};
use sayso_gate::{ProcessEnvironment, RealFiles};
use sayso_policy::{Facts, Person, Verdict};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Most questions in one answer.
const MOST: usize = 500;
/// Questions that are put in order by their risk.
const PUT_IN_ORDER: usize = 10_000;

/// Which questions.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Those that were answered, expired or cancelled too.
    #[serde(default)]
    #[param(default = false)]
    all: bool,
    /// Only of this session.
    session: Option<String>,
    /// Only of this agent.
    agent: Option<String>,
    /// Only of this tenant.
    tenant: Option<String>,
    /// Which come first.
    #[serde(default)]
    #[param(inline, default = "newest")]
    order: Order,
    /// Only those behind this one, by its id: what `next` of the page before said.
    after: Option<String>,
    /// At most so many, and never more than 500.
    limit: Option<usize>,
}

/// Which questions come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Order {
    #[default]
    Newest,
    Oldest,
    /// Those with the highest risk score, on one page; `more` says whether some are not on it.
    Riskiest,
}

/// The questions.
#[derive(Serialize, ToSchema)]
pub(super) struct Approvals {
    approvals: Vec<Approval>,
    /// Where the next page begins; null: there is none.
    #[schema(required)]
    next: Option<String>,
    /// There are more, and no next page: those in order of their risk have one only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
}

/// The question; to whoever may not see it whole, how it stands.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ApprovalShown)]
pub(super) enum Shown {
    /// To those who may answer it.
    Whole(Box<Approval>),
    /// To whoever was given its id.
    Stands(Stands),
}

/// What a width would let pass.
#[derive(Serialize, ToSchema)]
#[schema(as = WidthPreview)]
pub(super) struct Previewed {
    width: Width,
    /// What would be remembered, in words.
    words: String,
    preview: Preview,
}

/// An answer.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Answering)]
pub(super) struct ReplyBody {
    verdict: YesOrNo,
    /// For how long; `once` unless it is said.
    #[schema(default = "once")]
    remember: Option<Remember>,
    /// For what else, where it is remembered; `exact` unless it is said. The question's `offers` say what there is.
    #[schema(default = "exact")]
    width: Option<Width>,
    /// Which parts of a question that has parts are allowed, by number from 0; all of them unless it is said.
    parts: Option<Vec<u32>>,
}

impl Asks for ReplyBody {}

/// What a person can say.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum YesOrNo {
    Allow,
    Deny,
}

impl From<YesOrNo> for Verdict {
    fn from(said: YesOrNo) -> Self {
        match said {
            YesOrNo::Allow => Self::Allow,
            YesOrNo::Deny => Self::Deny,
        }
    }
}

/// The questions, the latest first; of a long call the beginning.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Approver { caller, .. }: Approver,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Json<Approvals>, ApiError> {
    let most = wanted.limit.unwrap_or(MOST).min(MOST);
    let riskiest = wanted.order == Order::Riskiest;
    if riskiest && wanted.after.is_some() {
        return Err(ApiError::malformed("`after` pages by time: ask for `order` newest or oldest."));
    }
    let tenant = tenant(&caller, wanted.tenant)?;
    let found = blocking(move || {
        let store = app.store();
        if let Some(after) = &wanted.after
            && store.approval(after)?.is_none_or(|it| !caller.may_see(&it.question))
        {
            return Err(ApiError::malformed("`after` must be the id of a pending call, as returned in `next`."));
        }
        let which = Questions {
            pending: !wanted.all,
            tenant: tenant.as_deref(),
            session: wanted.session.as_deref(),
            agent: wanted.agent.as_deref(),
            oldest_first: wanted.order == Order::Oldest,
            after: wanted.after.as_deref(),
            // One more, to know whether there are more. What is put in order by its score has to be looked at first.
            limit: if riskiest { PUT_IN_ORDER } else { most + 1 },
        };
        Ok(store.questions(&which, &|question| caller.may_see(question))?)
    });
    let mut found = found.await?;
    if riskiest {
        found.sort_by_key(|approval| std::cmp::Reverse(approval.question.risk_score()));
    }
    let more = found.len() > most || found.len() == PUT_IN_ORDER;
    found.truncate(most);
    let next = found.last().filter(|_| more && !riskiest).map(|last| last.question.id.clone());
    let found: Vec<Approval> = found.into_iter().map(Approval::brief).collect();
    Ok(Json(Approvals { approvals: found, next, more: more && riskiest }))
}

/// One question. Whoever was given its id may know how it stands; only whoever may answer it sees it whole.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named,
) -> Result<Json<Shown>, ApiError> {
    let approval = find(&app, &id).await?;
    let question = &approval.question;
    if caller.may_see(question) {
        return Ok(Json(Shown::Whole(Box::new(approval))));
    }
    // An approver sees what is addressed to it, and of the rest not even that it is there.
    if caller.role != Role::Agent || !caller.is_of_their_tenant(&question.actor) {
        return Err(ApiError::no_approval());
    }
    Ok(Json(Shown::Stands(Stands::of(&approval))))
}

/// Which width.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Wider {
    /// One of the question's `offers`.
    #[param(inline)]
    width: Width,
}

/// What else a yes of this width would have let pass.
pub(super) async fn preview_width(
    State(app): State<Arc<App>>,
    Approver { caller, person }: Approver,
    Named(id): Named,
    Parameters(Wider { width }): Parameters<Wider>,
) -> Result<Json<Previewed>, ApiError> {
    let question = theirs(&app, &caller, &id).await?.question;
    let offer = question.offers.iter().find(|offer| offer.width == width).cloned();
    let offer = offer.ok_or_else(ApiError::not_offered)?;
    blocking(move || {
        let policy = app.gate_of(&question)?.in_force();
        app.with_log(sayso_gate::audit::Log::fold)?;
        let preview = preview(app.store().as_ref(), &policy.policy, &question, &offer, &person)?;
        Ok(Json(Previewed { width, words: offer.words, preview }))
    })
    .await
}

/// Answers a question.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    Approver { caller, person }: Approver,
    Named(id): Named,
    Body(said): Body<ReplyBody>,
) -> Result<Json<Approval>, ApiError> {
    let reply = Reply {
        verdict: said.verdict.into(),
        remember: said.remember.unwrap_or(Remember::Once),
        width: said.width.unwrap_or_default(),
        parts: said.parts,
    };
    let question = theirs(&app, &caller, &id).await?.question;
    let answering = Arc::clone(&app);
    let answered = blocking(move || give(&answering, &question, (&person, &caller.via), &reply)).await;
    app.tail.look_now();
    app.waiting.tell(&id);
    answered.map(Json)
}

/// Has a question reach the next higher group now. Whoever may answer it may say so: nobody loses the question.
pub(super) async fn escalate(
    State(app): State<Arc<App>>,
    Approver { caller, person }: Approver,
    Named(id): Named,
) -> Result<Json<Approval>, ApiError> {
    let question = theirs(&app, &caller, &id).await?.question;
    let asking = Arc::clone(&app);
    let escalated = blocking(move || Ok(asking.store().escalate(&question.id, &person.name, now_ms())?)).await;
    app.tail.look_now();
    app.waiting.tell(&id);
    let none =
        || ApiError::conflict("not-escalated", "It is not pending any more, or its approvers have no `escalate`.");
    escalated?.map(Json).ok_or_else(none)
}

pub(super) fn give(
    app: &App,
    question: &Question,
    (person, via): (&Person, &str),
    reply: &Reply,
) -> Result<Approval, ApiError> {
    let in_force = app.gate_of(question)?.in_force();
    let given = question.reasons.iter().any(|reason| reason.layer == "given");
    let answer = Answering {
        id: &question.id,
        person,
        via,
        reply,
        // A question of a hook with files named on its command line was asked by a policy that is not known here.
        policy: (!given).then(|| in_force.policy.version()),
        facts: Facts { files: &RealFiles, env: &ProcessEnvironment },
        now_ms: now_ms(),
    };
    Ok(app.store().answer(&answer)?)
}

async fn find(app: &Arc<App>, id: &str) -> Result<Approval, ApiError> {
    let (store, id) = (app.store(), id.to_owned());
    blocking(move || Ok(store.approval(&id)?)).await?.ok_or_else(ApiError::no_approval)
}

pub(super) async fn theirs(app: &Arc<App>, caller: &Caller, id: &str) -> Result<Approval, ApiError> {
    let approval = find(app, id).await?;
    if caller.may_see(&approval.question) { Ok(approval) } else { Err(ApiError::no_approval()) }
}
