//! What the calls of an open transaction have taken from their budgets, written once for all of them.
//!
//! Callers who come together share a commit, and most of them count in the same few budgets. Each budget is written once
//! for all, with one record in the chain, and not once for each call.
//!
//! INVARIANT: what is pending belongs to the transaction. It is written before the commit and before any other change
//! begins, so that nobody sees these tables without it; where the transaction is given up, it is forgotten.

use super::usage::int;
use super::{Transaction, budget};
use crate::Error;
use crate::store::budget::{Key, REMEMBERED_MS, Tally};
use rusqlite::{Connection, params};
use std::collections::HashMap;

/// What is not written yet.
#[derive(Default)]
pub(super) struct Pending {
    tallies: HashMap<Key, Tally>,
    reservations: Vec<Row>,
    /// When the latest call came.
    now_ms: u64,
}

/// What is reserved for a call, as it is kept.
pub(super) struct Row {
    pub(super) id: String,
    pub(super) call_id: Option<String>,
    pub(super) session: Option<String>,
    pub(super) expires_ms: u64,
    /// The budgets, as JSON.
    pub(super) keys: String,
    pub(super) body: String,
}

impl Pending {
    /// What was used under a key, where a call of this transaction has counted there.
    pub(super) fn tally(&self, key: &Key) -> Option<&Tally> {
        self.tallies.get(key)
    }

    /// A call counts. Nothing that may fail comes behind this: what a call has taken is not taken out again.
    pub(super) fn count(&mut self, tallies: Vec<Tally>, reserved: Option<Row>, now_ms: u64) {
        self.tallies.extend(tallies.into_iter().map(|tally| (tally.key.clone(), tally)));
        self.reservations.extend(reserved);
        self.now_ms = self.now_ms.max(now_ms);
    }

    fn is_empty(&self) -> bool {
        self.tallies.is_empty() && self.reservations.is_empty()
    }
}

/// Writes what is pending.
pub(super) fn write(tx: &mut Transaction<'_>) -> Result<(), Error> {
    if tx.notes().pending.borrow().is_empty() {
        return Ok(());
    }
    let Pending { tallies, reservations, now_ms } = tx.notes().pending.take();
    let any_new = tallies.values().any(|tally| tally.is_new);
    let mut tallies: Vec<Tally> = tallies.into_values().collect();
    // In the order of the table, and the same each time.
    tallies.sort_unstable_by(|one, other| (one.key.0.as_str(), &one.key.1).cmp(&(other.key.0.as_str(), &other.key.1)));
    for tally in &tallies {
        keep(tx.connection(), tally)?;
        budget::say(tx, tally, now_ms)?;
    }
    reservations.iter().try_for_each(|row| reserve(tx.connection(), row))?;
    if any_new { forget_old(tx.connection(), now_ms) } else { Ok(()) }
}

/// Keeps what was used under a key.
pub(super) fn keep(connection: &Connection, tally: &Tally) -> Result<(), Error> {
    let used = &tally.used;
    connection
        .prepare_cached(
            "INSERT INTO usage (scope, key, began_ms, last_ms, calls, input_tokens, output_tokens, cost_micros, blocked,
             deletes, bytes_written) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (scope, key) DO UPDATE SET began_ms = excluded.began_ms, last_ms = excluded.last_ms,
             calls = excluded.calls, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
             cost_micros = excluded.cost_micros, blocked = excluded.blocked, deletes = excluded.deletes,
             bytes_written = excluded.bytes_written",
        )?
        .execute(params![
            tally.key.0.as_str(),
            tally.key.1,
            int(tally.began_ms),
            int(tally.last_ms),
            int(used.calls),
            int(used.input_tokens),
            int(used.output_tokens),
            int(used.cost_micros),
            int(used.blocked),
            int(used.deletes),
            int(used.bytes_written),
        ])?;
    Ok(())
}

fn reserve(connection: &Connection, row: &Row) -> Result<(), Error> {
    let sql = "INSERT INTO reservation (id, call_id, session, expires_ms, keys, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let Row { id, call_id, session, expires_ms, keys, body } = row;
    connection.prepare_cached(sql)?.execute(params![id, call_id, session, int(*expires_ms), keys, body])?;
    Ok(())
}

/// Sessions, runs and days of long ago are forgotten, as the folders of sessions are.
fn forget_old(connection: &Connection, now_ms: u64) -> Result<(), Error> {
    let sql = "SELECT scope, key FROM usage WHERE scope IN ('session', 'run', 'day') AND last_ms < ?1 LIMIT 100";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([int(now_ms.saturating_sub(REMEMBERED_MS))], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    for (scope, key) in rows.collect::<rusqlite::Result<Vec<_>>>()? {
        for table in ["usage", "usage_seen", "usage_call"] {
            let sql = format!("DELETE FROM {table} WHERE scope = ?1 AND key = ?2");
            connection.prepare_cached(&sql)?.execute([&scope, &key])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Error;
    use crate::audit::{Kind, Query};
    use crate::limit::{Outcome, Reporter, Reservation, Which};
    use crate::store::sqlite::Sqlite;
    use crate::store::{Ledger, Memo, Records, Subject};
    use sayso_policy::{Actor, Counting, Scope, Usage};
    use std::sync::mpsc::channel;

    fn store() -> (tempfile::TempDir, Sqlite) {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        (dir, store)
    }

    fn memo(id: &str) -> Memo {
        let takes = Usage { calls: 1, input_tokens: 7, ..Usage::default() };
        let (id, tool) = (id.to_owned(), "bash_execute".to_owned());
        let (by, hosts, call) = (Reporter::default(), Vec::new(), String::new());
        Memo {
            reserve: Some(Reservation { id, call_id: None, by, tool, takes, hosts, call, expires_ms: 1 << 50 }),
            ..Memo::default()
        }
    }

    fn turn(store: &Sqlite, session: &str, memo: &Memo) -> Result<(), Error> {
        let counting = Counting { scopes: vec![Scope::Session, Scope::Day], ..Counting::default() };
        let actor = Actor { session: Some(session.to_owned()), ..Actor::default() };
        let subject = Subject {
            now_ms: 1_000,
            actor: &actor,
            site: None,
            digest: "",
            grants: None,
            counting: &counting,
            hosts: &[],
            call: "",
        };
        store.turn(&subject, &mut |_| memo.clone())
    }

    /// Has these take their turns in one transaction: none begins before all of them wait.
    fn together(store: &Sqlite, turns: &[&(dyn Fn() + Sync)]) {
        let ((begun, has_begun), (go, may_go)) = (channel(), channel());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                store.write(|_| {
                    begun.send(()).unwrap();
                    may_go.recv().unwrap();
                    Ok(())
                })
            });
            has_begun.recv().unwrap();
            for turn in turns {
                scope.spawn(turn);
            }
            while store.group.waiting() < turns.len() {
                std::thread::yield_now();
            }
            go.send(()).unwrap();
        });
    }

    fn calls(store: &Sqlite) -> Vec<(Scope, u64, u64)> {
        let mut used = store.used(1_000).unwrap();
        used.sort_by(|one, other| one.key.cmp(&other.key));
        used.into_iter().map(|used| (used.scope, used.usage.calls, used.open)).collect()
    }

    #[test]
    fn calls_that_share_a_commit_share_what_the_chain_says_of_their_budget() {
        let (_dir, store) = store();
        let one = |n: usize| turn(&store, &format!("s{n}"), &memo(&format!("id-{n}"))).unwrap();
        together(&store, &[&|| one(1), &|| one(2), &|| one(3), &|| one(4)]);
        let session = (Scope::Session, 1, 1);
        assert_eq!(calls(&store), [session, session, session, session, (Scope::Day, 4, 4)]);
        let said = store.events(&Query { kinds: vec![Kind::Chain], ..Query::default() }).unwrap();
        // The first one looks for what has ended, and begins with a clean table; the others come together.
        assert!((5..=6).contains(&said.len()), "{} records", said.len());
        let outcome = Outcome { not_run: true, ..Outcome::default() };
        assert!(store.settle(&Which::Record("id-3".into()), &outcome, 1_000).unwrap());
        assert_eq!(calls(&store).last(), Some(&(Scope::Day, 3, 3)));
    }

    #[test]
    fn what_one_call_cannot_have_takes_nothing_from_the_others() {
        let (_dir, store) = store();
        let refused = Memo { spend: Some("no such question".into()), ..memo("id-x") };
        let one = |n: usize| turn(&store, "s", &memo(&format!("id-{n}"))).unwrap();
        let none = || assert!(turn(&store, "s", &refused).is_err());
        together(&store, &[&|| one(1), &none, &|| one(2), &none, &|| one(3)]);
        assert_eq!(calls(&store), [(Scope::Session, 3, 3), (Scope::Day, 3, 3)]);
    }

    #[test]
    fn whoever_changes_something_meanwhile_sees_what_others_took() {
        let (_dir, store) = store();
        turn(&store, "s", &memo("id-0")).unwrap();
        let one = |n: usize| turn(&store, "s", &memo(&format!("id-{n}"))).unwrap();
        let outcome = Outcome { not_run: true, ..Outcome::default() };
        let back = || assert!(store.settle(&Which::Record("id-0".into()), &outcome, 1_000).unwrap());
        together(&store, &[&|| one(1), &back, &|| one(2)]);
        assert_eq!(calls(&store), [(Scope::Session, 2, 2), (Scope::Day, 2, 2)]);
    }
}
