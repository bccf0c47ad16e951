//! What programs go by: files of a project, and of its user, that say what a program does though no word of the command
//! names them.
//!
//! One line for programs that go by the same files. A name may lead into a folder; `*` stands for any part of its last
//! component, `**/` in front for every folder below.

mod build;
mod language;
mod operate;
mod own;
mod script;

use super::index;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Programs, and the files that steer them.
#[derive(Debug)]
pub(crate) struct Steered {
    programs: &'static [&'static str],
    /// Looked for where the program starts, in folders that its words name, and above.
    pub(crate) names: &'static [&'static str],
    /// Looked for in the home folder.
    pub(crate) home: &'static [&'static str],
}

const fn steered(programs: &'static [&'static str], names: &'static [&'static str]) -> Steered {
    Steered { programs, names, home: &[] }
}

impl Steered {
    const fn home(mut self, home: &'static [&'static str]) -> Self {
        self.home = home;
        self
    }

    /// What tells its line from others.
    pub(crate) fn key(&self) -> &'static str {
        self.programs.first().copied().unwrap_or_default()
    }

    pub(crate) fn is_git(&self) -> bool {
        self.key() == "git"
    }
}

/// Add a program to the file that it belongs to, or its files to a program.
const ALL: [&[Steered]; 5] = [build::ALL, script::ALL, language::ALL, operate::ALL, own::ALL];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Steered>> = LazyLock::new(|| {
    let all = ALL.iter().copied().flatten();
    // Of a program that stands in two lines, the first counts.
    all.rev().flat_map(|one| one.programs.iter().map(move |name| (*name, one))).collect()
});

/// What steers a program of this name.
pub(crate) fn of(program: &str) -> Option<&'static Steered> {
    let known = |name: &str| BY_NAME.get(name).copied();
    known(program).or_else(|| index::canonical_name(program).and_then(known))
}

/// The same for a word of a file: a variable that holds the program is mostly called after it (`$(MAKE)`).
pub(crate) fn named_in_file(word: &str) -> Option<&'static Steered> {
    let is_name = word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) && word.len() < 24;
    if !is_name {
        return None;
    }
    let lower = || word.bytes().all(|b| !b.is_ascii_lowercase()).then(|| word.to_ascii_lowercase());
    of(word).or_else(|| of(&lower()?))
}

/// Whether a file of this name steers some program.
pub(crate) fn steers(name: &str) -> bool {
    // One that steers only in a folder of its own says nothing of a file of that name elsewhere.
    let anywhere = |pattern: &&&str| !pattern.contains('/');
    ALL.iter().copied().flatten().flat_map(|one| one.names).filter(anywhere).any(|pattern| matches(pattern, name))
}

/// Whether a name is this one, in which one `*` stands for anything.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
    }
}
