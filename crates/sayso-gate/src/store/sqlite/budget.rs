//! What was used is said in the chain too: whoever deletes or lowers the counts in the store's file gains nothing.
//!
//! As budgets fill, records say how much was used, each under a name that leads from its budget to it. What is kept is
//! compared with the latest of them whenever it counts; if it is less, the record counts, and that is itself recorded.

use super::records::to_hash;
use super::usage::{self, Key, Tally};
use super::{Transaction, pending};
use crate::Error;
use crate::audit::chain::link;
use crate::audit::{Change, Event, Kind};
use crate::reason;
use rusqlite::{Connection, OptionalExtension};
use sayso_policy::{Scope, Usage};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// How long a session, run or day that is not used is remembered.
pub(super) const REMEMBERED_MS: u64 = 60 * 24 * 60 * 60 * 1000;
/// What was used may be ahead of what the chain says of it by this part of it: a record for every call would double the
/// chain. While it is less than this, every call is recorded.
const PART: u64 = 64;

/// How much was used, as the chain says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recorded {
    began_ms: u64,
    used: Usage,
}

/// What was used under a key: what is kept, or what the chain says if that is more.
pub(super) fn tally(tx: &mut Transaction<'_>, key: &Key, now_ms: u64) -> Result<Tally, Error> {
    let kept = usage::tally(tx.connection(), key)?.unwrap_or_else(|| Tally::begun(key, now_ms));
    match recorded(tx, key, now_ms)? {
        Some(recorded) if !recorded.is_within(&kept) => restore(tx, kept, recorded, now_ms),
        _ => Ok(kept),
    }
}

impl Recorded {
    fn is_within(&self, kept: &Tally) -> bool {
        kept.began_ms <= self.began_ms && counted(&kept.used.or_more(&self.used)) == counted(&kept.used)
    }

    /// Whether so much more, or less, was used that the chain is to say so.
    fn is_behind(&self, tally: &Tally) -> bool {
        let pairs = counted(&self.used).into_iter().zip(counted(&tally.used));
        pairs.into_iter().any(|(said, is)| is < said || is - said > said / PART)
    }
}

/// What is compared.
fn counted(used: &Usage) -> [u64; 7] {
    [
        used.calls,
        used.input_tokens,
        used.output_tokens,
        used.cost_micros,
        used.blocked,
        used.deletes,
        used.bytes_written,
    ]
}

/// Has the chain say how much was used, where that is due.
pub(super) fn say(tx: &mut Transaction<'_>, tally: &Tally, now_ms: u64) -> Result<(), Error> {
    let known = recorded(tx, &tally.key, now_ms)?;
    if known.is_some_and(|known| !known.is_behind(tally)) {
        return Ok(());
    }
    let says = Recorded { began_ms: tally.began_ms, used: Usage { wall_ms: 0, hosts: 0, repeats: 0, ..tally.used } };
    let mut change = Change::now(Kind::Chain, "usage");
    change.id = format!("{}{:016x}", names(&tally.key), tx.end().seq.saturating_add(1));
    change.time_ms = now_ms;
    change.about = Some(format!("{} {}", tally.key.0.as_str(), tally.key.1));
    change.by = Some("sayso".to_owned());
    change.detail = serde_json::to_value(says)?;
    tx.append(&Event::from(change))?;
    tx.notes().budgets.borrow_mut().insert(tally.key.clone(), Some(says));
    Ok(())
}

/// How the names of the records of one budget begin. The number of the record follows, so that the latest comes last. No
/// line of a spool may have a name with a second dash in it.
fn names((scope, key): &Key) -> String {
    let hash = blake3::hash(format!("{}\0{key}", scope.as_str()).as_bytes()).to_hex();
    format!("usage-{}-", hash.get(..32).unwrap_or(&hash))
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
    pending::keep(tx.connection(), &restored)?;
    let mut change = Change::now(Kind::Chain, "restored");
    change.time_ms = now_ms;
    change.about = Some(format!("{} {}", kept.key.0.as_str(), kept.key.1));
    change.by = Some("sayso".to_owned());
    change.rule = Some(reason::BUDGET_RESTORED.to_string());
    change.detail = json!({"kept": kept.used, "recorded": recorded.used});
    tx.append(&Event::from(change))?;
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
