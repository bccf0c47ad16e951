//! Up to where no record was missing, signed, so that a yes is not worth a look at the whole chain each time.
//!
//! What may say that a yes is over has a name (of a grant or an approval). Behind the mark all records are counted; up to
//! it, only those that have one. Whoever takes one of them out changes that number, and cannot sign another. What else was
//! taken out up to the mark is found by those who check the whole chain.

use super::chain::name;
use super::records::to_hash;
use super::{Sqlite, Transaction};
use crate::Error;
use crate::audit::HeadKey;
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;

/// Records behind the mark before it is moved.
const FAR: i64 = 1024;

struct Mark {
    first: i64,
    seq: i64,
    hash: Vec<u8>,
    named: i64,
    signature: String,
}

impl Mark {
    fn said(&self, chain: &str) -> String {
        let Self { first, seq, named, hash, .. } = self;
        let hash = to_hash(hash).map(|hash| hash.to_hex().to_string()).unwrap_or_default();
        format!("sayso whole 1\n{chain}\n{first}\n{seq}\n{hash}\n{named}\n")
    }
}

/// Up to which record a mark vouches that none is missing that might say that a yes is over, if none is missing behind it
/// either; `None`: that must be counted.
pub(super) fn by_mark(tx: &Transaction<'_>, folder: &Path) -> Result<Option<i64>, Error> {
    let connection = tx.connection();
    let Some(mark) = mark(connection)? else { return Ok(None) };
    let Some((first, last)) = ends(connection)? else { return Ok(None) };
    if mark.first != first || mark.seq > last {
        return Ok(None);
    }
    let signed = HeadKey::made(folder).is_some_and(|(key, _)| {
        name(connection).is_ok_and(|chain| crate::audit::is_signed(&key, &mark.said(&chain), &mark.signature))
    });
    let hash = hash_of(connection, mark.seq)?;
    if !signed || hash.as_ref() != Some(&mark.hash) || named(connection, mark.seq)? != mark.named {
        return Ok(None);
    }
    let behind = "SELECT count(*) FROM event WHERE seq > ?1";
    let behind: i64 = connection.prepare_cached(behind)?.query_row([mark.seq], |row| row.get(0))?;
    if behind != last - mark.seq {
        return Ok(None);
    }
    if behind > FAR {
        put(tx, folder)?;
    }
    Ok(Some(mark.seq))
}

impl Sqlite {
    /// Moves the mark along where answers are remembered, so that nobody who uses one counts what came since.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn move_mark(&self) -> Result<(), Error> {
        let far = self.read(|connection| {
            let (marked, ends) = (mark(connection)?.map_or(0, |mark| mark.seq), ends(connection)?);
            let some = "SELECT EXISTS (SELECT 1 FROM remembered)";
            let far = ends.is_some_and(|(first, last)| last - first.max(marked) > FAR);
            Ok(far && connection.prepare_cached(some)?.query_row([], |row| row.get(0))?)
        })?;
        if far {
            self.write_soon(|tx| {
                if by_mark(tx, self.folder())?.is_none() && all_there(tx.connection())? {
                    put(tx, self.folder())?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Whether no record is missing at all.
pub(super) fn all_there(connection: &Connection) -> Result<bool, Error> {
    // SQLite counts all rows of a table from its smallest index, without looking at them.
    let all = "SELECT (SELECT count(*) FROM event) = (SELECT max(seq) FROM event) - (SELECT min(seq) FROM event) + 1";
    let all: Option<bool> = connection.prepare_cached(all)?.query_row([], |row| row.get(0))?;
    Ok(all == Some(true))
}

/// Marks where the chain ends in this transaction. To be called where nothing is missing.
pub(super) fn put(tx: &Transaction<'_>, folder: &Path) -> Result<(), Error> {
    let connection = tx.connection();
    let Some((first, last)) = ends(connection)? else { return Ok(()) };
    if last - first < FAR {
        return Ok(());
    }
    let Some(hash) = hash_of(connection, last)? else { return Ok(()) };
    let mut mark = Mark { first, seq: last, hash, named: named(connection, last)?, signature: String::new() };
    mark.signature = HeadKey::beside(folder)?.sign_text(&mark.said(&name(connection)?));
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO whole (one, first, seq, hash, named, signature) VALUES (1, ?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![mark.first, mark.seq, mark.hash, mark.named, mark.signature])?;
    Ok(())
}

fn mark(connection: &Connection) -> Result<Option<Mark>, Error> {
    let sql = "SELECT first, seq, hash, named, signature FROM whole";
    let found = connection.prepare_cached(sql)?.query_row([], |row| {
        let (first, seq, hash) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Mark { first, seq, hash, named: row.get(3)?, signature: row.get(4)? })
    });
    Ok(found.optional()?)
}

/// Records that something else hangs on.
fn named(connection: &Connection, up_to: i64) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM event INDEXED BY event_named
               WHERE kind IN ('grant', 'approval') AND id GLOB '*-*-*' AND seq <= ?1";
    Ok(connection.prepare_cached(sql)?.query_row([up_to], |row| row.get(0))?)
}

fn hash_of(connection: &Connection, seq: i64) -> Result<Option<Vec<u8>>, Error> {
    let sql = "SELECT hash FROM event WHERE seq = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([seq], |row| row.get(0)).optional()?)
}

fn ends(connection: &Connection) -> Result<Option<(i64, i64)>, Error> {
    let one = |sql: &str| -> Result<Option<i64>, Error> {
        Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    };
    Ok(one("SELECT min(seq) FROM event")?.zip(one("SELECT max(seq) FROM event")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Change, Event, Kind};

    /// What the mark says once somebody has done this to a store with a long chain.
    fn after(sql: &str) -> Option<bool> {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        store
            .write(|tx| {
                for n in 0..5000 {
                    let mut change = Change::now(if n % 100 == 0 { Kind::Grant } else { Kind::Mode }, "x");
                    if n % 100 == 0 {
                        change.id = format!("g-{n}-revoked");
                    }
                    tx.append(&Event::from(change))?;
                }
                put(tx, dir.path())?;
                for _ in 0..10 {
                    tx.append(&Event::from(Change::now(Kind::Mode, "x")))?;
                }
                Ok(())
            })
            .unwrap();
        rusqlite::Connection::open(store.path()).unwrap().execute_batch(sql).unwrap();
        store.write(|tx| by_mark(tx, dir.path())).unwrap().map(|marked| marked == 5000)
    }

    #[test]
    fn a_mark_vouches_as_long_as_nothing_is_missing_that_could_end_a_yes() {
        assert_eq!(after("SELECT 1"), Some(true));
        for sql in [
            "DELETE FROM event WHERE id = 'g-300-revoked'",
            "DELETE FROM event WHERE seq = 5003",
            "DELETE FROM event WHERE seq = 5000",
            "DELETE FROM event WHERE seq = 1",
            "DELETE FROM whole",
            "DELETE FROM event WHERE id = 'g-300-revoked'; UPDATE whole SET named = named - 1",
            "UPDATE whole SET seq = 5001",
            "UPDATE whole SET signature = 'x'",
        ] {
            assert_eq!(after(sql), None, "{sql}");
        }
    }
}
