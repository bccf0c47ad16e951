//! One server for each store: several that start at the same moment all find no other that answers.

use crate::error::Error;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open};
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The name of the file that is locked.
const FILE: &str = "serve.lock";

/// Held by the one server of a store. The system gives it back when the process ends, however it ends.
pub(crate) struct Only {
    _locked: File,
}

impl Only {
    /// Becomes the one server of the store in this folder.
    ///
    /// # Errors
    /// If another process is, or the file cannot be used.
    pub(crate) fn server_of(folder: &Path, socket: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        // A file that was removed in between locks nobody out: the one that has the name counts.
        for _ in 0..100 {
            let file = open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(|e| Error::Io("open its lock", e.into()))?;
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                return Err(Error::Running(socket.to_owned()));
            }
            let locked = fstat(&file).map_err(|e| Error::Io("look at its lock", e.into()))?;
            let named = std::fs::symlink_metadata(&path);
            if named.is_ok_and(|named| named.ino() == locked.st_ino && named.dev() == locked.st_dev) {
                return Ok(Self { _locked: File::from(file) });
            }
        }
        Err(Error::Running(socket.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier};

    #[test]
    fn of_many_that_start_at_once_one_runs() {
        for _ in 0..50 {
            let dir = tempfile::tempdir().unwrap();
            let start = Arc::new(Barrier::new(16));
            let threads: Vec<_> = (0..16)
                .map(|_| {
                    let (start, folder) = (Arc::clone(&start), dir.path().to_owned());
                    std::thread::spawn(move || {
                        start.wait();
                        Only::server_of(&folder, &folder.join("s"))
                    })
                })
                .collect();
            let all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert_eq!(all.iter().filter(|only| only.is_ok()).count(), 1);
        }
    }

    #[test]
    fn the_next_one_runs_once_it_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let only = || Only::server_of(dir.path(), &dir.path().join("s"));
        let first = only().unwrap();
        assert!(matches!(only(), Err(Error::Running(_))));
        drop(first);
        assert!(only().is_ok());
    }
}
