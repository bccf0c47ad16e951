//! What exists below a folder, found once for each decision.

mod below;
mod expand;
mod ignore;
mod kept;
mod output;
mod remembered;
mod survey;
mod tracked;
mod watch;

pub(crate) use below::Below;
pub(crate) use output::is_output_name;
pub(crate) use survey::Ground;
pub(crate) use watch::Watch;

use crate::index::AsIs;
use remembered::Remembered;
use sayso_shell::{Files, Kind, PathTarget, Sieve, Stands, Text, canonical};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// To find out where a link leads costs as much as to compare so many names.
const A_LINK: usize = 50;

/// Most links to folders elsewhere that are gone into.
const MAX_LINKED: usize = 64;

/// What exists below folders, and what patterns of the shell expand to.
pub(crate) struct Tree<'a> {
    files: &'a dyn Files,
    survey: survey::Survey<'a>,
    known: RefCell<Walks>,
    /// The indexes of repositories.
    indexes: RefCell<HashMap<PathBuf, Option<Rc<tracked::Index>>>>,
    ignores: RefCell<HashMap<PathBuf, ignore::Ignore>>,
    /// What was found for targets: every pattern of a policy asks about the same ones.
    answers: RefCell<Answers>,
    /// The folders that the first parts of a pattern lead to, by folder and parts.
    led: RefCell<Steps>,
}

/// What walks found: by the folder that they began in, what they pass over, and whether they find out where links lead,
/// as bytes.
type Walks = Remembered<Option<Rc<Below>>>;

type Steps = HashMap<(PathBuf, Vec<u8>), Option<Rc<expand::Step>>>;

/// Which folders a walk passes over, whatever they hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passes {
    Nothing,
    Hidden,
    HiddenAndIgnored,
}

/// So many answers are found sooner one by one than by a hash.
const FEW_ANSWERS: usize = 8;

/// What was found for targets.
#[derive(Default)]
struct Answers {
    list: Vec<Answer>,
    /// The one that was asked for last: the patterns of a policy ask about one target after the other.
    last: Cell<usize>,
    /// Where each is in the list, once there are more than a few.
    places: HashMap<u64, Vec<usize>, BuildHasherDefault<AsIs>>,
}

impl Answers {
    fn find(&self, target: &PathTarget, folder: &Path, follows: bool) -> Option<&Answer> {
        let same = |known: &Answer| {
            known.follows == follows
                && known.folder.as_os_str() == folder.as_os_str()
                && is_same_target(&known.target, target)
        };
        if let Some(known) = self.list.get(self.last.get()).filter(|known| same(known)) {
            return Some(known);
        }
        let place = if self.list.len() <= FEW_ANSWERS {
            self.list.iter().position(same)
        } else {
            let places = self.places.get(&number_of(target, folder, follows))?;
            places.iter().copied().find(|place| self.list.get(*place).is_some_and(same))
        };
        self.last.set(place?);
        self.list.get(place?)
    }

    fn add(&mut self, answer: Answer) {
        self.list.push(answer);
        let all = self.list.len();
        let from = match all.cmp(&(FEW_ANSWERS + 1)) {
            Ordering::Less => return,
            Ordering::Equal => 0,
            Ordering::Greater => all - 1,
        };
        for (place, Answer { target, folder, follows, .. }) in self.list.iter().enumerate().skip(from) {
            self.places.entry(number_of(target, folder, *follows)).or_default().push(place);
        }
    }
}

/// Whether two targets are the same. Patterns are many, and paths that are compared name by name take several times as
/// long as bytes.
fn is_same_target(one: &PathTarget, other: &PathTarget) -> bool {
    match (one, other) {
        (
            PathTarget::Glob { base, pattern, below },
            PathTarget::Glob { base: other_base, pattern: other_pattern, below: other_below },
        ) => below == other_below && pattern == other_pattern && base.as_os_str() == other_base.as_os_str(),
        _ => one == other,
    }
}

/// What an answer is looked up by.
fn number_of(target: &PathTarget, folder: &Path, follows: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    // As bytes: a path is hashed name by name, which takes several times as long.
    (target.place().map(Path::as_os_str), folder.as_os_str(), follows).hash(&mut hasher);
    if let PathTarget::Glob { pattern, .. } = target {
        pattern.as_bytes().hash(&mut hasher);
    }
    hasher.finish()
}

/// What was found for a target.
struct Answer {
    target: PathTarget,
    folder: PathBuf,
    follows: bool,
    found: Option<Rc<Found>>,
}

/// The existing paths that a target may mean.
pub(crate) struct Found {
    /// These, as far as some pattern may be about them, and links.
    pub(crate) paths: Vec<PathBuf>,
    /// What is reached through links only, and links themselves.
    led_away: Vec<PathBuf>,
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
    pub(crate) fn over(files: &'a dyn Files, ground: Ground<'a>) -> Self {
        Self {
            files,
            survey: survey::Survey::new(files, ground),
            known: RefCell::default(),
            indexes: RefCell::default(),
            ignores: RefCell::default(),
            answers: RefCell::default(),
            led: RefCell::default(),
        }
    }

    /// Whether there was more to look at than one decision looks at.
    pub(crate) fn ran_out(&self) -> bool {
        self.survey.ran_out()
    }

    /// Leaves what was found for later decisions.
    pub(crate) fn keep(&self) {
        self.survey.keep();
    }

    /// What exists of a target whose folder leads to `folder`; `None`: not known. Where links are removed rather than
    /// gone through, `follows` is false.
    pub(crate) fn found(&self, target: &PathTarget, folder: &Path, follows: bool) -> Option<Rc<Found>> {
        if let Some(known) = self.answers.borrow().find(target, folder, follows) {
            return known.found.clone();
        }
        let found = self.look(target, folder, follows).map(Rc::new);
        let (target, folder) = (target.clone(), folder.to_owned());
        let answer = Answer { target, folder, follows, found: found.clone() };
        self.answers.borrow_mut().add(answer);
        found
    }

    /// Whether what a pattern of the shell goes through in the canonical folder `base`, and with `last` what it names,
    /// all `fits`: a link in between leads elsewhere than the text says.
    pub(crate) fn goes_through(&self, base: &Path, pattern: &Text, last: bool, fits: impl Fn(&Path) -> bool) -> bool {
        let bytes = pattern.as_bytes();
        let end = if last { Some(bytes.len()) } else { bytes.iter().rposition(|b| *b == b'/') };
        let Some(leading) = end.and_then(|end| bytes.get(..end)) else { return true };
        let target = PathTarget::Glob { base: base.to_owned(), pattern: Text::from(leading), below: false };
        self.found(&target, base, true)
            .is_some_and(|found| found.led_away.iter().all(|path| fits(path)) && found.targets().all(fits))
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
        let passes = match net {
            Net::Visible => Passes::Hidden,
            Net::Searched => Passes::HiddenAndIgnored,
            _ => Passes::Nothing,
        };
        let mut below = vec![self.all_below(folder, passes, follows)?];
        // What prints names and what reads them may not agree where one ends: `a .env` is two to `xargs`.
        if matches!(target, PathTarget::Listed(_)) && self.any_odd_name(below.first()?, &net) {
            return None;
        }
        if follows && deep {
            self.linked(folder, &mut below)?;
        }
        Some(Found { paths: Vec::new(), led_away: Vec::new(), below, follows, net })
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
        let odd = |bytes: &[u8]| bytes.iter().any(watch::is_sign) || watch::hides_pattern(bytes);
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
            Net::Visible => !hides(root, path) || self.takes_in(root, path),
            Net::Searched => self.catches(&Net::Visible, root, path) && !self.leaves_out(root, path, false),
            // What is tracked is added although it is ignored.
            Net::Unignored => !self.leaves_out(root, path, false) || self.tracks(path) != Some(false),
            Net::Tracked => self.tracks(path) != Some(false),
            Net::Without { files, folders, ignored } => {
                !(self.passed_over(files, folders, root, path) || *ignored && self.leaves_out(root, path, false))
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

    /// Whether a repository around this path tracks it, or may.
    pub(crate) fn may_be_tracked(&self, path: &Path) -> bool {
        tracked::tops(self.files, path).next().is_some() && self.tracks(path) != Some(false)
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

    /// Everything below a folder, links not gone through, and with `links` where they lead; `None`: not known.
    /// Every name below a folder that some pattern may be about; `None`: there is more than is looked at.
    pub(crate) fn everything_below(&self, folder: &Path) -> Option<Rc<Below>> {
        self.all_below(folder, Passes::Nothing, false)
    }

    fn all_below(&self, folder: &Path, passes: Passes, links: bool) -> Option<Rc<Below>> {
        let how = [u8::from(links), passes as u8];
        let key = [folder.as_os_str().as_bytes(), &how].concat();
        if let Some(found) = self.known.borrow().get(key.as_slice()) {
            return found.clone();
        }
        let found = self.walk(folder, passes, links).map(Rc::new);
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    fn walk(&self, root: &Path, passes: Passes, links: bool) -> Option<Below> {
        let mut below = Below::new(root.to_owned());
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            let record = self.survey.folder(&folder)?;
            let mut some = false;
            for item in record.items() {
                let path = || inside(&folder, item.name);
                match item.stands {
                    Stands::Folder => {
                        let path = path();
                        if !self.passes_over(passes, root, &path, item.name) {
                            open.push(path);
                        }
                    }
                    Stands::Link if links => {
                        self.survey.compare(A_LINK)?;
                        let link = path();
                        let target = canonical(self.files, &link).path;
                        below.link(link, target);
                    }
                    Stands::Link | Stands::File => {}
                }
                if item.notable {
                    below.name(item.name)?;
                    some = true;
                }
            }
            if some {
                below.folder(folder);
            }
        }
        Some(below)
    }

    /// Whether a search surely does not go into this folder. What is in a folder that is passed over cannot be taken back
    /// in, neither by git nor by what goes by its ignore files.
    fn passes_over(&self, passes: Passes, root: &Path, folder: &Path, name: &[u8]) -> bool {
        let hidden = || name.first() == Some(&b'.') && !self.takes_in(root, folder);
        // Most folders are sources. A look at the ignore files is worth it where tools fill one.
        let ignored = || output::NAMES.contains(&name) && self.leaves_out(root, folder, true);
        match passes {
            Passes::Nothing => false,
            Passes::Hidden => hidden(),
            Passes::HiddenAndIgnored => hidden() || ignored(),
        }
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
                all.push(self.all_below(target, Passes::Nothing, true)?);
            }
        }
        Some(())
    }
}

/// A name in a folder, made in one piece: there may be thousands.
fn inside(folder: &Path, name: &[u8]) -> PathBuf {
    let folder = folder.as_os_str().as_bytes();
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    path.extend_from_slice(folder);
    if folder.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    PathBuf::from(OsString::from_vec(path))
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

/// Whether a pattern of the shell may name `path`, or with `below` a folder above it, from the folder `base` on. Options
/// of the shell decide what `**`, `@(...)`, a leading dot and the case of letters mean: they may mean all here.
pub(crate) fn may_name(pattern: &Text, below: bool, base: &Path, path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix(base) else { return false };
    let mut names = rest.iter();
    for part in pattern.as_bytes().split(|b| *b == b'/').filter(|part| !part.is_empty()) {
        if part == b".." || part.contains(&b'(') || part.windows(2).any(|two| two == b"**") {
            return true;
        }
        match names.next() {
            Some(name) if widened(part).matches_folded(&latin(name.as_bytes())) => {}
            _ => return false,
        }
    }
    below || names.next().is_none()
}

/// Bytes above ASCII as Latin-1 characters, as [`widened`] has them.
fn latin(name: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if name.is_ascii() {
        return name.into();
    }
    name.iter().map(|b| char::from(*b)).collect::<String>().into_bytes().into()
}
