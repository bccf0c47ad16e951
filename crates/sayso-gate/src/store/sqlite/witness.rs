//! What lets a call pass must be what the chain says it is.
//!
//! An attacker would not go through Sayso at all and write a yes into the store's file. So a question, each answer to it
//! and an answer that is remembered have a record in the chain, under a name that follows from theirs and with the hash
//! of what is kept; what lets a call pass is looked up there when it is used. Whoever chains such a record too, as Sayso
//! itself would, is not told apart from it: what is left then is the record. SECURITY.md says so.

use super::Transaction;
use super::records::to_hash;
use crate::Error;
use crate::approval::{Given, Outlook, Question, outlook};
use crate::audit::chain::link;
use crate::audit::{Change, Event, Kind};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

/// The name of the record that says this of a question or a remembered answer. There is one, so that nothing happens
/// twice that happens once.
pub(super) fn name(of: &str, what: &str) -> String {
    format!("{of}-{what}")
}

/// What a record says of a text that is kept elsewhere.
pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The record of this name, if it hangs in the chain.
fn record(connection: &Connection, of: &str, what: &str, kind: Kind) -> Result<Option<Change>, Error> {
    let sql = "SELECT seq, prev, hash, body FROM event WHERE id = ?1";
    let found = connection.prepare_cached(sql)?.query_row([name(of, what)], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, Vec<u8>>(2)?, row.get::<_, String>(3)?))
    });
    let Some((seq, previous, own, body)) = found.optional()? else { return Ok(None) };
    let seq = u64::try_from(seq).unwrap_or_default();
    if link(seq, &to_hash(&previous)?, &body) != to_hash(&own)? {
        return Ok(None);
    }
    let Ok(Event::Change(change)) = Event::from_line(&body) else { return Ok(None) };
    Ok(Some(*change).filter(|change| change.kind == kind && change.about.as_deref() == Some(of)))
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

/// Whether people really said yes to the call of this digest, and no call has run on it.
pub(super) fn was_approved(connection: &Connection, id: &str, digest: &str, now_ms: u64) -> Result<bool, Error> {
    let sql = "SELECT body FROM approval WHERE id = ?1";
    let body: Option<String> = connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    let Some(body) = body.filter(|_| was_asked(connection, id).unwrap_or(false)) else { return Ok(false) };
    let Ok(question) = serde_json::from_str::<Question>(&body) else { return Ok(false) };
    if question.id != id || question.digest != digest || question.expires_ms <= now_ms {
        return Ok(false);
    }
    let mut statement = connection.prepare_cached("SELECT seq, body FROM answer WHERE approval = ?1 ORDER BY seq")?;
    let rows = statement.query_map([id], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    let mut answers: Vec<Given> = Vec::new();
    for row in rows {
        let (seq, text) = row?;
        let said = record(connection, id, &format!("answered-{seq}"), Kind::Approval)?;
        let same = |said: &Change| says(said, "question", &hash(&body)) && says(said, "given", &hash(&text));
        let Some(given) = said.filter(same).and_then(|_| serde_json::from_str(&text).ok()) else { return Ok(false) };
        answers.push(given);
    }
    let yes = matches!(outlook(&question, &answers), Outlook::Approved(_));
    Ok(yes && record(connection, id, "used", Kind::Approval)?.is_none())
}

/// Whether an answer was really remembered as it is kept, and not taken back.
pub(super) fn was_given(connection: &Connection, id: &str) -> Result<bool, Error> {
    let sql = "SELECT body FROM remembered WHERE id = ?1";
    let body: Option<String> = connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    let Some(body) = body else { return Ok(false) };
    let given = record(connection, id, "given", Kind::Grant)?;
    let same = given.is_some_and(|given| given.what == "given" && says(&given, "kept", &hash(&body)));
    Ok(same && record(connection, id, "revoked", Kind::Grant)?.is_none())
}

/// The old end of the chain goes up to this record, and with it what is over. What still counts keeps its records: they
/// are chained again at the new end. To be asked before anything is removed.
pub(super) fn carried(connection: &Connection, up_to: i64, now_ms: i64) -> Result<Vec<Event>, Error> {
    // What a yes hangs on is called `-asked` and `-answered-N`.
    let sql = "SELECT e.body FROM approval a JOIN event e ON e.id >= a.id || '-a' AND e.id < a.id || '-b'
               WHERE e.seq <= ?1 AND e.kind = 'approval' AND a.standing IN ('pending', 'approved') AND a.used_ms IS NULL AND a.expires_ms > ?2
               UNION ALL
               SELECT e.body FROM remembered r JOIN event e ON e.id = r.id || '-given' WHERE e.seq <= ?1
               AND r.revoked_ms IS NULL AND (r.expires_ms IS NULL OR r.expires_ms > ?2)
               AND (r.uses_left IS NULL OR r.uses_left > 0)";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map(params![up_to, now_ms], |row| row.get::<_, String>(0))?;
    rows.map(|row| Ok(Event::from_line(&row?)?)).collect()
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
