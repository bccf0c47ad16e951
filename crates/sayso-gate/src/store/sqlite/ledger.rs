//! What was used, in SQLite. One call's turn is one transaction.

use super::{Sqlite, Transaction, approvals, grants};
use crate::Error;
use crate::audit::{Change, Event, Kind};
use crate::grant::GrantUse;
use crate::limit::{Outcome, Reporter, Reservation, Used, Which, is_of, keys};
use crate::store::{Ledger, Memo, Remembered, Subject};
use rusqlite::{Connection, OptionalExtension, params};
use sayso_policy::{Counting, RecentCall, Scope, Usage};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// Single calls of a session that are looked at.
const MOST_RECENT: i64 = 10_000;
/// Expired reservations that one turn puts right.
const MOST_EXPIRED: usize = 256;

/// How long a session, run or day that is not used is remembered.
const REMEMBERED_MS: u64 = 60 * 24 * 60 * 60 * 1000;
/// More than any limit; two of them are still a number.
const MOST: i64 = 1 << 60;

/// One key of one scope.
type Key = (Scope, String);

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
        self.write(|tx| {
            approvals::expire(tx, subject.now_ms)?;
            give_back_expired(tx, subject.now_ms)?;
            let keys = keys(subject.actor, &subject.counting.scopes, subject.now_ms);
            let memo = judge(remembered(tx.connection(), subject, &keys)?);
            write(tx, subject, &keys, &memo)
        })
    }

    fn settle_in(&self, tenant: Option<&str>, which: &Which, outcome: &Outcome, now_ms: u64) -> Result<bool, Error> {
        self.write(|tx| {
            let mut found = reservations(tx.connection(), which)?;
            found.retain(|(_, (_, key), _)| tenant.is_none_or(|tenant| is_of(tenant, key)));
            let Some(id) = found.first().map(|(id, ..)| id.clone()) else { return Ok(false) };
            for (_, key, taken) in &found {
                settle_one(tx.connection(), &id, key, taken, outcome)?;
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
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT scope, key FROM usage ORDER BY last_ms DESC, scope, key")?;
            let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
            let mut found = Vec::new();
            for row in rows {
                let (scope, key) = row?;
                let Some(scope) = Scope::ALL.into_iter().find(|known| known.as_str() == scope) else { continue };
                if only.is_none_or(|only| only == scope) && tenant.is_none_or(|tenant| is_of(tenant, &key)) {
                    found.extend(used(connection, (scope, key), counting, now_ms)?);
                }
                if found.len() >= limit {
                    break;
                }
            }
            Ok(found)
        })
    }
}

fn used(connection: &Connection, key: Key, counting: &Counting, now_ms: u64) -> Result<Option<Used>, Error> {
    let Some((began_ms, last_ms, usage)) = usage(connection, &key, "", now_ms)? else { return Ok(None) };
    let sql = "SELECT count(*) FROM reservation WHERE scope = ?1 AND key = ?2 AND expires_ms > ?3";
    let open: i64 =
        connection.prepare_cached(sql)?.query_row(params![key.0.as_str(), key.1, int(now_ms)], |row| row.get(0))?;
    let mut rates = Vec::new();
    for (_, per) in counting.windows.iter().filter(|(scope, _)| *scope == key.0) {
        rates.push((*per, calls_since(connection, &key, now_ms, *per)?));
    }
    Ok(Some(Used { scope: key.0, key: key.1, began_ms, last_ms, usage, open: count(open), rates }))
}

/// Everything that is remembered for a call.
fn remembered(connection: &Connection, subject: &Subject<'_>, keys: &[Key]) -> Result<Remembered, Error> {
    let now = subject.now_ms;
    let mut found = Remembered::default();
    for key in keys {
        // A scope has a key of its own for each agent above: the one that is used most decides.
        let used = usage(connection, key, subject.call, now)?.map(|(_, _, usage)| usage).unwrap_or_default();
        let most = found.usage.entry(key.0).or_default();
        *most = most.or_more(&used);
        let mut new = 0;
        for host in subject.hosts {
            new += u64::from(seen(connection, key, "host", host)? == 0);
        }
        let most = found.new_hosts.entry(key.0).or_default();
        *most = new.max(*most);
        for (scope, per) in subject.counting.windows.iter().filter(|(scope, _)| *scope == key.0) {
            let calls = calls_since(connection, key, now, *per)?;
            let most = found.rates.entry((*scope, *per)).or_default();
            *most = calls.max(*most);
        }
        if key.0 == Scope::Session && subject.counting.looks_back_ms > 0 {
            found.recent.extend(recent(connection, key, now.saturating_sub(subject.counting.looks_back_ms))?);
        }
    }
    found.grants = grants::for_call(connection, subject.actor, subject.site, now)?;
    (found.approvals, found.pending) = approvals::about(connection, subject.digest, subject.actor, now)?;
    Ok(found)
}

/// When a scope began, when it was last used, and what was used.
fn usage(connection: &Connection, key: &Key, call: &str, now_ms: u64) -> Result<Option<(u64, u64, Usage)>, Error> {
    let sql = "SELECT began_ms, last_ms, calls, input_tokens, output_tokens, cost_micros, blocked, deletes,
               bytes_written FROM usage WHERE scope = ?1 AND key = ?2";
    let row = connection.prepare_cached(sql)?.query_row(params![key.0.as_str(), key.1], |row| {
        let column = |at: usize| row.get::<_, i64>(at).map(count);
        let usage = Usage {
            calls: column(2)?,
            input_tokens: column(3)?,
            output_tokens: column(4)?,
            cost_micros: column(5)?,
            blocked: column(6)?,
            deletes: column(7)?,
            bytes_written: column(8)?,
            ..Usage::default()
        };
        Ok((column(0)?, column(1)?, usage))
    });
    let Some((began, last, mut usage)) = row.optional()? else { return Ok(None) };
    // A clock that was set back gives no time back.
    usage.wall_ms = now_ms.max(last).saturating_sub(began);
    usage.repeats = seen(connection, key, "call", call)?;
    let sql = "SELECT count(*) FROM usage_seen WHERE scope = ?1 AND key = ?2 AND kind = 'host'";
    let hosts: i64 = connection.prepare_cached(sql)?.query_row(params![key.0.as_str(), key.1], |row| row.get(0))?;
    usage.hosts = count(hosts);
    Ok(Some((began, last, usage)))
}

fn seen(connection: &Connection, key: &Key, kind: &str, value: &str) -> Result<u64, Error> {
    let sql = "SELECT count FROM usage_seen WHERE scope = ?1 AND key = ?2 AND kind = ?3 AND value = ?4";
    let found = connection
        .prepare_cached(sql)?
        .query_row(params![key.0.as_str(), key.1, kind, value], |row| row.get::<_, i64>(0))
        .optional()?;
    Ok(found.map(count).unwrap_or(0))
}

/// Calls of the last stretch of time, and those that a clock set back has put in the future.
fn calls_since(connection: &Connection, key: &Key, now_ms: u64, per: Duration) -> Result<u64, Error> {
    let from = now_ms.saturating_sub(u64::try_from(per.as_millis()).unwrap_or(u64::MAX));
    let sql = "SELECT count(*) FROM usage_call WHERE scope = ?1 AND key = ?2 AND time_ms > ?3";
    let calls: i64 =
        connection.prepare_cached(sql)?.query_row(params![key.0.as_str(), key.1, int(from)], |row| row.get(0))?;
    Ok(count(calls))
}

fn recent(connection: &Connection, key: &Key, from_ms: u64) -> Result<Vec<RecentCall>, Error> {
    let sql = "SELECT tool, time_ms FROM usage_call WHERE scope = ?1 AND key = ?2 AND time_ms >= ?3
               ORDER BY time_ms DESC LIMIT ?4";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![key.0.as_str(), key.1, int(from_ms), MOST_RECENT], |row| {
        Ok(RecentCall { tool: row.get(0)?, at_ms: count(row.get(1)?) })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Writes down what is to be remembered.
fn write(tx: &mut Transaction<'_>, subject: &Subject<'_>, keys: &[Key], memo: &Memo) -> Result<(), Error> {
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
    for key in keys {
        if let Some(reservation) = &memo.reserve {
            reserve(tx.connection(), subject, key, reservation)?;
        }
        if memo.blocked {
            begin(tx.connection(), key, now)?;
            let sql =
                "UPDATE usage SET blocked = blocked + 1, last_ms = max(last_ms, ?3) WHERE scope = ?1 AND key = ?2";
            tx.connection().prepare_cached(sql)?.execute(params![key.0.as_str(), key.1, int(now)])?;
        }
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
    Ok(())
}

fn begin(connection: &Connection, key: &Key, now_ms: u64) -> Result<(), Error> {
    let new = connection
        .prepare_cached("INSERT OR IGNORE INTO usage (scope, key, began_ms, last_ms) VALUES (?1, ?2, ?3, ?3)")?
        .execute(params![key.0.as_str(), key.1, int(now_ms)])?;
    if new == 1 { forget_old(connection, now_ms) } else { Ok(()) }
}

/// Sessions, runs and days of long ago are forgotten, as the folders of sessions are.
fn forget_old(connection: &Connection, now_ms: u64) -> Result<(), Error> {
    let sql = "SELECT scope, key FROM usage WHERE scope IN ('session', 'run', 'day') AND last_ms < ?1 LIMIT 100";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([int(now_ms.saturating_sub(REMEMBERED_MS))], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    for (scope, key) in rows.collect::<rusqlite::Result<Vec<_>>>()? {
        for table in ["usage", "usage_seen", "usage_call", "reservation"] {
            let sql = format!("DELETE FROM {table} WHERE scope = ?1 AND key = ?2");
            connection.prepare_cached(&sql)?.execute([&scope, &key])?;
        }
    }
    Ok(())
}

fn reserve(connection: &Connection, subject: &Subject<'_>, key: &Key, one: &Reservation) -> Result<(), Error> {
    let now = subject.now_ms;
    begin(connection, key, now)?;
    add(connection, key, &one.takes, 1)?;
    let sql = "UPDATE usage SET last_ms = max(last_ms, ?3) WHERE scope = ?1 AND key = ?2";
    connection.prepare_cached(sql)?.execute(params![key.0.as_str(), key.1, int(now)])?;
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
    let taken = Taken { takes: one.takes, hosts: one.hosts.clone(), call: one.call.clone(), by: one.by.clone() };
    connection
        .prepare_cached(
            "INSERT INTO reservation (id, scope, key, call_id, session, time_ms, expires_ms, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            one.id,
            key.0.as_str(),
            key.1,
            one.call_id,
            subject.actor.session,
            int(now),
            int(one.expires_ms),
            serde_json::to_string(&taken)?
        ])?;
    Ok(())
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

fn reservations(connection: &Connection, which: &Which) -> Result<Vec<(String, Key, Taken)>, Error> {
    let columns = "SELECT id, scope, key, body FROM reservation";
    let (sql, first, second) = match which {
        Which::Record(id) | Which::Reported { record: id, .. } => {
            (format!("{columns} WHERE id = ?1 AND ?2 IS NULL"), id, None)
        }
        Which::Call { session, call_id, .. } => {
            let sql = format!("{columns} WHERE call_id = ?1 AND session IS ?2 ORDER BY time_ms DESC, id");
            (sql, call_id, session.as_deref())
        }
    };
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![first, second], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
    })?;
    let mut found: Vec<(String, Key, Taken)> = Vec::new();
    for row in rows {
        let (id, scope, key, body) = row?;
        let Some(scope) = Scope::ALL.into_iter().find(|known| known.as_str() == scope) else { continue };
        let taken: Taken = serde_json::from_str(&body)?;
        // An id of a caller's own may have been used by others, and before: the latest of this one counts.
        let latest = found.first().is_none_or(|(latest, ..)| *latest == id);
        if latest && which.may_be_told_of(&taken.by) {
            found.push((id, (scope, key), taken));
        }
    }
    Ok(found)
}

fn settle_one(connection: &Connection, id: &str, key: &Key, taken: &Taken, outcome: &Outcome) -> Result<(), Error> {
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
        let sql = "SELECT DISTINCT id FROM reservation WHERE expires_ms <= ?1 LIMIT ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![int(now_ms), int(MOST_EXPIRED as u64)], |row| row.get(0))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    for id in expired {
        let nothing =
            Outcome { input_tokens: Some(0), output_tokens: Some(0), cost_micros: Some(0), ..Outcome::default() };
        for (_, key, taken) in reservations(connection, &Which::Record(id.clone()))? {
            settle_one(connection, &id, &key, &taken, &nothing)?;
        }
        connection.prepare_cached("DELETE FROM reservation WHERE id = ?1")?.execute([&id])?;
    }
    Ok(())
}

fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
