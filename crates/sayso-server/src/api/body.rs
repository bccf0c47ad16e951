//! The body of a request: JSON, with the right content type, and not too long.

use crate::error::ApiError;
use crate::typed::typed;
use axum::body::{self, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use sayso_gate::wire::line::{self, Fields, Id};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use utoipa::ToSchema;

/// Longest body: a command may have 64 KiB, arguments of a tool that writes a file more.
pub(crate) const MAX_BODY: usize = 4 * 1024 * 1024;
/// For what anybody may send from anywhere: nothing but a key or a link is in it.
const SHORT: usize = 4096;

/// What a body says. A key that is not known is refused, as is one that stands there twice; `null` is nothing.
pub(crate) trait Asks: DeserializeOwned + ToSchema {
    /// One of these must be there, with all of its keys.
    const EITHER: &'static [&'static [&'static str]] = &[];
}

/// An object, read into its type.
pub(crate) struct Body<T>(pub(crate) T);

/// The same, of which only a little is taken.
pub(crate) struct Short<T>(pub(crate) T);

/// JSON that is read key by key, since its strings may hold bytes that are no text; described by a type.
pub(crate) struct Keys<T>(pub(crate) Bytes, pub(crate) PhantomData<T>);

impl<T: Asks, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let body = json(request, state).await?;
        let (_, fields) = read(&body)?;
        let said = |keys: &&[&str]| keys.iter().all(|key| fields.has(key));
        if !T::EITHER.is_empty() && !T::EITHER.iter().any(said) {
            let sets: Vec<String> = T::EITHER.iter().map(|keys| format!("`{}`", keys.join("` and `"))).collect();
            return Err(ApiError::malformed(format!("Give {}.", sets.join(", or "))));
        }
        typed(&fields).map(Self).map_err(ApiError::malformed)
    }
}

impl<T: Asks, S: Send + Sync> FromRequest<S> for Short<T> {
    type Rejection = ApiError;

    async fn from_request(mut request: Request, state: &S) -> Result<Self, ApiError> {
        DefaultBodyLimit::max(SHORT).apply(&mut request);
        Body::from_request(request, state).await.map(|Body(asked)| Self(asked))
    }
}

impl<T, S: Send + Sync> FromRequest<S> for Keys<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        Ok(Self(json(request, state).await?, PhantomData))
    }
}

/// An answer in JSON, written into one piece of memory that nearly all of them fit into.
pub(crate) struct Written<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Written<T> {
    fn into_response(self) -> Response {
        let mut json = Vec::with_capacity(1024);
        if let Err(error) = serde_json::to_writer(&mut json, &self.0) {
            return ApiError::internal(&error).into_response();
        }
        let mut response = Response::new(body::Body::from(json));
        // With those that every answer gets.
        response.headers_mut().reserve(16);
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// A body of JSON, whatever it holds. The other headers of its request are not copied, and go with it.
///
/// The content type must be JSON: a form of another site can send a body, but not that header.
async fn json<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let is_json = media_type.eq_ignore_ascii_case("application/json");
    let body = Bytes::from_request(request, state).await;
    let body = body.map_err(|rejection| ApiError::unreadable(rejection.status(), &rejection.body_text()))?;
    if is_json { Ok(body) } else { Err(ApiError::not_json()) }
}

/// The object in it.
pub(super) fn read(body: &[u8]) -> Result<(Id, Fields), ApiError> {
    let (id, fields) = line::read(body);
    // The reader is that of lines.
    Ok((id, fields.map_err(|why| ApiError::malformed(why.replacen("The line", "The body", 1)))?))
}

/// The object in it, in which nothing but these stands.
pub(super) fn object(body: &[u8], known: &[&str]) -> Result<Fields, ApiError> {
    let (_, fields) = read(body)?;
    fields.only(known).map_err(ApiError::malformed)?;
    Ok(fields)
}
