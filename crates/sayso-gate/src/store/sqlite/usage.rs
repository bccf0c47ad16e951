//! What was used, as it is kept: a row for each session, run, agent, tenant and day.

use super::Sqlite;
use crate::Error;
use crate::limit::{Used, is_of};
use crate::store::budget::{Counts, DENIED, Key, MOST_RECENT, Tally};
use rusqlite::{Connection, OptionalExtension, params};
use sayso_policy::{Counting, RecentCall, Scope, Usage};
use std::collections::HashMap;
use std::time::Duration;

/// What was used in scopes of one kind and of one tenant, the latest first.
pub(super) fn used_in(
    store: &Sqlite,
    tenant: Option<&str>,
    only: Option<Scope>,
    counting: &Counting,
    limit: usize,
    now_ms: u64,
) -> Result<Vec<Used>, Error> {
    store.read(|connection| {
        let mut statement =
            connection.prepare_cached("SELECT scope, key FROM usage ORDER BY last_ms DESC, scope, key")?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        let open = open(connection, now_ms)?;
        let mut found = Vec::new();
        for row in rows {
            let (scope, key) = row?;
            let Some(scope) = scope_of(&scope) else { continue };
            if only.is_none_or(|only| only == scope) && tenant.is_none_or(|tenant| is_of(tenant, &key)) {
                found.extend(used(connection, (scope, key), &open, counting, now_ms)?);
            }
            if found.len() >= limit {
                break;
            }
        }
        Ok(found)
    })
}

/// The scope of this name.
fn scope_of(name: &str) -> Option<Scope> {
    Scope::ALL.into_iter().find(|known| known.as_str() == name)
}

/// The budgets that a reservation is taken from, as they are kept with it.
pub(super) fn keys_of(keys: &str) -> Result<Vec<Key>, Error> {
    let named: Vec<(String, String)> = serde_json::from_str(keys)?;
    Ok(named.into_iter().filter_map(|(scope, key)| Some((scope_of(&scope)?, key))).collect())
}

/// How many calls are let through and not settled yet, by their budgets.
fn open(connection: &Connection, now_ms: u64) -> Result<HashMap<Key, u64>, Error> {
    let mut statement = connection.prepare_cached("SELECT keys FROM reservation WHERE expires_ms > ?1")?;
    let mut rows = statement.query([int(now_ms)])?;
    let mut open = HashMap::new();
    while let Some(row) = rows.next()? {
        for key in keys_of(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)? {
            *open.entry(key).or_default() += 1;
        }
    }
    Ok(open)
}

fn used(
    connection: &Connection,
    key: Key,
    open: &HashMap<Key, u64>,
    counting: &Counting,
    now_ms: u64,
) -> Result<Option<Used>, Error> {
    let Some(tally) = tally(connection, &key)? else { return Ok(None) };
    let open = open.get(&key).copied().unwrap_or(0);
    let (counted, mut rates) = (Counted(connection), Vec::new());
    for (_, per) in counting.windows.iter().filter(|(scope, _)| *scope == key.0) {
        rates.push((*per, counted.calls_since(&key, now_ms, *per)?));
    }
    let usage = Usage { wall_ms: tally.wall_ms(now_ms), hosts: counted.hosts(&key)?, ..tally.used };
    let Tally { began_ms, last_ms, .. } = tally;
    Ok(Some(Used { scope: key.0, key: key.1, began_ms, last_ms, usage, open, rates }))
}

/// What is kept under a key.
pub(super) fn tally(connection: &Connection, key: &Key) -> Result<Option<Tally>, Error> {
    let sql = "SELECT began_ms, last_ms, calls, input_tokens, output_tokens, cost_micros, blocked, deletes,
               bytes_written FROM usage WHERE scope = ?1 AND key = ?2";
    let row = connection.prepare_cached(sql)?.query_row(params![key.0.as_str(), key.1], |row| {
        let column = |at: usize| row.get::<_, i64>(at).map(count);
        let used = Usage {
            calls: column(2)?,
            input_tokens: column(3)?,
            output_tokens: column(4)?,
            cost_micros: column(5)?,
            blocked: column(6)?,
            deletes: column(7)?,
            bytes_written: column(8)?,
            ..Usage::default()
        };
        Ok(Tally { key: key.clone(), began_ms: column(0)?, last_ms: column(1)?, used, is_new: false })
    });
    Ok(row.optional()?)
}

/// What is kept one by one, in SQLite.
pub(super) struct Counted<'a>(pub(super) &'a Connection);

impl Counts for Counted<'_> {
    fn hosts(&self, key: &Key) -> Result<u64, Error> {
        let sql = "SELECT count(*) FROM usage_seen WHERE scope = ?1 AND key = ?2 AND kind = 'host'";
        let hosts: i64 = self.0.prepare_cached(sql)?.query_row(params![key.0.as_str(), key.1], |row| row.get(0))?;
        Ok(count(hosts))
    }

    fn seen(&self, key: &Key, kind: &'static str, value: &str) -> Result<u64, Error> {
        let sql = "SELECT count FROM usage_seen WHERE scope = ?1 AND key = ?2 AND kind = ?3 AND value = ?4";
        let mut statement = self.0.prepare_cached(sql)?;
        let found = statement.query_row(params![key.0.as_str(), key.1, kind, value], |row| row.get::<_, i64>(0));
        Ok(found.optional()?.map(count).unwrap_or(0))
    }

    fn calls_since(&self, key: &Key, now_ms: u64, per: Duration) -> Result<u64, Error> {
        let from = now_ms.saturating_sub(u64::try_from(per.as_millis()).unwrap_or(u64::MAX));
        let sql = "SELECT count(*) FROM usage_call WHERE scope = ?1 AND key = ?2 AND time_ms > ?3 AND tool <> ?4";
        let mut statement = self.0.prepare_cached(sql)?;
        let calls: i64 = statement.query_row(params![key.0.as_str(), key.1, int(from), DENIED], |row| row.get(0))?;
        Ok(count(calls))
    }

    fn denied_since(&self, key: &Key, now_ms: u64, per: Duration) -> Result<u64, Error> {
        let from = now_ms.saturating_sub(u64::try_from(per.as_millis()).unwrap_or(u64::MAX));
        let sql = "SELECT count(*) FROM usage_call WHERE scope = ?1 AND key = ?2 AND time_ms > ?3 AND tool = ?4";
        let mut statement = self.0.prepare_cached(sql)?;
        let calls: i64 = statement.query_row(params![key.0.as_str(), key.1, int(from), DENIED], |row| row.get(0))?;
        Ok(count(calls))
    }

    fn recent(&self, key: &Key, from_ms: u64) -> Result<Vec<RecentCall>, Error> {
        let sql =
            "SELECT tool, time_ms FROM usage_call WHERE scope = ?1 AND key = ?2 AND time_ms >= ?3 AND tool <> '!denied'
                   ORDER BY time_ms DESC LIMIT ?4";
        let mut statement = self.0.prepare_cached(sql)?;
        let most = int(MOST_RECENT as u64);
        let rows = statement.query_map(params![key.0.as_str(), key.1, int(from_ms), most], |row| {
            Ok(RecentCall { tool: row.get(0)?, at_ms: count(row.get(1)?) })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
