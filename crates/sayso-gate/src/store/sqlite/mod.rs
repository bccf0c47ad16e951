//! The store in one SQLite file, shared by hooks, commands and a server.
//!
//! Callers write on their own threads, and those who come at the same time share one commit ([`group`]). A commit is
//! written to the file, so that no death of a process loses it; who needs it on the disk itself waits for a sync that
//! callers share as well ([`durable`]).

mod approvals;
mod batch;
mod budget;
mod care;
mod chain;
mod connection;
mod durable;
mod error;
mod grants;
mod group;
mod keys;
mod ledger;
mod migration;
mod noted;
mod pending;
mod place;
mod policy_versions;
mod records;
mod session_history;
mod sketch;
mod tally;
#[cfg(test)]
mod tests;
mod usage;
mod watch;
mod whole;
mod witness;

use group::Transaction;

use crate::{Error, Places};
use batch::Batches;
use durable::Durable;
use group::{Group, Turn, Until};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of the file in Sayso's own folder.
const FILE: &str = "sayso.db";
/// Connections for readers that are kept open.
const READERS_KEPT: usize = 8;

/// The store in one SQLite file. Processes and threads may share the file.
pub(super) struct Sqlite {
    path: PathBuf,
    group: Group,
    batches: Batches,
    durable: Arc<Durable>,
    readers: Mutex<Vec<Connection>>,
}

impl Sqlite {
    pub(super) fn is_there(places: &Places) -> bool {
        places.state.join(FILE).exists()
    }

    /// Opens this user's store, makes it if it is missing, and brings it up to date.
    ///
    /// # Errors
    /// If it cannot be opened, is no store, or was written by a newer Sayso.
    pub(super) fn open(places: &Places) -> Result<Self, Error> {
        Self::open_at(&places.own_folder("")?.join(FILE))
    }

    /// The same at another place.
    ///
    /// # Errors
    /// If it cannot be opened, is no store, or was written by a newer Sayso.
    fn open_at(path: &Path) -> Result<Self, Error> {
        let mut connection = connection::to_write(path)?;
        migration::migrate(&mut connection)?;
        let durable = Arc::new(Durable::of(path));
        Ok(Self {
            path: path.to_owned(),
            group: Group::new(connection, chain::Heads::beside(path)),
            batches: Batches::default(),
            durable,
            readers: Mutex::default(),
        })
    }

    /// Changes something, all or nothing, and syncs it to disk before it returns: what was acknowledged survives a
    /// power cut. Callers on other threads share the commit and the sync. Not to be called within itself.
    ///
    /// # Errors
    /// Whatever `change` says: then nothing of it is kept. Or if the store is locked, full, read-only or damaged.
    fn write<T>(&self, change: impl FnOnce(&mut Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
        self.write_as(Turn::Change, change)
    }

    fn write_as<T>(
        &self,
        turn: Turn,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.durable.check_synced()?;
        let written = self.group.take_turn(&self.durable, turn, Until::Synced, change);
        // Whether the files are still those is looked at behind the sync, once for all whom it covers.
        let kept = written.and_then(|(value, commit)| self.durable.sync(commit).map(|()| value));
        kept.map_err(|error| self.durable.check_place().err().unwrap_or(error))
    }

    /// The same, synced within [`durable::WINDOW`] after it returns: for what a power cut may take away.
    fn write_soon<T>(&self, change: impl FnOnce(&mut Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
        self.durable.check()?;
        let (value, _) = self.group.take_turn(&self.durable, Turn::Change, Until::Committed, change)?;
        Durable::sync_soon(&self.durable)?;
        Ok(value)
    }

    /// Reads something, as of one moment. Readers do not wait for writers.
    ///
    /// # Errors
    /// Whatever `look` says, or if the store cannot be read.
    fn read<T>(&self, look: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let kept = lock(&self.readers).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => self.reader()?,
        };
        let transaction = connection.unchecked_transaction()?;
        let found = look(&transaction);
        transaction.rollback()?;
        let mut readers = lock(&self.readers);
        if readers.len() < READERS_KEPT {
            readers.push(connection);
        }
        found
    }

    /// The same by a connection that remembers nothing of the file: pages that somebody has overwritten past SQLite are not
    /// seen by one that has read them before.
    fn read_anew<T>(&self, look: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let connection = self.reader()?;
        let transaction = connection.unchecked_transaction()?;
        let found = look(&transaction);
        transaction.rollback()?;
        found
    }

    fn reader(&self) -> Result<Connection, Error> {
        let opened = connection::to_read(&self.path)?;
        // Looked at behind it: what was opened by its name must be the store.
        self.durable.check_place()?;
        Ok(opened)
    }

    /// Where the file is.
    #[cfg(test)]
    fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.durable.stop();
    }
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sqlite").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A panic while a lock was held has left nothing half done in what these locks guard.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
