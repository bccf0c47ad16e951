//! What programs go by: files of a project, and of its user, that say what a program does though no word of the command
//! names them.
//!
//! A text says it with `goes-by`. A name may lead into a folder; `*` stands for any part of its last component, `**/` in
//! front for every folder below.

use super::built::{GOES_BY, GOES_BY_BY_NAME};
use super::index;

/// The files that steer some programs.
#[derive(Debug)]
pub(crate) struct Steered {
    /// What tells it from others.
    pub(crate) key: usize,
    /// Looked for where the program starts, in folders that its words name, and above.
    pub(crate) names: &'static [&'static str],
    /// Looked for in the home folder.
    pub(crate) home: &'static [&'static str],
    /// The settings and hooks of the repository too, wherever they lie.
    pub(crate) repository: bool,
}

/// What steers a program of this name.
pub(crate) fn of(program: &str) -> Option<&'static Steered> {
    let known = |name: &str| GOES_BY.get(GOES_BY_BY_NAME.find(name)?);
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
    GOES_BY.iter().flat_map(|one| one.names).filter(anywhere).any(|pattern| matches(pattern, name))
}

/// Whether a name is this one, in which one `*` stands for anything.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
    }
}
