//! The chain in SQLite: a few columns to search by, the whole as one line of JSON, and its place in the chain.

use super::sketch::Search;
use super::{Sqlite, Transaction, policy_versions, session_history, tally};
use crate::Error;
use crate::audit::chain::End;
use crate::audit::{
    By, Chained, Event, Happening, HistoryOf, Kind, Order, PolicyVersion, Query, Record, Recorder, SessionHistory,
    Stored, Written, as_written, left_beside, loaded,
};
use crate::store::{Appended, Records};
use blake3::Hash;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use sayso_policy::{Actor, PolicyText, Verdict};

/// Where the chain ends: its last record; if there is none, what the last one that was pruned left behind; if there
/// never was one, the chain's own name.
pub(super) fn end(connection: &Connection) -> Result<End, Error> {
    for sql in [
        "SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1",
        "SELECT seq, hash FROM anchor ORDER BY seq DESC LIMIT 1",
    ] {
        let mut statement = connection.prepare_cached(sql)?;
        let found = statement.query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))).optional()?;
        if let Some((seq, hash)) = found {
            return Ok(End { seq: u64::try_from(seq).unwrap_or_default(), hash: to_hash(&hash)? });
        }
    }
    let chain: String = connection.prepare_cached("SELECT id FROM chain")?.query_row([], |row| row.get(0))?;
    Ok(End::of_nothing(&chain))
}

/// Whether the chain still holds the record that it once ended with, or that record was let go.
pub(super) fn is_there(connection: &Connection, end: &End) -> Result<bool, Error> {
    let seq = i64::try_from(end.seq).unwrap_or(i64::MAX);
    let sql = "SELECT hash FROM event WHERE seq = ?1";
    let found = connection.prepare_cached(sql)?.query_row([seq], |row| row.get::<_, Vec<u8>>(0)).optional()?;
    if let Some(hash) = found {
        return Ok(to_hash(&hash).is_ok_and(|hash| hash == end.hash));
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM anchor WHERE seq >= ?1)";
    Ok(connection.prepare_cached(sql)?.query_row([seq], |row| row.get(0))?)
}

/// Adds a record whose line is `body`.
pub(super) fn append(transaction: &mut Transaction<'_>, columns: &Columns<'_>, body: &str) -> Result<u64, Error> {
    let end = transaction.end();
    let next = end.after(body);
    insert(transaction.connection(), columns, body, &end, &next)?;
    transaction.set_end(next);
    Ok(next.seq)
}

/// What records are searched by. It follows from the content.
pub(super) struct Columns<'a> {
    pub(super) id: &'a str,
    pub(super) time_ms: u64,
    pub(super) kind: Kind,
    pub(super) actor: &'a Actor,
    pub(super) tool: Option<&'a str>,
    pub(super) verdict: Option<Verdict>,
    pub(super) rule: Option<&'a str>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(event: &'a Event) -> Self {
        Self {
            id: event.id(),
            time_ms: event.time_ms(),
            kind: event.kind(),
            actor: event.actor(),
            tool: event.tool(),
            verdict: event.verdict(),
            rule: event.rule(),
        }
    }
}

/// Writes the row of a record.
fn insert(connection: &Connection, columns: &Columns<'_>, body: &str, end: &End, next: &End) -> Result<(), Error> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO event (seq, id, time_ms, kind, agent, session, tool, verdict, rule, body, prev, hash, tenant, run)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    insert.execute(params![
        to_i64(next.seq),
        columns.id,
        to_i64(columns.time_ms),
        columns.kind.as_str(),
        columns.actor.agent,
        columns.actor.session,
        columns.tool,
        columns.verdict.map(|verdict| verdict.as_str()),
        columns.rule,
        body,
        end.hash.as_bytes().as_slice(),
        next.hash.as_bytes().as_slice(),
        columns.actor.tenant,
        columns.actor.run,
    ])?;
    Ok(())
}

impl Records for Sqlite {
    fn append(&self, events: &[Event], policies: &[PolicyVersion]) -> Result<Appended, Error> {
        self.write(|transaction| {
            for policy in policies {
                policy_versions::keep(transaction.connection(), policy)?;
            }
            let mut appended = Appended::default();
            for (place, event) in events.iter().enumerate() {
                let line = event.to_line()?;
                let mut known = transaction.connection().prepare_cached("SELECT body FROM event WHERE id = ?1")?;
                let known: Option<String> = known.query_row([event.id()], |row| row.get(0)).optional()?;
                match known {
                    None => {
                        append(transaction, &Columns::of(event), &line)?;
                        appended.new += 1;
                    }
                    Some(body) if Event::from_line(&body).is_ok_and(|known| known == *event) => {}
                    Some(_) => appended.conflicting.push(place),
                }
            }
            Ok(appended)
        })
    }

    fn policy(&self, version: &str) -> Result<Option<PolicyVersion>, Error> {
        self.read(|connection| policy_versions::find(connection, version))
    }

    fn policies(&self) -> Result<Vec<(String, u64)>, Error> {
        self.read(policy_versions::all)
    }

    fn query(&self, query: &Query) -> Result<Vec<Stored>, Error> {
        let decisions = Query { kinds: vec![Kind::Decision], ..query.clone() };
        self.rows(&decisions, |seq, _, body| Ok(Stored { seq, record: serde_json::from_str::<Record>(body)? }))
    }

    fn happenings(&self, query: &Query) -> Result<Vec<Happening>, Error> {
        let happenings = Query { kinds: vec![Kind::Happening], verdict: None, tool: None, ..query.clone() };
        self.rows(&happenings, |_, _, body| Ok(serde_json::from_str(body)?))
    }

    fn events(&self, query: &Query) -> Result<Vec<Chained>, Error> {
        self.rows(query, |seq, hash, body| {
            Ok(Chained { seq, hash: to_hash(hash)?.to_hex().to_string(), event: Event::from_line(body)? })
        })
    }

    fn count_by(&self, query: &Query, by: By) -> Result<Vec<(String, u64)>, Error> {
        let (conditions, values) = conditions(query);
        let column = counted(by);
        let sql = format!(
            "SELECT coalesce({column}, ''), count(*) FROM event WHERE {conditions} GROUP BY 1 ORDER BY 2 DESC, 1"
        );
        self.read(|connection| {
            if let Some(counted) = tally::count_by(connection, query, by)? {
                return Ok(counted);
            }
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
            rows.map(|row| {
                row.map(|(what, count)| (what, u64::try_from(count).unwrap_or_default())).map_err(Error::from)
            })
            .collect()
        })
    }

    fn count(&self, query: &Query) -> Result<u64, Error> {
        let (conditions, values) = conditions(query);
        self.read(|connection| {
            if let Some(count) = tally::count(connection, query)? {
                return Ok(count);
            }
            let sql = format!("SELECT count(*) FROM event WHERE {conditions} AND seq >= ? AND seq <= ?");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut count = 0;
            let mut search = Search::of(query.text.as_deref(), query.order);
            while let Some(stretches) = search.next(connection)? {
                for stretch in stretches {
                    let mut values = values.clone();
                    values.extend([Value::Integer(stretch.first), Value::Integer(stretch.last)]);
                    count += statement.query_row(params_from_iter(values), |row| row.get::<_, i64>(0))?;
                }
            }
            Ok(u64::try_from(count).unwrap_or_default())
        })
    }

    fn over_time(&self, query: &Query, by: By, step_ms: u64) -> Result<Vec<(u64, String, u64)>, Error> {
        if let Some(counted) = self.counted_over_time(query, by, step_ms)? {
            return Ok(counted);
        }
        let (conditions, mut values) = conditions(query);
        let sql = format!(
            "SELECT time_ms / ? AS stretch, coalesce({}, ''), count(*) FROM event WHERE {conditions}
             GROUP BY 1, 2 ORDER BY 1, 2",
            counted(by)
        );
        let step = to_i64(step_ms.max(1));
        values.insert(0, Value::Integer(step));
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let number = |n: i64| u64::try_from(n).unwrap_or_default();
            let rows = statement.query_map(params_from_iter(values), |row| {
                let began = row.get::<_, i64>(0)?.saturating_mul(step);
                Ok((number(began), row.get(1)?, number(row.get(2)?)))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn session_histories(&self, of: HistoryOf, query: &Query) -> Result<Vec<SessionHistory>, Error> {
        session_history::histories(self, of, query)
    }
}

pub(super) fn counted(by: By) -> &'static str {
    match by {
        By::Verdict => "verdict",
        By::Agent => "agent",
        By::Session => "session",
        By::Tool => "tool",
        By::Rule => "rule",
        By::Kind => "kind",
    }
}

impl Sqlite {
    fn rows<T>(&self, query: &Query, read: impl Fn(u64, &[u8], &str) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let (conditions, values) = conditions(query);
        let direction = match query.order {
            Order::NewestFirst => "DESC",
            Order::OldestFirst => "ASC",
        };
        let sql = format!(
            "SELECT seq, hash, body FROM event WHERE {conditions} AND seq >= ? AND seq <= ?
             ORDER BY seq {direction} LIMIT ?"
        );
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut found = Vec::new();
            let mut search = Search::of(query.text.as_deref(), query.order);
            while let Some(stretches) = search.next(connection)? {
                for stretch in stretches {
                    let left = query.limit.map(|limit| limit.saturating_sub(found.len()));
                    if left == Some(0) {
                        return Ok(found);
                    }
                    let mut values = values.clone();
                    let left = left.map_or(-1, |left| i64::try_from(left).unwrap_or(i64::MAX));
                    values.extend([stretch.first, stretch.last, left].map(Value::Integer));
                    let mut rows = statement.query(params_from_iter(values))?;
                    while let Some(row) = rows.next()? {
                        let seq = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
                        let hash = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
                        let body = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
                        found.push(read(seq, hash, body)?);
                    }
                }
            }
            Ok(found)
        })
    }
}

/// For a server, which keeps the store open: written when this returns, synced within the window.
impl Recorder for Sqlite {
    fn record(&self, record: &Record) -> Result<(), Error> {
        self.batches
            .keep(vec![Written::copy(record)?], &self.group, &self.durable)
            .pop()
            .unwrap_or_else(|| Err(Error::NotKept("the database did not report on the record".into())))
    }

    fn record_all(&self, records: Vec<Written>) -> Vec<Result<(), Error>> {
        self.batches.keep(records, &self.group, &self.durable)
    }

    fn keep_policy(&self, version: &str, files: &[PolicyText]) -> Result<(), Error> {
        if self.read(|connection| policy_versions::is_known(connection, version))? {
            return Ok(());
        }
        // A policy that was used as it lies compiled brings no texts: they were left when it was compiled.
        let left = if files.is_empty() { left_beside(&self.path, version) } else { None };
        let texts = left.unwrap_or_else(|| PolicyVersion::new(version, files));
        self.write(|transaction| {
            if policy_versions::keep(transaction.connection(), &texts)? {
                transaction.append(&Event::from(loaded(version, files)))?;
            }
            Ok(())
        })
    }
}

pub(super) fn conditions(query: &Query) -> (String, Vec<Value>) {
    let number = |n: u64| Value::Integer(to_i64(n));
    let text = |s: &str| Value::Text(s.to_owned());
    let given = [
        ("time_ms >= ?", query.since_ms.map(number)),
        ("time_ms < ?", query.until_ms.map(number)),
        ("agent = ?", query.agent.as_deref().map(text)),
        ("session = ?", query.session.as_deref().map(text)),
        ("verdict = ?", query.verdict.map(|v| text(v.as_str()))),
        ("tool = ?", query.tool.as_deref().map(text)),
        ("rule = ?", query.rule.as_deref().map(text)),
        ("body LIKE ? ESCAPE '\\'", query.text.as_deref().map(|t| Value::Text(containing(t)))),
        ("tenant = ?", query.tenant.as_deref().map(text)),
        ("run = ?", query.run.as_deref().map(text)),
        ("seq > ?", query.after.map(number)),
        ("seq < ?", query.before.map(number)),
    ];
    let mut sql = String::from("1");
    let mut values = Vec::new();
    if !query.kinds.is_empty() {
        sql.push_str(" AND kind IN (");
        sql.push_str(&vec!["?"; query.kinds.len()].join(", "));
        sql.push(')');
        values.extend(query.kinds.iter().map(|kind| text(kind.as_str())));
    }
    for (condition, value) in given {
        if let Some(value) = value {
            sql.push_str(" AND ");
            sql.push_str(condition);
            values.push(value);
        }
    }
    (sql, values)
}

/// A LIKE pattern for a body that holds this text.
fn containing(text: &str) -> String {
    format!("%{}%", as_written(text).replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
}

/// A hash as it stands in a row: of a record in bytes, of a head as it was signed, in hexadecimal.
pub(super) fn to_hash(bytes: &[u8]) -> Result<Hash, Error> {
    let hash = if bytes.len() == 64 { Hash::from_hex(bytes).ok() } else { Hash::from_slice(bytes).ok() };
    hash.ok_or_else(|| Error::NotKept("database: a hash has the wrong length".into()))
}

fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
