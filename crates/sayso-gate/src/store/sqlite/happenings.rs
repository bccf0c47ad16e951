//! What happened around calls, in SQLite: a few columns to search by, and the whole as JSON.

use super::SqliteStore;
use super::records::conditions;
use crate::Error;
use crate::audit::{Happening, Order, Query};
use rusqlite::types::Value;
use rusqlite::{TransactionBehavior, params, params_from_iter};

impl SqliteStore {
    pub(super) fn keep_happenings(&self, happenings: &[Happening]) -> Result<(), Error> {
        if happenings.is_empty() {
            return Ok(());
        }
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT OR IGNORE INTO happening (id, time_ms, agent, session, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            for happening in happenings {
                insert.execute(params![
                    happening.id,
                    i64::try_from(happening.time_ms).unwrap_or(i64::MAX),
                    happening.actor.agent,
                    happening.actor.session,
                    serde_json::to_string(happening)?,
                ])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    pub(super) fn find_happenings(&self, query: &Query) -> Result<Vec<Happening>, Error> {
        let (conditions, mut values) = conditions(&Query { verdict: None, tool: None, ..query.clone() });
        let direction = match query.order {
            Order::NewestFirst => "DESC",
            Order::OldestFirst => "ASC",
        };
        values.push(Value::Integer(query.limit.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX))));
        let sql = format!("SELECT body FROM happening WHERE {conditions} ORDER BY seq {direction} LIMIT ?");
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(serde_json::from_str(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?);
        }
        Ok(found)
    }
}
