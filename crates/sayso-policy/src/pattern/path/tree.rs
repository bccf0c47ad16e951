//! What exists below a folder, found once for each decision.

mod below;
mod ignore;
mod output;
mod tracked;

pub(crate) use below::Below;

use sayso_shell::{Files, Kind, PathTarget, Sieve, Stands, Text, canonical};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Most names looked at for one decision. Over it the answer is "not known", which asks.
const MAX_NAMES: usize = 400_000;

/// Most links to folders elsewhere that are gone into.
const MAX_LINKED: usize = 64;

/// What exists below folders, and what patterns of the shell expand to.
pub(crate) struct Tree<'a> {
    files: &'a dyn Files,
    left: Cell<usize>,
    known: RefCell<HashMap<PathBuf, Option<Rc<Below>>>>,
    /// The indexes of repositories.
    indexes: RefCell<HashMap<PathBuf, Option<Rc<tracked::Index>>>>,
    /// What was found for the last targets: every pattern of a policy asks about the same ones.
    answers: RefCell<VecDeque<Answer>>,
}

/// So many are kept in mind.
const MAX_ANSWERS: usize = 8;

/// What was found for a target.
struct Answer {
    target: PathTarget,
    folder: PathBuf,
    follows: bool,
    found: Option<Rc<Found>>,
}

/// The existing paths that a target may mean.
pub(crate) struct Found {
    /// These.
    pub(crate) paths: Vec<PathBuf>,
    /// All below these.
    pub(crate) below: Vec<Rc<Below>>,
    /// Links are gone through: what they lead to counts as well.
    follows: bool,
    /// Which of what is below counts.
    net: Net,
}

/// A sieve, its patterns read once.
enum Net {
    All,
    Visible,
    Searched,
    Unignored,
    Tracked,
    Named(Vec<super::Glob>),
    Without { files: Vec<super::Glob>, folders: Vec<super::Glob>, ignored: bool },
}

impl Net {
    fn of(sieve: &Sieve) -> Self {
        match sieve {
            Sieve::All => Self::All,
            Sieve::Visible => Self::Visible,
            Sieve::Searched => Self::Searched,
            Sieve::Unignored => Self::Unignored,
            Sieve::Tracked => Self::Tracked,
            Sieve::Named(names) | Sieve::Sources(names) => {
                Self::Named(names.iter().map(|name| widened(name.as_bytes())).collect())
            }
            Sieve::Without(out) => {
                Self::Without { files: plain(&out.files), folders: plain(&out.folders), ignored: out.ignored }
            }
        }
    }
}

impl Found {
    /// What links lead to, where they are gone through.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Path> {
        self.below.iter().filter(|_| self.follows).flat_map(|below| below.targets().map(|(_, target)| target))
    }
}

impl<'a> Tree<'a> {
    pub(crate) fn new(files: &'a dyn Files) -> Self {
        Self {
            files,
            left: Cell::new(MAX_NAMES),
            known: RefCell::default(),
            indexes: RefCell::default(),
            answers: RefCell::default(),
        }
    }

    /// What exists of a target whose folder leads to `folder`; `None`: not known. Where links are removed rather than
    /// gone through, `follows` is false.
    pub(crate) fn found(&self, target: &PathTarget, folder: &Path, follows: bool) -> Option<Rc<Found>> {
        let same = |known: &&Answer| known.follows == follows && known.folder == folder && known.target == *target;
        if let Some(known) = self.answers.borrow().iter().find(same) {
            return known.found.clone();
        }
        let found = self.look(target, folder, follows).map(Rc::new);
        let mut answers = self.answers.borrow_mut();
        if answers.len() == MAX_ANSWERS {
            answers.pop_front();
        }
        let (target, folder) = (target.clone(), folder.to_owned());
        answers.push_back(Answer { target, folder, follows, found: found.clone() });
        found
    }

    /// Whether what a pattern of the shell goes through in the canonical folder `base`, and with `last` what it names,
    /// all `fits`: a link in between leads elsewhere than the text says.
    pub(crate) fn goes_through(&self, base: &Path, pattern: &Text, last: bool, fits: impl Fn(&Path) -> bool) -> bool {
        let bytes = pattern.as_bytes();
        let end = if last { Some(bytes.len()) } else { bytes.iter().rposition(|b| *b == b'/') };
        let Some(leading) = end.and_then(|end| bytes.get(..end)) else { return true };
        let target = PathTarget::Glob { base: base.to_owned(), pattern: Text::from(leading), below: false };
        self.found(&target, base, true).is_some_and(|found| {
            let fits =
                |path: &Path| path.starts_with(base) && !matches!(self.files.kind(path), Kind::Link(_)) || fits(path);
            found.paths.iter().all(|path| fits(path)) && found.targets().all(fits)
        })
    }

    fn look(&self, target: &PathTarget, folder: &Path, follows: bool) -> Option<Found> {
        let (net, follows, deep) = match target {
            PathTarget::Glob { pattern, below, .. } => return self.expand(folder, pattern.as_bytes(), *below),
            // Linters and formatters open what a link leads to; searches pass links over.
            PathTarget::Sifted(listing) => {
                (Net::of(&listing.sieve), follows && matches!(listing.sieve, Sieve::Sources(_)), false)
            }
            PathTarget::Listed(listing) => (Net::of(&listing.sieve), true, true),
            _ => (Net::All, follows, true),
        };
        let mut below = vec![self.all_below(folder)?];
        // What prints names and what reads them may not agree where one ends: `a .env` is two to `xargs`.
        if matches!(target, PathTarget::Listed(_)) && self.any_odd_name(below.first()?, &net) {
            return None;
        }
        if follows && deep {
            self.linked(folder, &mut below)?;
        }
        Some(Found { paths: Vec::new(), below, follows, net })
    }

    /// Whether one of these satisfies `test`.
    pub(crate) fn any(&self, found: &Found, test: impl Fn(&Path) -> bool) -> bool {
        found.paths.iter().any(|path| test(path))
            || found.below.iter().any(|below| match &found.net {
                Net::All => below.any(&test),
                net @ (Net::Visible | Net::Searched | Net::Unignored | Net::Tracked | Net::Without { .. }) => {
                    below.any(|path| test(path) && self.catches(net, below.root(), path))
                }
                Net::Named(names) => below.any_named(|name| fits(names, name), &test),
            })
            || found.follows
                && found.below.iter().any(|below| {
                    below.targets().any(|(link, target)| self.catches(&found.net, below.root(), link) && test(target))
                })
    }

    /// As [`Self::any`], for what is known by its last name.
    pub(crate) fn any_name(&self, found: &Found, test: impl Fn(&[u8]) -> bool) -> bool {
        let last = |path: &Path| path.file_name().is_some_and(|name| test(name.as_bytes()));
        if matches!(found.net, Net::All) && !found.follows && found.paths.is_empty() {
            return found.below.iter().any(|below| below.names().any(|(name, _)| test(name)));
        }
        self.any(found, last)
    }

    /// Whether a path that the sieve lets through holds what separates names for somebody.
    fn any_odd_name(&self, below: &Below, net: &Net) -> bool {
        let sign = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'\'' | b'"' | b'\\' | b'*' | b'?');
        // Without quotes a shell takes `.en[v]` for a pattern. `[id].ts` is common, and no pattern for what is hidden.
        let hidden = |part: &[u8]| part.starts_with(b".") && part.contains(&b'[');
        let odd = |bytes: &[u8]| bytes.iter().any(sign) || bytes.split(|b| *b == b'/').any(hidden);
        let root = below.root();
        below.any(|path| {
            let rest = path.strip_prefix(root).unwrap_or(path);
            odd(rest.as_os_str().as_bytes()) && self.catches(net, root, path)
        })
    }

    /// Whether a sieve over what is below `root` lets this path through, or something below it.
    pub(crate) fn lets_through(&self, sieve: &Sieve, root: &Path, path: &Path) -> bool {
        self.catches(&Net::of(sieve), root, path)
    }

    fn catches(&self, net: &Net, root: &Path, path: &Path) -> bool {
        match net {
            Net::All => true,
            Net::Visible => !hides(root, path) || ignore::takes_in(self.files, root, path),
            Net::Searched => self.catches(&Net::Visible, root, path) && !ignore::leaves_out(self.files, root, path),
            // What is tracked is added although it is ignored.
            Net::Unignored => !ignore::leaves_out(self.files, root, path) || self.tracks(path) != Some(false),
            Net::Tracked => self.tracks(path) != Some(false),
            Net::Without { files, folders, ignored } => {
                !(self.passed_over(files, folders, root, path)
                    || *ignored && ignore::leaves_out(self.files, root, path))
            }
            Net::Named(names) => {
                path.file_name().is_some_and(|name| fits(names, name.as_bytes()))
                    || matches!(self.files.kind(path), Kind::Folder { .. } | Kind::Unknown)
            }
        }
    }

    /// Whether git tracks this canonical path, or something below it; `None`: not known.
    pub(crate) fn tracks(&self, path: &Path) -> Option<bool> {
        // A repository that was put into another does not take from it what it tracks.
        let mut some = None;
        for top in tracked::tops(self.files, path) {
            let held = self.index(top)?.holds(path.strip_prefix(top).ok()?);
            some = Some(some.unwrap_or(false) || held);
        }
        some
    }

    fn index(&self, top: &Path) -> Option<Rc<tracked::Index>> {
        let known = self.indexes.borrow().get(top).cloned();
        known.unwrap_or_else(|| {
            let index = tracked::Index::of(self.files, top).map(Rc::new);
            self.indexes.borrow_mut().insert(top.to_owned(), index.clone());
            index
        })
    }

    /// Whether a search that leaves out these names surely does not open this path.
    fn passed_over(&self, files: &[super::Glob], folders: &[super::Glob], root: &Path, path: &Path) -> bool {
        let among = |globs: &[super::Glob], name: &[u8]| globs.iter().any(|glob| leaves(glob, name));
        let rest = path.strip_prefix(root).unwrap_or(path);
        let above = rest.parent().into_iter().flat_map(Path::components);
        let mut above = above.map(|component| component.as_os_str().as_bytes());
        if above.any(|name| among(folders, name)) {
            return true;
        }
        let Some(name) = rest.file_name().map(OsStrExt::as_bytes) else { return false };
        match self.files.kind(path) {
            Kind::Folder { .. } => among(folders, name),
            Kind::Unknown => false,
            _ => among(files, name),
        }
    }

    /// The existing paths that `pattern` expands to in `base`, links and what is below them if that counts.
    fn expand(&self, base: &Path, pattern: &[u8], below: bool) -> Option<Found> {
        let parts: Vec<&[u8]> = pattern.split(|b| *b == b'/').filter(|part| !part.is_empty()).collect();
        let deep = parts.iter().position(|part| part.windows(2).any(|two| two == b"**"));
        let (fixed, rest) = parts.split_at_checked(deep.unwrap_or(parts.len()))?;
        let mut paths = vec![base.to_owned()];
        for (at, part) in fixed.iter().enumerate() {
            let more = at + 1 < parts.len();
            let mut next = Vec::new();
            for folder in paths {
                for (name, stands) in self.entries(&folder)? {
                    if !shell_match(part, name.as_os_str().as_bytes()) {
                        continue;
                    }
                    let path = folder.join(name);
                    if stands == Stands::Link {
                        next.push(canonical(self.files, &path).path);
                    }
                    if stands != Stands::Link || !more {
                        next.push(path);
                    }
                }
            }
            paths = next;
        }
        let net = match rest {
            // A dot file counts too: what expands this may be a tool that does not leave them out.
            [b"**", last] if !below && !last.windows(2).any(|two| two == b"**") => Net::Named(vec![widened(last)]),
            _ => Net::All,
        };
        let mut all = Vec::new();
        if deep.is_some() || below {
            for path in &paths {
                if matches!(self.files.kind(path), Kind::Folder { .. }) {
                    all.push(self.all_below(path)?);
                    self.linked(path, &mut all)?;
                }
            }
        }
        // `**` stands for no folder too, but then something follows that was looked at with the rest.
        if deep.is_some() {
            paths.clear();
        }
        Some(Found { paths, below: all, follows: true, net })
    }

    fn entries(&self, folder: &Path) -> Option<Vec<(std::ffi::OsString, Stands)>> {
        match self.files.kind(folder) {
            Kind::Folder { .. } => {}
            Kind::Missing | Kind::File { .. } | Kind::Other => return Some(Vec::new()),
            Kind::Link(_) | Kind::Unknown => return None,
        }
        let names = self.files.entries(folder, self.left.get())?;
        self.left.set(self.left.get().saturating_sub(names.len()));
        Some(names)
    }

    /// Everything below a folder, links not gone through; `None`: not known.
    fn all_below(&self, folder: &Path) -> Option<Rc<Below>> {
        if let Some(found) = self.known.borrow().get(folder) {
            return found.clone();
        }
        let found = self.walk(folder).map(Rc::new);
        self.known.borrow_mut().insert(folder.to_owned(), found.clone());
        found
    }

    fn walk(&self, folder: &Path) -> Option<Below> {
        let mut below = Below::new(folder.to_owned());
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            for (name, stands) in self.entries(&folder)? {
                match stands {
                    Stands::Folder => open.push(folder.join(&name)),
                    Stands::Link => {
                        let link = folder.join(&name);
                        let target = canonical(self.files, &link).path;
                        below.link(link, target);
                    }
                    Stands::File => {}
                }
                below.name(name.as_bytes())?;
            }
            below.folder(folder);
        }
        Some(below)
    }

    /// Adds what is below the folders elsewhere to which links lead.
    fn linked(&self, folder: &Path, all: &mut Vec<Rc<Below>>) -> Option<()> {
        let mut roots = vec![folder.to_owned()];
        let mut at = all.len().saturating_sub(1);
        while let Some(below) = all.get(at).cloned() {
            at += 1;
            for (_, target) in below.targets() {
                let known = roots.iter().any(|root| target.starts_with(root));
                if known || !matches!(self.files.kind(target), Kind::Folder { .. }) {
                    continue;
                }
                if roots.len() > MAX_LINKED {
                    return None;
                }
                roots.push(target.to_owned());
                all.push(self.all_below(target)?);
            }
        }
        Some(())
    }
}

/// Whether a component of this path, below the folder, begins with a dot.
fn hides(root: &Path, path: &Path) -> bool {
    let rest = path.strip_prefix(root).unwrap_or(path);
    rest.components().any(|component| component.as_os_str().as_bytes().starts_with(b"."))
}

/// Whether a name matches one of these patterns, without regard to case: wider, and this is only asked about what is
/// denied.
fn fits(patterns: &[super::Glob], name: &[u8]) -> bool {
    let name = latin(name);
    patterns.iter().any(|pattern| pattern.matches_folded(&name))
}

/// Names that are left out, as they are written.
fn plain(names: &[sayso_shell::Text]) -> Vec<super::Glob> {
    names.iter().filter_map(sayso_shell::Text::as_str).map(super::Glob::new).collect()
}

/// Whether a search surely leaves out this name: whether a star stands for a leading dot is not the same everywhere.
fn leaves(glob: &super::Glob, name: &[u8]) -> bool {
    let hidden = name.first() == Some(&b'.');
    glob.matches(name) && (!hidden || glob.literal_text().first() == Some(&b'.'))
}

/// A shell pattern against one name. A leading dot needs a literal one.
fn shell_match(pattern: &[u8], name: &[u8]) -> bool {
    if name.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
        return false;
    }
    widened(pattern).matches(&latin(name))
}

/// A shell pattern as a glob. From a class on it matches anything: where one ends is not plain (`[]a]`, `[[:alpha:]]`), and
/// this is only asked about what is denied.
fn widened(pattern: &[u8]) -> super::Glob {
    let mut glob = String::new();
    let mut rest = pattern.iter();
    while let Some(b) = rest.next() {
        match b {
            b'[' => {
                glob.push('*');
                break;
            }
            b'\\' => {
                if let Some(b) = rest.next() {
                    glob.push(char::from(*b));
                }
            }
            b => glob.push(char::from(*b)),
        }
    }
    super::Glob::new(&glob)
}

/// Bytes above ASCII as Latin-1 characters, as [`widened`] has them.
fn latin(name: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if name.is_ascii() {
        return name.into();
    }
    name.iter().map(|b| char::from(*b)).collect::<String>().into_bytes().into()
}
