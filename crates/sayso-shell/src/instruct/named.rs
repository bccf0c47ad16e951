//! What the words of a command name, for a yes that is wider than one call.

use super::command::{is_data_of_git, spellings};
use crate::effect::{Opt, Run};
use crate::files::{Files, Kind};
use crate::option::Does;
use crate::word::Word;
use crate::{canonical, program};
use std::path::{Path, PathBuf};

/// Words that are looked at.
const MOST_WORDS: usize = 256;

/// The files and folders that the words of a program name, links followed, as far as they are there; none of those of a
/// program to which they are data. `None`: one may be named that nobody knows.
#[must_use]
pub fn named(run: &Run, home: Option<&Path>, files: &dyn Files) -> Option<Vec<PathBuf>> {
    let Some(name) = run.program.base.as_deref() else { return Some(Vec::new()) };
    if run.program.builtin || program::takes_data(name) || program::starts_others(name) {
        return Some(Vec::new());
    }
    let leads = |option: &&Opt| {
        matches!(
            program::does(run, &option.name),
            Some(Does::Cd | Does::Reads | Does::ReadsBelow | Does::Runs | Does::Named(_))
        )
    };
    let unknown = |option: &Opt| option.value.as_ref().is_some_and(|value| value.exact().is_none());
    if run.options.iter().filter(leads).any(unknown) {
        return None;
    }
    let mut words = Vec::new();
    if is_data_of_git(run, name) {
        let place = |option: &&Opt| matches!(option.name.as_str(), "-C" | "--git-dir" | "--work-tree");
        let values = run.options.iter().filter(place).filter_map(|option| option.value.as_ref());
        words.extend(values.filter_map(Word::exact_str).map(str::to_owned));
    } else {
        let values = run.options.iter().filter_map(|option| option.value.as_ref());
        for word in run.argv.iter().skip(1).chain(values).filter_map(Word::exact_str).take(MOST_WORDS) {
            spellings(word, &mut words);
        }
    }
    let mut found: Vec<PathBuf> = Vec::new();
    for word in words.iter().filter(|word| !word.contains('\0')) {
        let path = match (word.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => program::join(run.cwd.as_deref(), word.as_bytes()),
        };
        let real = canonical(files, &path);
        if real.exists() && !found.contains(&real.path) {
            found.push(real.path);
        }
    }
    Some(found)
}

/// The options, in canonical spelling, that name files for the program to go by. What it writes is none.
#[must_use]
pub fn options_with_files(run: &Run, files: &dyn Files) -> Vec<String> {
    let Some(name) = run.program.base.as_deref() else { return Vec::new() };
    if run.program.builtin || program::takes_data(name) || program::starts_others(name) || name == "git" {
        return Vec::new();
    }
    let is_file = |word: &Word| {
        let path = word.exact().map(|word| program::join(run.cwd.as_deref(), word));
        path.is_some_and(|path| matches!(canonical(files, &path).kind, Kind::File { .. }))
    };
    let behind = |option: &Opt| {
        let at = run.spans.iter().position(|span| *span == option.span)?;
        run.argv.get(at + 1)
    };
    let goes_by = |option: &&Opt| match program::does(run, &option.name) {
        Some(Does::Makes | Does::MakesBelow | Does::Writes | Does::WritesBelow) => false,
        Some(_) => option.value.as_ref().is_some_and(is_file),
        // The table does not say whether a value follows.
        None => option.value.as_ref().or_else(|| behind(option)).is_some_and(is_file),
    };
    let mut found: Vec<String> = Vec::new();
    for option in run.options.iter().filter(|option| !option.implied).filter(goes_by) {
        if !found.contains(&option.name) {
            found.push(option.name.clone());
        }
    }
    found
}
