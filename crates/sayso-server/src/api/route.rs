//! `POST /v1/route`: which model an agent is to use.

use super::body::{self, Keys};
use super::call::Context;
use super::parameters::blocking;
use crate::app::App;
use crate::error::ApiError;
use crate::who::Caller;
use axum::Json;
use axum::extract::State;
use sayso_gate::wire;
use sayso_policy::Route;
use std::sync::Arc;
use utoipa::ToSchema;

/// Who asks.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RouteRequest)]
#[expect(dead_code, reason = "the fields are described, and read one by one")]
pub(super) struct Asked {
    context: Option<Context>,
    /// Absolute.
    cwd: Option<String>,
    /// Absolute; absent: the working directory.
    workspace: Option<String>,
}

/// Names the model that an agent is to use.
pub(super) async fn route(
    State(app): State<Arc<App>>,
    caller: Caller,
    Keys(body, _): Keys<Asked>,
) -> Result<Json<Route>, ApiError> {
    let fields = body::object(&body, &["context", "workspace", "cwd"])?;
    blocking(move || {
        let mut actor = wire::actor(&fields).map_err(ApiError::malformed)?;
        app.sign(&caller, &mut actor, None)?;
        let workspace = match wire::folder(&fields, "workspace").map_err(ApiError::malformed)? {
            Some(workspace) => Some(workspace),
            None => wire::folder(&fields, "cwd").map_err(ApiError::malformed)?,
        };
        Ok(app.gate(workspace.as_deref())?.route(&actor)?)
    })
    .await
    .map(Json)
}
