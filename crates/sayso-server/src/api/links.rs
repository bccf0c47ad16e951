//! `/v1/links`: a question behind a one-time link, and its answer. The link itself is the secret, and stands in the body.

use super::approvals::{YesOrNo, give};
use super::body::{Asks, Short};
use super::parameters::blocking;
use super::try_box::marks;
use crate::app::App;
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use sayso_gate::approval::{Approval, Remember, Reply, Standing, Width};
use sayso_policy::Person;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// How such an answer came, as it stands in the record.
const VIA: &str = "webhook link";

/// A one-time link.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    /// What stands behind # in the link of a webhook's message.
    link: String,
}

impl Asks for Link {}

/// The question, and who answers with this link.
#[derive(Serialize, ToSchema)]
#[schema(as = LinkedQuestion)]
pub(super) struct Linked {
    approval: Approval,
    /// Where in its command the parts stand that are not allowed: begin and end, in bytes. null: not known.
    #[schema(required)]
    marks: Option<Vec<[u32; 2]>>,
    person: Person,
}

/// An answer by a one-time link.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkAnswer {
    /// What stands behind # in the link of a webhook's message.
    link: String,
    verdict: YesOrNo,
    /// Said by a service that answers by itself. It cannot say that it is a person.
    automated: Option<bool>,
}

impl Asks for LinkAnswer {}

/// How the question stands now.
#[derive(Serialize, ToSchema)]
#[schema(as = LinkAnswered)]
pub(super) struct Answered {
    standing: Standing,
}

/// Shows the question. Looking changes nothing.
pub(super) async fn question(
    State(app): State<Arc<App>>,
    Short(Link { link }): Short<Link>,
) -> Result<Json<Linked>, ApiError> {
    let link = app.links.look(&link)?;
    blocking(move || {
        let approval = app.store().approval(&link.question)?.ok_or_else(ApiError::no_link)?;
        let marks = marks(&app, &approval.question);
        Ok(Json(Linked { approval, marks, person: link.person }))
    })
    .await
}

/// Answers it, once and for this call alone.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    Short(LinkAnswer { link: secret, verdict, automated }): Short<LinkAnswer>,
) -> Result<Json<Answered>, ApiError> {
    let link = app.links.take(&secret)?;
    let mut person = link.person.clone();
    person.automated |= automated.unwrap_or(false);
    let (answering, id) = (Arc::clone(&app), link.question.clone());
    let answered = blocking(move || {
        let approval = answering.store().approval(&id)?.ok_or_else(ApiError::no_link)?;
        let reply = Reply { verdict: verdict.into(), remember: Remember::Once, width: Width::Exact, parts: None };
        give(&answering, &approval.question, (&person, VIA), &reply)
    });
    let answered: Approval = answered.await.inspect_err(|error| {
        if error.is_internal() {
            app.links.put_back(&secret, link.clone());
        }
    })?;
    app.tail.look_now();
    app.waiting.tell(&link.question);
    Ok(Json(Answered { standing: answered.standing }))
}
