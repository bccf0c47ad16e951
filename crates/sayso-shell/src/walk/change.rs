//! A call changes its own facts: what it wrote, linked, moved or unpacked is no longer what the files said before.

use crate::canonical::lexical;
use crate::effect::{Effect, PathTarget, Target, Verb};
use crate::files::{Files, Kind, Mark, Stands, Visit};
use crate::program::Facets;
use crate::value::pattern::{Piece, matches, parse};
use crate::word::Word;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the call has changed so far.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    /// Files it opened for writing, or created.
    written: BTreeSet<PathBuf>,
    /// Folders in which it may have written anything.
    written_below: BTreeSet<PathBuf>,
    /// Patterns of names in a folder that it may have written.
    written_globs: Vec<(PathBuf, Option<Vec<Piece>>)>,
    /// Places where a link, or a folder with links in it, may stand now.
    reshaped: BTreeSet<PathBuf>,
    /// It wrote something, nobody knows where.
    pub(crate) anywhere: bool,
    /// It put a link or moved something, nobody knows where.
    reshaped_anywhere: bool,
    /// It removed something or changed permissions, so that a folder may be gone.
    pub(crate) disturbed: bool,
}

/// What kind of change a program makes where it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Content of files.
    Plain,
    /// Links may come into being.
    Reshapes,
    /// Permissions and times, or empty files: nothing that could run is put there.
    Attributes,
    /// Compiled programs come into being: no shell looks into them.
    Compiles,
}

impl Changed {
    /// Takes note of an effect.
    pub(crate) fn note(&mut self, effect: &Effect, manner: Manner) {
        if matches!(effect.target, Target::Code { .. } | Target::Anything) {
            self.anywhere = true;
            self.disturbed = true;
        }
        let Target::Path(target) = &effect.target else { return };
        match effect.verb {
            Verb::Delete => self.disturbed = true,
            Verb::Write => {}
            _ => return,
        }
        match manner {
            Manner::Plain | Manner::Reshapes => {}
            Manner::Attributes | Manner::Compiles => {
                self.disturbed |= manner == Manner::Attributes;
                return;
            }
        }
        let place = match target.place() {
            Some(path) => lexical(path),
            None => {
                self.anywhere = true;
                self.reshaped_anywhere |= manner == Manner::Reshapes;
                return;
            }
        };
        if manner == Manner::Reshapes {
            self.reshaped.insert(place.clone());
        }
        match target {
            PathTarget::Exact(_) if manner == Manner::Plain => {
                self.written.insert(place);
            }
            PathTarget::Glob { pattern, below: false, .. } if self.written_globs.len() < MAX_GLOBS => {
                let mut pieces = Vec::new();
                let known = !pattern.as_bytes().contains(&b'/') && parse(pattern.as_bytes(), &mut pieces).is_some();
                self.written_globs.push((place, known.then_some(pieces)));
            }
            _ => {
                self.written_below.insert(place);
            }
        }
    }

    /// Whether what stands at this path may have been written by this call.
    pub(crate) fn wrote(&self, path: &Path) -> bool {
        if self.written.is_empty() && self.written_below.is_empty() && self.written_globs.is_empty() {
            return false;
        }
        let path = lexical(path);
        self.written.contains(&path)
            || !self.written_below.is_empty() && path.ancestors().any(|place| self.written_below.contains(place))
            || self.written_globs.iter().any(|(base, pattern)| match (path.strip_prefix(base), pattern) {
                (Ok(rest), Some(pattern)) => matches(pattern, rest.as_os_str().as_encoded_bytes()),
                (Ok(_), None) => true,
                (Err(_), _) => false,
            })
    }

    /// Whether this folder, or what is in it, is not what it was; caches in it do not count.
    pub(crate) fn alters(&self, folder: &Path) -> bool {
        const CACHES: &[&str] = &[".cache", ".vite", ".tmp"];
        let folder = lexical(folder);
        let inside = |place: &PathBuf| {
            folder.starts_with(place)
                || place.strip_prefix(&folder).is_ok_and(|rest| !CACHES.iter().any(|cache| rest.starts_with(cache)))
        };
        self.leads_astray(&folder)
            || self.within(&folder)
            || self.wrote(&folder)
            || self.written.iter().any(inside)
            || self.written_below.iter().any(inside)
            || self.written_globs.iter().any(|(base, _)| base.starts_with(&folder))
    }

    /// Whether it has changed any file at all.
    pub(crate) fn touched(&self) -> bool {
        self.anywhere
            || self.disturbed
            || !self.written.is_empty()
            || !self.written_below.is_empty()
            || !self.written_globs.is_empty()
    }

    /// Whether this path may lead somewhere else since the call began.
    pub(crate) fn leads_astray(&self, path: &Path) -> bool {
        if self.reshaped_anywhere {
            return true;
        }
        if self.reshaped.is_empty() {
            return false;
        }
        let path = lexical(path);
        path.ancestors().any(|place| self.reshaped.contains(place))
    }

    /// An effect's target as it must be seen now.
    pub(crate) fn blur(&self, target: &mut PathTarget) {
        if self.reshaped.is_empty() && !self.reshaped_anywhere {
            return;
        }
        if let PathTarget::Told(of) = target {
            self.blur(of);
            if matches!(**of, PathTarget::Unknown(_)) {
                *target = PathTarget::Unknown(None);
            }
            return;
        }
        let astray = match &*target {
            PathTarget::Glob { base, .. } => self.leads_astray(base) || self.within(base),
            other => other.place().is_some_and(|path| self.leads_astray(path)),
        };
        // `cat d/*` or `grep -r x d` goes through a link that was put into `d`.
        let deep = matches!(&*target, PathTarget::Below(_) | PathTarget::Sifted(_));
        let inside = deep && target.place().is_some_and(|path| self.within(path));
        if astray || inside {
            *target = PathTarget::Unknown(None);
        }
    }

    fn within(&self, folder: &Path) -> bool {
        let folder = lexical(folder);
        self.reshaped.range(folder.clone()..).next().is_some_and(|place| place.starts_with(&folder))
    }
}

/// The files as they are by now: what this call may have written or led elsewhere holds nobody knows what.
pub(crate) struct Current<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) changed: &'a Changed,
}

impl Current<'_> {
    fn same(&self, path: &Path) -> bool {
        !self.changed.anywhere && !self.changed.wrote(path) && !self.changed.leads_astray(path)
    }
}

impl Files for Current<'_> {
    fn kind(&self, path: &Path) -> Kind {
        self.files.kind(path)
    }

    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        self.files.list(folder, limit)
    }

    fn entries(&self, folder: &Path, limit: usize) -> Option<Vec<(OsString, Stands)>> {
        self.files.entries(folder, limit)
    }

    fn visit(&self, folder: &Path, limit: usize, each: &mut dyn FnMut(&[u8], Stands)) -> Visit {
        self.files.visit(folder, limit, each)
    }

    fn mark(&self, folder: &Path) -> Option<Mark> {
        self.files.mark(folder)
    }

    fn kept(&self, label: &[u8]) -> Option<Vec<u8>> {
        self.files.kept(label)
    }

    fn keep(&self, label: &[u8], bytes: &[u8]) {
        self.files.keep(label, bytes);
    }

    fn head(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        self.same(path).then(|| self.files.head(path, limit)).flatten()
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        self.same(path).then(|| self.files.read(path, limit)).flatten()
    }

    fn read_through(&self, path: &Path, limit: usize, each: &mut dyn FnMut(&[u8])) -> bool {
        self.same(path) && self.files.read_through(path, limit, each)
    }

    fn stamp(&self, path: &Path) -> Option<String> {
        self.same(path).then(|| self.files.stamp(path)).flatten()
    }

    fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        self.same(path).then(|| self.files.identity(path)).flatten()
    }

    fn changeable(&self, path: &Path) -> bool {
        self.files.changeable(path)
    }

    fn owned(&self, path: &Path) -> bool {
        self.files.owned(path)
    }
}

/// More patterns are kept as their folders.
const MAX_GLOBS: usize = 32;

/// How a program changes what it writes to.
pub(crate) fn manner(facets: Facets, argv: &[Word]) -> Manner {
    const LINKS: [&[u8]; 6] =
        [b"--archive", b"--link", b"--recursive", b"--no-dereference", b"--preserve", b"--symbolic-link"];
    let mut words = argv.iter().skip(1).filter_map(Word::exact);
    // `--arch`, `--preserve=links`, `-dR`
    let keeps_links = |word: &[u8]| {
        let name = word.split(|b| *b == b'=').next().unwrap_or(word);
        match word.strip_prefix(b"--") {
            Some(_) => word.len() > 3 && LINKS.iter().any(|flag| flag.starts_with(name)),
            None => word.starts_with(b"-") && word.iter().any(|b| b"adlPRrs".contains(b)),
        }
    };
    if facets.has(Facets::ATTRIBUTES) {
        Manner::Attributes
    } else if facets.has(Facets::COMPILES) {
        Manner::Compiles
    } else if facets.has(Facets::RESHAPES)
        || facets.has(Facets::KEEPS_LINKS) && words.any(keeps_links)
        || facets.has(Facets::REPOSITORY)
            && words.any(|word| matches!(word, b"clone" | b"submodule" | b"worktree" | b"subtree"))
    {
        Manner::Reshapes
    } else {
        Manner::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Carry, Span};
    use crate::program::facets;

    fn write(path: &str) -> Effect {
        Effect {
            verb: Verb::Write,
            target: Target::Path(PathTarget::Exact(path.into())),
            span: Span::default(),
            run: None,
            carry: Carry::Plain,
            certain: true,
        }
    }

    #[test]
    fn paths_below_a_new_link_are_unknown_and_others_are_not() {
        let mut changed = Changed::default();
        changed.note(&write("/w/x"), Manner::Reshapes);
        for (path, astray) in
            [("/w/x", true), ("/w/x/passwd", true), ("/w/./x/y", true), ("/w/y", false), ("/w", false)]
        {
            let mut target = PathTarget::Exact(path.into());
            changed.blur(&mut target);
            assert_eq!(target == PathTarget::Unknown(None), astray, "{path}");
        }
        let mut below = PathTarget::Below("/w".into());
        changed.blur(&mut below);
        assert_eq!(below, PathTarget::Unknown(None));
    }

    #[test]
    fn what_was_written_is_remembered_without_hiding_where_it_is() {
        let mut changed = Changed::default();
        changed.note(&write("/w/run.sh"), Manner::Plain);
        assert!(changed.wrote(Path::new("/w/run.sh")));
        assert!(!changed.wrote(Path::new("/w/other.sh")));
        assert!(!changed.leads_astray(Path::new("/w/run.sh")));
    }

    #[test]
    fn copies_reshape_only_where_links_are_kept() {
        let manner = |text: &str| {
            let argv: Vec<Word> = text.split(' ').map(|word| Word::Exact(word.into())).collect();
            super::manner(facets(text.split(' ').next().unwrap()), &argv)
        };
        assert_eq!(manner("cp a b"), Manner::Plain);
        assert_eq!(manner("cp -r a b"), Manner::Reshapes);
        assert_eq!(manner("cp --arch a b"), Manner::Reshapes);
        assert_eq!(manner("cp -l a b"), Manner::Reshapes);
        assert_eq!(manner("git status"), Manner::Plain);
        assert_eq!(manner("git clone u"), Manner::Reshapes);
        assert_eq!(manner("chmod +x a"), Manner::Attributes);
    }
}
