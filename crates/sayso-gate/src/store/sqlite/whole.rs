//! Up to where no record was missing or changed, signed, so that a yes is not worth a look at the whole chain each time.
//!
//! What may say that a yes is over has a name that follows from the yes. Behind the mark every record is looked at: whether
//! it hangs on the one before, and has the name that it says itself. Up to the mark, only the names in the same part of all
//! names as the yes: whoever takes one of them out, or gives it another name, changes the hash of that part, and cannot sign
//! another. What else was changed up to the mark is found by those who check the whole chain.

use super::chain::name;
use super::records::to_hash;
use super::{Sqlite, Transaction};
use crate::Error;
use crate::audit::HeadKey;
use crate::audit::chain::link;
use blake3::Hash;
use rusqlite::{Connection, OptionalExtension, params};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Records behind the mark before it is moved.
const FAR: i64 = 128;

/// The same as in the index: names that follow from another, but for those of budgets, which end nothing.
const NAMED: &str = "id GLOB '*-*-*' AND id NOT GLOB 'usage-*'";

/// A mark that was signed.
struct Mark {
    /// Nothing is missing from this record on.
    from: i64,
    seq: i64,
    hash: Hash,
    /// A line for each part: its name, and a hash of all names in it.
    parts: String,
    signature: String,
}

impl Mark {
    fn said(&self, chain: &str) -> String {
        let Self { from, seq, hash, parts, .. } = self;
        let parts = blake3::hash(parts.as_bytes());
        format!("sayso whole 2\n{chain}\n{from}\n{seq}\n{}\n{}\n", hash.to_hex(), parts.to_hex())
    }

    /// What it says of a part.
    fn part(&self, part: &str) -> Option<&str> {
        self.parts.lines().find_map(|line| line.strip_prefix(part)?.strip_prefix(' '))
    }
}

/// Where all names are as they were written.
pub(super) struct Vouched {
    /// From this record on.
    pub(super) from: i64,
    /// The mark that says so of the records up to this one.
    pub(super) marked: Option<i64>,
}

/// The part of all names that the names of this one's records are in.
pub(super) fn part_of(of: &str) -> &str {
    of.get(13..15).unwrap_or_default()
}

/// From which record on nothing is missing that might say that the yes of this name is over. Moves the mark where it is far
/// behind.
pub(super) fn vouched(connection: &Connection, folder: &Path, of: Option<&str>) -> Result<Option<Vouched>, Error> {
    let Some((walk, marked)) = look(connection, folder, of)? else { return Ok(None) };
    if walk.walked > FAR
        && let Some(mark) = walk.sign(connection, folder)?
    {
        keep(connection, &mark)?;
    }
    Ok(Some(Vouched { from: walk.from, marked }))
}

/// Looks at what is behind the mark, or at everything where there is none. Gives the mark's record too.
fn look(connection: &Connection, folder: &Path, of: Option<&str>) -> Result<Option<(Walk, Option<i64>)>, Error> {
    let Some(last) = one(connection, "SELECT max(seq) FROM event")? else { return Ok(None) };
    let mark = mark(connection, folder, of.map(part_of))?.filter(|mark| mark.seq <= last);
    let mut walk = mark.as_ref().map(Walk::behind).unwrap_or_default();
    walk.go(connection)?;
    Ok(Some((walk, mark.map(|mark| mark.seq))))
}

/// Marks where the chain ends, for a store that has no mark yet.
pub(super) fn mark_all(connection: &Connection, folder: &Path) -> Result<(), Error> {
    vouched(connection, folder, None).map(|_| ())
}

/// Moves the mark along where answers are remembered, so that nobody who uses one looks at what came since.
pub(super) fn move_mark(store: &Sqlite) -> Result<(), Error> {
    // No writer waits for this look. What is found was so when it was signed, whatever came since.
    let mark = store.read(|connection| {
        let marked = one(connection, "SELECT seq FROM whole")?.unwrap_or(0);
        let some = "SELECT EXISTS (SELECT 1 FROM remembered)";
        let far = one(connection, "SELECT max(seq) FROM event")?.is_some_and(|last| last - marked > FAR);
        if !far || !connection.prepare_cached(some)?.query_row([], |row| row.get(0))? {
            return Ok(None);
        }
        let looked = look(connection, store.folder(), None)?;
        looked.map_or(Ok(None), |(walk, _)| walk.sign(connection, store.folder()))
    })?;
    mark.map_or(Ok(()), |mark| store.write_soon(|tx: &mut Transaction<'_>| keep(tx.connection(), &mark)))
}

/// A look at each record behind another.
#[derive(Default)]
struct Walk {
    from: i64,
    seq: i64,
    /// Of the last one; `None`: there was none.
    hash: Option<Hash>,
    parts: BTreeMap<String, String>,
    walked: i64,
}

/// What a record says of itself.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

impl Walk {
    fn behind(mark: &Mark) -> Self {
        let parts = mark.parts.lines().filter_map(|line| line.split_once(' '));
        let parts = parts.map(|(part, hash)| (part.to_owned(), hash.to_owned())).collect();
        Self { from: mark.from, seq: mark.seq, hash: Some(mark.hash), parts, walked: 0 }
    }

    fn go(&mut self, connection: &Connection) -> Result<(), Error> {
        let sql = "SELECT seq, prev, hash, id, body FROM event WHERE seq > ?1 ORDER BY seq";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([self.seq])?;
        while let Some(row) = rows.next()? {
            let seq: i64 = row.get(0)?;
            let blob = |at: usize| -> Result<Hash, Error> {
                to_hash(row.get_ref(at)?.as_blob().map_err(rusqlite::Error::from)?)
            };
            let text = |at: usize| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
            let (previous, own, id, body) = (blob(1)?, blob(2)?, text(3)?, text(4)?);
            let says = serde_json::from_str::<Named<'_>>(body).is_ok_and(|named| named.id == id);
            let linked = link(u64::try_from(seq).unwrap_or_default(), &previous, body) == own;
            let follows = self.hash.is_none_or(|hash| hash == previous && seq == self.seq + 1);
            if !(says && linked && follows) {
                // What it says over, or what is missing before it does, nobody knows. What comes behind is whole again.
                self.parts.clear();
                self.from = if says && linked { seq } else { seq + 1 };
            } else if self.hash.is_none() {
                self.from = seq;
            }
            (self.seq, self.hash) = (seq, Some(own));
            self.walked += 1;
            if is_named(id) && self.from <= seq {
                let part = self.parts.entry(part_of(id).to_owned()).or_default();
                *part = with(part, seq, id);
            }
        }
        Ok(())
    }

    /// Signs how far this has come. Without a key every record is looked at again.
    fn sign(&self, connection: &Connection, folder: &Path) -> Result<Option<Mark>, Error> {
        let (Some(hash), Ok(key)) = (self.hash, HeadKey::beside(folder)) else { return Ok(None) };
        let parts = self.parts.iter().map(|(part, hash)| format!("{part} {hash}\n")).collect();
        let mut mark = Mark { from: self.from, seq: self.seq, hash, parts, signature: String::new() };
        mark.signature = key.sign_text(&mark.said(&name(connection)?));
        Ok(Some(mark))
    }
}

fn keep(connection: &Connection, mark: &Mark) -> Result<(), Error> {
    let Mark { from, seq, hash, parts, signature } = mark;
    let sql =
        "INSERT OR REPLACE INTO whole (one, \"from\", seq, hash, parts, signature) VALUES (1, ?1, ?2, ?3, ?4, ?5)";
    connection.prepare_cached(sql)?.execute(params![from, seq, hash.as_bytes().as_slice(), parts, signature])?;
    Ok(())
}

/// The hash of the names of a part with one more.
fn with(part: &str, seq: i64, id: &str) -> String {
    let hash = blake3::hash(format!("{part} {seq} {id}").as_bytes()).to_hex();
    hash.get(..32).unwrap_or(&hash).to_owned()
}

/// Whether something else hangs on a record of this name: as in the index.
fn is_named(id: &str) -> bool {
    id.matches('-').count() > 1 && !id.starts_with("usage-")
}

/// The mark, if it was signed, and both the record that it is at and the names of this part are as they were then.
fn mark(connection: &Connection, folder: &Path, part: Option<&str>) -> Result<Option<Mark>, Error> {
    let sql = "SELECT \"from\", seq, hash, parts, signature FROM whole";
    let found = connection.prepare_cached(sql)?.query_row([], |row| {
        let hash: Vec<u8> = row.get(2)?;
        Ok((row.get(0)?, row.get(1)?, hash, row.get(3)?, row.get(4)?))
    });
    let Some((from, seq, hash, parts, signature)) = found.optional()? else { return Ok(None) };
    let Ok(hash) = to_hash(&hash) else { return Ok(None) };
    let mark = Mark { from, seq, hash, parts, signature };
    let signed = HeadKey::made(folder).is_some_and(|(key, _)| {
        name(connection).is_ok_and(|chain| crate::audit::is_signed(&key, &mark.said(&chain), &mark.signature))
    });
    let sql = "SELECT hash FROM event WHERE seq = ?1";
    let there: Option<Vec<u8>> = connection.prepare_cached(sql)?.query_row([seq], |row| row.get(0)).optional()?;
    let there = there.and_then(|hash| to_hash(&hash).ok()) == Some(mark.hash);
    let names =
        |part: &str| -> Result<bool, Error> { Ok(mark.part(part) == names(connection, part, &mark)?.as_deref()) };
    Ok((signed && there && part.map_or(Ok(true), names)?).then_some(mark))
}

/// The hash of the names that are in a part now.
fn names(connection: &Connection, part: &str, mark: &Mark) -> Result<Option<String>, Error> {
    let sql = format!(
        "SELECT seq, id FROM event INDEXED BY event_named
         WHERE {NAMED} AND substr(id, 14, 2) = ?1 AND seq >= ?2 AND seq <= ?3 ORDER BY seq"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![part, mark.from, mark.seq])?;
    let mut hash = None;
    while let Some(row) = rows.next()? {
        let id = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        hash = Some(with(hash.as_deref().unwrap_or_default(), row.get(0)?, id));
    }
    Ok(hash)
}

fn one(connection: &Connection, sql: &str) -> Result<Option<i64>, Error> {
    Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?.flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Change, Event, Kind};
    use crate::store::Upkeep as _;

    fn id(n: u64) -> String {
        format!("{n:012x}-{:016x}-revoked", n.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// A store with a long chain and a mark, and ten records behind that.
    fn store() -> (tempfile::TempDir, Sqlite) {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        store
            .write(|tx| {
                for n in 1..=5000 {
                    let mut change = Change::now(if n % 10 == 0 { Kind::Grant } else { Kind::Mode }, "x");
                    if n % 10 == 0 {
                        change.id = id(n);
                    }
                    tx.append(&Event::from(change))?;
                }
                mark_all(tx.connection(), dir.path())?;
                for n in 5001..=5010 {
                    let mut change = Change::now(Kind::Grant, "x");
                    change.id = id(n);
                    tx.append(&Event::from(change))?;
                }
                Ok(())
            })
            .unwrap();
        (dir, store)
    }

    /// From which record on the yes of this record counts once somebody has done this, and whether by the mark.
    fn after(sql: &str, of: u64) -> (i64, bool) {
        let (dir, store) = store();
        rusqlite::Connection::open(store.path()).unwrap().execute_batch(sql).unwrap();
        let found = store.write(|tx| vouched(tx.connection(), dir.path(), Some(&id(of)))).unwrap().unwrap();
        // What was found then is what a later look finds.
        let again = store.write(|tx| vouched(tx.connection(), dir.path(), Some(&id(of)))).unwrap().unwrap();
        assert_eq!(again.from, found.from, "{sql}");
        (found.from, found.marked.is_some())
    }

    #[test]
    fn a_mark_vouches_as_long_as_nothing_is_missing_or_renamed_that_could_end_a_yes() {
        assert_eq!(after("SELECT 1", 300), (1, true));
        let (three, behind) = (id(300), id(5003));
        for (sql, from) in [
            (format!("DELETE FROM event WHERE id = '{three}'"), 301),
            (format!("UPDATE event SET id = id || '-x' WHERE id = '{three}'"), 301),
            (format!("UPDATE event SET id = 'x' WHERE id = '{three}'"), 301),
            (format!("UPDATE event SET id = '{}' WHERE id = '{three}'", id(1)), 301),
            (format!("UPDATE event SET id = 'x' WHERE id = '{three}'; DELETE FROM whole"), 301),
            (format!("UPDATE event SET id = 'x', kind = 'mode' WHERE id = '{three}'"), 301),
            (format!("DELETE FROM event WHERE id = '{behind}'"), 5004),
            (format!("UPDATE event SET id = 'x' WHERE id = '{behind}'"), 5004),
            (format!("UPDATE event SET id = 'x', body = replace(body, '{behind}', 'x') WHERE id = '{behind}'"), 5004),
            ("DELETE FROM event WHERE seq = 5000".to_owned(), 5001),
        ] {
            assert_eq!(after(&sql, 300).0, from, "{sql}");
        }
    }

    #[test]
    fn without_a_mark_that_was_signed_every_record_is_looked_at() {
        for sql in [
            "DELETE FROM whole",
            "UPDATE whole SET parts = ''",
            "UPDATE whole SET seq = 5001",
            "UPDATE whole SET \"from\" = 0",
            "UPDATE whole SET signature = 'x'",
            "UPDATE whole SET hash = x'00'",
        ] {
            assert_eq!(after(sql, 300), (1, false), "{sql}");
        }
        assert_eq!(after("DELETE FROM event WHERE seq <= 7; DELETE FROM whole", 300), (8, false));
    }

    #[test]
    fn a_server_moves_the_mark_where_answers_are_remembered() {
        let (dir, store) = store();
        let more = |tx: &mut Transaction<'_>| {
            (0..200).try_for_each(|_| tx.append(&Event::from(Change::now(Kind::Mode, "x"))).map(|_| ()))
        };
        store.write(more).unwrap();
        let marked = || store.read(|c| one(c, "SELECT seq FROM whole")).unwrap();
        store.move_mark().unwrap();
        assert_eq!(marked(), Some(5000), "nothing is remembered");
        let row = "INSERT INTO remembered (id, given_ms, used, body) VALUES ('x', 0, 0, '')";
        store.write(|tx| Ok(tx.connection().execute(row, [])?)).unwrap();
        store.move_mark().unwrap();
        assert_eq!(marked(), Some(5210));
        let found = store.write(|tx| vouched(tx.connection(), dir.path(), Some(&id(300)))).unwrap().unwrap();
        assert_eq!((found.from, found.marked), (1, Some(5210)));
    }

    #[test]
    fn a_yes_among_thousands_costs_a_look_at_few_names() {
        let (dir, store) = store();
        let looked = |of: u64| {
            let sql =
                format!("SELECT count(*) FROM event INDEXED BY event_named WHERE {NAMED} AND substr(id, 14, 2) = ?1");
            store.read(|c| Ok(c.query_row(&sql, [part_of(&id(of))], |row| row.get::<_, i64>(0))?)).unwrap()
        };
        assert!((1..20).contains(&looked(300)), "{} of 510", looked(300));
        drop(dir);
    }
}
