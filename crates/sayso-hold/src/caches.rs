//! Copies of caches: folders for what a run changes, kept for later runs of the same workspace.
//!
//! Two mounts must never write to one such folder, so a run takes the first that is free.

use crate::error::Error;
use crate::plan::What;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// How many runs can have a copy of one cache at a time.
const SLOTS: usize = 32;

/// A copy that nobody else uses now.
pub(crate) struct Slot {
    folder: PathBuf,
    lock: File,
}

impl Slot {
    pub(crate) fn upper(&self) -> PathBuf {
        self.folder.join("changes")
    }

    /// Kept as long as the copy is used.
    pub(crate) fn into_lock(self) -> File {
        self.lock
    }

    pub(crate) fn overlay(&self) -> What {
        What::Copy { upper: self.upper(), work: self.folder.join("work") }
    }
}

/// Takes a free copy in a store.
pub(crate) fn take(store: &Path) -> Result<Slot, Error> {
    let store = fs::create_dir_all(store).and_then(|()| fs::canonicalize(store))?;
    for number in 0..SLOTS {
        let folder = store.join(number.to_string());
        fs::create_dir_all(folder.join("changes"))?;
        fs::create_dir_all(folder.join("work"))?;
        let lock = File::options().create(true).append(true).open(folder.join("lock"))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Slot { folder, lock }),
            Err(rustix::io::Errno::WOULDBLOCK) => {}
            Err(error) => return Err(std::io::Error::from(error).into()),
        }
    }
    Err(Error::Bounds { path: store, why: "too many runs use a copy of this cache".to_owned() })
}
