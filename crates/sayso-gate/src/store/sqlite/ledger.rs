//! What was used, in SQLite. One call's turn is one transaction.

use super::group::Turn;
use super::pending::Row;
use super::usage::{self, Key, Tally, int};
use super::{Sqlite, Transaction, approvals, budget, grants};
use crate::Error;
use crate::audit::{Change, Event, Kind};
use crate::grant::GrantUse;
use crate::limit::{Outcome, Reporter, Reservation, Used, Which, is_of, keys};
use crate::store::{Ledger, Memo, Remembered, Subject};
use rusqlite::{Connection, params};
use sayso_policy::{Counting, Scope, Usage};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Expired reservations that one turn puts right.
const MOST_EXPIRED: usize = 256;
/// More than any limit; two of them are still a number.
const MOST: i64 = 1 << 60;

/// What a reservation took, as it is kept.
#[derive(Serialize, Deserialize)]
struct Taken {
    takes: Usage,
    hosts: Vec<String>,
    call: String,
    /// Who may say what became of it.
    #[serde(default)]
    by: Reporter,
}

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
            let mut change = Change::now(Kind::Limit, if outcome.not_run { "not-run" } else { "settled" });
            change.time_ms = now_ms;
            change.about = Some(id);
            change.detail = serde_json::to_value(outcome)?;
            tx.append(&Event::from(change))?;
            Ok(true)
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
    let mut found = Remembered::default();
    for tally in tallies {
        // A scope has a key of its own for each agent above: the one that is used most decides.
        let (scope, key) = (tally.key.0, &tally.key);
        let mut used =
            if tally.is_new { Usage::default() } else { Usage { wall_ms: tally.wall_ms(now), ..tally.used } };
        if subject.counting.repeats.contains(&scope) {
            used.repeats = usage::seen(connection, key, "call", subject.call)?;
        }
        if subject.counting.hosts.contains(&scope) {
            used.hosts = usage::hosts(connection, key)?;
        }
        let most = found.usage.entry(scope).or_default();
        *most = most.or_more(&used);
        let mut new = 0;
        for host in subject.hosts {
            new += u64::from(usage::seen(connection, key, "host", host)? == 0);
        }
        let most = found.new_hosts.entry(scope).or_default();
        *most = new.max(*most);
        for (scope, per) in subject.counting.windows.iter().filter(|(counted, _)| *counted == scope) {
            let calls = usage::calls_since(connection, key, now, *per)?;
            let most = found.rates.entry((*scope, *per)).or_default();
            *most = calls.max(*most);
        }
        if scope == Scope::Session && subject.counting.looks_back_ms > 0 {
            let back = now.saturating_sub(subject.counting.looks_back_ms);
            found.recent.extend(usage::recent(connection, key, back)?);
        }
    }
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
    for (at, one) in memo.uses.iter().enumerate() {
        if memo.uses.iter().take(at).any(|before| before.grant == one.grant) {
            continue;
        }
        let uses: Vec<&GrantUse> = memo.uses.iter().filter(|other| other.grant == one.grant).collect();
        if !grants::take(tx, &uses, now)? {
            return Err(Error::UsedUp(one.grant.clone()));
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
    if let Some(why) = &memo.stopped {
        let mut change = Change::now(Kind::Limit, "stopped");
        change.actor = subject.actor.clone();
        change.about.clone_from(&subject.actor.session);
        change.by = Some("sayso".to_owned());
        change.rule = Some("limit".to_owned());
        change.detail = json!({"why": why});
        tx.append(&Event::from(change))?;
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
            charge(tally, &reservation.takes, subject.now_ms);
        }
        if memo.blocked {
            charge(tally, &Usage { blocked: 1, ..Usage::default() }, subject.now_ms);
        }
    }
    tx.notes().pending.borrow_mut().count(tallies, reserved, subject.now_ms);
    Ok(())
}

/// Adds to what was used under a key.
fn charge(tally: &mut Tally, takes: &Usage, now_ms: u64) {
    let most = usage::count(MOST);
    let sum = |used: u64, takes: u64| used.saturating_add(takes.min(most)).min(most);
    let used = &tally.used;
    tally.used = Usage {
        calls: sum(used.calls, takes.calls),
        input_tokens: sum(used.input_tokens, takes.input_tokens),
        output_tokens: sum(used.output_tokens, takes.output_tokens),
        cost_micros: sum(used.cost_micros, takes.cost_micros),
        blocked: sum(used.blocked, takes.blocked),
        deletes: sum(used.deletes, takes.deletes),
        bytes_written: sum(used.bytes_written, takes.bytes_written),
        ..*used
    };
    tally.last_ms = tally.last_ms.max(now_ms);
}

/// Notes what limits look at beside the counts: hosts, repeats, and single calls.
fn note(connection: &Connection, subject: &Subject<'_>, key: &Key, one: &Reservation) -> Result<(), Error> {
    let now = subject.now_ms;
    // Only what some limit looks at: an agent's own list would grow for ever.
    let hosts = one.hosts.iter().filter(|_| subject.counting.hosts.contains(&key.0));
    let called = subject.counting.repeats.contains(&key.0).then_some(("call", one.call.as_str()));
    for (kind, value) in hosts.map(|host| ("host", host.as_str())).chain(called) {
        connection
            .prepare_cached(
                "INSERT INTO usage_seen (scope, key, kind, value, count) VALUES (?1, ?2, ?3, ?4, 1)
                 ON CONFLICT DO UPDATE SET count = count + 1",
            )?
            .execute(params![key.0.as_str(), key.1, kind, value])?;
    }
    let windows = subject.counting.windows.iter().filter(|(scope, _)| *scope == key.0);
    let longest = windows.map(|(_, per)| u64::try_from(per.as_millis()).unwrap_or(u64::MAX)).max();
    let back = longest.max((key.0 == Scope::Session).then_some(subject.counting.looks_back_ms)).unwrap_or(0);
    if back > 0 {
        connection
            .prepare_cached("INSERT INTO usage_call (scope, key, time_ms, id, tool) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![key.0.as_str(), key.1, int(now), one.id, one.tool])?;
        connection
            .prepare_cached("DELETE FROM usage_call WHERE scope = ?1 AND key = ?2 AND time_ms < ?3")?
            .execute(params![key.0.as_str(), key.1, int(now.saturating_sub(back.saturating_mul(2)))])?;
    }
    Ok(())
}

fn reserved(subject: &Subject<'_>, tallies: &[Tally], one: &Reservation) -> Result<Row, Error> {
    let keys: Vec<(&str, &str)> = tallies.iter().map(|tally| (tally.key.0.as_str(), tally.key.1.as_str())).collect();
    let taken = Taken { takes: one.takes, hosts: one.hosts.clone(), call: one.call.clone(), by: one.by.clone() };
    Ok(Row {
        id: one.id.clone(),
        call_id: one.call_id.clone(),
        session: subject.actor.session.clone(),
        expires_ms: one.expires_ms,
        keys: serde_json::to_string(&keys)?,
        body: serde_json::to_string(&taken)?,
    })
}

/// Adds to what was used, or takes from it; never below nothing.
fn add(connection: &Connection, key: &Key, amounts: &Usage, sign: i64) -> Result<(), Error> {
    let by = |amount: u64| int(amount).min(MOST).saturating_mul(sign);
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
            MOST,
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
        let called = [("call", taken.call.as_str())];
        for (kind, value) in taken.hosts.iter().map(|host| ("host", host.as_str())).chain(called) {
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
    // What was only expected goes, what is reported comes. Of what could be seen beforehand, nothing is given back on
    // the agent's word: a report can only add to it.
    let expected = Usage {
        input_tokens: taken.takes.input_tokens,
        output_tokens: taken.takes.output_tokens,
        cost_micros: taken.takes.cost_micros,
        ..Usage::default()
    };
    let more = |reported: Option<u64>, seen: u64| reported.unwrap_or(0).saturating_sub(seen);
    let used = Usage {
        input_tokens: outcome.input_tokens.unwrap_or(expected.input_tokens),
        output_tokens: outcome.output_tokens.unwrap_or(expected.output_tokens),
        cost_micros: outcome.cost_micros.unwrap_or(expected.cost_micros),
        deletes: more(outcome.deletes, taken.takes.deletes),
        bytes_written: more(outcome.bytes_written, taken.takes.bytes_written),
        ..Usage::default()
    };
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
        let nothing =
            Outcome { input_tokens: Some(0), output_tokens: Some(0), cost_micros: Some(0), ..Outcome::default() };
        if let Some(Found { keys, taken, .. }) = reservation(connection, &Which::Record(id.clone()))? {
            keys.iter().try_for_each(|key| settle_one(tx, &id, key, &taken, &nothing, now_ms))?;
        }
        tx.connection().prepare_cached("DELETE FROM reservation WHERE id = ?1")?.execute([&id])?;
    }
    Ok(())
}
