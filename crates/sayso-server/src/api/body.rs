//! The body of a request: JSON, with the right content type, and not too long.

use crate::error::ApiError;
use crate::wire::line::{self, Fields, Id};
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use serde::Serialize;

/// Longest body: a command may have 64 KiB, arguments of a tool that writes a file more.
pub(crate) const MAX_BODY: usize = 4 * 1024 * 1024;

/// The object in a body, in which nothing but these stands.
pub(super) fn object(
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
    known: &[&str],
) -> Result<Fields, ApiError> {
    let (_, fields) = read(&json(headers, body)?)?;
    fields.only(known).map_err(ApiError::malformed)?;
    Ok(fields)
}

/// A body of JSON, whatever it holds.
///
/// The content type must be JSON: a form of another site can send a body, but not that header.
pub(super) fn json(headers: &HeaderMap, body: Result<Bytes, BytesRejection>) -> Result<Bytes, ApiError> {
    of_type(is_json(headers), body)
}

/// A body of JSON, taken from a request whose other headers nobody needs: they are not copied, and go with it.
pub(super) struct JsonBody(pub(super) Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let is_json = is_json(request.headers());
        of_type(is_json, Bytes::from_request(request, state).await).map(Self)
    }
}

fn of_type(is_json: bool, body: Result<Bytes, BytesRejection>) -> Result<Bytes, ApiError> {
    let body = body.map_err(|rejection| ApiError::unreadable(rejection.status(), &rejection.body_text()))?;
    if is_json { Ok(body) } else { Err(ApiError::not_json()) }
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/json")
}

/// An answer in JSON, written into one piece of memory that nearly all of them fit into.
pub(super) fn answer(said: &impl Serialize) -> Result<Response, ApiError> {
    let mut json = Vec::with_capacity(1024);
    serde_json::to_writer(&mut json, said).map_err(|error| ApiError::internal(&error))?;
    let mut response = Response::new(Body::from(json));
    // With those that every answer gets.
    response.headers_mut().reserve(16);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// The object in it.
pub(super) fn read(body: &[u8]) -> Result<(Id, Fields), ApiError> {
    let (id, fields) = line::read(body);
    // The reader is that of lines.
    Ok((id, fields.map_err(|why| ApiError::malformed(why.replacen("The line", "The body", 1)))?))
}
