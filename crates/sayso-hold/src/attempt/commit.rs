//! Makes changes that were shown, one file at a time.
//!
//! A file is put together elsewhere and gets its name in one step. Where something is replaced or removed, it is
//! exchanged or moved first and looked at then: if it is not the file that was there when the run began, it is put back.

use super::change::{Change, ChangeKind, Node, Seen};
use super::scan::{beneath, openable};
use super::{Attempt, Root};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, chmod, fchmod, fstat, futimens, mkdirat,
    openat, openat2, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

/// How temporary files in a workspace are called, where there is no other place for them.
pub(crate) const TEMPORARY: &str = ".sayso-try-";

/// What became of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Committed {
    /// The numbers of the changes that were made.
    pub done: Vec<usize>,
    /// The numbers of those that were not, and why.
    pub refused: Vec<(usize, Refusal)>,
}

/// Why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The file was changed from outside since the run began.
    Conflict,
    /// A pipe, socket or device.
    Special,
    /// The contents are not those that were shown.
    NotAsShown,
    /// The folder that it is in was not committed, or is not there any more.
    NoFolder,
    /// The folder is not empty.
    NotEmpty,
    /// There is no change with this number.
    Unknown,
    /// The system refused.
    System(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Conflict => "it changed in the meantime",
            Self::Special => "it is neither a file nor a folder nor a link",
            Self::NotAsShown => "its contents are not those that were shown",
            Self::NoFolder => "its folder is not there",
            Self::NotEmpty => "the folder is not empty",
            Self::Unknown => "there is no such change",
            Self::System(why) => why,
        })
    }
}

impl From<Errno> for Refusal {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOTEMPTY => Self::NotEmpty,
            Errno::EXIST | Errno::NOENT => Self::Conflict,
            other => Self::System(other.to_string()),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::System(error.to_string())
    }
}

/// Makes something under a temporary name.
type Make<'a> = dyn Fn(&OwnedFd, &OsStr) -> Result<(), Refusal> + 'a;

struct Commit<'a> {
    attempt: &'a Attempt,
    staged: OwnedFd,
    next: std::cell::Cell<u64>,
}

/// Something to be removed once everything else is in its place.
struct Removal<'a> {
    number: usize,
    path: &'a Path,
    seen: Option<Seen>,
    is_folder: bool,
}

pub(crate) fn commit(attempt: &Attempt, selected: &[usize]) -> Committed {
    let mut committed = Committed::default();
    let selected: BTreeSet<usize> = selected.iter().copied().collect();
    let staged = match attempt.trial.staged() {
        Ok(staged) => staged,
        Err(error) => {
            committed.refused =
                selected.into_iter().map(|number| (number, Refusal::System(error.to_string()))).collect();
            return committed;
        }
    };
    let commit = Commit { attempt, staged, next: std::cell::Cell::new(0) };
    let mut chosen: Vec<(usize, &Change)> = Vec::new();
    for number in selected {
        match attempt.changes.get(number) {
            None => committed.refused.push((number, Refusal::Unknown)),
            Some(change) if change.conflict => committed.refused.push((number, Refusal::Conflict)),
            Some(change) if !change.can_be_committed() => committed.refused.push((number, Refusal::Special)),
            Some(change) => chosen.push((number, change)),
        }
    }
    let mut results: Vec<(usize, Result<(), Refusal>)> = Vec::new();

    // What is in a folder that becomes something else goes first, everything else that is removed goes last. Inner ones
    // go before outer ones; what is made is made the other way round.
    let becomes: Vec<&Path> = chosen
        .iter()
        .filter(|(_, change)| matches!(change.before, Some(Node::Folder { .. })) && change.kind() == ChangeKind::Type)
        .map(|(_, change)| change.path.as_path())
        .collect();
    let (first, mut last): (Vec<Removal<'_>>, Vec<Removal<'_>>) = chosen
        .iter()
        .filter(|(_, change)| change.after.is_none())
        .map(|(number, change)| Removal {
            number: *number,
            path: &change.path,
            seen: change.proof.seen,
            is_folder: matches!(change.before, Some(Node::Folder { .. })),
        })
        .partition(|removal| becomes.iter().any(|folder| removal.path.starts_with(folder)));
    for removal in inner_first(first) {
        results.push((removal.number, commit.remove(&removal)));
    }
    for (number, change) in chosen.iter().filter(|(_, change)| change.after.is_some()) {
        let result = commit.make(change);
        match (&change.from, &result) {
            (Some(from), Ok(())) => {
                last.push(Removal { number: *number, path: from, seen: change.proof.from, is_folder: false });
            }
            _ => results.push((*number, result)),
        }
    }
    for removal in inner_first(last) {
        results.push((removal.number, commit.remove(&removal)));
    }
    // Last of all: a folder could be closed by it.
    for (number, change) in chosen.iter().rev() {
        if let Some(Node::Folder { mode }) = change.after
            && results.iter().any(|(its, result)| its == number && result.is_ok())
            && let Err(refusal) = commit.set_mode(change, mode)
        {
            results.retain(|(its, _)| its != number);
            results.push((*number, Err(refusal)));
        }
    }
    for (number, result) in results {
        match result {
            Ok(()) => committed.done.push(number),
            Err(refusal) => committed.refused.push((number, refusal)),
        }
    }
    committed.done.sort_unstable();
    committed.refused.sort_by_key(|(number, _)| *number);
    committed
}

fn inner_first(mut removals: Vec<Removal<'_>>) -> Vec<Removal<'_>> {
    removals.sort_by(|a, b| b.path.cmp(a.path));
    removals
}

impl Commit<'_> {
    fn root_of(&self, path: &Path) -> Result<&Root, Refusal> {
        let around = self.attempt.roots.iter().filter(|root| path.starts_with(&root.path));
        around.max_by_key(|root| root.path.as_os_str().len()).ok_or(Refusal::NoFolder)
    }

    /// The folder that something is in, through no link, and its name there.
    fn place<'p>(&self, path: &'p Path) -> Result<(OwnedFd, &'p OsStr), Refusal> {
        let root = self.root_of(path)?;
        let below = path.strip_prefix(&root.path).map_err(|_| Refusal::NoFolder)?;
        let (Some(parent), Some(name)) = (below.parent(), below.file_name()) else { return Err(Refusal::NoFolder) };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match openat2(&root.folder, openable(parent), flags, Mode::empty(), beneath()) {
            Ok(folder) => Ok((folder, name)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => Err(Refusal::NoFolder),
            Err(error) => Err(error.into()),
        }
    }

    fn make(&self, change: &Change) -> Result<(), Refusal> {
        match (&change.after, change.kind()) {
            // Folders get their permissions when everything is in them.
            (Some(Node::Folder { .. }), ChangeKind::Mode) => Ok(()),
            (Some(Node::File { mode, .. }), ChangeKind::Mode) => self.set_mode(change, *mode),
            (Some(Node::Folder { mode }), _) => {
                let open = Mode::from_raw_mode(mode & 0o777 | 0o700);
                let make = |folder: &OwnedFd, name: &OsStr| Ok(mkdirat(folder, name, open)?);
                if change.before.is_some() {
                    return self.put(change, &make);
                }
                let (folder, name) = self.place(&change.path)?;
                make(&folder, name)
            }
            (Some(Node::Link { target }), _) => {
                self.put(change, &|folder, name| Ok(symlinkat(target.as_path(), folder, name)?))
            }
            (Some(Node::File { mode, .. }), _) => {
                self.put(change, &|folder, name| self.copy(change, *mode, folder, name))
            }
            (Some(Node::Special { .. }) | None, _) => Err(Refusal::Special),
        }
    }

    /// Makes something where it has no name, and gives it its name.
    fn put(&self, change: &Change, make: &Make<'_>) -> Result<(), Refusal> {
        let (folder, name) = self.place(&change.path)?;
        let replaced = match change.before {
            Some(Node::Folder { .. }) => {
                unlinkat(&folder, name, AtFlags::REMOVEDIR)?;
                None
            }
            Some(_) => Some(same(&folder, name, change.proof.seen)?),
            None => None,
        };
        let fresh = self.fresh();
        make(&self.staged, &fresh)?;
        match self.exchange(&self.staged, &fresh, &folder, name, replaced) {
            Err(None) => {}
            Err(Some(refusal)) => return Err(refusal),
            Ok(()) => return Ok(()),
        }
        // Another file system: there is no other place than beside it.
        let beside = self.beside(&change.path)?;
        make(&folder, &beside).inspect_err(|_| forget(&folder, &beside))?;
        self.exchange(&folder, &beside, &folder, name, replaced)
            .map_err(|refusal| refusal.unwrap_or_else(|| Errno::XDEV.into()))
    }

    /// `Err(None)`: the two are on different file systems. The temporary name is gone afterwards in any case.
    fn exchange(
        &self,
        from: &OwnedFd,
        fresh: &OsStr,
        folder: &OwnedFd,
        name: &OsStr,
        replaced: Option<Seen>,
    ) -> Result<(), Option<Refusal>> {
        let exchange = || renameat_with(from, fresh, folder, name, RenameFlags::EXCHANGE);
        let result = match replaced {
            None => renameat_with(from, fresh, folder, name, RenameFlags::NOREPLACE),
            Some(_) => exchange(),
        };
        let result = match (result, replaced) {
            (Err(Errno::XDEV), _) => Err(None),
            (Err(error), _) => Err(Some(error.into())),
            (Ok(()), None) => return Ok(()),
            (Ok(()), Some(seen)) => {
                let is_it =
                    statat(from, fresh, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|now| seen.is_moved(&Seen::of(&now)));
                if is_it {
                    Ok(())
                } else {
                    // Somebody was quicker: theirs stays.
                    let _ = exchange();
                    Err(Some(Refusal::Conflict))
                }
            }
        };
        forget(from, fresh);
        result
    }

    /// Copies a file of the run, and compares it with what was shown on the way.
    fn copy(&self, change: &Change, mode: u32, to: &OwnedFd, name: &OsStr) -> Result<(), Refusal> {
        let root = self.root_of(&change.path)?;
        let below = change.path.strip_prefix(&root.path).map_err(|_| Refusal::NoFolder)?;
        let upper =
            openat(rustix::fs::CWD, &root.upper, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let from = openat2(&upper, below, flags, Mode::empty(), beneath()).map_err(|_| Refusal::NotAsShown)?;
        let data = fstat(&from)?;
        let shown = match change.after {
            Some(Node::File { bytes, .. }) => bytes,
            _ => return Err(Refusal::NotAsShown),
        };
        if !FileType::from_raw_mode(data.st_mode).is_file() || u64::try_from(data.st_size) != Ok(shown) {
            return Err(Refusal::NotAsShown);
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(to, name, flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = File::from(file);
        let copied = copy_hashed(&mut File::from(from), &mut file, shown);
        let finished = match copied {
            Ok(hash) if Some(hash) == change.proof.hash => finish(&file, mode, &data).map_err(Refusal::from),
            Ok(_) => Err(Refusal::NotAsShown),
            Err(error) => Err(error.into()),
        };
        finished.inspect_err(|_| forget(to, name))
    }

    fn remove(&self, removal: &Removal<'_>) -> Result<(), Refusal> {
        let (folder, name) = self.place(removal.path)?;
        if removal.is_folder {
            let now = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let is_it = removal.seen.is_some_and(|seen| (seen.device, seen.inode) == (now.st_dev, now.st_ino));
            return if is_it { Ok(unlinkat(&folder, name, AtFlags::REMOVEDIR)?) } else { Err(Refusal::Conflict) };
        }
        let seen = same(&folder, name, removal.seen)?;
        let fresh = self.fresh();
        match self.take_away(&folder, name, seen, &self.staged, &fresh) {
            Err(None) => {}
            Err(Some(refusal)) => return Err(refusal),
            Ok(()) => return Ok(()),
        }
        let beside = self.beside(removal.path)?;
        self.take_away(&folder, name, seen, &folder, &beside)
            .map_err(|refusal| refusal.unwrap_or_else(|| Errno::XDEV.into()))
    }

    fn take_away(
        &self,
        folder: &OwnedFd,
        name: &OsStr,
        seen: Seen,
        to: &OwnedFd,
        fresh: &OsStr,
    ) -> Result<(), Option<Refusal>> {
        match renameat_with(folder, name, to, fresh, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::XDEV) => return Err(None),
            Err(error) => return Err(Some(error.into())),
        }
        let is_it = statat(to, fresh, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|now| seen.is_moved(&Seen::of(&now)));
        if !is_it {
            let _ = renameat_with(to, fresh, folder, name, RenameFlags::NOREPLACE);
            return Err(Some(Refusal::Conflict));
        }
        forget(to, fresh);
        Ok(())
    }

    fn set_mode(&self, change: &Change, mode: u32) -> Result<(), Refusal> {
        let (folder, name) = self.place(&change.path)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat2(&folder, name, flags, Mode::empty(), beneath())?;
        let now = fstat(&file)?;
        let is_folder = FileType::from_raw_mode(now.st_mode).is_dir();
        let is_it = match change.before {
            Some(Node::File { .. }) if !is_folder => change.proof.seen == Some(Seen::of(&now)),
            Some(Node::Folder { .. }) if is_folder => {
                change.proof.seen.is_some_and(|seen| (seen.device, seen.inode) == (now.st_dev, now.st_ino))
            }
            // Made a moment ago.
            _ => is_folder,
        };
        if !is_it {
            return Err(Refusal::Conflict);
        }
        let inherited = if is_folder { now.st_mode & 0o2000 } else { 0 };
        if now.st_mode & 0o777 != mode & 0o777 {
            // By descriptor: it is the file that was looked at.
            chmod(format!("/proc/self/fd/{}", file.as_raw_fd()), Mode::from_raw_mode(mode & 0o777 | inherited))?;
        }
        Ok(())
    }

    fn fresh(&self) -> OsString {
        self.next.set(self.next.get() + 1);
        OsString::from(self.next.get().to_string())
    }

    /// A temporary name beside a file, which is written down first: should this process be killed, the next one removes it.
    fn beside(&self, path: &Path) -> Result<OsString, Refusal> {
        let number = self.fresh();
        let name = OsString::from(format!("{TEMPORARY}{}-{}", std::process::id(), number.display()));
        self.attempt.trial.write_down(&path.with_file_name(&name))?;
        Ok(name)
    }
}

/// The file is the one that the run found, and nobody has changed it since.
fn same(folder: &OwnedFd, name: &OsStr, seen: Option<Seen>) -> Result<Seen, Refusal> {
    let now = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    seen.filter(|seen| *seen == Seen::of(&now)).ok_or(Refusal::Conflict)
}

fn forget(folder: &OwnedFd, name: &OsStr) {
    if unlinkat(folder, name, AtFlags::empty()).is_err() {
        let _ = unlinkat(folder, name, AtFlags::REMOVEDIR);
    }
}

fn finish(file: &File, mode: u32, data: &Stat) -> Result<(), Errno> {
    // Never setuid or setgid, whatever the run has set.
    fchmod(file, Mode::from_raw_mode(mode & 0o777))?;
    let modified = Seen::of(data).modified;
    let time = Timespec { tv_sec: modified.0, tv_nsec: modified.1 };
    futimens(file, &Timestamps { last_access: time, last_modification: time })
}

/// Copies at most as much as was shown, and a byte more, so that what has grown is noticed.
fn copy_hashed(from: &mut File, to: &mut File, shown: u64) -> io::Result<[u8; 32]> {
    let mut hash = blake3::Hasher::new();
    let mut piece = vec![0; 64 << 10];
    let mut from = from.take(shown.saturating_add(1));
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => return Ok(hash.finalize().into()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = piece.get(..count).unwrap_or_default();
        hash.update(piece);
        to.write_all(piece)?;
    }
}
