//! Environment prefixes that change what runs.

use super::text::Env;
use super::{Description, Invocation, variable};
use crate::word::Word;

/// Whether setting this variable for a command changes which code runs, where it is fetched from, or whom it trusts.
#[must_use]
pub fn changes_what_runs(name: &str) -> bool {
    let does = variable::said_of(name);
    does & Env::ChangesWhatRuns as u8 != 0 && does & Env::Tunes as u8 == 0
}

/// Values that make a variable harmless whatever it could do otherwise: `GIT_PAGER=cat`, `PAGER=`.
fn is_tame_value(name: &str, value: &Word) -> bool {
    let pager = matches!(name, "PAGER" | "GIT_PAGER" | "MANPAGER" | "SYSTEMD_PAGER" | "GH_PAGER" | "BAT_PAGER");
    pager && matches!(value.exact(), Some(b"" | b"cat" | b"/bin/cat" | b"/usr/bin/cat"))
        || matches!(name, "RUSTFLAGS" | "RUSTDOCFLAGS") && value.exact_str().is_some_and(only_tunes_rustc)
        || name == "PGHOST" && value.exact().is_some_and(|host| host == b"localhost" || host.starts_with(b"/"))
        || name == "CARGO_TARGET_DIR" && value.exact_str().is_some_and(is_output_folder)
        || name == "LESS" && value.exact_str().is_some_and(|v| !v.contains(['+', '!', 'k', 'o', 'O']))
}

/// Whether flags of rustc set lints and how code is made, and name no program, library or file.
fn only_tunes_rustc(flags: &str) -> bool {
    const TUNES: &[&str] = &[
        "codegen-units",
        "debug-assertions",
        "debuginfo",
        "embed-bitcode",
        "force-frame-pointers",
        "instrument-coverage",
        "link-dead-code",
        "lto",
        "opt-level",
        "overflow-checks",
        "panic",
        "strip",
        "symbol-mangling-version",
        "target-cpu",
        "target-feature",
    ];
    let codegen = |option: &str| TUNES.contains(&option.split('=').next().unwrap_or(option));
    let mut words = flags.split_ascii_whitespace();
    while let Some(word) = words.next() {
        let known = match word {
            "-D" | "-W" | "-A" | "-F" | "--cfg" | "--check-cfg" | "--cap-lints" => {
                words.next().is_some_and(|value| !value.starts_with(['-', '@']))
            }
            "-C" => words.next().is_some_and(codegen),
            "-g" | "-O" => true,
            word => {
                let lint = |letter: &str| word.strip_prefix(letter).is_some_and(|name| !name.contains(['/', '@']));
                ["-D", "-W", "-A", "-F", "--cap-lints=", "--cfg="].into_iter().any(lint)
                    || word.strip_prefix("-C").is_some_and(codegen)
            }
        };
        if !known {
            return false;
        }
    }
    true
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

/// Whether a folder is one that cargo may fill and empty: `target` or its like in the project, or a temporary one.
/// `cargo clean` removes all of it.
fn is_output_folder(path: &str) -> bool {
    let mut parts = path.strip_prefix("./").unwrap_or(path).split('/');
    let scratch =
        ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|folder| path.len() > folder.len() && path.starts_with(folder));
    let target = parts.next().is_some_and(|first| {
        first.strip_prefix("target").is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', '.']))
    });
    (scratch || target) && !path.split('/').any(|part| part == "..")
}

/// Whether a variable of this value changes what runs.
pub(crate) fn steers(name: &str, value: &Word) -> bool {
    changes_what_runs(name) && !is_tame_value(name, value)
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
        } else if variable::is_strange(inv, name, value, description) {
            let text = format!("nobody knows what {} makes of {name}", inv.name);
            variable::needs_yes(inv, name, text, description);
        }
    }
}
