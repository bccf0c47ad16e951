//! Seeing the guard deny a call of the real agent.

use super::Checked;
use crate::failure::Failure;
use sayso_agents::install::Scope;
use sayso_agents::live::{Live, Rehearsal, Stage, can_rehearse, rehearse};
use sayso_gate::Places;
use serde_json::{Value, json};
use std::path::Path;

/// Lets an agent make a call that must be denied, and one that must run held where the policy holds runs; `None` if it is not
/// guarded at all.
pub(super) fn see(
    checked: &Checked,
    places: &Places,
    sayso: &Path,
    project: &Path,
    hold: bool,
) -> Result<Option<Rehearsal>, Failure> {
    if checked.registrations.is_empty() {
        return Ok(None);
    }
    let agent = checked.agent;
    let Some(found) = checked.found.as_ref().filter(|_| can_rehearse(agent)) else {
        let why = if can_rehearse(agent) { "it is not on PATH" } else { "it cannot be run with Sayso's test model" };
        return Ok(Some(Rehearsal { live: Live::NotSeen(why.to_owned()), hold: None }));
    };
    // A project's registration counts in that project alone.
    let only_here = checked.registrations.iter().all(|registration| registration.scope == Scope::Project);
    eprintln!("{}: trying a harmless call that must be denied ...", agent.title());
    let stage = Stage {
        places: places.clone(),
        program: found.program.clone(),
        sayso: sayso.to_owned(),
        project: only_here.then(|| project.to_owned()),
        hold,
    };
    Ok(Some(rehearse(agent, &stage)?))
}

pub(super) fn in_words(live: &Live) -> String {
    match live {
        Live::Denied => "the agent asked Sayso, Sayso denied, and the call did not run".to_owned(),
        Live::Ran => "THE CALL RAN. The agent is not guarded".to_owned(),
        Live::NotAsked(told) => format!("the call did not run, but Sayso was not asked: {told}"),
        Live::NotSeen(why) => format!("could not be tested: {why}"),
    }
}

pub(super) fn as_json(live: &Live) -> Value {
    let (name, text) = match live {
        Live::Denied => ("denied", None),
        Live::Ran => ("ran", None),
        Live::NotAsked(told) => ("not-asked", Some(told)),
        Live::NotSeen(why) => ("not-seen", Some(why)),
    };
    json!({"result": name, "text": text})
}
