//! `/v1/mode`: the mode in force, halting everything, and ending a halt.
//!
//! INVARIANT: only `halt` and `enforce` can be said here. What loosens needs the person's own terminal.

use super::body::{Asks, Body};
use super::parameters::blocking;
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::who::{Approver, Role};
use axum::Json;
use axum::extract::State;
use sayso_gate::mode::{Switch, end, switch};
use sayso_gate::{EffectiveMode, Error};
use sayso_policy::text::Mode;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;
use utoipa::ToSchema;

/// Longest reason that is kept.
const MOST: usize = 500;

/// What is to be in force.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ModeWanted)]
pub(super) struct Wanted {
    run: Run,
    /// Why, for the record.
    because: Option<String>,
}

impl Asks for Wanted {}

/// The modes that can be asked for here.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ModeRun)]
enum Run {
    /// Deny every call of every agent of this user.
    Halt,
    /// Go back to what the policy files say.
    Enforce,
}

/// Tells which mode decides.
pub(super) async fn show(State(app): State<Arc<App>>, _: Approver) -> Result<Json<EffectiveMode>, ApiError> {
    blocking(move || now(&app).map(Json)).await
}

/// Halts, for whoever may answer questions of everybody; or ends a halt, for the owner.
pub(super) async fn set(
    State(app): State<Arc<App>>,
    Approver { caller, person }: Approver,
    Body(Wanted { run, because }): Body<Wanted>,
) -> Result<Json<EffectiveMode>, ApiError> {
    if caller.tenant.is_some() || (run == Run::Enforce && caller.role < Role::Admin) {
        return Err(ApiError::not_yours());
    }
    let telling = Arc::clone(&app);
    let set = blocking(move || {
        let why = because.map(|why| why.chars().take(MOST).collect::<String>());
        let why = why.filter(|why| !why.trim().is_empty()).unwrap_or_else(|| "halted on the page".to_owned());
        match run {
            Run::Halt => {
                let halt = Switch { mode: Mode::Halt, by: person, why, since_ms: now_ms(), until_ms: None };
                switch(app.memory(), &halt, false)
            }
            Run::Enforce => end(app.memory(), &person).map(|_| ()),
        }
        .map_err(|error| match error {
            Error::Mode(why) => ApiError::malformed(why),
            error => error.into(),
        })?;
        now(&app).map(Json)
    })
    .await;
    telling.tail.look_now();
    set
}

fn now(app: &App) -> Result<EffectiveMode, ApiError> {
    let in_force = app.gate(Some(Path::new(&app.about.folder)))?.in_force_now();
    Ok(EffectiveMode::now(&app.places, &in_force))
}
