//! The store in one SQLite file.

mod happenings;
mod records;
mod schema;

use crate::Error;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{Mode, OFlags};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The store in one SQLite file. Processes and threads may share the file.
pub struct SqliteStore {
    connection: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the file, makes it if it is missing, and brings it up to date.
    ///
    /// # Errors
    /// If it cannot be opened, is no store, or was written by a newer Sayso.
    pub fn open(path: &Path) -> Result<Self, Error> {
        // Made here, so that it is closed to others from its first moment; SQLite gives its side files the same mode.
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        drop(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map_err(|e| Error::io("open", path, e))?);
        let flags =
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        schema::migrate(&mut connection)?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    /// A panic while the lock was held has rolled its transaction back: the connection is as good as before.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}
