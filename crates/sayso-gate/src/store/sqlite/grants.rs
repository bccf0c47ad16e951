//! Remembered answers in SQLite.

use super::{Sqlite, Transaction, witness};
use crate::Error;
use crate::audit::{Change, Event, Kind};
use crate::grant::{GrantUse, Kept};
use crate::store::{Grants, GrantsWanted, answering, naming};
use rusqlite::{Connection, OptionalExtension, Row, params};
use sayso_policy::{Actor, Grant, GrantKeys};
use serde_json::json;

const COLUMNS: &str = "SELECT body, expires_ms, uses_left, revoked_ms, used, last_used_ms FROM remembered";

impl Grants for Sqlite {
    fn remembered(&self, which: &GrantsWanted<'_>, now_ms: u64) -> Result<Vec<Kept>, Error> {
        let sql = format!(
            "{COLUMNS} WHERE (?1 IS NULL OR id = ?1) AND (?2 IS NULL OR session = ?2)
             AND (?3 IS NULL OR body ->> '$.actor.tenant' = ?3) ORDER BY given_ms DESC, id DESC"
        );
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![which.id, which.session, which.tenant], parts)?;
            let counts = |kept: &Kept| !which.in_force || kept.is_in_force(now_ms);
            let found = rows.map(|row| whole(row?)).filter(|kept| kept.as_ref().map_or(true, counts));
            found.take(which.limit.unwrap_or(usize::MAX)).collect()
        })
    }

    fn revoke(&self, id: &str, by: &str, now_ms: u64) -> Result<bool, Error> {
        self.change(id, "revoked", by, now_ms, json!({}), |connection| {
            let sql = "UPDATE remembered SET revoked_ms = ?2 WHERE id = ?1";
            Ok(connection.execute(sql, params![id, int(now_ms)])?)
        })
    }

    fn expire(&self, id: &str, at_ms: u64, by: &str, now_ms: u64) -> Result<bool, Error> {
        self.change(id, "expires", by, now_ms, json!({ naming::AT: at_ms }), |connection| {
            let sql = "UPDATE remembered SET expires_ms = min(coalesce(expires_ms, ?2), ?2) WHERE id = ?1";
            Ok(connection.execute(sql, params![id, int(at_ms)])?)
        })
    }

    fn uses(&self, id: &str, limit: usize) -> Result<Vec<GrantUse>, Error> {
        self.read(|connection| {
            let sql = "SELECT body FROM remembered_use WHERE remembered = ?1 ORDER BY seq DESC LIMIT ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![id, int(limit as u64)], |row| row.get::<_, String>(0))?;
            rows.map(|row| Ok(serde_json::from_str(&row?)?)).collect()
        })
    }
}

impl Sqlite {
    /// Changes one that is in force.
    fn change(
        &self,
        id: &str,
        what: &str,
        by: &str,
        now_ms: u64,
        detail: serde_json::Value,
        change: impl FnOnce(&Connection) -> Result<usize, Error>,
    ) -> Result<bool, Error> {
        self.write(|tx| {
            let sql = format!("{COLUMNS} WHERE id = ?1");
            let found = tx.connection().prepare_cached(&sql)?.query_row([id], parts).optional()?;
            let Some(kept) = found.map(whole).transpose()?.filter(|kept| kept.is_in_force(now_ms)) else {
                return Ok(false);
            };
            change(tx.connection())?;
            append(tx, answering::grant_record(&kept.grant, what, by, detail))?;
            tx.seal();
            Ok(true)
        })
    }
}

type Parts = (String, Option<i64>, Option<i64>, Option<i64>, i64, Option<i64>);

fn parts(row: &Row<'_>) -> rusqlite::Result<Parts> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
}

fn whole((body, expires, uses_left, revoked, used, last_used): Parts) -> Result<Kept, Error> {
    let mut kept: Kept = serde_json::from_str(&body)?;
    let time = |ms: Option<i64>| ms.map(|ms| u64::try_from(ms).unwrap_or_default());
    // The columns change as it is used; the body is what was given, which they can only narrow.
    kept.grant.expires_ms = narrower(kept.grant.expires_ms, time(expires));
    kept.grant.uses_left = narrower(kept.grant.uses_left, uses_left.map(|left| u32::try_from(left).unwrap_or(0)));
    kept.revoked_ms = time(revoked);
    kept.used = u64::try_from(used).unwrap_or_default();
    kept.last_used_ms = time(last_used);
    Ok(kept)
}

fn narrower<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    [one, other].into_iter().flatten().min()
}

/// Those that may apply to a call, the first that was given first: looked up by what they name, so that ten thousand others
/// cost nothing.
pub(super) fn for_call(
    connection: &Connection,
    actor: &Actor,
    site: Option<&str>,
    keys: &GrantKeys,
    now_ms: u64,
) -> Result<Vec<Grant>, Error> {
    let here = "revoked_ms IS NULL AND (site IS NULL OR site = ?2) AND (session IS NULL OR session = ?3)
         AND (expires_ms IS NULL OR expires_ms > ?4) AND (uses_left IS NULL OR uses_left > 0) AND given_ms <= ?5";
    let among = "CROSS JOIN remembered ON remembered.id = remembered_key.remembered WHERE";
    let columns = COLUMNS.replace("FROM remembered", "FROM remembered_key");
    let exact = format!("{columns} {among} selects = ?1 AND {here}");
    let beginning = format!("{columns} {among} selects >= ?1 AND selects < ?1 || char(1114111) AND {here}");
    // One that was given in the future was given before the clock was set back: how old it is, nobody knows.
    let latest = int(now_ms.saturating_add(60_000));
    let mut found: Vec<Kept> = Vec::new();
    // Those that Sayso has not given have no key.
    let exactly: Vec<&str> = std::iter::once("").chain(keys.exact.iter().map(String::as_str)).collect();
    let beginnings: Vec<&str> = keys.beginning.iter().map(String::as_str).collect();
    for (sql, keys) in [(&exact, exactly), (&beginning, beginnings)] {
        let mut statement = connection.prepare_cached(sql)?;
        for key in keys {
            let rows = statement.query_map(params![key, site, actor.session, int(now_ms), latest], parts)?;
            for row in rows {
                let kept = whole(row?)?;
                if is_next(connection, &kept)? {
                    found.push(kept);
                }
            }
        }
    }
    found.sort_by(|one, other| (one.given_ms, &one.grant.id).cmp(&(other.given_ms, &other.grant.id)));
    found.dedup_by(|one, other| one.grant.id == other.grant.id);
    Ok(found.into_iter().map(|kept| kept.grant).collect())
}

/// Whether the step of the plan before it has run. By the record, and not by columns that anybody may have changed.
fn is_next(connection: &Connection, kept: &Kept) -> Result<bool, Error> {
    match kept.grant.plan.as_ref().and_then(|step| step.after.as_ref()) {
        Some(before) => witness::is_said(connection, before, "used"),
        None => Ok(true),
    }
}

/// Whether some answer to one very call is remembered here.
pub(super) fn any_exact(
    connection: &Connection,
    actor: &Actor,
    site: Option<&str>,
    now_ms: u64,
) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM remembered_key
         CROSS JOIN remembered ON remembered.id = remembered_key.remembered
         WHERE selects >= ?1 AND selects < ?1 || char(1114111) AND revoked_ms IS NULL
         AND (site IS NULL OR site = ?2) AND (session IS NULL OR session = ?3)
         AND (expires_ms IS NULL OR expires_ms > ?4) AND (uses_left IS NULL OR uses_left > 0))";
    let mut statement = connection.prepare_cached(sql)?;
    for beginning in GrantKeys::EXACT {
        if statement.query_row(params![beginning, site, actor.session, int(now_ms)], |row| row.get(0))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Keeps a new one.
pub(super) fn give(tx: &mut Transaction<'_>, kept: &Kept, by: &str) -> Result<(), Error> {
    let (grant, body) = (&kept.grant, serde_json::to_string(kept)?);
    tx.connection()
        .prepare_cached(
            "INSERT INTO remembered (id, site, session, given_ms, expires_ms, uses_left, used, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7)",
        )?
        .execute(params![
            grant.id,
            grant.workspace,
            grant.session,
            int(kept.given_ms),
            grant.expires_ms.map(int),
            grant.uses_left,
            body,
        ])?;
    tx.connection()
        .prepare_cached("UPDATE remembered_key SET selects = ?2 WHERE remembered = ?1")?
        .execute(params![grant.id, grant.selector.key(grant.verdict)])?;
    append(tx, answering::remembered_record(kept, &body, by))
}

/// Counts the uses of one by one call. `false`: it is used up, ended or revoked.
pub(super) fn take(tx: &mut Transaction<'_>, uses: &[&GrantUse], now_ms: u64) -> Result<bool, Error> {
    let Some(first) = uses.first() else { return Ok(true) };
    if !witness::was_given(tx.connection(), &first.grant, now_ms)? {
        return Err(Error::Forged(first.grant.clone()));
    }
    if !witness::unbroken(tx, &first.grant, "given", Kind::Grant)? {
        return Err(Error::Gap(first.grant.clone()));
    }
    let body = tx.connection().prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?.query_row([&first.grant], parts)?;
    let grant = whole(body)?.grant;
    let sql = "UPDATE remembered SET used = used + 1, last_used_ms = ?2, uses_left = uses_left - 1
               WHERE id = ?1 AND revoked_ms IS NULL AND (uses_left IS NULL OR uses_left > 0)
               AND (expires_ms IS NULL OR expires_ms > ?2)";
    if tx.connection().prepare_cached(sql)?.execute(params![first.grant, int(now_ms)])? != 1 {
        return Ok(false);
    }
    for one in uses {
        tx.connection()
            .prepare_cached("INSERT INTO remembered_use (remembered, body) VALUES (?1, ?2)")?
            .execute(params![one.grant, serde_json::to_string(one)?])?;
    }
    answering::grant_used_record(uses, &grant).map_or(Ok(()), |change| append(tx, change))?;
    Ok(true)
}

fn append(tx: &mut Transaction<'_>, change: Change) -> Result<(), Error> {
    tx.append(&Event::from(change)).map(|_| ())
}

fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Records as _;
    use sayso_policy::{GrantSelector, Person, Verdict};
    use sayso_shell::Verb;

    fn program(name: &str) -> Kept {
        let selector = GrantSelector::Pattern { verb: Verb::Run, pattern: name.to_owned(), program: None };
        let grant = Grant {
            id: name.to_owned(),
            selector,
            workspace: Some("site".to_owned()),
            session: None,
            uses_left: None,
            expires_ms: None,
            givers: vec![Person::named("ann")],
            verdict: Verdict::Allow,
            actor: Actor::default(),
            plan: None,
        };
        let (words, none) = (String::new(), None);
        Kept { grant, given_ms: 1, approval: None, words, revoked_ms: none, used: 0, last_used_ms: none }
    }

    /// What a look for answers to one call finds among so many, and how many steps SQLite takes for it.
    fn looked_up(among: usize) -> (Vec<String>, i32) {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        let all: Vec<Kept> = (0..among).map(|n| program(&format!("tool-{n} run"))).collect();
        store.write(|tx| all.iter().try_for_each(|kept| give(tx, kept, "ann"))).unwrap();
        let keys = GrantKeys {
            exact: ["run tool-7", "run tool-7 run", "no run tool-7 run"].map(str::to_owned).into(),
            beginning: ["run tool-8 ".to_owned()].into(),
        };
        let found = store.read(|c| for_call(c, &Actor::default(), Some("site"), &keys, 5)).unwrap();
        let steps = store.read(|c| {
            let sql = "SELECT 1 FROM remembered_key CROSS JOIN remembered ON id = remembered WHERE selects = 'run tool-7 run'";
            let mut statement = c.prepare(sql)?;
            assert_eq!(statement.query_map([], |_| Ok(()))?.count(), 1);
            Ok(statement.get_status(rusqlite::StatementStatus::VmStep))
        });
        (found.into_iter().map(|grant| grant.id).collect(), steps.unwrap())
    }

    #[test]
    fn among_thousands_only_those_that_name_the_call_are_looked_at() {
        let few = looked_up(10);
        assert_eq!(few.0, ["tool-7 run", "tool-8 run"]);
        assert_eq!(looked_up(3_000), few);
    }

    #[test]
    fn those_of_a_store_of_before_are_found_by_their_names_too() {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        store.write(|tx| give(tx, &program("make"), "ann")).unwrap();
        // As the version before has it.
        store
            .write(|tx| {
                Ok(tx.connection().execute_batch(
                    "DROP TRIGGER remembered_added; DROP TRIGGER remembered_gone; DROP TABLE remembered_key;
                     DROP INDEX usage_last; DROP TRIGGER event_counted; DROP TRIGGER event_uncounted; DROP TABLE tally;
                     DROP TABLE sketch; DROP TABLE whole; DROP INDEX event_named; DROP TABLE reservation;
                     CREATE TABLE reservation (id, scope, key, call_id, session, time_ms, expires_ms, body);
                     DELETE FROM migration WHERE version >= 6;",
                )?)
            })
            .unwrap();
        drop(store);
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        let keys = GrantKeys { exact: ["run make".to_owned()].into(), ..GrantKeys::default() };
        let found = store.read(|c| for_call(c, &Actor::default(), Some("site"), &keys, 5)).unwrap();
        assert_eq!(found.len(), 1);
        // What is counted as records come was counted for those that were there.
        let all = crate::audit::Query::default();
        assert_eq!(store.count(&all).unwrap(), u64::try_from(store.events(&all).unwrap().len()).unwrap());
    }
}
