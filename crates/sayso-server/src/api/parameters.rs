//! What stands in the address of a request, and whose records it may be about.

use crate::error::ApiError;
use crate::who::Caller;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// The parameters of an address. Whatever is not understood is refused: a filter must not be left out.
pub(super) struct Parameters<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let asked = Query::<T>::from_request_parts(parts, state).await;
        asked.map(|Query(asked)| Self(asked)).map_err(|error| ApiError::parameters(&error.body_text()))
    }
}

/// The name of one thing, as it stands in a path.
pub(super) struct Named(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let name = Path::<String>::from_request_parts(parts, state).await;
        name.map(|Path(name)| Self(name)).map_err(|error| ApiError::path(&error.body_text()))
    }
}

/// Whose records are wanted; `None`: everybody's. Whoever has a tenant asks about that one, and of others nothing is
/// found.
pub(super) fn tenant(caller: &Caller, asked: Option<String>) -> Result<Option<String>, ApiError> {
    match (&caller.tenant, asked) {
        (None, asked) => Ok(asked),
        (Some(theirs), Some(asked)) if *theirs != asked => Err(ApiError::not_found()),
        (Some(theirs), _) => Ok(Some(theirs.clone())),
    }
}

/// Work that looks at files or waits for the store, off the threads that serve.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| ApiError::internal(&error))?
}
