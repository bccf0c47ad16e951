//! `/v1/links`: a question behind a one-time link, and its answer. The link itself is the secret, and stands in the body.

use super::approvals::give;
use super::asked::blocking;
use super::body;
use super::try_box::marks;
use crate::app::App;
use crate::error::ApiError;
use crate::wire::line::Fields;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::HeaderMap;
use sayso_gate::approval::{Approval, Remember, Reply, Width};
use sayso_gate::store::Approvals as _;
use sayso_policy::Verdict;
use serde_json::{Value, json};
use std::sync::Arc;

/// How such an answer came, as it stands in the record.
const VIA: &str = "webhook link";

/// Shows the question. Looking changes nothing.
pub(super) async fn question(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, ApiError> {
    let fields = body::object(&headers, bytes, &["link"])?;
    let link = app.links.look(&secret(&fields)?)?;
    blocking(move || {
        let approval = app.store().approval(&link.question)?.ok_or_else(ApiError::no_link)?;
        let marks = marks(&app, &approval.question);
        Ok(Json(json!({"approval": approval, "marks": marks, "person": link.person})))
    })
    .await
}

/// Answers it, once and for this call alone.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, ApiError> {
    let fields = body::object(&headers, bytes, &["link", "verdict", "automated"])?;
    let secret = secret(&fields)?;
    let verdict = match fields.string("verdict").map_err(ApiError::malformed)?.as_deref() {
        Some("allow") => Verdict::Allow,
        Some("deny") => Verdict::Deny,
        _ => return Err(ApiError::malformed("`verdict` must be allow or deny.")),
    };
    // A service that answers by itself says so. It cannot say that it is a person.
    let automated = match fields.value("automated").map_err(ApiError::malformed)? {
        None => false,
        Some(Value::Bool(automated)) => automated,
        Some(_) => return Err(ApiError::malformed("`automated` must be true or false.")),
    };
    let link = app.links.take(&secret)?;
    let mut person = link.person.clone();
    person.automated |= automated;
    let (answering, id) = (Arc::clone(&app), link.question.clone());
    let answered = blocking(move || {
        let approval = answering.store().approval(&id)?.ok_or_else(ApiError::no_link)?;
        let reply = Reply { verdict, remember: Remember::Once, width: Width::Exact };
        give(&answering, &approval.question, (&person, VIA), &reply)
    });
    let answered: Approval = answered.await.inspect_err(|error| {
        if error.is_internal() {
            app.links.put_back(&secret, link.clone());
        }
    })?;
    app.tail.look_now();
    app.waiting.tell(&link.question);
    Ok(Json(json!({"standing": answered.standing})))
}

fn secret(fields: &Fields) -> Result<String, ApiError> {
    let secret = fields.string("link").map_err(ApiError::malformed)?;
    secret.ok_or_else(|| ApiError::malformed("`link` is missing: what stands behind # in the address."))
}
