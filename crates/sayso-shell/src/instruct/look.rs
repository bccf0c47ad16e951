//! What stands where: every look at a file or folder is counted, and folders are listed once.

use super::{MOST_ABOVE, MOST_FILES, Search, TOO_MANY, Trail, Waiting, follow, goes_by, is_machine_code};
use crate::files::{Kind, Stands, Visit};
use crate::{canonical, program};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Names that are looked for.
const MOST_LOOKS: usize = 20_000;
/// Names of one folder.
const MOST_NAMES: usize = 10_000;
/// Folders that are searched with all below them.
const MOST_FOLDERS: usize = 2_000;
/// So many names of a listing cost as much as one look.
const LISTED_FOR_A_LOOK: usize = 8;
/// Names that may be there; most are not, and take no look.
const MOST_TRIES: usize = 200_000;

/// The names in a folder.
pub(super) type Names = Rc<BTreeSet<Vec<u8>>>;

/// A folder from which words are meant.
pub(super) struct Base {
    pub(super) path: PathBuf,
    names: Option<Names>,
}

impl Base {
    /// Whether a word may name something here, itself or with an ending. Most words of a file name nothing, and must
    /// cost nothing.
    pub(super) fn may_hold(&self, word: &str) -> bool {
        let word = word.trim_start_matches("./");
        let (first, more) = word.split_once('/').map_or((word, false), |(first, _)| (first, true));
        let Some(names) = &self.names else { return true };
        if matches!(first, "" | "." | ".." | "~") || first.contains('*') {
            return true;
        }
        match more {
            true => names.contains(first.as_bytes()),
            false => {
                let next = names.range::<[u8], _>((Bound::Included(first.as_bytes()), Bound::Unbounded)).next();
                next.is_some_and(|name| name.starts_with(first.as_bytes()))
            }
        }
    }
}

impl Search<'_> {
    pub(super) fn base(&mut self, path: &Path) -> Base {
        Base { path: path.to_path_buf(), names: self.list(path) }
    }

    /// The files of this name in a folder, or of all folders below it.
    pub(super) fn named(&mut self, folder: &Path, pattern: &str, trail: &Trail) {
        if let Some(name) = pattern.strip_prefix("**/") {
            let name = name.as_bytes().to_vec();
            return self.below(folder, |found| found == name, trail);
        }
        let (inner, name) = pattern.rsplit_once('/').map_or(("", pattern), |(inner, name)| (inner, name));
        let folder = if inner.is_empty() { folder.to_path_buf() } else { folder.join(inner) };
        for name in self.matching(&folder, name) {
            self.add_if_there(folder.join(OsStr::from_bytes(&name)), trail);
        }
    }

    pub(super) fn matching(&mut self, folder: &Path, pattern: &str) -> Vec<Vec<u8>> {
        let Some(names) = self.list(folder) else { return Vec::new() };
        if !pattern.contains('*') {
            return names.get(pattern.as_bytes()).cloned().into_iter().collect();
        }
        let fits = |name: &&Vec<u8>| std::str::from_utf8(name).is_ok_and(|name| goes_by::matches(pattern, name));
        names.iter().filter(fits).cloned().collect()
    }

    /// All files below a folder whose names are wanted; not those in folders that tools fill.
    pub(super) fn below(&mut self, folder: &Path, wanted: impl Fn(&[u8]) -> bool, trail: &Trail) {
        const FILLED: [&[u8]; 7] = [b".git", b"node_modules", b"target", b"__pycache__", b".venv", b"venv", b".tox"];
        let mut folders = vec![canonical(self.scene.files, folder).path];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            seen += 1;
            if seen > MOST_FOLDERS || self.found.len() >= MOST_FILES || self.looks >= MOST_LOOKS {
                self.open = Some(TOO_MANY);
                return;
            }
            let (mut names, mut inner, mut count) = (Vec::new(), Vec::new(), 0);
            let visit = self.scene.files.visit(&folder, MOST_NAMES, &mut |name, stands| {
                count += 1;
                match stands {
                    Stands::Folder if !FILLED.contains(&name) => inner.push(folder.join(OsStr::from_bytes(name))),
                    Stands::File | Stands::Link if wanted(name) => names.push(folder.join(OsStr::from_bytes(name))),
                    _ => {}
                }
            });
            // A name that is listed costs less than one that is looked for.
            self.looks = self.looks.saturating_add(1 + count / LISTED_FOR_A_LOOK);
            if matches!(visit, Visit::TooMany | Visit::Unknown) {
                self.open = Some(TOO_MANY);
            }
            // Where there are too many, the same ones are found each time, whatever order the system lists them in.
            names.sort_unstable();
            inner.sort_unstable();
            folders.append(&mut inner);
            for path in names {
                self.add_if_there(path, trail);
            }
        }
    }

    pub(super) fn add_if_there(&mut self, path: PathBuf, trail: &Trail) {
        if self.is_file(&path) {
            self.add(path, trail);
        }
    }

    pub(super) fn add(&mut self, file: PathBuf, trail: &Trail) {
        let real = canonical(self.scene.files, &file).path;
        if self.found.contains(&real) {
            return;
        }
        if self.found.len() >= MOST_FILES {
            self.open = Some(TOO_MANY);
            return;
        }
        self.found.insert(real);
        self.queue.push_back(Waiting { file, trail: trail.clone() });
    }

    /// Whether a file looks like instructions.
    pub(super) fn is_script(&self, path: &Path, kind: &Kind) -> bool {
        let executable = matches!(kind, Kind::File { executable: true });
        follow::is_script(path, executable, &self.head(path))
    }

    /// Whether a file that is too large to be read whole is a compiled program.
    pub(super) fn is_compiled(&self, file: &Path) -> bool {
        is_machine_code(&self.head(file))
    }

    fn head(&self, file: &Path) -> Vec<u8> {
        self.scene.files.head(file, 4).unwrap_or_default()
    }

    /// This folder and those above it, up to the workspace.
    pub(super) fn above(&self, place: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in place.ancestors().take(MOST_ABOVE) {
            found.push(folder.to_path_buf());
            if Some(folder) == self.scene.workspace {
                break;
            }
        }
        found
    }

    pub(super) fn at(&self, base: &Path, word: &str) -> PathBuf {
        match (word.strip_prefix("~/"), self.scene.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => program::join(Some(base), word.as_bytes()),
        }
    }

    pub(super) fn is_file(&mut self, path: &Path) -> bool {
        matches!(self.kind(path), Kind::File { .. })
    }

    pub(super) fn is_folder(&mut self, path: &Path) -> bool {
        matches!(self.kind(path), Kind::Folder { .. })
    }

    /// What stands at a path, links followed. The folder's names say first whether it is worth a look.
    pub(super) fn kind(&mut self, path: &Path) -> Kind {
        if !self.tries(1) {
            return Kind::Missing;
        }
        if self.is_surely_missing(path) {
            return Kind::Missing;
        }
        if self.looks >= MOST_LOOKS {
            self.open = Some(TOO_MANY);
            return Kind::Missing;
        }
        self.looks += 1;
        canonical(self.scene.files, path).kind
    }

    /// Whether so many more names may be looked for.
    pub(super) fn tries(&mut self, more: usize) -> bool {
        self.tries = self.tries.saturating_add(more);
        if self.tries >= MOST_TRIES {
            self.open = Some(TOO_MANY);
        }
        self.tries < MOST_TRIES
    }

    /// Whether one of the folders on the way does not hold the next.
    fn is_surely_missing(&mut self, path: &Path) -> bool {
        if path.components().any(|part| matches!(part, Component::ParentDir)) {
            return false;
        }
        let way: Vec<&Path> = path.ancestors().collect();
        let known = way.iter().skip(1).position(|folder| self.listed.contains_key(*folder)).map_or(1, |at| at + 1);
        for (folder, next) in way.iter().skip(1).zip(&way).take(known).collect::<Vec<_>>().into_iter().rev() {
            match (self.list(folder), next.file_name()) {
                (Some(names), Some(name)) if !names.contains(name.as_bytes()) => return true,
                (Some(_), Some(_)) => {}
                _ => return false,
            }
        }
        false
    }

    /// The names in a folder, read once; `None`: it is none, cannot be read, or holds too many.
    fn list(&mut self, folder: &Path) -> Option<Names> {
        if !self.listed.contains_key(folder) {
            if self.looks >= MOST_LOOKS {
                self.open = Some(TOO_MANY);
                return None;
            }
            self.looks += 1;
            let names = self.scene.files.list(folder, MOST_NAMES);
            if names.is_none() && matches!(self.scene.files.kind(folder), Kind::Folder { .. }) {
                self.open = Some(TOO_MANY);
            }
            let names = names.map(|names| Rc::new(names.into_iter().map(|name| name.as_bytes().to_vec()).collect()));
            self.listed.insert(folder.to_path_buf(), names);
        }
        self.listed.get(folder).cloned().flatten()
    }
}
