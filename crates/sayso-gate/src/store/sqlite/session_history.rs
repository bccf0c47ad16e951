//! Sessions and runs, gathered from the chain.

use super::Sqlite;
use super::records::conditions;
use crate::Error;
use crate::audit::{DecisionCounts, HistoryOf, Query, SessionHistory};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

/// Names that are listed of one session or run: they are the agent's own words, and may be any number.
const MOST_NAMES: i64 = 16;

/// Sessions or runs with records that answer a query.
pub(super) fn histories(store: &Sqlite, of: HistoryOf, query: &Query) -> Result<Vec<SessionHistory>, Error> {
    let column = column(of);
    let pages = (query.after, query.before);
    let all = Query { after: None, before: None, ..query.clone() };
    let (conditions, mut values) = conditions(&all);
    let limit = query.limit.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
    values.extend([int(pages.0.unwrap_or(0)), int(pages.1.unwrap_or(u64::MAX)), Value::Integer(limit)]);
    let sql = format!(
        "SELECT {column}, max(seq) AS last FROM event WHERE {column} IS NOT NULL AND {conditions}
         GROUP BY {column} HAVING last > ? AND last < ? ORDER BY last DESC LIMIT ?"
    );
    store.read(|connection| {
        let mut statement = connection.prepare_cached(&sql)?;
        let ids = statement.query_map(params_from_iter(values), |row| row.get::<_, String>(0))?;
        let mut found = Vec::new();
        for id in ids {
            found.extend(gathered(connection, of, &id?, query.tenant.as_deref())?);
        }
        Ok(found)
    })
}

fn column(of: HistoryOf) -> &'static str {
    match of {
        HistoryOf::Session => "session",
        HistoryOf::Run => "run",
    }
}

/// One id: a history for each tenant that uses it.
fn gathered(
    connection: &Connection,
    of: HistoryOf,
    id: &str,
    tenant: Option<&str>,
) -> Result<Vec<SessionHistory>, Error> {
    let column = column(of);
    let sql = format!(
        "SELECT tenant, min(time_ms), max(time_ms), max(seq), sum(kind = 'decision' AND verdict = 'allow'),
         sum(kind = 'decision' AND verdict = 'ask'), sum(kind = 'decision' AND verdict = 'deny')
         FROM event WHERE {column} = ?1 AND (?2 IS NULL OR tenant = ?2) GROUP BY tenant ORDER BY 4 DESC"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![id, tenant], |row| {
        let number = |at: usize| row.get::<_, i64>(at).map(|n| u64::try_from(n).unwrap_or_default());
        let decisions = DecisionCounts { allow: number(4)?, ask: number(5)?, deny: number(6)? };
        Ok(SessionHistory {
            id: id.to_owned(),
            tenant: row.get(0)?,
            first_ms: number(1)?,
            last_ms: number(2)?,
            last_seq: number(3)?,
            decisions,
            ..SessionHistory::default()
        })
    })?;
    let mut found = rows.collect::<rusqlite::Result<Vec<SessionHistory>>>()?;
    for history in &mut found {
        history.agents = names(connection, column, "agent", history)?;
        if of == HistoryOf::Run {
            history.sessions = names(connection, column, "session", history)?;
        }
        history.workspace = workspace(connection, column, history)?;
    }
    Ok(found)
}

fn names(connection: &Connection, column: &str, name: &str, history: &SessionHistory) -> Result<Vec<String>, Error> {
    let sql = format!(
        "SELECT DISTINCT {name} FROM event WHERE {column} = ?1 AND tenant IS ?2 AND {name} IS NOT NULL LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![history.id, history.tenant, MOST_NAMES], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn workspace(connection: &Connection, column: &str, history: &SessionHistory) -> Result<Option<String>, Error> {
    let sql = format!(
        "SELECT body ->> '$.workspace' FROM event WHERE {column} = ?1 AND tenant IS ?2 AND kind = 'decision'
         AND json_valid(body) ORDER BY seq DESC LIMIT 1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_row(params![history.id, history.tenant], |row| row.get::<_, Option<String>>(0));
    Ok(found.optional()?.flatten())
}

fn int(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}
