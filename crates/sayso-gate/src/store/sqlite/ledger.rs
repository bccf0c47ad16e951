//! What was used, in SQLite. One call's turn is one transaction.

use super::group::Turn;
use super::pending::Row;
use super::usage::{self, Counted, int};
use super::{Sqlite, Transaction, approvals, budget, grants};
use crate::Error;
use crate::audit::Event;
use crate::audit::fresh_id;
use crate::limit::{Outcome, Reservation, Used, Which, is_of, is_session, keys};
use crate::store::answering::by_grant;
use crate::store::budget::{
    Counts as _, DENIED, Key, MODEL, MOST, MOST_EXPIRED, Noted, Taken, Tally, denied_from, is_reached, never_reported,
    notes_single_calls, reset_record, settled_record, stopped_record, used,
};
use crate::store::{Ledger, Memo, Remembered, Subject};
use rusqlite::{Connection, params};
use sayso_policy::{Actor, Counting, Scope, Usage};
use std::time::Duration;

impl Ledger for Sqlite {
    fn turn(&self, subject: &Subject<'_>, judge: &mut dyn FnMut(Remembered) -> Memo) -> Result<(), Error> {
        let sweeps = self.group.sweep_is_due(subject.now_ms);
        self.write_as(if sweeps { Turn::Change } else { Turn::Count }, |tx| {
            if sweeps {
                approvals::expire(tx, subject.now_ms)?;
                give_back_expired(tx, subject.now_ms)?;
            }
            let mut tallies = Vec::new();
            for key in keys(subject.actor, &subject.counting.scopes, subject.now_ms) {
                let pending = tx.notes().pending.borrow().tally(&key).cloned();
                tallies.push(match pending {
                    Some(tally) => tally,
                    None => budget::tally(tx, &key, subject.now_ms)?,
                });
            }
            let memo = judge(remembered(tx.connection(), subject, &tallies)?);
            write(tx, subject, tallies, &memo)
        })
    }

    fn settle_in(&self, tenant: Option<&str>, which: &Which, outcome: &Outcome, now_ms: u64) -> Result<bool, Error> {
        self.write(|tx| {
            let Some(Found { id, mut keys, taken }) = reservation(tx.connection(), which)? else { return Ok(false) };
            keys.retain(|(_, key)| tenant.is_none_or(|tenant| is_of(tenant, key)));
            if keys.is_empty() {
                return Ok(false);
            }
            for key in &keys {
                settle_one(tx, &id, key, &taken, outcome, now_ms)?;
            }
            tx.connection().prepare_cached("DELETE FROM reservation WHERE id = ?1")?.execute([&id])?;
            tx.append(&Event::from(settled_record(&id, outcome, now_ms)?))?;
            Ok(true)
        })
    }

    fn reset_session(&self, session: &str, by: &str, now_ms: u64) -> Result<usize, Error> {
        self.write(|tx| {
            let found: Vec<Key> = {
                let mut statement = tx.connection().prepare_cached("SELECT key FROM usage WHERE scope = 'session'")?;
                let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
                let keys = rows.collect::<rusqlite::Result<Vec<String>>>()?;
                keys.into_iter().filter(|key| is_session(session, key)).map(|key| (Scope::Session, key)).collect()
            };
            for key in &found {
                begin_anew(tx, key, true, now_ms)?;
                tx.append(&Event::from(reset_record(key, "reset", by, now_ms)))?;
            }
            Ok(found.len())
        })
    }

    fn fall_back(&self, actor: &Actor, limits: &[(u64, Option<Duration>)], now_ms: u64) -> Result<bool, Error> {
        self.write(|tx| {
            let mut falls = false;
            for key in keys(actor, &[Scope::Session], now_ms) {
                if Counted(tx.connection()).seen(&key, MODEL, "fallback")? > 0 {
                    return Ok(true);
                }
                let tally = budget::tally(tx, &key, now_ms)?;
                falls |= is_reached(&Counted(tx.connection()), &tally, limits, now_ms)?;
            }
            for key in keys(actor, &[Scope::Session], now_ms).iter().filter(|_| falls) {
                begin_anew(tx, key, false, now_ms)?;
                let sql = "INSERT OR IGNORE INTO usage_seen (scope, key, kind, value, count) VALUES (?1, ?2, ?3, 'fallback', 1)";
                tx.connection().prepare_cached(sql)?.execute(params![key.0.as_str(), key.1, MODEL])?;
                tx.append(&Event::from(reset_record(key, "fallback", "sayso", now_ms)))?;
            }
            Ok(falls)
        })
    }

    fn used_in(
        &self,
        tenant: Option<&str>,
        only: Option<Scope>,
        counting: &Counting,
        limit: usize,
        now_ms: u64,
    ) -> Result<Vec<Used>, Error> {
        usage::used_in(self, tenant, only, counting, limit, now_ms)
    }
}

/// Everything that is remembered for a call.
fn remembered(connection: &Connection, subject: &Subject<'_>, tallies: &[Tally]) -> Result<Remembered, Error> {
    let now = subject.now_ms;
    let mut found = used(&Counted(connection), subject, tallies)?;
    if let Some(keys) = subject.grants {
        found.grants = grants::for_call(connection, subject.actor, subject.site, keys, now)?;
        (found.approvals, found.pending) = approvals::about(connection, subject.digest, subject.actor, now)?;
        found.answerable = approvals::any_open(connection, subject.actor, now)?
            || grants::any_exact(connection, subject.actor, subject.site, now)?;
    }
    Ok(found)
}

/// Writes down what is to be remembered.
fn write(tx: &mut Transaction<'_>, subject: &Subject<'_>, tallies: Vec<Tally>, memo: &Memo) -> Result<(), Error> {
    let now = subject.now_ms;
    // Most calls only count, which is written once for many: nothing of theirs has to be taken back.
    let answers = memo.spend.is_some() || memo.ask.is_some() || !memo.uses.is_empty();
    if answers || memo.stopped.is_some() || notes_single_calls(subject.counting) {
        tx.save()?;
    }
    for uses in by_grant(&memo.uses) {
        if !grants::take(tx, &uses, now)? {
            return Err(Error::UsedUp(uses.first().map(|one| one.grant.clone()).unwrap_or_default()));
        }
    }
    if let Some(id) = &memo.spend
        && !approvals::spend(tx, id, subject.digest, now)?
    {
        return Err(Error::UsedUp(id.clone()));
    }
    if let Some(question) = &memo.ask {
        approvals::ask(tx, question)?;
    }
    if let Some(reservation) = &memo.reserve {
        tallies.iter().try_for_each(|tally| note(tx.connection(), subject, &tally.key, reservation))?;
    }
    if memo.blocked {
        for tally in &tallies {
            if let Some(before) = denied_from(subject.counting, tally.key.0, now) {
                single(tx.connection(), &tally.key, (now, &fresh_id(), DENIED), before)?;
            }
        }
    }
    if let Some(why) = &memo.stopped {
        tx.append(&Event::from(stopped_record(subject, why)))?;
    }
    count(tx, subject, tallies, memo)
}

/// What the call takes from its budgets, to be written with what others take who share the commit.
fn count(tx: &Transaction<'_>, subject: &Subject<'_>, mut tallies: Vec<Tally>, memo: &Memo) -> Result<(), Error> {
    if memo.reserve.is_none() && !memo.blocked {
        return Ok(());
    }
    let reserved = memo.reserve.as_ref().map(|reservation| reserved(subject, &tallies, reservation)).transpose()?;
    for tally in &mut tallies {
        if let Some(reservation) = &memo.reserve {
            tally.charge(&reservation.takes, subject.now_ms);
        }
        if memo.blocked {
            tally.charge(&Usage { blocked: 1, ..Usage::default() }, subject.now_ms);
        }
    }
    tx.notes().pending.borrow_mut().count(tallies, reserved, subject.now_ms);
    Ok(())
}

/// Notes what limits look at beside the counts: hosts, repeats, and single calls.
fn note(connection: &Connection, subject: &Subject<'_>, key: &Key, one: &Reservation) -> Result<(), Error> {
    let Noted { seen, forget_before_ms } = Noted::of(subject, key.0, one);
    for (kind, value) in seen {
        connection
            .prepare_cached(
                "INSERT INTO usage_seen (scope, key, kind, value, count) VALUES (?1, ?2, ?3, ?4, 1)
                 ON CONFLICT DO UPDATE SET count = count + 1",
            )?
            .execute(params![key.0.as_str(), key.1, kind, value])?;
    }
    if let Some(before) = forget_before_ms {
        // Denied calls may be looked at for longer than the others.
        let before = denied_from(subject.counting, key.0, subject.now_ms).map_or(before, |from| from.min(before));
        single(connection, key, (subject.now_ms, &one.id, &one.tool), before)?;
    }
    Ok(())
}

/// Keeps a single call, and forgets those before a time.
fn single(connection: &Connection, key: &Key, (now_ms, id, tool): (u64, &str, &str), before: u64) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT INTO usage_call (scope, key, time_ms, id, tool) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![key.0.as_str(), key.1, int(now_ms), id, tool])?;
    connection
        .prepare_cached("DELETE FROM usage_call WHERE scope = ?1 AND key = ?2 AND time_ms < ?3")?
        .execute(params![key.0.as_str(), key.1, int(before)])?;
    Ok(())
}

/// Has counts under a key begin anew: all of them, or those of denied calls. The chain says so, or the next look would put
/// them back.
fn begin_anew(tx: &mut Transaction<'_>, key: &Key, all: bool, now_ms: u64) -> Result<(), Error> {
    budget::tally(tx, key, now_ms)?;
    let connection = tx.connection();
    let at = params![key.0.as_str(), key.1];
    if all {
        let sql = "UPDATE usage SET calls = 0, input_tokens = 0, output_tokens = 0, cost_micros = 0, blocked = 0,
                   deletes = 0, bytes_written = 0 WHERE scope = ?1 AND key = ?2";
        connection.prepare_cached(sql)?.execute(at)?;
        for table in ["usage_seen", "usage_call"] {
            let sql = format!("DELETE FROM {table} WHERE scope = ?1 AND key = ?2");
            connection.prepare_cached(&sql)?.execute(params![key.0.as_str(), key.1])?;
        }
    } else {
        connection.prepare_cached("UPDATE usage SET blocked = 0 WHERE scope = ?1 AND key = ?2")?.execute(at)?;
        let sql = "DELETE FROM usage_call WHERE scope = ?1 AND key = ?2 AND tool = ?3";
        connection.prepare_cached(sql)?.execute(params![key.0.as_str(), key.1, DENIED])?;
    }
    match usage::tally(tx.connection(), key)? {
        Some(tally) => budget::say(tx, &tally, now_ms),
        None => Ok(()),
    }
}

fn reserved(subject: &Subject<'_>, tallies: &[Tally], one: &Reservation) -> Result<Row, Error> {
    let keys: Vec<(&str, &str)> = tallies.iter().map(|tally| (tally.key.0.as_str(), tally.key.1.as_str())).collect();
    Ok(Row {
        id: one.id.clone(),
        call_id: one.call_id.clone(),
        session: subject.actor.session.clone(),
        expires_ms: one.expires_ms,
        keys: serde_json::to_string(&keys)?,
        body: serde_json::to_string(&Taken::of(one))?,
    })
}

/// Adds to what was used, or takes from it; never below nothing.
fn add(connection: &Connection, key: &Key, amounts: &Usage, sign: i64) -> Result<(), Error> {
    let by = |amount: u64| int(amount.min(MOST)).saturating_mul(sign);
    connection
        .prepare_cached(
            "UPDATE usage SET calls = max(0, min(?9, calls + ?3)), input_tokens = max(0, min(?9, input_tokens + ?4)),
             output_tokens = max(0, min(?9, output_tokens + ?5)), cost_micros = max(0, min(?9, cost_micros + ?6)),
             deletes = max(0, min(?9, deletes + ?7)), bytes_written = max(0, min(?9, bytes_written + ?8))
             WHERE scope = ?1 AND key = ?2",
        )?
        .execute(params![
            key.0.as_str(),
            key.1,
            by(amounts.calls),
            by(amounts.input_tokens),
            by(amounts.output_tokens),
            by(amounts.cost_micros),
            by(amounts.deletes),
            by(amounts.bytes_written),
            int(MOST),
        ])?;
    Ok(())
}

/// What is reserved for a call, and in which budgets.
struct Found {
    id: String,
    keys: Vec<Key>,
    taken: Taken,
}

fn reservation(connection: &Connection, which: &Which) -> Result<Option<Found>, Error> {
    let columns = "SELECT id, keys, body FROM reservation";
    let (sql, first, second) = match which {
        Which::Record(id) | Which::Reported { record: id, .. } => {
            (format!("{columns} WHERE id = ?1 AND ?2 IS NULL"), id, None)
        }
        Which::Call { session, call_id, .. } => {
            let sql = format!("{columns} WHERE call_id = ?1 AND session IS ?2 ORDER BY expires_ms DESC, id");
            (sql, call_id, session.as_deref())
        }
    };
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![first, second])?;
    while let Some(row) = rows.next()? {
        let text = |at: usize| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
        let taken: Taken = serde_json::from_str(text(2)?)?;
        // An id of a caller's own may have been used by others, and before: the latest of this one counts.
        if which.may_be_told_of(&taken.by) {
            return Ok(Some(Found { id: text(0)?.to_owned(), keys: usage::keys_of(text(1)?)?, taken }));
        }
    }
    Ok(None)
}

fn settle_one(
    tx: &mut Transaction<'_>,
    id: &str,
    key: &Key,
    taken: &Taken,
    outcome: &Outcome,
    now_ms: u64,
) -> Result<(), Error> {
    // What was lowered behind Sayso's back is put right before anything is given back.
    budget::tally(tx, key, now_ms)?;
    settle_row(tx.connection(), id, key, taken, outcome)?;
    match usage::tally(tx.connection(), key)? {
        Some(tally) => budget::say(tx, &tally, now_ms),
        None => Ok(()),
    }
}

fn settle_row(connection: &Connection, id: &str, key: &Key, taken: &Taken, outcome: &Outcome) -> Result<(), Error> {
    if outcome.not_run {
        add(connection, key, &taken.takes, -1)?;
        for (kind, value) in taken.seen() {
            let at = params![key.0.as_str(), key.1, kind, value];
            let which = "WHERE scope = ?1 AND key = ?2 AND kind = ?3 AND value = ?4";
            connection.prepare_cached(&format!("UPDATE usage_seen SET count = count - 1 {which}"))?.execute(at)?;
            let at = params![key.0.as_str(), key.1, kind, value];
            connection.prepare_cached(&format!("DELETE FROM usage_seen {which} AND count <= 0"))?.execute(at)?;
        }
        let sql = "DELETE FROM usage_call WHERE scope = ?1 AND key = ?2 AND id = ?3";
        connection.prepare_cached(sql)?.execute(params![key.0.as_str(), key.1, id])?;
        return Ok(());
    }
    let (expected, used) = taken.settled(outcome);
    add(connection, key, &expected, -1)?;
    add(connection, key, &used, 1)
}

/// Reservations without an outcome: what was only expected is given back, what was seen stays used.
fn give_back_expired(tx: &mut Transaction<'_>, now_ms: u64) -> Result<(), Error> {
    let connection = tx.connection();
    let expired: Vec<String> = {
        let sql = "SELECT id FROM reservation WHERE expires_ms <= ?1 LIMIT ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![int(now_ms), int(MOST_EXPIRED as u64)], |row| row.get(0))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    for id in expired {
        if let Some(Found { keys, taken, .. }) = reservation(connection, &Which::Record(id.clone()))? {
            keys.iter().try_for_each(|key| settle_one(tx, &id, key, &taken, &never_reported(), now_ms))?;
        }
        tx.connection().prepare_cached("DELETE FROM reservation WHERE id = ?1")?.execute([&id])?;
    }
    Ok(())
}
