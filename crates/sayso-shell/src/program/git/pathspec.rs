//! Pathspecs: `src`, `*.rs`, `:/src`, `:(top,icase)x`, `:!x`.
//!
//! INVARIANT: a pathspec whose place is not certain stands for the whole repository.

use crate::canonical::lexical;
use crate::effect::{Listing, Sieve, Verb};
use crate::files::Kind;
use crate::program::path::join;
use crate::program::{Prints, View};
use crate::word::{Text, Word};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the files are that a pathspec stands for.
pub(super) enum Place {
    /// This path, and all below it.
    At(Word),
    /// Below this folder, where the last component ends so, if that is known.
    Within(Word, Option<Text>),
    /// All that the command looks at, from the top on.
    Everything,
    /// Less of what others name, or of everything if no other does.
    Less,
    /// Anywhere in the repository, and whatever it is called.
    Anywhere,
}

/// Reads a pathspec.
pub(super) fn place(view: &View<'_>, word: &Word) -> Place {
    if view.has("--icase-pathspecs") {
        return Place::Anywhere;
    }
    let Some(bytes) = word.exact() else { return Place::At(word.clone()) };
    if view.has("--literal-pathspecs") {
        return Place::At(word.clone());
    }
    let Some(magic) = bytes.strip_prefix(b":") else { return of_path(bytes, None) };
    let (from_top, rest) = match magic.strip_prefix(b"(") {
        Some(long) => {
            let Some(end) = long.iter().position(|b| *b == b')') else { return Place::Anywhere };
            let (words, rest) = long.split_at(end);
            let mut from_top = false;
            for word in words.split(|b| *b == b',') {
                match word {
                    b"top" => from_top = true,
                    b"glob" | b"literal" | b"" => {}
                    b"exclude" => return Place::Less,
                    // Other cases of a name, what attributes say, and what git may learn yet.
                    _ => return Place::Anywhere,
                }
            }
            (from_top, rest.get(1..).unwrap_or_default())
        }
        None => {
            let end = magic.iter().position(|b| !matches!(b, b'/' | b'!' | b'^')).unwrap_or(magic.len());
            let (signs, rest) = magic.split_at(end);
            if signs.iter().any(|b| *b != b'/') {
                return Place::Less;
            }
            (!signs.is_empty(), rest.strip_prefix(b":").unwrap_or(rest))
        }
    };
    if rest.is_empty() {
        return Place::Everything;
    }
    // Another sign of magic, or none that git knows.
    if !from_top && magic.first().is_some_and(|b| *b != b'(' && b.is_ascii_punctuation() && !b"._-*?[".contains(b)) {
        return Place::Anywhere;
    }
    if !from_top {
        return of_path(rest, None);
    }
    match top(view) {
        Some(top) => of_path(rest, Some(&top)),
        None => Place::Anywhere,
    }
}

/// A path without magic, from the top or from where relative paths begin.
fn of_path(bytes: &[u8], top: Option<&Path>) -> Place {
    let word = |bytes: &[u8]| match top {
        Some(top) => exact(&join(Some(top), bytes)),
        None => Word::Exact(Text::from(bytes)),
    };
    let Some(wild) = bytes.iter().position(|b| matches!(b, b'*' | b'?' | b'[' | b'\\')) else {
        return Place::At(word(bytes));
    };
    let folder = match bytes.iter().take(wild).rposition(|b| *b == b'/') {
        Some(0) => b"/",
        Some(slash) => bytes.get(..slash).unwrap_or_default(),
        None => b".",
    };
    Place::Within(word(folder), ending(bytes))
}

/// `*.rs` and `src/*_test.go`: how the last component of whatever it matches ends. A star stands for slashes too.
fn ending(bytes: &[u8]) -> Option<Text> {
    if bytes.iter().any(|b| matches!(b, b'[' | b'?' | b'\\')) {
        return None;
    }
    let tail = bytes.rsplit(|b| *b == b'*').next().filter(|tail| tail.len() < bytes.len())?;
    (!tail.is_empty() && !tail.contains(&b'/')).then(|| Text::from([b"*", tail].concat()))
}

/// What these pathspecs stand for is read, of folders only what the sieve lets through.
pub(super) fn reads(view: &mut View<'_>, pathspecs: &[usize], sieve: &Sieve) {
    // What was tracked once is in the history, whatever it was called.
    let loose = |names: Option<Text>| match sieve {
        Sieve::Unignored => Sieve::Unignored,
        _ => names.map_or(Sieve::All, |name| Sieve::Named(vec![name])),
    };
    for (at, place) in places(view, pathspecs) {
        match place {
            Place::At(path) => view.reads_sifted(&path, at, sieve),
            Place::Within(folder, ending) => view.reads_sifted(&folder, at, &loose(ending)),
            Place::Everything | Place::Less => whole(view, sieve),
            Place::Anywhere => whole(view, &loose(None)),
        }
    }
}

/// The places of pathspecs, those that take away left out unless there is nothing else.
fn places(view: &View<'_>, pathspecs: &[usize]) -> Vec<(usize, Place)> {
    let words = pathspecs.iter().filter_map(|at| Some((*at, view.word(*at)?)));
    let mut places: Vec<(usize, Place)> = words.map(|(at, word)| (at, place(view, word))).collect();
    if places.iter().any(|(_, place)| !matches!(place, Place::Less)) {
        places.retain(|(_, place)| !matches!(place, Place::Less));
    }
    places
}

/// What a pathspec stands for is written or removed, with all below it where `deep`.
pub(super) fn changes(view: &mut View<'_>, verb: Verb, at: usize, deep: bool) {
    let Some(word) = view.word(at) else { return };
    let (path, below) = match place(view, word) {
        Place::At(path) => (path, deep),
        Place::Within(folder, _) => (folder, true),
        // The others say what is changed, or it is everything.
        Place::Less | Place::Everything | Place::Anywhere => (exact(&top(view).unwrap_or_else(|| view.here())), true),
    };
    view.path_effect(verb, &path, at, below, crate::effect::Carry::Plain);
}

/// The names of files are printed that these pathspecs stand for: those that all of them end in, or what git tracks if
/// `tracked`.
pub(super) fn names(view: &mut View<'_>, pathspecs: &[usize], tracked: bool) {
    let mut endings = Some(Vec::new());
    let (mut folder, mut outside) = (Some(view.here()), false);
    for (_, place) in places(view, pathspecs) {
        let (word, ending) = match &place {
            Place::At(word) => (Some(word), None),
            Place::Within(folder, ending) => (Some(folder), ending.clone()),
            Place::Less | Place::Everything | Place::Anywhere => (None, None),
        };
        match (&mut endings, ending) {
            (Some(names), Some(name)) => names.push(name),
            _ => endings = None,
        }
        if !word.is_some_and(|word| is_within(view, word, &view.here())) {
            folder = top(view).filter(|top| word.is_none_or(|word| is_within(view, word, top)));
            outside |= folder.is_none();
        }
    }
    let Some(folder) = folder.filter(|_| !outside) else {
        view.out.prints = Prints::Unknown;
        return;
    };
    let sieve = match endings {
        Some(names) if !names.is_empty() => Sieve::Named(names),
        _ if tracked => Sieve::Tracked,
        _ => Sieve::All,
    };
    let listing = Listing::new(folder, sieve).told_from(view.base.as_deref());
    view.out.prints = Prints::Names(listing);
}

/// Whether a path surely lies in this folder, or below it.
fn is_within(view: &View<'_>, word: &Word, folder: &Path) -> bool {
    if let Some(path) = word.exact() {
        let path = Path::new(OsStr::from_bytes(path));
        let climbs = path.components().any(|component| component == std::path::Component::ParentDir);
        // Links are not gone through, but `..` behind one is its own folder's.
        return lexical(&view.here().join(path)).starts_with(folder) && (!climbs || folder != view.here());
    }
    match view.path_of(word, false) {
        crate::effect::PathTarget::Glob { base, pattern, .. } => {
            base.starts_with(folder) && !pattern.as_bytes().split(|b| *b == b'/').any(|part| part == b"..")
        }
        _ => false,
    }
}

/// Whether relative names begin at the top of a repository.
pub(super) fn at_top(view: &View<'_>) -> bool {
    let here = view.here();
    here.is_absolute() && view.inv.files.kind(&here.join(".git")) != Kind::Missing
}

/// The top of the repository, if one is found.
pub(super) fn top(view: &View<'_>) -> Option<PathBuf> {
    let here = view.here();
    let is_top = |folder: &&Path| view.inv.files.kind(&folder.join(".git")) != Kind::Missing;
    here.ancestors().filter(|folder| folder.is_absolute()).find(is_top).map(Path::to_owned)
}

/// The whole repository, wherever in it this is.
pub(super) fn whole(view: &mut View<'_>, sieve: &Sieve) {
    let top = top(view).unwrap_or_else(|| view.here());
    view.reads_sifted(&exact(&top), 0, sieve);
}

pub(super) fn exact(path: &Path) -> Word {
    Word::Exact(Text::from(path.as_os_str().as_bytes()))
}
