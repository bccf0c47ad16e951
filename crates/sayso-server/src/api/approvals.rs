//! `/v1/approvals`: questions that wait for a person, and their answers.

use super::asked::{Asked, Named, blocking};
use super::body;
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::told::to_whoever_asked;
use crate::who::{Approver, Caller, Role};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::HeaderMap;
use sayso_gate::approval::{Approval, Question, Remember, Reply, Width, preview};
use sayso_gate::store::{Answering, Approvals as _, Questions};
use sayso_gate::{ProcessEnvironment, RealFiles};
use sayso_policy::{Facts, Person, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most questions in one answer.
const MOST: usize = 500;

/// Which questions.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Those that were answered, expired or cancelled too.
    #[serde(default)]
    all: bool,
    /// Only of this session.
    session: Option<String>,
    /// Only of this agent.
    agent: Option<String>,
    /// Which come first.
    #[serde(default)]
    order: Order,
    /// Only those behind this one, by its id: what `next` said.
    after: Option<String>,
    limit: Option<usize>,
}

/// Which questions come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    #[default]
    Newest,
    Oldest,
}

/// The questions; of a long call the beginning. `next` says where the next page begins: one that is asked, answered or
/// over meanwhile shifts no page.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Approver { caller, .. }: Approver,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<Value>, ApiError> {
    let most = wanted.limit.unwrap_or(MOST).min(MOST);
    let found = blocking(move || {
        let store = app.store();
        if let Some(after) = &wanted.after
            && store.approval(after)?.is_none_or(|it| !caller.may_see(&it.question))
        {
            return Err(ApiError::malformed("`after` must be the id of a question: what `next` said."));
        }
        let which = Questions {
            pending: !wanted.all,
            tenant: caller.tenant.as_deref(),
            session: wanted.session.as_deref(),
            agent: wanted.agent.as_deref(),
            oldest_first: wanted.order == Order::Oldest,
            after: wanted.after.as_deref(),
            // One more, to know whether there are more.
            limit: most + 1,
        };
        Ok(store.questions(&which, &|question| caller.may_see(question))?)
    });
    let mut found = found.await?;
    let more = found.len() > most;
    found.truncate(most);
    let next = found.last().filter(|_| more).map(|last| last.question.id.clone());
    let found: Vec<Approval> = found.into_iter().map(Approval::brief).collect();
    Ok(Json(json!({"approvals": found, "next": next})))
}

/// One question. Whoever was given its id may know how it stands; only whoever may answer it sees it whole.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named,
) -> Result<Json<Value>, ApiError> {
    let approval = find(&app, &id).await?;
    let question = &approval.question;
    if caller.may_see(question) {
        return Ok(Json(serde_json::to_value(&approval).map_err(|error| ApiError::internal(&error))?));
    }
    // An approver sees what is addressed to it, and of the rest not even that it is there.
    if caller.role != Role::Agent || !caller.is_of_their_tenant(&question.actor) {
        return Err(ApiError::no_approval());
    }
    Ok(Json(to_whoever_asked(&approval)))
}

/// Which width.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wider {
    width: Width,
}

/// What else a yes of this width would have let pass.
pub(super) async fn preview_width(
    State(app): State<Arc<App>>,
    Approver { caller, person }: Approver,
    Named(id): Named,
    Asked(Wider { width }): Asked<Wider>,
) -> Result<Json<Value>, ApiError> {
    let question = theirs(&app, &caller, &id).await?.question;
    let offer = question.offers.iter().find(|offer| offer.width == width).cloned();
    let offer = offer.ok_or_else(ApiError::not_offered)?;
    blocking(move || {
        let policy = app.gate_of(&question)?.in_force();
        app.with_log(sayso_gate::audit::Log::fold)?;
        let found = preview(app.store().as_ref(), &policy.policy, &question, &offer, &person)?;
        Ok(Json(json!({"width": width, "words": offer.words, "preview": found})))
    })
    .await
}

/// Answers a question.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    Approver { caller, person }: Approver,
    Named(id): Named,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, ApiError> {
    let reply = reply(&headers, bytes)?;
    let question = theirs(&app, &caller, &id).await?.question;
    let answering = Arc::clone(&app);
    let answered = blocking(move || give(&answering, &question, (&person, &caller.via), &reply)).await;
    app.tail.look_now();
    app.waiting.tell(&id);
    Ok(Json(serde_json::to_value(&answered?).map_err(|error| ApiError::internal(&error))?))
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

fn reply(headers: &HeaderMap, bytes: Result<Bytes, BytesRejection>) -> Result<Reply, ApiError> {
    let fields = body::object(headers, bytes, &["verdict", "remember", "width"])?;
    let word = |key: &str| fields.string(key).map_err(ApiError::malformed);
    let verdict = match word("verdict")?.as_deref() {
        Some("allow") => Verdict::Allow,
        Some("deny") => Verdict::Deny,
        _ => return Err(ApiError::malformed("`verdict` must be allow or deny.")),
    };
    let remember = match word("remember")?.as_deref() {
        None | Some("once") => Remember::Once,
        Some("session") => Remember::Session,
        Some("always") => Remember::Always,
        Some(_) => return Err(ApiError::malformed("`remember` must be once, session or always.")),
    };
    let width = match word("width")? {
        None => Width::Exact,
        Some(word) => Width::ALL
            .into_iter()
            .find(|width| width.as_str() == word)
            .ok_or_else(|| ApiError::malformed("`width` must be exact, program or folder."))?,
    };
    Ok(Reply { verdict, remember, width })
}

async fn find(app: &Arc<App>, id: &str) -> Result<Approval, ApiError> {
    let (store, id) = (app.store(), id.to_owned());
    blocking(move || Ok(store.approval(&id)?)).await?.ok_or_else(ApiError::no_approval)
}

async fn theirs(app: &Arc<App>, caller: &Caller, id: &str) -> Result<Approval, ApiError> {
    let approval = find(app, id).await?;
    if caller.may_see(&approval.question) { Ok(approval) } else { Err(ApiError::no_approval()) }
}
