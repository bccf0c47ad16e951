//! The chain as a whole: verifying it, signing its head, and letting its old end go.

use super::records::{end, to_hash};
use super::sketch::BLOCK;
use super::{Sqlite, Transaction, budget, keys, noted, watch, witness};
use crate::Error;
use crate::audit::bundle;
use crate::audit::chain::End;
use crate::audit::{Begin, Event, Head, HeadKey, RECORDS_BETWEEN_HEADS, Row, Verified, Verifier};
use crate::store::chain::{only_usable, was_signed_for};
use crate::store::{Chain, Checked, Keep, Pass, Pruned, Rotated, Upkeep as _};
use rusqlite::{Connection, OptionalExtension, params};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A head is also signed after so many milliseconds, if there are new records.
const TIME_BETWEEN_HEADS: u64 = 60_000;
/// Records that pruning removes in one transaction.
const RECORDS_IN_A_STEP: u64 = 5_000;

impl Chain for Sqlite {
    fn verify_with(&self, exported: Vec<Head>) -> Result<Verified, Error> {
        self.read(|connection| {
            let mut verifier = Verifier::new(begin(self, connection, exported)?);
            look_at_rows(connection, &mut verifier, (0, u64::MAX), usize::MAX)?;
            Ok(verifier.finish())
        })
    }

    fn check(&self, pass: Option<Pass>, most: usize) -> Result<Pass, Error> {
        watch::check(self, pass, most)
    }

    fn newest_problem(&self) -> Result<Option<String>, Error> {
        self.read(watch::newest)
    }

    fn last_checked(&self) -> Result<Option<Checked>, Error> {
        self.read(watch::last_checked)
    }

    fn alarm(&self) -> Option<Arc<str>> {
        self.durable.alarm().why()
    }

    fn set_alarm(&self, found: Option<&str>) -> Option<Arc<str>> {
        self.durable.alarm().found(found)
    }

    fn export_links(&self, out: &mut dyn Write) -> Result<u64, Error> {
        let last = self.sign()?.seq;
        self.read(|connection| {
            let mut begin = begin(self, connection, Vec::new())?;
            begin.heads.retain(|head| head.seq <= last);
            bundle::write_line(out, &bundle::Opening::of(&begin))?;
            let mut all = connection.prepare("SELECT seq, prev, hash, body FROM event WHERE seq <= ?1 ORDER BY seq")?;
            let mut rows = all.query([signed(last)])?;
            let mut written = 0;
            while let Some(row) = rows.next()? {
                let hash = |at: usize| -> Result<String, Error> {
                    let bytes = row.get_ref(at)?.as_blob().map_err(rusqlite::Error::from)?;
                    Ok(hash_or_none(bytes).to_hex().to_string())
                };
                let (prev, hash, body) = (hash(1)?, hash(2)?, row.get(3)?);
                bundle::write_line(out, &bundle::Link { seq: number(row.get(0)?), prev, hash, body })?;
                written += 1;
            }
            Ok(written)
        })
    }

    fn sign_head(&self) -> Result<Head, Error> {
        self.sign()
    }

    fn prune(&self, what: Keep, by: &str) -> Result<Pruned, Error> {
        let key = HeadKey::beside(self.folder())?;
        let last = self.prunable(what)?;
        let mut pruned = Pruned::default();
        // In steps, so that nobody waits for long. Each leaves the rest hanging on something.
        while let Some(step) = self.write(|transaction| prune_step(transaction, &key, last))? {
            pruned = Pruned { records: pruned.records + step.records, up_to: step.up_to };
        }
        if pruned.records > 0 {
            self.write(|transaction| transaction.append(&Event::from(pruned.record(by))))?;
            // Nobody who uses an answer is to look at all that stays.
            let _ = self.move_mark();
            // The records are gone either way; the room is given back another time if somebody is in the way.
            let _ = self.shrink();
        }
        Ok(pruned)
    }

    fn prunable(&self, what: Keep) -> Result<u64, Error> {
        self.read(|connection| up_to(connection, what))
    }

    fn key(&self) -> Result<(String, PathBuf), Error> {
        Ok((HeadKey::beside(self.folder())?.public(), HeadKey::place(self.folder())))
    }

    fn rotate_key(&self, elsewhere: Option<&Path>, by: &str) -> Result<Rotated, Error> {
        keys::rotate(self, elsewhere, by)
    }

    fn note_end(&self, after: u64) -> Result<u64, Error> {
        noted::note(self, after)
    }

    fn end_problem(&self) -> Result<Option<String>, Error> {
        noted::problem(self)
    }

    fn accept_end(&self, by: &str) -> Result<u64, Error> {
        noted::accept(self, by)
    }
}

impl Sqlite {
    /// Signs where the chain ends now, and keeps that.
    pub(super) fn sign(&self) -> Result<Head, Error> {
        let key = HeadKey::beside(self.folder())?;
        self.write(|transaction| {
            let head = key.sign(&name(transaction.connection())?, &transaction.end());
            keep(transaction.connection(), "head", &head)?;
            Ok(head)
        })
    }

    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
}

/// What is known of a chain before its records are looked at.
pub(super) fn begin(store: &Sqlite, connection: &Connection, exported: Vec<Head>) -> Result<Begin, Error> {
    let key = HeadKey::made(store.folder());
    let chain = name(connection)?;
    let heads = heads(connection, &chain, "head", "")?;
    let pruned = heads_last(connection, &chain, "anchor")?;
    let has_signed = was_signed_for(&chain, key.as_ref());
    let key = key.map(|(key, _)| key);
    let earlier = key.as_deref().map(|key| keys::earlier(connection, &chain, key)).transpose()?.unwrap_or_default();
    let exported = only_usable(exported, pruned.as_ref());
    Ok(Begin { chain, pruned, heads, key, earlier, has_signed, exported })
}

/// Looks at the records behind one and up to another, at most so many; tells how many there were, and the last of them.
pub(super) fn look_at_rows(
    connection: &Connection,
    verifier: &mut Verifier,
    (after, until): (u64, u64),
    most: usize,
) -> Result<(usize, u64), Error> {
    let mut some = connection.prepare_cached(
        "SELECT seq, prev, hash, body, time_ms, id, kind, agent, session, tool, verdict, rule, tenant, run
         FROM event WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3",
    )?;
    let mut rows = some.query([signed(after), signed(until), i64::try_from(most).unwrap_or(-1)])?;
    let (mut looked, mut last) = (0, after);
    while let Some(row) = rows.next()? {
        let text = |at: usize| row.get_ref(at)?.as_str_or_null().map_err(rusqlite::Error::from);
        let blob = |at: usize| row.get_ref(at)?.as_blob().map_err(rusqlite::Error::from);
        let mut columns = [None; 9];
        for (column, at) in columns.iter_mut().zip(5..) {
            *column = text(at)?;
        }
        last = number(row.get(0)?);
        looked += 1;
        verifier.look_at(&Row {
            seq: last,
            previous: hash_or_none(blob(1)?),
            hash: hash_or_none(blob(2)?),
            body: text(3)?.unwrap_or_default(),
            time_ms: number(row.get(4)?),
            columns,
        });
    }
    Ok((looked, last))
}

/// Lets the next few records up to this one go; `None`: there are none.
fn prune_step(transaction: &mut Transaction<'_>, key: &HeadKey, last: u64) -> Result<Option<Pruned>, Error> {
    let connection = transaction.connection();
    let first: Option<i64> = connection.query_row("SELECT min(seq) FROM event", [], |row| row.get(0))?;
    let Some(first) = first.map(number).filter(|first| *first <= last) else { return Ok(None) };
    let up_to = last.min(first.saturating_add(RECORDS_IN_A_STEP));
    let hash = "SELECT hash FROM event WHERE seq = ?1";
    let hash: Option<Vec<u8>> = connection.query_row(hash, [signed(up_to)], |row| row.get(0)).optional()?;
    let Some(hash) = hash else {
        return Err(Error::NotKept("database: the chain has a gap; `sayso log verify` shows where".into()));
    };
    let now = crate::audit::now_ms();
    let carried = witness::carried(connection, signed(up_to), now)?;
    let budgets = budget::carried(connection, signed(up_to))?;
    keep(connection, "anchor", &key.sign(&name(connection)?, &End { seq: up_to, hash: to_hash(&hash)? }))?;
    let records = connection.execute("DELETE FROM event WHERE seq <= ?1", [signed(up_to)])?;
    connection.execute("DELETE FROM head WHERE seq < ?1", [signed(up_to)])?;
    connection.execute("DELETE FROM anchor WHERE seq < ?1", [signed(up_to)])?;
    connection.execute("DELETE FROM sketch WHERE block < ?1", [signed(up_to) / BLOCK])?;
    connection.execute("DELETE FROM whole", [])?;
    connection.execute("DELETE FROM tally WHERE count <= 0", [])?;
    witness::forget(connection, signed(now))?;
    witness::carry(transaction, &carried)?;
    budget::carry(transaction, budgets)?;
    Ok(Some(Pruned { records: u64::try_from(records).unwrap_or(u64::MAX), up_to }))
}

/// Signs heads from time to time, as the chain grows.
pub(super) struct Heads {
    folder: PathBuf,
    /// The number and time of the last one.
    last: Option<(u64, u64)>,
}

impl Heads {
    pub(super) fn beside(store: &Path) -> Self {
        Self { folder: store.parent().unwrap_or(Path::new("/")).to_owned(), last: None }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A transaction in which something may have been signed was not committed.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    /// Signs the end that a transaction is about to commit, if it is time or asked for.
    pub(super) fn sign_if_due(
        &mut self,
        connection: &Connection,
        end: &End,
        now_ms: u64,
        asked: bool,
    ) -> Result<(), Error> {
        let (seq, time) = match self.last {
            Some(last) => last,
            None => *self.last.insert(last_head(connection)?.unwrap_or((0, now_ms))),
        };
        let records = end.seq.saturating_sub(seq);
        let due = records >= RECORDS_BETWEEN_HEADS || now_ms.abs_diff(time) >= TIME_BETWEEN_HEADS || asked;
        if records == 0 || !due {
            return Ok(());
        }
        // Without a key records are kept all the same; `verify` says that they are not signed.
        if let Ok(key) = HeadKey::beside(&self.folder) {
            keep(connection, "head", &key.sign(&name(connection)?, end))?;
        }
        self.last = Some((end.seq, now_ms));
        Ok(())
    }
}

fn last_head(connection: &Connection) -> Result<Option<(u64, u64)>, Error> {
    let sql = "SELECT seq, time_ms FROM head ORDER BY seq DESC LIMIT 1";
    let last = connection.query_row(sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))).optional()?;
    Ok(last.map(|(seq, time)| (number(seq), number(time))))
}

/// The chain's name.
pub(super) fn name(connection: &Connection) -> Result<String, Error> {
    Ok(connection.prepare_cached("SELECT id FROM chain")?.query_row([], |row| row.get(0))?)
}

fn up_to(connection: &Connection, what: Keep) -> Result<u64, Error> {
    let last = end(connection)?.seq;
    Ok(match what {
        Keep::Last(count) => last.saturating_sub(count),
        // Clocks go backwards: records are let go only up to the first that is to stay.
        Keep::Since(time) => first_since(connection, time)?.map_or(last, |first| first.saturating_sub(1)),
    })
}

fn first_since(connection: &Connection, time_ms: u64) -> Result<Option<u64>, Error> {
    let first: Option<i64> =
        connection.query_row("SELECT min(seq) FROM event WHERE time_ms >= ?1", [signed(time_ms)], |row| row.get(0))?;
    Ok(first.map(number))
}

fn keep(connection: &Connection, table: &str, head: &Head) -> Result<(), Error> {
    let sql =
        format!("INSERT OR REPLACE INTO {table} (seq, hash, time_ms, key, signature) VALUES (?1, ?2, ?3, ?4, ?5)");
    let values = params![
        signed(head.seq),
        head.hash.as_bytes(),
        signed(head.time_ms),
        head.key.as_bytes(),
        head.signature.as_bytes()
    ];
    connection.prepare_cached(&sql)?.execute(values)?;
    Ok(())
}

fn heads(connection: &Connection, chain: &str, table: &str, tail: &str) -> Result<Vec<Head>, Error> {
    let sql = format!("SELECT seq, hash, time_ms, key, signature FROM {table} ORDER BY seq {tail}");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |at: usize| -> Result<String, rusqlite::Error> {
            Ok(String::from_utf8_lossy(&row.get::<_, Vec<u8>>(at)?).into_owned())
        };
        found.push(Head {
            chain: chain.to_owned(),
            seq: number(row.get(0)?),
            hash: text(1)?,
            time_ms: number(row.get(2)?),
            key: text(3)?,
            signature: text(4)?,
        });
    }
    Ok(found)
}

fn heads_last(connection: &Connection, chain: &str, table: &str) -> Result<Option<Head>, Error> {
    Ok(heads(connection, chain, table, "DESC LIMIT 1")?.pop())
}

/// A hash of the wrong length matches nothing.
fn hash_or_none(bytes: &[u8]) -> blake3::Hash {
    to_hash(bytes).unwrap_or(blake3::Hash::from_bytes([0; 32]))
}

fn number(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
