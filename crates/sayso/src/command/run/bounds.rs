//! The bounds of a run, by the policy in force.

use super::Stop;
use super::cleared::Cleared;
use sayso_policy::shell::bounds::{Bounds, Need};
use std::ffi::OsString;

/// The bounds of this run.
///
/// INVARIANT: what the decision needs, the caller cannot lessen.
pub(super) fn of(cleared: &Cleared, asked: Option<Need>) -> Result<Bounds, Stop> {
    let mut bounds = lowered(cleared)?;
    let least = asked.unwrap_or(bounds.need);
    bounds.need = cleared.need.map_or(least, |need| need.max(least));
    Ok(bounds)
}

fn lowered(cleared: &Cleared) -> Result<Bounds, Stop> {
    let variables: Vec<OsString> = std::env::vars_os().map(|(name, _)| name).collect();
    let Cleared { places, in_force, workspace, home, actor, .. } = cleared;
    Ok(sayso_gate::hold::bounds(places, in_force, workspace, home.as_deref(), (actor, &variables))?.bounds)
}
