//! The folders of one decision: each is looked at once, and those of the workspace are kept for later ones.

use super::kept::{self, Kept, Record, Written};
use super::remembered::Remembered;
use super::watch::{Sifting, Watch};
use sayso_shell::{Files, Mark, Visit};
use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Names that are listed anew for one decision, in the workspace and elsewhere. Whoever searches the whole system for
/// something is asked rather than waited for.
const MOST_NAMES: usize = 200_000;
const MOST_NAMES_ELSEWHERE: usize = 20_000;
/// Folders of which it is found out whether they are as they were.
const MOST_FOLDERS: usize = 50_000;
/// Names that are compared with patterns of the shell, and what counts as much.
const MOST_COMPARED: usize = 80_000;
/// To open a folder costs as much as to list so many names.
const A_FOLDER: usize = 8;
/// So many names are cheaper to keep in mind than to sift.
const FEW_NAMES: usize = 4_096;
/// So many folders are worth being kept for later decisions.
const WORTH_KEEPING: usize = 64;

/// What is watched for below a folder.
pub(crate) type Watching<'a> = Box<dyn Fn(&Path) -> Option<Watch> + 'a>;

/// What a decision is about, as far as folders are concerned.
pub(crate) struct Ground<'a> {
    /// The workspace, canonical, if it is one that may be kept in mind.
    pub(crate) root: Option<PathBuf>,
    /// Everything that decides which names matter there. Empty: nothing is kept.
    pub(crate) label: Vec<u8>,
    /// Which names matter there; made when there are many.
    pub(crate) watch: Watching<'a>,
}

impl Ground<'_> {
    /// Every name matters, and nothing is kept.
    pub(crate) fn unknown() -> Self {
        Self { root: None, label: Vec::new(), watch: Box::new(|_| None) }
    }
}

/// The folders of one decision.
pub(crate) struct Survey<'a> {
    files: &'a dyn Files,
    ground: Ground<'a>,
    /// By their paths as bytes.
    seen: RefCell<Remembered<Option<Rc<Record>>>>,
    kept: OnceCell<Option<Kept>>,
    watch: OnceCell<Option<Watch>>,
    /// Names listed anew.
    listed: Cell<usize>,
    elsewhere: Cell<usize>,
    /// Folders listed anew in the workspace.
    anew: Cell<usize>,
    folders: Cell<usize>,
    compared: Cell<usize>,
    ran_out: Cell<bool>,
}

impl<'a> Survey<'a> {
    pub(crate) fn new(files: &'a dyn Files, ground: Ground<'a>) -> Self {
        Self {
            files,
            ground,
            seen: RefCell::default(),
            kept: OnceCell::new(),
            watch: OnceCell::new(),
            listed: Cell::new(0),
            elsewhere: Cell::new(0),
            anew: Cell::new(0),
            folders: Cell::new(0),
            compared: Cell::new(0),
            ran_out: Cell::new(false),
        }
    }

    /// Whether there was more to look at than one decision looks at.
    pub(crate) fn ran_out(&self) -> bool {
        self.ran_out.get()
    }

    /// Charges names that are compared with a pattern. `None`: too many.
    pub(super) fn compare(&self, names: usize) -> Option<()> {
        self.spend(&self.compared, names, MOST_COMPARED)
    }

    fn spend(&self, spent: &Cell<usize>, more: usize, most: usize) -> Option<()> {
        spent.set(spent.get().saturating_add(more));
        if spent.get() > most {
            self.ran_out.set(true);
            return None;
        }
        Some(())
    }

    /// A folder at its canonical path, links not followed; `None`: not known. What is no folder holds nothing.
    pub(super) fn folder(&self, path: &Path) -> Option<Rc<Record>> {
        let bytes = path.as_os_str().as_bytes();
        if let Some(seen) = self.seen.borrow().get(bytes) {
            return seen.clone();
        }
        let found = self.look(path);
        self.seen.borrow_mut().insert(bytes.to_owned(), found.clone());
        found
    }

    fn look(&self, path: &Path) -> Option<Rc<Record>> {
        let Some(below_root) = self.ground.root.as_deref().and_then(|root| below(path, root)) else {
            return self.list(path, None, &self.elsewhere, MOST_NAMES_ELSEWHERE).map(Rc::new);
        };
        self.spend(&self.folders, 1, MOST_FOLDERS)?;
        // INVARIANT: the mark is taken before the names, so that what changes while they are listed is seen later.
        let mark = if self.ground.label.is_empty() { None } else { self.files.mark(path) };
        if let Some(kept) = mark.and_then(|mark| self.kept()?.find(below_root, mark)) {
            return Some(Rc::new(kept));
        }
        self.anew.set(self.anew.get() + 1);
        let record = self.list(path, mark, &self.listed, MOST_NAMES)?;
        Some(Rc::new(record))
    }

    fn list(&self, path: &Path, mark: Option<Mark>, spent: &Cell<usize>, most: usize) -> Option<Record> {
        self.spend(spent, A_FOLDER, most)?;
        let watch = if spent.get() > FEW_NAMES && most == MOST_NAMES { self.watch() } else { None };
        let sifting = watch.map(|watch| self.sifting(watch, path));
        let mut written = Written::new(sifting.is_some());
        let mut listed = 0_usize;
        let visit = self.files.visit(path, most.saturating_sub(spent.get()), &mut |name, stands| {
            listed += 1;
            let notable = sifting.as_ref().is_none_or(|sifting| sifting.is_notable(name));
            written.add(name, stands, notable);
        });
        self.spend(spent, listed, most)?;
        match visit {
            Visit::Whole => written.record(mark),
            Visit::NoFolder => Written::new(true).record(None),
            Visit::TooMany => {
                self.ran_out.set(true);
                None
            }
            Visit::Unknown => None,
        }
    }

    fn watch(&self) -> Option<&Watch> {
        self.watch.get_or_init(|| self.ground.root.as_deref().and_then(|root| (self.ground.watch)(root))).as_ref()
    }

    /// What is asked of the names in a folder.
    fn sifting<'w>(&self, watch: &'w Watch, path: &Path) -> Sifting<'w> {
        watch.folder(path, self.is_covered(watch, path))
    }

    /// A folder as it is kept: one of the first of a decision, of which every name was kept in mind, without those that
    /// do not matter. Later decisions would compare them with every pattern, and there may be thousands.
    fn sifted(&self, path: &Path, record: Rc<Record>) -> Option<Rc<Record>> {
        let Some(watch) = self.watch().filter(|_| !record.is_sifted()) else { return Some(record) };
        let sifting = self.sifting(watch, path);
        let mut written = Written::new(true);
        record.items().for_each(|item| written.add(item.name, item.stands, sifting.is_notable(item.name)));
        written.record(record.mark()).map(Rc::new)
    }

    /// Whether all in a folder matters, because a pattern covers it or a folder above it.
    fn is_covered(&self, watch: &Watch, path: &Path) -> bool {
        let root = self.ground.root.as_deref().unwrap_or(path);
        path.ancestors().take_while(|folder| *folder != root).any(|folder| watch.covers(folder)) || watch.covers(root)
    }

    fn kept(&self) -> Option<&Kept> {
        self.kept.get_or_init(|| Kept::read(self.files.kept(&self.ground.label)?)).as_ref()
    }

    /// Leaves what was found for later decisions, if it took long.
    pub(crate) fn keep(&self) {
        let Some(root) = self.ground.root.as_deref() else { return };
        if self.ground.label.is_empty() || self.anew.get() < WORTH_KEEPING {
            return;
        }
        let seen = self.seen.borrow();
        let found = |path: &Path| seen.get(path.as_os_str().as_bytes()).cloned().flatten();
        let paths = seen.keys().map(|path| Path::new(OsStr::from_bytes(path)));
        let sifted = |path: &Path, record| self.sifted(path, record);
        if let Some(bytes) = kept::write(root, self.kept(), paths, found, sifted) {
            self.files.keep(&self.ground.label, &bytes);
        }
    }
}

/// What follows a folder in a path, both canonical: by bytes, because there may be thousands of paths, and to compare them
/// name by name takes many times as long.
pub(super) fn below<'p>(path: &'p Path, folder: &Path) -> Option<&'p Path> {
    let rest = path.as_os_str().as_bytes().strip_prefix(folder.as_os_str().as_bytes())?;
    let rest = match rest {
        [] => rest,
        [b'/', rest @ ..] => rest,
        _ if folder.parent().is_none() => rest,
        _ => return None,
    };
    Some(Path::new(OsStr::from_bytes(rest)))
}
