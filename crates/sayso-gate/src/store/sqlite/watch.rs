//! Checking the chain as it goes.

use super::Sqlite;
use super::chain::{begin, look_at_rows};
use super::records::to_hash;
use crate::Error;
use crate::audit::Verifier;
use crate::audit::chain::link;
use crate::store::watch::{CHECKED, checked};
use crate::store::{Checked, Pass};
use rusqlite::{Connection, OptionalExtension};

/// The newest records, which are looked at every time.
const NEWEST: i64 = 128;

/// Goes on with a way through the chain, or begins one.
pub(super) fn check(store: &Sqlite, current: Option<Pass>, most: usize) -> Result<Pass, Error> {
    store.read_anew(|connection| {
        let pruned = pruned(connection)?;
        // What was looked at up to now may have gone with the old end.
        let mut pass = match current.filter(|pass| pass.pruned == pruned) {
            Some(pass) => pass,
            None => Pass {
                verifier: Verifier::new(begin(store, connection, Vec::new())?),
                at: pruned,
                until: last(connection)?,
                pruned,
                ended: false,
            },
        };
        let (looked, at) = look_at_rows(connection, &mut pass.verifier, (pass.at, pass.until), most)?;
        pass.at = at;
        pass.ended = looked < most || pass.at >= pass.until;
        Ok(pass)
    })
}

/// What the last check by a server said, if there was one.
pub(super) fn last_checked(connection: &Connection) -> Result<Option<Checked>, Error> {
    let sql = "SELECT body FROM event WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id DESC LIMIT 1";
    let body = connection.prepare_cached(sql)?.query_row([CHECKED], |row| row.get::<_, String>(0)).optional()?;
    Ok(body.and_then(|body| checked(&body)))
}

fn pruned(connection: &Connection) -> Result<u64, Error> {
    number(connection, "SELECT max(seq) FROM anchor")
}

fn last(connection: &Connection) -> Result<u64, Error> {
    number(connection, "SELECT max(seq) FROM event")
}

fn number(connection: &Connection, sql: &str) -> Result<u64, Error> {
    let found: Option<i64> = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(found.map_or(0, |found| u64::try_from(found).unwrap_or_default()))
}

/// What is wrong with the newest records, if anything is.
pub(super) fn newest(connection: &Connection) -> Result<Option<String>, Error> {
    let sql = "SELECT seq, prev, hash, body FROM event ORDER BY seq DESC LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([NEWEST])?;
    let mut newer: Option<(i64, blake3::Hash)> = None;
    let mut end = None;
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        let hash = |at: usize| -> Result<_, Error> { to_hash(&row.get::<_, Vec<u8>>(at)?) };
        let (previous, own, body) = (hash(1)?, hash(2)?, row.get::<_, String>(3)?);
        if link(u64::try_from(seq).unwrap_or_default(), &previous, &body) != own {
            return Ok(Some(format!("record {seq} was changed")));
        }
        if let Some((after, before)) = newer
            && (after != seq + 1 || before != own)
        {
            return Ok(Some(format!("record {after} does not link to the one before it")));
        }
        end.get_or_insert((seq, own));
        newer = Some((seq, previous));
    }
    let (Some((end, _)), Some((from, _))) = (end, newer) else { return Ok(None) };
    let sql =
        "SELECT head.seq, head.hash, event.hash FROM head LEFT JOIN event ON event.seq = head.seq WHERE head.seq >= ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([from])?;
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        let signed = row.get_ref(1)?.as_bytes().ok().and_then(|hash| to_hash(hash).ok());
        let there = row.get_ref(2)?.as_bytes_or_null().ok().flatten().and_then(|hash| to_hash(hash).ok());
        if signed.is_none() || signed != there {
            return Ok(Some(match seq > end {
                true => format!("records {} to {seq} are missing at the end", end + 1),
                false => format!("the signed head of record {seq} does not match"),
            }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Change, Event, Kind, Verified};
    use crate::store::sqlite::Transaction;
    use crate::store::{Chain as _, Store, Watch};
    use std::sync::Arc;

    fn store(dir: &tempfile::TempDir, records: usize) -> Arc<Sqlite> {
        let store = Arc::new(Sqlite::open_at(&dir.path().join("s.db")).unwrap());
        let add = |tx: &mut Transaction<'_>| {
            (0..records).try_for_each(|_| tx.append(&Event::from(Change::now(Kind::Mode, "x"))).map(|_| ()))
        };
        store.write(add).unwrap();
        store.sign_head().unwrap();
        store
    }

    fn forge(store: &Sqlite, sql: &str) {
        rusqlite::Connection::open(store.path()).unwrap().execute_batch(sql).unwrap();
    }

    fn pass(watch: &Watch) -> Verified {
        loop {
            if let Some(found) = watch.step(7).unwrap() {
                return found;
            }
        }
    }

    #[test]
    fn slices_find_what_a_look_at_the_whole_finds() {
        for (sql, newest) in [
            ("SELECT 1", false),
            ("UPDATE event SET body = replace(body, 'x', 'y') WHERE seq = 20", false),
            ("DELETE FROM event WHERE seq = 30", false),
            ("DELETE FROM event WHERE seq = 390", true),
            ("DELETE FROM event WHERE seq > 395", true),
            ("UPDATE event SET verdict = 'deny' WHERE seq = 5", false),
            ("UPDATE event SET body = replace(body, 'x', 'y') WHERE seq = 399", true),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let store = store(&dir, 400);
            forge(&store, sql);
            let watch = Watch::over(&(Arc::clone(&store) as Arc<dyn Store>));
            let found = pass(&watch);
            assert_eq!(found, store.verify(None).unwrap(), "{sql}");
            assert_eq!(found.problems.is_empty(), sql == "SELECT 1");
            assert_eq!(watch.newest().unwrap().is_some(), newest, "{sql}");
        }
    }

    #[test]
    fn the_last_check_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir, 5);
        assert_eq!(store.last_checked().unwrap(), None);
        let watch = Watch::over(&(Arc::clone(&store) as Arc<dyn Store>));
        watch.say(&pass(&watch), None).unwrap();
        forge(&store, "DELETE FROM event WHERE seq = 3");
        watch.say(&pass(&watch), None).unwrap();
        let last = store.last_checked().unwrap().unwrap();
        assert!(last.problems > 0 && last.time_ms > 0);
    }
}
