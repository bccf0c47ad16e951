//! Opening the file.

use crate::Error;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long one waits for writers of other processes: so many looks, a little more than a millisecond apart. Shorter than
/// a hook's patience, so that a hook can still say why.
const LOOKS: i32 = 2_500;
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// Pages in the write-ahead log before whoever commits copies them to the main file, which takes two syncs: rarely, for
/// where many are written a thread of its own does so much earlier.
const PAGES_IN_LOG: u32 = 16_000;

/// A connection that may write; the file is made if it is missing.
pub(super) fn to_write(path: &Path) -> Result<Connection, Error> {
    make_if_missing(path)?;
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    set_up(&connection)?;
    Ok(connection)
}

fn set_up(connection: &Connection) -> Result<(), Error> {
    // A new file gives back the room of what is removed, bit by bit; one that has tables keeps what it has.
    if connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))? == 0 {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    patiently(|| {
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode == "wal" { Ok(()) } else { connection.pragma_update(None, "journal_mode", "WAL") }
    })?;
    // A commit is written to the log but not synced: `durable` does that, for many at once and without holding other
    // writers up. SQLite itself still syncs wherever a checkpoint needs it.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", PAGES_IN_LOG)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Each turn is a savepoint, for which SQLite keeps the pages that it changes as they were: in memory, not in a file.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(())
}

/// A connection that only reads.
pub(super) fn to_read(path: &Path) -> Result<Connection, Error> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Tries again while another process is in the way. SQLite asks its busy handler where waiting cannot end in a
/// deadlock; where it could (two who change the mode of a new file), it gives up at once, and whoever holds nothing
/// may try again.
pub(super) fn patiently<T>(mut act: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let mut looked = 0;
    loop {
        match act() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && looked < LOOKS => {
                looked += 1;
                std::thread::sleep(BETWEEN_LOOKS);
            }
            done => return done,
        }
    }
}

fn open(path: &Path, how: OpenFlags) -> Result<Connection, Error> {
    let flags = how | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // SQLite's own way of waiting sleeps longer and longer, up to a tenth of a second, and so finds a busy file busy
    // again and again. Short looks get their turn between two groups of a busy server.
    connection.busy_handler(Some(|looked| {
        std::thread::sleep(BETWEEN_LOOKS);
        looked < LOOKS
    }))?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Made here, so that it is closed to others from its first moment; SQLite gives its side files the same mode. It has its
/// name when it is whole: making the tables takes several syncs under a lock, and on a busy disk those who come at the same
/// time would wait for them longer than they may, and fail.
///
/// INVARIANT: whoever closes a descriptor of a file gives up all locks that its process holds on it. Another thread may
/// have the store open by now, so it is made under a name of its own, closed, and only then given its name.
fn make_if_missing(path: &Path) -> Result<(), Error> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    if path.try_exists().map_err(|e| Error::io("look at", path, e))? {
        return Ok(());
    }
    let mut new = path.as_os_str().to_owned();
    new.push(format!(".new-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)));
    let new = Path::new(&new);
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::CREATE;
    let made = rustix::fs::open(new, flags, Mode::RUSR | Mode::WUSR);
    drop(made.map_err(|e| Error::io("create", new, e))?);
    let whole = open(new, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|mut connection| {
        set_up(&connection)?;
        super::migration::migrate(&mut connection)
    });
    if let Err(error) = whole {
        for ending in ["", "-journal", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", new.display()));
        }
        return Err(error);
    }
    let named = std::fs::hard_link(new, path);
    std::fs::remove_file(new).map_err(|e| Error::io("remove", new, e))?;
    match named {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(Error::io("create", path, error)),
        _ => {}
    }
    // Its name must be on disk before anything in it is said to be.
    let folder = path.parent().unwrap_or(Path::new("/"));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| Error::io("sync", folder, e))
}
