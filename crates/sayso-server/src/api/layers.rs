//! `GET /v1/policy/layers`: what is in force for one actor.

use super::parameters::{Parameters, blocking};
use crate::app::App;
use crate::error::ApiError;
use crate::who::Owner;
use axum::Json;
use axum::extract::State;
use sayso_policy::Actor;
use sayso_policy::explain::{self, LayerInForce};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Whose layers.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Whose {
    /// The folder whose policy is meant; where the server was started unless it is said.
    #[param(value_type = Option<String>)]
    workspace: Option<PathBuf>,
    /// The kind of agent.
    agent: Option<String>,
    /// The model's provider, or `provider/model`.
    provider: Option<String>,
    /// The team.
    team: Option<String>,
    /// The member of that team.
    member: Option<String>,
    /// The tenant.
    tenant: Option<String>,
    /// It was started by another agent.
    subagent: Option<bool>,
}

/// The layers.
#[derive(Serialize, ToSchema)]
#[schema(as = PolicyLayers)]
pub(super) struct Found {
    /// The policy's version.
    version: String,
    /// Who is meant, with what the owner states of calls that come in here.
    actor: Actor,
    layers: Vec<LayerInForce>,
}

/// Names them, file by file.
pub(super) async fn layers(
    State(app): State<Arc<App>>,
    _: Owner,
    Parameters(whose): Parameters<Whose>,
) -> Result<Json<Found>, ApiError> {
    blocking(move || {
        let workspace = whose.workspace.unwrap_or_else(|| PathBuf::from(&app.about.folder));
        if !workspace.is_absolute() {
            return Err(ApiError::malformed("`workspace` must be an absolute path."));
        }
        let in_force = app.gate(Some(&workspace))?.in_force_now();
        let actor = Actor {
            agent: whose.agent,
            provider: whose.provider,
            team: whose.team,
            member: whose.member,
            tenant: whose.tenant,
            subagent: whose.subagent.unwrap_or_default(),
            ..Actor::default()
        };
        let actor = in_force.policy.owned(actor, true);
        Ok(Json(Found {
            version: in_force.policy.version().to_owned(),
            layers: explain::layers(&in_force.policy, &in_force.files, &actor),
            actor,
        }))
    })
    .await
}
