//! Environment prefixes that change what runs.

use super::text::Env;
use super::{Description, Invocation, tame, variable};
use crate::word::Word;

/// Whether setting this variable for a command changes which code runs, where it is fetched from, or whom it trusts.
#[must_use]
pub fn changes_what_runs(name: &str) -> bool {
    let does = variable::said_of(name);
    does & Env::ChangesWhatRuns as u8 != 0 && does & Env::Tunes as u8 == 0
}

/// Whether Python would look for modules in folders of the project, by a program that runs the project's code anyway:
/// tests can be written to import whatever lies there.
fn adds_own_modules(name: &str, value: &Word, description: &Description) -> bool {
    let own = |folder: &str| !folder.starts_with(['/', '~', '$']) && !folder.split('/').any(|part| part == "..");
    let runs_project = description.options.iter().any(|option| super::is_fact(&option.name));
    // `python -m pytest` only starts it, and is asked about that.
    let only_starts = description.transparent && !description.starts.is_empty();
    name == "PYTHONPATH"
        && (runs_project || only_starts)
        && value.exact_str().is_some_and(|folders| !folders.is_empty() && folders.split(':').all(own))
}

/// Whether a variable of this value changes what runs.
pub(crate) fn steers(name: &str, value: &Word) -> bool {
    changes_what_runs(name) && !tame::is_tame(name, value)
}

pub(super) fn add_effects(inv: &Invocation<'_>, description: &mut Description) {
    for (name, value) in inv.env {
        let Some(name) = name.as_str() else { continue };
        let taught = inv.programs.taught(inv.name).map_or(0, |taught| taught.env(name));
        if taught & Env::ChangesWhatRuns as u8 != 0 {
            variable::needs_yes(inv, name, format!("{name} changes what {} runs", inv.name), description);
            continue;
        }
        if taught & (Env::Writes as u8 | Env::WritesBelow as u8) != 0 {
            variable::written(inv, name, value, taught & Env::WritesBelow as u8 != 0, description);
        }
        if adds_own_modules(name, value, description) {
            continue;
        }
        if steers(name, value) {
            variable::connects(inv, value, description);
            variable::needs_yes(inv, name, format!("{name} changes what {} runs", inv.name), description);
        } else if changes_what_runs(name) {
            // Its value makes it harmless.
        } else if variable::names_output(name) {
            variable::written(inv, name, value, variable::is_folder(name), description);
        } else if variable::is_recipe(inv, value) {
            variable::needs_yes(inv, name, format!("{name} may run as part of a recipe"), description);
        } else if variable::fills_in(inv, name, description) {
            variable::needs_yes(
                inv,
                name,
                format!("{name} may stand in the file that {} goes by", inv.name),
                description,
            );
        } else if variable::is_strange(inv, name, value, description) {
            let text = format!("nobody knows what {} makes of {name}", inv.name);
            variable::needs_yes(inv, name, text, description);
        }
    }
}
