//! Which sessions have a plan that may be approved: calls of all others need not look.
//!
//! A small file for each such session, with the time at which its last plan ends. A call that is allowed anyway opens no
//! database; only in such a session it does, to use up the step that it is. If the file is lost, such a call uses up
//! nothing, and the steps behind it ask.

use crate::fact::Whose;
use crate::places::write_own;
use crate::{Error, Places};
use sayso_policy::Actor;
use std::path::Path;

/// The folder in Sayso's own.
const FOLDER: &str = "plans";

fn name(actor: &Actor) -> Option<String> {
    Whose::of(actor, None).own().map(str::to_owned)
}

/// Notes that a plan of this actor's session may be carried out until then.
pub(super) fn note(places: &Places, actor: &Actor, until_ms: u64) -> Result<(), Error> {
    let Some(name) = name(actor) else { return Ok(()) };
    let folder = places.own_folder(FOLDER)?;
    sweep(&folder, crate::audit::now_ms());
    let file = folder.join(name);
    let until_ms = until_ms.max(read(&file).unwrap_or_default());
    write_own(&file, until_ms.to_string().as_bytes())
}

/// Whether this actor's session has one.
pub(crate) fn is_active(places: &Places, actor: &Actor, now_ms: u64) -> bool {
    let Some(name) = name(actor) else { return false };
    read(&places.state.join(FOLDER).join(name)).is_some_and(|until_ms| now_ms < until_ms)
}

fn read(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.parse().ok()
}

/// Forgets those that have ended.
fn sweep(folder: &Path, now_ms: u64) {
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if read(&file.path()).is_some_and(|until_ms| until_ms < now_ms) {
            // If it stays, calls of a session look once more than they must.
            let _ = std::fs::remove_file(file.path());
        }
    }
}
