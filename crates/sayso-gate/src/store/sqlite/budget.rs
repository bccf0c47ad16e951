//! What was used is said in the chain too: whoever deletes or lowers the counts in the store's file gains nothing.
//!
//! As budgets fill, records say how much was used, each under a name that leads from its budget to it. What is kept is
//! compared with the latest of them whenever it counts; if it is less, the record counts, and that is itself recorded.

use super::records::to_hash;
use super::{Transaction, pending, usage};
use crate::Error;
use crate::audit::chain::link;
use crate::audit::{Change, Event, Kind};
use crate::store::budget::{Key, REMEMBERED_MS, Recorded, Tally, names, restored_record};
use rusqlite::{Connection, OptionalExtension};
use sayso_policy::Scope;

/// What was used under a key: what is kept, or what the chain says if that is more.
pub(super) fn tally(tx: &mut Transaction<'_>, key: &Key, now_ms: u64) -> Result<Tally, Error> {
    let kept = usage::tally(tx.connection(), key)?.unwrap_or_else(|| Tally::begun(key, now_ms));
    match recorded(tx, key, now_ms)? {
        Some(recorded) if !recorded.is_within(&kept) => restore(tx, kept, recorded, now_ms),
        _ => Ok(kept),
    }
}

/// Has the chain say how much was used, where that is due.
pub(super) fn say(tx: &mut Transaction<'_>, tally: &Tally, now_ms: u64) -> Result<(), Error> {
    let known = recorded(tx, &tally.key, now_ms)?;
    if known.is_some_and(|known| !known.is_behind(tally)) {
        return Ok(());
    }
    let says = Recorded::of(tally);
    let record = says.record(&tally.key, tx.end().seq.saturating_add(1), now_ms)?;
    tx.append(&Event::from(record))?;
    tx.notes().budgets.borrow_mut().insert(tally.key.clone(), Some(says));
    Ok(())
}

/// What the chain says of a budget. Known from before as long as nobody else has written to the file.
fn recorded(tx: &Transaction<'_>, key: &Key, now_ms: u64) -> Result<Option<Recorded>, Error> {
    if let Some(known) = tx.notes().budgets.borrow().get(key) {
        return Ok(*known);
    }
    let found = latest(tx.connection(), &names(key))?;
    // What is forgotten after a while is not held against anybody later.
    let lasts = matches!(key.0, Scope::Agent | Scope::Tenant);
    let found = found.filter(|(time_ms, _)| lasts || time_ms.saturating_add(REMEMBERED_MS) > now_ms);
    let found = found.map(|(_, recorded)| recorded);
    tx.notes().budgets.borrow_mut().insert(key.clone(), found);
    Ok(found)
}

/// The latest record with a name that begins so and that hangs in the chain, and its time.
fn latest(connection: &Connection, names: &str) -> Result<Option<(u64, Recorded)>, Error> {
    let sql = "SELECT seq, prev, hash, body FROM event WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id DESC LIMIT 8";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([names])?;
    while let Some(row) = rows.next()? {
        let (seq, previous, own) = (row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, Vec<u8>>(2)?);
        let body: String = row.get(3)?;
        let linked = link(usage::count(seq), &to_hash(&previous)?, &body) == to_hash(&own)?;
        if let (true, Ok(Event::Change(change))) = (linked, Event::from_line(&body))
            && change.kind == Kind::Chain
            && let Ok(recorded) = serde_json::from_value(change.detail)
        {
            return Ok(Some((change.time_ms, recorded)));
        }
    }
    Ok(None)
}

/// The counts were deleted or lowered behind Sayso's back: the record counts, and says so.
fn restore(tx: &mut Transaction<'_>, kept: Tally, recorded: Recorded, now_ms: u64) -> Result<Tally, Error> {
    let began_ms = kept.began_ms.min(recorded.began_ms);
    let used = kept.used.or_more(&recorded.used);
    let restored = Tally { began_ms, used, is_new: false, ..kept.clone() };
    tx.save()?;
    pending::keep(tx.connection(), &restored)?;
    tx.append(&Event::from(restored_record(&kept, &recorded, now_ms)))?;
    Ok(restored)
}

/// The latest records of budgets among those that go with the old end of the chain, as they are said again at its new end.
pub(super) fn carried(connection: &Connection, up_to: i64) -> Result<Vec<Change>, Error> {
    let sql = "SELECT id, body FROM event WHERE seq <= ?1 AND kind = 'chain' AND id >= 'usage-' AND id < 'usage-~'";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([up_to], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let mut carried = Vec::new();
    for row in rows {
        let (id, body) = row?;
        let names = id.get(..id.len().saturating_sub(16)).unwrap_or(&id).to_owned();
        let later = "SELECT 1 FROM event WHERE id > ?1 AND id < ?2 || '~' LIMIT 1";
        let mut later = connection.prepare_cached(later)?;
        if later.query_row([&id, &names], |_| Ok(())).optional()?.is_none()
            && let Ok(Event::Change(change)) = Event::from_line(&body)
        {
            carried.push(Change { id: names, ..*change });
        }
    }
    Ok(carried)
}

/// Chains again what was carried over.
pub(super) fn carry(tx: &mut Transaction<'_>, carried: Vec<Change>) -> Result<(), Error> {
    tx.notes().budgets.borrow_mut().clear();
    for mut change in carried {
        change.id.push_str(&format!("{:016x}", tx.end().seq.saturating_add(1)));
        tx.append(&Event::from(change))?;
    }
    Ok(())
}
