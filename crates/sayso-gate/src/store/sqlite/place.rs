//! Whether the files of the store are still those that were opened.
//!
//! A file that is deleted, moved or replaced under a process goes on taking what is written to it, and nobody ever finds
//! it there. So whoever writes looks first whether the names still lead to the same files: as long as they are open, no
//! other file can have their numbers.

use crate::Error;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The store's file, and those that SQLite keeps beside it as long as anybody has it open.
const ENDINGS: [&str; 3] = ["", "-wal", "-shm"];

/// The files of a store that is open.
pub(super) struct Place {
    files: Vec<Opened>,
    /// What was found to be otherwise. It stays: what was written since is lost, whatever the names lead to later.
    gone: OnceLock<Arc<str>>,
}

struct Opened {
    path: PathBuf,
    /// Device and number; unknown until it is there.
    is: OnceLock<(u64, u64)>,
}

impl Place {
    /// The files of the store that was just opened there.
    pub(super) fn of(store: &Path) -> Self {
        let opened = |ending: &str| {
            let mut path = store.as_os_str().to_owned();
            path.push(ending);
            Opened { path: path.into(), is: OnceLock::new() }
        };
        let place = Self { files: ENDINGS.map(opened).into(), gone: OnceLock::new() };
        // One that is not there yet is known from its first sight on.
        let _ = place.check();
        place
    }

    /// Fails if one of them is not the one that was opened, from then on.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.gone.get().is_none()
            && let Some(why) = self.files.iter().find_map(Opened::differs)
        {
            let _ = self.gone.set(why.into());
        }
        match self.gone.get() {
            Some(why) => Err(Error::Replaced(Arc::clone(why))),
            None => Ok(()),
        }
    }
}

impl Opened {
    fn differs(&self) -> Option<String> {
        let path = self.path.display();
        match (std::fs::symlink_metadata(&self.path), self.is.get()) {
            (Ok(there), Some(opened)) if (there.dev(), there.ino()) != *opened => {
                Some(format!("{path} is not the file that was opened"))
            }
            (Ok(there), None) => {
                let _ = self.is.set((there.dev(), there.ino()));
                None
            }
            (Ok(_), Some(_)) | (Err(_), None) => None,
            (Err(error), Some(_)) => Some(format!("{path} is gone: {error}")),
        }
    }
}
