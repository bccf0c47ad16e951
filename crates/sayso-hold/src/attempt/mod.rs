//! Runs a command over a copy-on-write view of what it may write, and shows what it would have changed.
//!
//! The hold is the same as for any other run, but every writable folder is covered with an overlay. When all processes
//! have ended, the changes are listed; the caller commits those that it wants, and the rest is thrown away. A run that is
//! killed at any moment has changed nothing; a commit that is killed has committed whole files or none.
//!
//! INVARIANT: what is committed is what was shown. Contents are hashed when they are listed and again when they are
//! copied, files are opened beneath the folder that the hold was made for and through no symlink, and what somebody else
//! changed since the run began stays.

mod change;
mod commit;
mod scan;
mod trial;

pub use change::{Change, ChangeKind, Diff, Node};
pub use commit::{Committed, Refusal};

pub(crate) use trial::Trial;

use crate::error::Error;
use crate::plan::Level;
use crate::prepare::{Layer, prepare_attempt};
use crate::run::{self, Ended, Launch};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::time::{ClockId, Timespec, clock_gettime};
use sayso_shell::bounds::{Bounds, Leave};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A run whose changes are not made yet. Dropping it throws them away.
#[must_use]
pub struct Attempt {
    /// How the run ended, and what was held back.
    pub ended: Ended,
    /// What it changed, by path.
    pub changes: Vec<Change>,
    /// How many more changes there are that are too many, or too deep, to be listed. They cannot be committed.
    pub left_out: u64,
    roots: Vec<Root>,
    trial: Trial,
}

/// A writable folder, and where its changes are.
pub(crate) struct Root {
    pub(crate) path: PathBuf,
    pub(crate) folder: OwnedFd,
    pub(crate) upper: PathBuf,
}

impl Root {
    fn open(layer: Layer) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat2(CWD, &layer.path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        Ok(Self { path: layer.path, folder, upper: layer.upper })
    }
}

/// Runs a program within bounds, and keeps what it changes in `store`.
///
/// The store must not be in a writable folder; on the same file system as the workspace, commits rename files into place.
/// Nothing may be mounted inside a writable folder. The run is always held whole, and its processes end with it.
///
/// # Errors
///
/// As [`crate::run()`]. Nothing ran then.
pub fn run(bounds: &Bounds, launch: &Launch, store: &Path) -> Result<Attempt, Error> {
    let bounds = Bounds { leave: Leave::End, ..bounds.clone() };
    let trial = Trial::begin(store, &bounds)?;
    let (prepared, tried) = prepare_attempt(&bounds, &launch.folder, &trial)?;
    let roots = tried.layers.into_iter().map(Root::open).collect::<io::Result<Vec<_>>>()?;
    let began = next_tick();
    let ended = run::run_prepared(Level::Whole, prepared, &bounds, launch)?;
    let scan::Found { changes, left_out } = scan::scan(&roots, began, &tried.guarded)?;
    Ok(Attempt { ended, changes, left_out, roots, trial })
}

impl Attempt {
    /// Makes the changes with these numbers, and throws the others away.
    pub fn commit(self, selected: &[usize]) -> Committed {
        commit::commit(&self, selected)
    }

    /// Throws everything away.
    pub fn discard(self) {}
}

/// Waits for the clock by which files are dated to go on: what has this time, or a later one, was changed since.
fn next_tick() -> (i64, i64) {
    let now = || {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::RealtimeCoarse);
        (tv_sec, tv_nsec)
    };
    let entered = now();
    for _ in 0..200 {
        if now() != entered {
            break;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    now()
}
