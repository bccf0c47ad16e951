//! The tables, version by version. A step that was released is never changed; a new one is added after it.

mod chained;
mod flat;
mod keyed;
mod marked;
mod memory;
mod reserved;
mod walls;

use crate::Error;
use crate::audit::now_ms;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

/// Leads from one version to the next: tables first, then what SQL alone cannot do.
struct Step {
    sql: &'static str,
    then: Option<Then>,
}

type Then = fn(&Connection) -> Result<(), Error>;

/// Step `n` leads from version `n` to version `n + 1`.
const STEPS: &[Step] = &[
    Step {
        sql: "
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
            CREATE INDEX record_session ON record (session, seq);",
        then: None,
    },
    Step {
        sql: "
            CREATE TABLE happening (
                seq     INTEGER PRIMARY KEY AUTOINCREMENT,
                id      TEXT NOT NULL UNIQUE,
                time_ms INTEGER NOT NULL,
                agent   TEXT,
                session TEXT,
                body    TEXT NOT NULL
            ) STRICT;
            CREATE INDEX happening_session ON happening (session, seq);",
        then: None,
    },
    Step { sql: chained::TABLES, then: Some(chained::take_over) },
    Step { sql: memory::TABLES, then: None },
    Step { sql: walls::COLUMNS, then: None },
    Step { sql: keyed::TABLES, then: Some(keyed::give_keys) },
    Step { sql: flat::TABLES, then: None },
    Step { sql: reserved::TABLES, then: None },
    Step { sql: marked::TABLES, then: Some(marked::mark) },
    // Plans: their records and the saved answers to their steps need no table of their own, but an earlier Sayso would use
    // such an answer out of turn, and more than once.
    Step { sql: "", then: None },
];

/// The version that this program knows.
pub(super) fn known() -> u32 {
    u32::try_from(STEPS.len()).unwrap_or(u32::MAX)
}

/// Brings the tables up to date; the steps of one call are taken together or not at all.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Error> {
    migrate_to(connection, known())
}

fn migrate_to(connection: &mut Connection, wanted: u32) -> Result<(), Error> {
    let known = known();
    if version(connection)? == wanted {
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
    for (step, next) in STEPS.iter().zip(1..=wanted).skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step.sql)?;
        if let Some(then) = step.then {
            then(&transaction)?;
        }
        let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
        transaction.execute("INSERT INTO migration (version, applied_ms) VALUES (?1, ?2)", params![next, now])?;
    }
    transaction.commit()?;
    Ok(())
}

/// The version of a file; 0 for one without tables.
pub(super) fn version(connection: &Connection) -> Result<u32, Error> {
    let table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'";
    if connection.query_row(table, [], |_| Ok(())).optional()?.is_none() {
        return Ok(0);
    }
    Ok(connection.query_row("SELECT coalesce(max(version), 0) FROM migration", [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::Sqlite;

    #[test]
    fn opening_twice_changes_nothing_and_a_newer_store_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        Sqlite::open_at(&path).unwrap();
        let store = Sqlite::open_at(&path).unwrap();
        let steps = store.read(|c| Ok(c.query_row("SELECT count(*) FROM migration", [], |r| r.get::<_, u32>(0))?));
        assert_eq!(steps.unwrap(), known());
        let add = |tx: &mut crate::store::sqlite::Transaction<'_>| {
            Ok(tx.connection().execute("INSERT INTO migration VALUES (99, 0)", [])?)
        };
        store.write(add).unwrap();
        let refused = Sqlite::open_at(&path).unwrap_err();
        assert!(matches!(refused, Error::NewerStore { found: 99, .. }));
    }

    #[test]
    fn every_earlier_version_leads_to_the_same_tables() {
        let tables = |connection: &Connection| -> Vec<String> {
            let mut all = connection
                .prepare("SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1")
                .unwrap();
            let rows = all.query_map([], |row| row.get(0)).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let mut new = Connection::open_in_memory().unwrap();
        migrate(&mut new).unwrap();
        for earlier in 0..known() {
            let mut old = Connection::open_in_memory().unwrap();
            migrate_to(&mut old, earlier).unwrap();
            assert_eq!(version(&old).unwrap(), earlier);
            migrate(&mut old).unwrap();
            assert_eq!(tables(&old), tables(&new), "from version {earlier}");
        }
    }

    #[test]
    fn records_of_before_stand_behind_their_tenants_wall() {
        let mut old = Connection::open_in_memory().unwrap();
        migrate_to(&mut old, 4).unwrap();
        let row =
            "INSERT INTO event (seq, id, time_ms, kind, body, prev, hash) VALUES (?1, ?1, 0, 'decision', ?2, x'', x'')";
        let bodies =
            [r#"{"actor":{"tenant":"a","run":"r"}}"#, r#"{"actor":{}}"#, "{}", "torn {", r#"{"actor":{"tenant":"b"}}"#];
        for (seq, body) in (1..).zip(bodies) {
            old.execute(row, params![seq, body]).unwrap();
        }
        migrate(&mut old).unwrap();
        let mut all = old.prepare("SELECT tenant, run FROM event ORDER BY seq").unwrap();
        let rows = all.query_map([], |row| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, Option<String>>(1)?)));
        let rows: Vec<_> = rows.unwrap().map(Result::unwrap).collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(rows, [(some("a"), some("r")), (None, None), (None, None), (None, None), (some("b"), None)]);
    }

    #[test]
    fn what_was_reserved_before_is_given_back_as_it_was_taken() {
        let mut old = Connection::open_in_memory().unwrap();
        migrate_to(&mut old, 7).unwrap();
        for (scope, key, id) in [("session", "-/-/s", "a"), ("day", "-/1", "a"), ("day", "-/1", "b")] {
            let row = "INSERT INTO reservation (id, scope, key, call_id, session, time_ms, expires_ms, body)
                       VALUES (?1, ?2, ?3, 'c', 's', 1, 2, 'body of ' || ?1)";
            old.execute(row, [id, scope, key]).unwrap();
        }
        migrate(&mut old).unwrap();
        let mut all = old.prepare("SELECT id, call_id, session, expires_ms, keys, body FROM reservation").unwrap();
        let text = |row: &rusqlite::Row<'_>, at: usize| row.get::<_, String>(at);
        let rows = all.query_map([], |row| {
            Ok((text(row, 0)?, text(row, 1)?, text(row, 2)?, row.get::<_, i64>(3)?, text(row, 4)?, text(row, 5)?))
        });
        let mut rows: Vec<_> = rows.unwrap().map(Result::unwrap).collect();
        // In whatever order the table had them.
        rows[0].4 = rows[0].4.replace(r#"["day","-/1"],["session","-/-/s"]"#, r#"["session","-/-/s"],["day","-/1"]"#);
        let kept = |id: &str, keys: &str| {
            let text = str::to_owned;
            (text(id), text("c"), text("s"), 2, text(keys), format!("body of {id}"))
        };
        assert_eq!(rows, [kept("a", r#"[["session","-/-/s"],["day","-/1"]]"#), kept("b", r#"[["day","-/1"]]"#)]);
    }

    #[test]
    fn the_files_are_closed_to_others() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let _store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
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
        assert!(Sqlite::open_at(&path).is_err());
    }
}
