//! What the answer of a handler says of its address.

use super::Described;
use crate::api::body::Written;
use crate::error::ApiError;
use axum::Json;
use utoipa::ToSchema;

/// What a handler answers.
pub(crate) trait DescribesAnswer {
    fn describe(described: &mut Described);
}

/// Refusals are described for all addresses alike.
impl<T: DescribesAnswer> DescribesAnswer for Result<T, ApiError> {
    fn describe(described: &mut Described) {
        T::describe(described);
    }
}

impl<T: ToSchema> DescribesAnswer for Json<T> {
    fn describe(described: &mut Described) {
        described.add_answer::<T>(200);
    }
}

impl<T: ToSchema> DescribesAnswer for Written<T> {
    fn describe(described: &mut Described) {
        described.add_answer::<T>(200);
    }
}
