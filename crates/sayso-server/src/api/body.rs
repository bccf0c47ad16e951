//! The body of a request: JSON, with the right content type, and not too long.

use crate::error::ApiError;
use crate::wire::line::{self, Fields, Id};
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, header};

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
    let body = body.map_err(|rejection| ApiError::unreadable(rejection.status(), &rejection.body_text()))?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") { Ok(body) } else { Err(ApiError::not_json()) }
}

/// The object in it.
pub(super) fn read(body: &[u8]) -> Result<(Id, Fields), ApiError> {
    let (id, fields) = line::read(body);
    // The reader is that of lines.
    Ok((id, fields.map_err(|why| ApiError::malformed(why.replacen("The line", "The body", 1)))?))
}
