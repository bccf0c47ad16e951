//! Whether the registered program is still the one that was registered: by its content. What a program says of itself
//! is no proof, and to start one that was put in Sayso's place would be to run it.

use sayso_agents::Agent;
use sayso_agents::find::version_of;
use sayso_agents::install::{Finding, Registration};
use sayso_gate::Places;
use sayso_gate::registered::{self, PROGRAMS, content_of};
use std::path::Path;

/// What is wrong with the programs of these registrations.
pub(super) fn compared(agent: Agent, registrations: &[Registration], places: &Places, this: &Path) -> Vec<Finding> {
    let noted = registered::all(places);
    let compare = |registration: &Registration| {
        let path = &registration.program;
        let program = path.display();
        let renew = format!("sayso install {agent} --{}", registration.scope.name());
        let note = noted.iter().find(|note| note.agent == agent.name() && note.file == registration.path);
        let now = content_of(path)?;
        let noted = note.filter(|note| note.program == *path).map(|note| note.content.as_ref());
        let (code, text) = match noted {
            Some(Some(then)) if *then == now => {
                // It is what was registered, so it may be asked.
                let version = version_of(path).filter(|_| path != this)?;
                if version == env!("CARGO_PKG_VERSION") {
                    return None;
                }
                let own = env!("CARGO_PKG_VERSION");
                ("other-version", format!("{program} is version {version}, this is {own}. Run: {renew}"))
            }
            Some(_) => (
                "other-content",
                format!(
                    "{program} is not the program that was registered. If you upgraded Sayso, run: {renew}. Otherwise someone replaced it: reinstall Sayso first."
                ),
            ),
            None if ours(this).any(|own| own == now) => (
                "not-noted",
                format!(
                    "Sayso has no record of this registration, so {program} is not protected in other agents' sessions. Run: {renew}"
                ),
            ),
            None => (
                "other-content",
                format!("{program} is not this Sayso, and there is no record of what it should be. Run: {renew}"),
            ),
        };
        Some(Finding { code, text })
    };
    registrations.iter().filter_map(compare).collect()
}

/// The contents of this program and of the one that lies beside it.
fn ours(this: &Path) -> impl Iterator<Item = String> {
    PROGRAMS.into_iter().filter_map(|name| content_of(&this.with_file_name(name)))
}
