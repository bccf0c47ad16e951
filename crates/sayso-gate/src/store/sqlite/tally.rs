//! Counting records by the hour, so that counts cost the same however many there are.

use super::Sqlite;
use super::records::{conditions, counted};
use crate::Error;
use crate::audit::{By, Query};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

const HOUR: u64 = 60 * 60 * 1000;

/// Where the records of a query are counted: whole hours from the table of counts, the rest one by one.
pub(super) struct Counted {
    /// To be selected from: `time_ms`, what records are counted by, and `count`.
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

/// The beginning of a stretch of time, what was counted in it, and how often.
pub(super) type Bucket = (u64, String, u64);

impl Sqlite {
    /// Counts records by the hour and by what they have in common; `None`: the query asks for something that is not counted,
    /// or for stretches that are no hours.
    pub(super) fn counted_over_time(&self, query: &Query, by: By, step_ms: u64) -> Result<Option<Vec<Bucket>>, Error> {
        if !step_ms.is_multiple_of(HOUR) || step_ms == 0 {
            return Ok(None);
        }
        self.read(|connection| {
            let Some(Counted { sql, values }) = counted_by(connection, query, Some(by))? else { return Ok(None) };
            let sql = format!(
                "SELECT time_ms / {step_ms} * {step_ms}, {}, sum(count) AS n FROM ({sql}) GROUP BY 1, 2 HAVING n > 0
                 ORDER BY 1, 2",
                counted(by)
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let number = |n: i64| u64::try_from(n).unwrap_or_default();
            let rows = statement.query_map(params_from_iter(values), |row| {
                Ok((number(row.get(0)?), row.get(1)?, number(row.get(2)?)))
            })?;
            Ok(Some(rows.collect::<rusqlite::Result<_>>()?))
        })
    }
}

/// How many records answer a query; `None`: it asks for something that is not counted.
pub(super) fn count(connection: &Connection, query: &Query) -> Result<Option<u64>, Error> {
    let Some(Counted { sql, values }) = counted_by(connection, query, None)? else { return Ok(None) };
    let mut statement = connection.prepare_cached(&format!("SELECT coalesce(sum(count), 0) FROM ({sql})"))?;
    let count: i64 = statement.query_row(params_from_iter(values), |row| row.get(0))?;
    Ok(Some(u64::try_from(count).unwrap_or_default()))
}

/// The same by what they have in common, the most frequent first.
pub(super) fn count_by(connection: &Connection, query: &Query, by: By) -> Result<Option<Vec<(String, u64)>>, Error> {
    let Some(Counted { sql, values }) = counted_by(connection, query, Some(by))? else { return Ok(None) };
    let sql =
        format!("SELECT {}, sum(count) AS n FROM ({sql}) GROUP BY 1 HAVING n > 0 ORDER BY 2 DESC, 1", counted(by));
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
    let found = rows.map(|row| row.map(|(what, n)| (what, u64::try_from(n).unwrap_or_default())));
    Ok(Some(found.collect::<rusqlite::Result<_>>()?))
}

fn counted_by(connection: &Connection, query: &Query, by: Option<By>) -> Result<Option<Counted>, Error> {
    let other = query.session.is_some() || query.run.is_some() || query.text.is_some();
    if other || query.after.is_some() || query.before.is_some() || by == Some(By::Session) {
        return Ok(None);
    }
    // Times apart, which are taken in hours.
    let (conditions, values) = conditions(&Query { since_ms: None, until_ms: None, ..query.clone() });
    let all_time = query.since_ms.is_none() && query.until_ms.is_none();
    let coarse = query.agent.is_none() && query.tool.is_none() && query.rule.is_none();
    if all_time && coarse && matches!(by, None | Some(By::Verdict | By::Kind)) {
        let sql = format!("SELECT 0 AS time_ms, kind, verdict, count FROM tally WHERE hour = -1 AND {conditions}");
        return Ok(Some(Counted { sql, values }));
    }
    let Some((first, last)) = ends(connection)? else {
        let sql = "SELECT 0 AS time_ms, '' AS kind, '' AS verdict, '' AS agent, '' AS tool, '' AS rule, 0 AS count";
        return Ok(Some(Counted { sql: sql.to_owned(), values: Vec::new() }));
    };
    // An hour beyond the first or last record is whole, whenever it is asked for.
    let since = query.since_ms.filter(|since| *since > first).unwrap_or(0);
    let until = query.until_ms.filter(|until| *until <= last).unwrap_or(last.saturating_add(HOUR));
    let (from, to) = (since.div_ceil(HOUR), if until > last { last / HOUR + 1 } else { until / HOUR });
    if from >= to {
        return Ok(None);
    }
    let columns = "kind, coalesce(verdict, '') AS verdict, coalesce(agent, '') AS agent, coalesce(tool, '') AS tool,
                   coalesce(rule, '') AS rule";
    let part = |from: u64, to: u64| {
        format!(
            "SELECT time_ms, {columns}, 1 AS count FROM event INDEXED BY event_time
             WHERE time_ms >= {from} AND time_ms < {to} AND {conditions}"
        )
    };
    let mut parts = vec![format!(
        "SELECT hour * {HOUR} AS time_ms, kind, verdict, agent, tool, rule, count FROM tally
         WHERE hour >= {from} AND hour < {to} AND {conditions}"
    )];
    if since < from * HOUR && since > 0 {
        parts.push(part(since, from * HOUR));
    }
    if until <= last && to * HOUR < until {
        parts.push(part(to * HOUR, until));
    }
    let repeated = parts.iter().flat_map(|_| values.clone()).collect();
    Ok(Some(Counted { sql: parts.join(" UNION ALL "), values: repeated }))
}

/// The times of the earliest and the latest record.
fn ends(connection: &Connection) -> Result<Option<(u64, u64)>, Error> {
    let one = |sql: &str| -> Result<Option<i64>, Error> {
        Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    };
    let (first, last) = (one("SELECT min(time_ms) FROM event")?, one("SELECT max(time_ms) FROM event")?);
    let time = |ms: i64| u64::try_from(ms).unwrap_or_default();
    Ok(first.zip(last).map(|(first, last)| (time(first), time(last))))
}
