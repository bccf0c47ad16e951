//! Which of the three levels holds, and what it leaves open. Today there is one: the hook writes its record as the
//! agent's own user.

use super::Checked;
use sayso_agents::install::Scope;
use sayso_gate::Places;
use std::path::Path;

/// What the level means.
pub(super) const MEANING: &str = "It stops mistakes and injected commands that it sees, not code that was\nallowed to run and then attacks Sayso (SECURITY.md).";

/// What code that was allowed to run could do on this machine.
pub(super) fn attacker(places: &Places, agents: &[Checked]) -> Vec<String> {
    let mut deeds = Vec::new();
    let mut files: Vec<String> = Vec::new();
    let mut programs: Vec<String> = Vec::new();
    for registration in agents.iter().flat_map(|checked| &checked.registrations) {
        if registration.scope != Scope::Managed || writable(&registration.path) {
            files.push(places.shown(&registration.path));
        }
        let program = places.shown(&registration.program);
        if writable(&registration.program) && !programs.contains(&program) {
            programs.push(program);
        }
    }
    if !files.is_empty() {
        deeds.push(format!("remove Sayso from {}", files.join(", ")));
    }
    if !programs.is_empty() {
        deeds.push(format!("replace {} with another program", programs.join(", ")));
    }
    if !places.managed.exists() || writable(&places.managed) {
        deeds.push(format!("change the policy in {}", places.shown(&places.user)));
    }
    deeds.push(format!(
        "change the record in {}; a head exported elsewhere would reveal it",
        places.shown(&places.state)
    ));
    deeds
}

/// Whether this user can change a file, or put another in its place. Root can.
fn writable(path: &Path) -> bool {
    let may = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    may(path) || path.parent().is_some_and(may)
}
