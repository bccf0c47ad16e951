//! The tables, version by version. A step that was released is never changed; a new one is added after it.

use crate::Error;
use crate::audit::now_ms;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

/// Step `n` leads from version `n` to version `n + 1`.
const STEPS: &[&str] = &[
    "
    CREATE TABLE record (
        seq     INTEGER PRIMARY KEY AUTOINCREMENT,
        id      TEXT NOT NULL UNIQUE,
        time_ms INTEGER NOT NULL,
        agent   TEXT,
        session TEXT,
        tool    TEXT NOT NULL,
        verdict TEXT NOT NULL,
        body    TEXT NOT NULL
    ) STRICT;
    CREATE INDEX record_time ON record (time_ms);
    CREATE INDEX record_session ON record (session, seq);
",
    "
    CREATE TABLE happening (
        seq     INTEGER PRIMARY KEY AUTOINCREMENT,
        id      TEXT NOT NULL UNIQUE,
        time_ms INTEGER NOT NULL,
        agent   TEXT,
        session TEXT,
        body    TEXT NOT NULL
    ) STRICT;
    CREATE INDEX happening_session ON happening (session, seq);
",
];

/// Brings the tables up to date; the steps of one call are taken together or not at all.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Error> {
    let known = u32::try_from(STEPS.len()).unwrap_or(u32::MAX);
    if version(connection)? == known {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, applied_ms INTEGER NOT NULL) STRICT;",
    )?;
    // Asked again under the lock: another process may have been faster.
    let found = version(&transaction)?;
    if found > known {
        return Err(Error::NewerStore { found, known });
    }
    for (step, next) in STEPS.iter().zip(1u32..).skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step)?;
        let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
        transaction.execute("INSERT INTO migration (version, applied_ms) VALUES (?1, ?2)", params![next, now])?;
    }
    transaction.commit()?;
    Ok(())
}

fn version(connection: &Connection) -> Result<u32, Error> {
    let table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'";
    if connection.query_row(table, [], |_| Ok(())).optional()?.is_none() {
        return Ok(0);
    }
    Ok(connection.query_row("SELECT coalesce(max(version), 0) FROM migration", [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::SqliteStore;

    #[test]
    fn opening_twice_changes_nothing_and_a_newer_store_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        SqliteStore::open(&path).unwrap();
        let store = SqliteStore::open(&path).unwrap();
        let steps: u32 = store.connection().query_row("SELECT count(*) FROM migration", [], |r| r.get(0)).unwrap();
        assert_eq!(steps as usize, STEPS.len());
        store.connection().execute("INSERT INTO migration VALUES (99, 0)", []).unwrap();
        assert!(matches!(SqliteStore::open(&path), Err(Error::NewerStore { found: 99, .. })));
    }

    #[test]
    fn the_files_are_closed_to_others() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let _store = SqliteStore::open(&dir.path().join("s.db")).unwrap();
        for entry in std::fs::read_dir(dir.path()).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", entry.path());
        }
    }

    #[test]
    fn something_that_is_no_store_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        std::fs::write(&path, "this is no database, but long enough to look at it".repeat(100)).unwrap();
        assert!(SqliteStore::open(&path).is_err());
    }
}
