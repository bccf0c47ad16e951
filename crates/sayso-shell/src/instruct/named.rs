//! What the words of a command name, for a yes that is wider than one call.

use super::command::{is_data_of_git, spellings};
use crate::effect::{Opt, Run};
use crate::files::{Files, Kind};
use crate::option::Does;
use crate::program::{Facets, facets};
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
            Some(Does::Cd | Does::Reads | Does::ReadsBelow | Does::Recipe | Does::Runs | Does::Named(_))
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

/// The options, in canonical spelling, that name files or folders for the program to go by. What it writes is none, nor is
/// the folder that it starts in.
#[must_use]
pub fn options_with_files(run: &Run, files: &dyn Files) -> Vec<String> {
    let Some(name) = run.program.base.as_deref() else { return Vec::new() };
    if run.program.builtin
        || program::takes_data(name)
        || program::starts_others(name)
        || facets(name).has(Facets::REPOSITORY)
    {
        return Vec::new();
    }
    let kind = |word: &Word| {
        let path = word.exact().map(|word| program::join(run.cwd.as_deref(), word));
        path.map_or(Kind::Unknown, |path| canonical(files, &path).kind)
    };
    let is_file = |word: &Word| matches!(kind(word), Kind::File { .. });
    let is_there = |word: &Word| matches!(kind(word), Kind::File { .. } | Kind::Folder { .. });
    let goes_by = |option: &&Opt| {
        let value = option.value.as_ref();
        match program::does(run, &option.name) {
            Some(Does::Makes | Does::MakesBelow | Does::Writes | Does::WritesBelow | Does::Cd | Does::Connects) => {
                false
            }
            Some(Does::Reads | Does::ReadsBelow | Does::Recipe | Does::Runs | Does::Named(_)) => {
                value.is_some_and(|value| is_there(value) || is_path(value))
            }
            // A name (`cargo test -p app`) may be that of a folder too.
            Some(_) => value.is_some_and(|value| is_file(value) || is_path(value) && is_there(value)),
            // The table does not say whether a value follows, or is joined.
            None => {
                let behind = if value.is_none() { behind(run, option) } else { None };
                value.or(behind).is_some_and(|value| is_there(value) || is_path(value)) || is_joined(run, option)
            }
        }
    };
    let mut found: Vec<String> = Vec::new();
    for option in run.options.iter().filter(|option| !option.implied).filter(goes_by) {
        if !found.contains(&option.name) {
            found.push(option.name.clone());
        }
    }
    found
}

/// The word behind an option.
fn behind<'r>(run: &'r Run, option: &Opt) -> Option<&'r Word> {
    let at = run.spans.iter().position(|span| *span == option.span)?;
    run.argv.get(at + 1).filter(|word| !word.exact().is_some_and(|word| word.starts_with(b"-")))
}

/// Whether a word reads as a path, whatever is there now: it may be there when the program runs.
fn is_path(word: &Word) -> bool {
    let text = word.exact_str().unwrap_or_default().trim_start_matches('@');
    text.contains('/') && !text.contains("://") || text.starts_with('~') || matches!(text, "." | "..")
}

/// `-I./x`: a short option of which nobody knows that its value is joined to it.
fn is_joined(run: &Run, option: &Opt) -> bool {
    let at = run.spans.iter().position(|span| *span == option.span);
    let word = at.and_then(|at| run.argv.get(at)).and_then(Word::exact_str).unwrap_or_default();
    !word.starts_with("--") && word.starts_with(&option.name) && word.contains('/')
}
