//! Looking after a store: does it take changes, is it where it was, and a copy of it.

use crate::Error;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Looking after a store.
pub trait Upkeep {
    /// Whether it takes changes: one is begun, holds nothing, and is synced.
    ///
    /// # Errors
    /// Why it does not.
    fn writable(&self) -> Result<(), Error>;

    /// Whether it is still the one that was opened: what is written to another is lost.
    ///
    /// # Errors
    /// [`Error::Replaced`], from the moment on at which it was found deleted, moved or replaced.
    fn in_place(&self) -> Result<(), Error>;

    /// Writes a copy as of this moment, whole and readable alone. Others may go on writing.
    ///
    /// # Errors
    /// If the file exists already or cannot be written.
    fn back_up(&self, to: &Path) -> Result<(), Error>;

    /// Has whoever uses a remembered answer look at fewer records; for a server, now and then.
    ///
    /// # Errors
    /// If the store refuses.
    fn move_mark(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Prepares searching in the next records that came since, at most so many groups of them; tells how many there were.
    ///
    /// # Errors
    /// If the store refuses.
    fn sketch(&self, most: usize) -> Result<usize, Error> {
        let _ = most;
        Ok(0)
    }
}

/// What a look at a store's file says, without changing it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// Where it is.
    pub path: PathBuf,
    /// Its version; `None`: there is no store yet.
    pub version: Option<u32>,
    /// The version that this program knows.
    pub known: u32,
    /// Its size in bytes, with what waits in its log.
    pub bytes: u64,
    /// What the engine finds wrong with it.
    pub damage: Vec<String>,
}
