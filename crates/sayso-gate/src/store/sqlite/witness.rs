//! What lets a call pass must be what the chain says it is.
//!
//! An attacker would not go through Sayso at all and write a yes into the store's file. So a question, each answer to it
//! and an answer that is remembered have a record in the chain, under a name that follows from theirs and with the hash
//! of what is kept; what lets a call pass is looked up there when it is used. Whoever chains such a record too, as Sayso
//! itself would, is not told apart from it: what is left then is the record. SECURITY.md says so.

use super::records::to_hash;
use super::{Transaction, whole};
use crate::Error;
use crate::approval::{Given, Outlook, Question, outlook};
use crate::audit::chain::link;
use crate::audit::{Change, Event, Kind};
use crate::store::naming::{AT, ENDS, hash, name};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

/// The record of this name, if it hangs in the chain.
pub(super) fn record(connection: &Connection, of: &str, what: &str, kind: Kind) -> Result<Option<Change>, Error> {
    Ok(chained(connection, of, &name(of, what), kind)?.map(|(_, change)| change))
}

/// The same by its whole name, with its number.
fn chained(connection: &Connection, of: &str, id: &str, kind: Kind) -> Result<Option<(i64, Change)>, Error> {
    let sql = "SELECT seq, prev, hash, body FROM event WHERE id = ?1";
    let found = connection.prepare_cached(sql)?.query_row([id], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, Vec<u8>>(2)?, row.get::<_, String>(3)?))
    });
    let Some((seq, previous, own, body)) = found.optional()? else { return Ok(None) };
    let place = u64::try_from(seq).unwrap_or_default();
    if link(place, &to_hash(&previous)?, &body) != to_hash(&own)? {
        return Ok(None);
    }
    let Ok(Event::Change(change)) = Event::from_line(&body) else { return Ok(None) };
    let fits = change.kind == kind && change.about.as_deref() == Some(of);
    Ok(fits.then_some((seq, *change)))
}

/// Whether there is a record of this name, whatever is wrong with it: whoever damages one that says that a yes is over
/// must not have the yes back.
pub(super) fn is_said(connection: &Connection, of: &str, what: &str) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM event WHERE id = ?1)";
    Ok(connection.prepare_cached(sql)?.query_row([name(of, what)], |row| row.get(0))?)
}

/// All records of one whose names go on like this, in the order of their numbers.
fn all_chained(connection: &Connection, of: &str, what: &str, kind: Kind) -> Result<Vec<(i64, Change)>, Error> {
    let ids = names(connection, &name(of, what))?;
    let found = ids.iter().map(|id| chained(connection, of, id, kind));
    found.filter_map(Result::transpose).collect()
}

/// The names of all records that begin like this, in the order of their numbers.
fn names(connection: &Connection, first: &str) -> Result<Vec<String>, Error> {
    // No name goes on with a letter beyond these.
    let mut statement =
        connection.prepare_cached("SELECT id FROM event WHERE id >= ?1 AND id < ?1 || '~' ORDER BY seq")?;
    let ids = statement.query_map([first], |row| row.get::<_, String>(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

fn says(change: &Change, key: &str, value: &str) -> bool {
    change.detail.get(key).and_then(Value::as_str) == Some(value)
}

/// Whether a question is still the one that was asked: people must not be shown another one than what would run.
pub(super) fn was_asked(connection: &Connection, id: &str) -> Result<bool, Error> {
    let sql = "SELECT body FROM approval WHERE id = ?1";
    let body: Option<String> = connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    let Some(body) = body else { return Ok(false) };
    let asked = record(connection, id, "asked", Kind::Approval)?;
    Ok(asked.is_some_and(|asked| asked.what == "asked" && says(&asked, "question", &hash(&body))))
}

/// A question that was asked, with the answers that were really given, as long as it has not ended and no call has run
/// on it.
fn open(connection: &Connection, id: &str, now_ms: u64) -> Result<Option<(Question, Vec<Given>)>, Error> {
    let sql = "SELECT body FROM approval WHERE id = ?1";
    let body: Option<String> = connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    let Some(body) = body.filter(|_| was_asked(connection, id).unwrap_or(false)) else { return Ok(None) };
    let Ok(question) = serde_json::from_str::<Question>(&body) else { return Ok(None) };
    if question.id != id || question.expires_ms <= now_ms {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached("SELECT seq, body FROM answer WHERE approval = ?1 ORDER BY seq")?;
    let rows = statement.query_map([id], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    let mut answers: Vec<Given> = Vec::new();
    for row in rows {
        let (seq, text) = row?;
        let said = record(connection, id, &format!("answered-{seq}"), Kind::Approval)?;
        let same = |said: &Change| says(said, "question", &hash(&body)) && says(said, "given", &hash(&text));
        let Some(given) = said.filter(same).and_then(|_| serde_json::from_str(&text).ok()) else { return Ok(None) };
        answers.push(given);
    }
    let used = is_said(connection, id, "used")?;
    Ok((!used).then_some((question, answers)))
}

/// Whether people really said yes to the call of this digest, and no call has run on it.
pub(super) fn was_approved(connection: &Connection, id: &str, digest: &str, now_ms: u64) -> Result<bool, Error> {
    Ok(open(connection, id, now_ms)?.is_some_and(|(question, answers)| {
        question.digest == digest && matches!(outlook(&question, &answers), Outlook::Approved(_))
    }))
}

/// Whether an answer was really remembered as it is kept, and neither taken back nor ended.
pub(super) fn was_given(connection: &Connection, id: &str, now_ms: u64) -> Result<bool, Error> {
    let sql = "SELECT body FROM remembered WHERE id = ?1";
    let body: Option<String> = connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    let Some(body) = body else { return Ok(false) };
    let given = record(connection, id, "given", Kind::Grant)?;
    let same = given.is_some_and(|given| given.what == "given" && says(&given, "kept", &hash(&body)));
    // The use of one that can be used once has this name.
    if !same || is_said(connection, id, "revoked")? || is_said(connection, id, "used")? {
        return Ok(false);
    }
    for end in names(connection, &name(id, ENDS))? {
        // An end that cannot be read has come.
        let end = chained(connection, id, &end, Kind::Grant)?;
        let at = end.and_then(|(_, end)| end.detail.get(AT).and_then(Value::as_u64));
        if at.is_none_or(|at| at <= now_ms) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether no record is missing from the one that says this on: one that says that a yes is over may have been taken out.
///
/// Whoever takes out all records from some moment on, with the heads that were signed since, is not noticed here: that is
/// a store of an earlier time. A process that has seen the later one notices, and an exported head tells.
pub(super) fn unbroken(tx: &Transaction<'_>, of: &str, what: &str, kind: Kind) -> Result<bool, Error> {
    let (connection, notes) = (tx.connection(), tx.notes());
    let Some((seq, _)) = chained(connection, of, &name(of, what), kind)? else { return Ok(false) };
    if notes.shrunk.get().is_some_and(|end| u64::try_from(seq).unwrap_or_default() <= end) {
        return Ok(false);
    }
    let others: i64 = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
    let part = whole::part_of(of);
    if let Some(from) = notes.whole.borrow().from(others, part) {
        return Ok(from <= seq);
    }
    let Some(vouched) = whole::vouched(connection, notes.folder(), Some(of))? else { return Ok(false) };
    // A mark is signed as a head is: what was signed before it says no more of the records up to it.
    if !heads_hold(connection, vouched.marked.map_or(seq, |marked| seq.max(marked)))? {
        return Ok(false);
    }
    notes.whole.borrow_mut().know(others, part, vouched.from);
    Ok(vouched.from <= seq)
}

/// How many signed heads are looked at, the newest first.
const HEADS: i64 = 1024;

/// Whether the records that were signed behind this one are there.
fn heads_hold(connection: &Connection, seq: i64) -> Result<bool, Error> {
    let sql = "SELECT head.hash, event.hash FROM head LEFT JOIN event ON event.seq = head.seq
               WHERE head.seq >= ?1 ORDER BY head.seq DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([seq, HEADS])?;
    while let Some(row) = rows.next()? {
        let signed = row.get_ref(0)?.as_bytes().ok().and_then(|hash| to_hash(hash).ok());
        let there = row.get_ref(1)?.as_bytes_or_null().ok().flatten().and_then(|hash| to_hash(hash).ok());
        if signed.is_none() || signed != there {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The old end of the chain goes up to this record, and with it what is over. What still counts keeps its records: they
/// are chained again at the new end. To be asked before anything is removed: what the chain does not say any more then,
/// such as that a yes was used, must not be taken from columns that anybody may have changed.
pub(super) fn carried(connection: &Connection, up_to: i64, now_ms: u64) -> Result<Vec<Event>, Error> {
    let mut carried = Vec::new();
    let mut take = |records: Vec<(i64, Change)>| {
        carried.extend(records.into_iter().filter(|(seq, _)| *seq <= up_to).map(|(_, change)| Event::from(change)));
    };
    let sql = "SELECT id FROM approval WHERE standing IN ('pending', 'approved') AND used_ms IS NULL";
    for id in ids(connection, sql)? {
        let counts =
            |(question, answers): (Question, Vec<Given>)| !matches!(outlook(&question, &answers), Outlook::Denied(_));
        if open(connection, &id, now_ms)?.is_some_and(counts) {
            take(all_chained(connection, &id, "asked", Kind::Approval)?);
            take(all_chained(connection, &id, "answered-", Kind::Approval)?);
        }
    }
    let sql = "SELECT id FROM remembered WHERE revoked_ms IS NULL AND (uses_left IS NULL OR uses_left > 0)";
    for id in ids(connection, sql)? {
        if was_given(connection, &id, now_ms)? {
            take(all_chained(connection, &id, "given", Kind::Grant)?);
            take(all_chained(connection, &id, ENDS, Kind::Grant)?);
            // A step of a plan counts only once the one before it is said to have run.
            let sql = "SELECT body ->> '$.plan.after' FROM remembered WHERE id = ?1";
            let before: Option<String> = connection.prepare_cached(sql)?.query_row([&id], |row| row.get(0))?;
            if let Some(before) = before {
                take(all_chained(connection, &before, "used", Kind::Grant)?);
            }
        }
    }
    Ok(carried)
}

fn ids(connection: &Connection, sql: &str) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare(sql)?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Lets go what is over and whose records went with the old end of the chain.
pub(super) fn forget(connection: &Connection, now_ms: i64) -> Result<(), Error> {
    let over = "standing NOT IN ('pending', 'approved') OR used_ms IS NOT NULL OR expires_ms <= ?1";
    let gone = "NOT EXISTS (SELECT 1 FROM event WHERE event.id = approval.id || '-asked')";
    let which = format!("SELECT id FROM approval WHERE ({over}) AND {gone}");
    connection.execute(&format!("DELETE FROM answer WHERE approval IN ({which})"), [now_ms])?;
    connection.execute(&format!("DELETE FROM approval WHERE id IN ({which})"), [now_ms])?;
    let over = "revoked_ms IS NOT NULL OR expires_ms <= ?1 OR uses_left <= 0";
    let gone = "NOT EXISTS (SELECT 1 FROM event WHERE event.id = remembered.id || '-given')";
    let which = format!("SELECT id FROM remembered WHERE ({over}) AND {gone}");
    connection.execute(&format!("DELETE FROM remembered_use WHERE remembered IN ({which})"), [now_ms])?;
    connection.execute(&format!("DELETE FROM remembered WHERE id IN ({which})"), [now_ms])?;
    Ok(())
}

/// Chains again what was carried over.
pub(super) fn carry(transaction: &mut Transaction<'_>, events: &[Event]) -> Result<(), Error> {
    events.iter().try_for_each(|event| transaction.append(event).map(|_| ()))
}
