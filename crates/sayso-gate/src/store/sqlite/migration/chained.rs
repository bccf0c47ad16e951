//! Version 3: decisions, what happened around them, and everything else in one chain.

use crate::Error;
use crate::audit::chain::End;
use crate::audit::{Change, Event, Kind, fresh_id};
use rusqlite::{Connection, params};

pub(super) const TABLES: &str = "
    CREATE TABLE chain (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        id  TEXT NOT NULL
    ) STRICT;
    CREATE TABLE event (
        seq     INTEGER PRIMARY KEY,
        id      TEXT NOT NULL UNIQUE,
        time_ms INTEGER NOT NULL,
        kind    TEXT NOT NULL,
        agent   TEXT,
        session TEXT,
        tool    TEXT,
        verdict TEXT,
        rule    TEXT,
        body    TEXT NOT NULL,
        prev    BLOB NOT NULL,
        hash    BLOB NOT NULL
    ) STRICT;
    CREATE INDEX event_time ON event (time_ms);
    CREATE INDEX event_session ON event (session, seq);
    CREATE TABLE head (
        seq       INTEGER PRIMARY KEY,
        hash      BLOB NOT NULL,
        time_ms   INTEGER NOT NULL,
        key       BLOB NOT NULL,
        signature BLOB NOT NULL
    ) STRICT;
    CREATE TABLE anchor (
        seq       INTEGER PRIMARY KEY,
        hash      BLOB NOT NULL,
        time_ms   INTEGER NOT NULL,
        key       BLOB NOT NULL,
        signature BLOB NOT NULL
    ) STRICT;
    CREATE TABLE policy_versions (
        version  TEXT PRIMARY KEY,
        first_ms INTEGER NOT NULL,
        files    TEXT NOT NULL
    ) STRICT;
";

/// Gives the chain its name, and chains what earlier versions kept, in the order of time.
pub(super) fn take_over(connection: &Connection) -> Result<(), Error> {
    let chain = fresh_id();
    connection.execute("INSERT INTO chain (one, id) VALUES (1, ?1)", [&chain])?;
    let mut end = End::of_nothing(&chain);
    let mut old = connection.prepare(
        "SELECT body, time_ms, 0, seq FROM record UNION ALL SELECT body, time_ms, 1, seq FROM happening
         ORDER BY 2, 3, 4",
    )?;
    let mut rows = old.query(params![])?;
    while let Some(row) = rows.next()? {
        let body = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        // What cannot be read is kept as it is, in a record that says so.
        let event = Event::from_line(body).unwrap_or_else(|_| {
            let mut unreadable = Change::now(Kind::Chain, "unreadable");
            unreadable.detail = body.into();
            unreadable.into()
        });
        let line = if event.kind() == Kind::Chain { event.to_line()? } else { body.to_owned() };
        let next = end.after(&line);
        insert(connection, &event, &line, &end, &next)?;
        end = next;
    }
    drop(rows);
    drop(old);
    if end.seq > 0 {
        let mut change = Change::now(Kind::Chain, "taken-over");
        change.by = Some("sayso".to_owned());
        change.detail = serde_json::json!({"records": end.seq, "from_version": 2});
        let event = Event::from(change);
        let body = event.to_line()?;
        let next = end.after(&body);
        insert(connection, &event, &body, &end, &next)?;
    }
    connection.execute_batch("DROP TABLE record; DROP TABLE happening;")?;
    Ok(())
}

/// The row of a record as the tables of this version have it.
fn insert(connection: &Connection, event: &Event, body: &str, end: &End, next: &End) -> Result<(), Error> {
    let int = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let actor = event.actor();
    connection
        .prepare_cached(
            "INSERT INTO event (seq, id, time_ms, kind, agent, session, tool, verdict, rule, body, prev, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            int(next.seq),
            event.id(),
            int(event.time_ms()),
            event.kind().as_str(),
            actor.agent,
            actor.session,
            event.tool(),
            event.verdict().map(|verdict| verdict.as_str()),
            event.rule(),
            body,
            end.hash.as_bytes().as_slice(),
            next.hash.as_bytes().as_slice(),
        ])?;
    Ok(())
}
