//! Records in SQLite: a few columns to search by, and the whole as JSON.

use super::SqliteStore;
use crate::Error;
use crate::audit::{Happening, Order, Query, Record, Recorder, Stored};
use crate::store::Records;
use rusqlite::types::Value;
use rusqlite::{TransactionBehavior, params, params_from_iter};

impl Records for SqliteStore {
    fn append(&self, records: &[Record]) -> Result<usize, Error> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut new = 0;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT OR IGNORE INTO record (id, time_ms, agent, session, tool, verdict, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for record in records {
                new += insert.execute(params![
                    record.id,
                    i64::try_from(record.time_ms).unwrap_or(i64::MAX),
                    record.actor.agent,
                    record.actor.session,
                    record.tool,
                    record.verdict.as_str(),
                    serde_json::to_string(record)?,
                ])?;
            }
        }
        transaction.commit()?;
        Ok(new)
    }

    fn append_happenings(&self, happenings: &[Happening]) -> Result<(), Error> {
        self.keep_happenings(happenings)
    }

    fn happenings(&self, query: &Query) -> Result<Vec<Happening>, Error> {
        self.find_happenings(query)
    }

    fn query(&self, query: &Query) -> Result<Vec<Stored>, Error> {
        let (conditions, mut values) = conditions(query);
        let direction = match query.order {
            Order::NewestFirst => "DESC",
            Order::OldestFirst => "ASC",
        };
        values.push(Value::Integer(query.limit.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX))));
        let sql = format!("SELECT seq, body FROM record WHERE {conditions} ORDER BY seq {direction} LIMIT ?");
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let body = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            found.push(Stored {
                seq: u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default(),
                record: serde_json::from_str(body)?,
            });
        }
        Ok(found)
    }

    fn count(&self, query: &Query) -> Result<u64, Error> {
        let (conditions, values) = conditions(query);
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&format!("SELECT count(*) FROM record WHERE {conditions}"))?;
        let count: i64 = statement.query_row(params_from_iter(values), |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or_default())
    }
}

impl Recorder for SqliteStore {
    fn record(&self, record: &Record) -> Result<(), Error> {
        self.append(std::slice::from_ref(record)).map(|_| ())
    }
}

pub(super) fn conditions(query: &Query) -> (String, Vec<Value>) {
    let number = |n: u64| Value::Integer(i64::try_from(n).unwrap_or(i64::MAX));
    let text = |s: &str| Value::Text(s.to_owned());
    let given = [
        ("time_ms >= ?", query.since_ms.map(number)),
        ("time_ms < ?", query.until_ms.map(number)),
        ("agent = ?", query.agent.as_deref().map(text)),
        ("session = ?", query.session.as_deref().map(text)),
        ("verdict = ?", query.verdict.map(|v| text(v.as_str()))),
        ("tool = ?", query.tool.as_deref().map(text)),
        ("body LIKE ? ESCAPE '\\'", query.text.as_deref().map(|t| Value::Text(containing(t)))),
        ("seq > ?", query.after.map(number)),
    ];
    let mut sql = String::from("1");
    let mut values = Vec::new();
    for (condition, value) in given {
        if let Some(value) = value {
            sql.push_str(" AND ");
            sql.push_str(condition);
            values.push(value);
        }
    }
    (sql, values)
}

/// A LIKE pattern for a body that holds this text, which stands there as JSON writes it.
fn containing(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap_or_default();
    let inner = json.strip_prefix('"').and_then(|s| s.strip_suffix('"')).unwrap_or_default();
    format!("%{}%", inner.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
}
