//! Whether the files of the store are still those that were opened.
//!
//! A file that is deleted, moved or replaced under a process goes on taking what is written to it, and nobody ever finds
//! it there. So whoever writes looks first whether the names still lead to the same files: as long as they are open, no
//! other file can have their numbers. What they hold may be overwritten or cut off too: now and then, and where one got
//! shorter, the store is read anew, without what this process remembers of it.
//!
//! INVARIANT: none of these files is opened here. Whoever closes a descriptor of a file gives up all locks of its process
//! on it; SQLite itself knows that, and a connection may be opened and closed.

use crate::Error;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The store's file, and those that SQLite keeps beside it as long as anybody has it open.
const ENDINGS: [&str; 3] = ["", "-wal", "-shm"];
/// How long a look at the store waits for others.
const PATIENCE: Duration = Duration::from_millis(500);
/// Milliseconds between two looks of somebody who remembers nothing. No hook lives that long.
const BETWEEN: u64 = 5_000;

/// The files of a store that is open.
pub(super) struct Place {
    store: PathBuf,
    files: Vec<Opened>,
    /// When it was opened, and how many milliseconds later it was last read anew.
    opened: Instant,
    read: AtomicU64,
    /// What was found to be otherwise. It stays: what was written since is lost, whatever the names lead to later.
    gone: OnceLock<Arc<str>>,
}

struct Opened {
    path: PathBuf,
    /// Device and number; unknown until it is there.
    is: OnceLock<(u64, u64)>,
    /// How long it was when it was last found in order.
    length: AtomicU64,
}

impl Place {
    /// The files of the store that was just opened there.
    pub(super) fn of(store: &Path) -> Self {
        let opened = |ending: &str| {
            let mut path = store.as_os_str().to_owned();
            path.push(ending);
            Opened { path: path.into(), is: OnceLock::new(), length: AtomicU64::new(0) }
        };
        let place = Self {
            store: store.to_owned(),
            files: ENDINGS.map(opened).into(),
            opened: Instant::now(),
            read: AtomicU64::new(0),
            gone: OnceLock::new(),
        };
        // One that is not there yet is known from its first sight on.
        let _ = place.check();
        place
    }

    /// Fails if one of them is not the one that was opened, from then on.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.gone.get().is_none()
            && let Some(why) =
                self.files.iter().find_map(|file| file.differs(&self.store)).or_else(|| self.unreadable())
        {
            let _ = self.gone.set(why.into());
        }
        match self.gone.get() {
            Some(why) => Err(Error::Replaced(Arc::clone(why))),
            None => Ok(()),
        }
    }
}

impl Place {
    /// What keeps others from reading the store, looked at now and then.
    fn unreadable(&self) -> Option<String> {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.read.load(Ordering::SeqCst);
        let mine = || self.read.compare_exchange(last, now, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if now.saturating_sub(last) < BETWEEN || !mine() {
            return None;
        }
        let looked = anew(&self.store).and_then(|connection| {
            connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0))
        });
        let error = looked.err().filter(|error| error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy))?;
        Some(format!("{} cannot be read: {error}", self.store.display()))
    }
}

impl Opened {
    /// What is wrong with it, if anything is.
    fn differs(&self, store: &Path) -> Option<String> {
        let path = self.path.display();
        match (std::fs::symlink_metadata(&self.path), self.is.get()) {
            (Ok(there), Some(opened)) if (there.dev(), there.ino()) != *opened => {
                Some(format!("{path} is not the file that was opened"))
            }
            (Ok(there), None) => {
                let _ = self.is.set((there.dev(), there.ino()));
                None
            }
            (Ok(there), Some(_)) => self.is_cut_off(store, there.len()).then(|| format!("{path} was cut off")),
            (Err(_), None) => None,
            (Err(error), Some(_)) => Some(format!("{path} is gone: {error}")),
        }
    }

    /// Whether it got shorter, and the store is damaged by that.
    fn is_cut_off(&self, store: &Path, length: u64) -> bool {
        let shorter = self.length.fetch_max(length, Ordering::SeqCst) > length;
        // The first page is always there.
        if !shorter || self.path == store && length == 0 {
            return shorter;
        }
        // Old records go, or the log was copied to the main file: that is seldom, and may take its time.
        match is_whole(store, (self.path == store).then_some(length)) {
            Ok(true) => self.length.store(length, Ordering::SeqCst),
            Ok(false) => return true,
            // Somebody is in the way: the next look tells.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
            Err(_) => return true,
        }
        false
    }
}

/// Whether somebody who has seen nothing of the store can read it. `length` is that of the main file, if it is the one that
/// got shorter.
fn is_whole(store: &Path, length: Option<u64>) -> rusqlite::Result<bool> {
    let connection = anew(store)?;
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = pragma("page_count")?.saturating_mul(pragma("page_size")?);
    if length.is_some_and(|length| i64::try_from(length).is_ok_and(|length| length >= pages)) {
        return Ok(true);
    }
    let found: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    Ok(found == "ok")
}

/// A connection that remembers nothing.
fn anew(store: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(store, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}
