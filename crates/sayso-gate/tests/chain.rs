//! The chain: what was changed, removed or inserted is named, and what cannot be known is said.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use rusqlite::Connection;
use sayso_gate::Places;
use sayso_gate::audit::chain::{End, link};
use sayso_gate::audit::{Change, Event, Head, Kind, Problem, Verified};
use sayso_gate::store::{self, Store};
use std::path::PathBuf;
use std::sync::Arc;

struct Chain {
    _dir: tempfile::TempDir,
    places: Places,
    path: PathBuf,
}

impl Chain {
    /// A store with this many records.
    fn of(records: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        let chain = Self { path: places.state.join("sayso.db"), places, _dir: dir };
        chain.add(records);
        chain
    }

    fn store(&self) -> Arc<dyn Store> {
        store::open(&self.places).unwrap()
    }

    fn add(&self, records: u64) {
        let one = |n: u64| {
            let mut change = Change::now(Kind::Grant, "given");
            change.about = Some(format!("about {n}"));
            Event::from(change)
        };
        self.store().append(&(0..records).map(one).collect::<Vec<_>>(), &[]).unwrap();
    }

    /// As somebody would who can write the file.
    fn tamper(&self, sql: &str) {
        Connection::open(&self.path).unwrap().execute_batch(sql).unwrap();
    }

    fn verify(&self) -> Verified {
        self.store().verify(None).unwrap()
    }

    fn verify_with(&self, head: &Head) -> Verified {
        self.store().verify(Some(head.clone())).unwrap()
    }

    /// Makes all hashes from this record on anew, as somebody would who knows how.
    fn rehash(&self, from: u32) {
        let connection = Connection::open(&self.path).unwrap();
        let chain: String = connection.query_row("SELECT id FROM chain", [], |row| row.get(0)).unwrap();
        let mut end = match from {
            1 => End::of_nothing(&chain),
            _ => {
                let sql = "SELECT hash FROM event WHERE seq = ?1";
                let hash: Vec<u8> = connection.query_row(sql, [from - 1], |row| row.get(0)).unwrap();
                End { seq: u64::from(from - 1), hash: blake3::Hash::from_slice(&hash).unwrap() }
            }
        };
        let mut all = connection.prepare("SELECT seq, body FROM event WHERE seq >= ?1 ORDER BY seq").unwrap();
        let rows = all.query_map([from], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, String>(1)?))).unwrap();
        for (seq, body) in rows.map(Result::unwrap).collect::<Vec<_>>() {
            let hash = link(u64::from(seq), &end.hash, &body);
            connection
                .execute(
                    "UPDATE event SET prev = ?1, hash = ?2 WHERE seq = ?3",
                    rusqlite::params![end.hash.as_bytes(), hash.as_bytes(), seq],
                )
                .unwrap();
            end = End { seq: u64::from(seq), hash };
        }
    }
}

fn changed(seq: u64, what: &str) -> Problem {
    Problem::Changed { seq, what: what.to_owned() }
}

#[test]
fn a_chain_that_nobody_touched_is_whole() {
    let chain = Chain::of(30);
    let found = chain.verify();
    assert_eq!((found.problems.as_slice(), found.records, found.first, found.last), (&[][..], 30, 1, 30));
    assert_eq!(Chain::of(0).verify().problems, []);
}

#[test]
fn a_changed_record_is_named() {
    let chain = Chain::of(30);
    chain.tamper("UPDATE event SET body = replace(body, 'given', 'taken') WHERE seq = 17");
    assert_eq!(chain.verify().problems, [changed(17, "its content")]);
    chain.tamper("UPDATE event SET body = body || ' ' WHERE seq = 30");
    assert_eq!(chain.verify().problems, [changed(17, "its content"), changed(30, "its content")]);
}

#[test]
fn a_column_that_says_something_else_is_named() {
    let chain = Chain::of(9);
    chain.tamper("UPDATE event SET verdict = 'allow' WHERE seq = 4; UPDATE event SET time_ms = 1 WHERE seq = 5");
    assert_eq!(chain.verify().problems, [changed(4, "the column `verdict`"), changed(5, "the column `time_ms`")]);
    // Who moves a record behind another tenant's wall, or out of its run, is found out too.
    let chain = Chain::of(9);
    chain.tamper("UPDATE event SET tenant = 'other' WHERE seq = 2; UPDATE event SET run = 'r' WHERE seq = 3");
    assert_eq!(chain.verify().problems, [changed(2, "the column `tenant`"), changed(3, "the column `run`")]);
}

#[test]
fn a_changed_record_with_a_new_hash_is_named_by_what_hangs_on_it() {
    let chain = Chain::of(9);
    let connection = Connection::open(&chain.path).unwrap();
    let sql = "SELECT prev, replace(body, 'given', 'taken') FROM event WHERE seq = 4";
    let (prev, body): (Vec<u8>, String) = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let hash = link(4, &blake3::Hash::from_slice(&prev).unwrap(), &body);
    let update = "UPDATE event SET body = ?1, hash = ?2 WHERE seq = 4";
    connection.execute(update, rusqlite::params![body, hash.as_bytes()]).unwrap();
    assert_eq!(chain.verify().problems, [changed(4, "its content and its own hash")]);
}

#[test]
fn a_removed_record_is_named_whether_or_not_the_rest_is_numbered_anew() {
    let chain = Chain::of(30);
    chain.tamper("DELETE FROM event WHERE seq IN (12, 13)");
    assert_eq!(chain.verify().problems, [Problem::Removed { seq: 12, count: 2 }]);
    chain.tamper("UPDATE event SET seq = -seq WHERE seq > 13; UPDATE event SET seq = -seq - 2 WHERE seq < 0");
    assert_eq!(chain.verify().problems, [Problem::Removed { seq: 12, count: 2 }]);
    let first = Chain::of(5);
    first.tamper("DELETE FROM event WHERE seq = 1");
    assert_eq!(first.verify().problems, [Problem::Removed { seq: 1, count: 1 }]);
}

#[test]
fn an_inserted_record_is_named() {
    for forged_well in [false, true] {
        let chain = Chain::of(20);
        chain.tamper(
            "UPDATE event SET seq = -seq WHERE seq >= 8; UPDATE event SET seq = -seq + 1 WHERE seq < 0;
             INSERT INTO event SELECT 8, id || 'x', time_ms, kind, agent, session, tool, verdict, rule,
                 replace(body, id, id || 'x'), hash, zeroblob(32), tenant, run FROM event WHERE seq = 7;",
        );
        if forged_well {
            let connection = Connection::open(&chain.path).unwrap();
            let sql = "SELECT prev, body FROM event WHERE seq = 8";
            let (prev, body): (Vec<u8>, String) =
                connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            let hash = link(8, &blake3::Hash::from_slice(&prev).unwrap(), &body);
            connection.execute("UPDATE event SET hash = ?1 WHERE seq = 8", [hash.as_bytes()]).unwrap();
        }
        assert_eq!(chain.verify().problems, [Problem::Inserted { seq: 8, count: 1 }], "{forged_well}");
    }
}

#[test]
fn a_chain_made_anew_is_told_by_its_signed_heads() {
    let chain = Chain::of(10);
    chain.store().sign_head().unwrap();
    chain.add(10);
    chain.store().sign_head().unwrap();
    assert_eq!(chain.verify().signed, 20);
    chain.tamper("UPDATE event SET body = replace(body, 'given', 'taken') WHERE seq = 15");
    chain.rehash(15);
    let found = chain.verify();
    assert_eq!((found.problems, found.signed), (vec![Problem::Rewritten { after: 10, head: 20 }], 10));
}

#[test]
fn heads_that_were_taken_away_are_missed() {
    let chain = Chain::of(10);
    assert_eq!(chain.verify().problems, [], "looking makes no key");
    chain.store().sign_head().unwrap();
    chain.tamper("UPDATE event SET body = replace(body, 'given', 'taken') WHERE seq = 5; DELETE FROM head");
    chain.rehash(5);
    assert_eq!(chain.verify().problems, [Problem::HeadsRemoved { after: 0, last: 10 }]);
    // So many records have a head, whether the key is still there or not.
    let long = Chain::of(1500);
    long.add(1500);
    assert_eq!(long.verify().problems, []);
    long.tamper("DELETE FROM head WHERE seq > 1500");
    assert_eq!(long.verify().problems, [Problem::HeadsRemoved { after: 1500, last: 3000 }]);
    long.tamper("DELETE FROM head");
    std::fs::remove_file(long.path.with_file_name("audit.key")).unwrap();
    assert_eq!(long.verify().problems, [Problem::HeadsRemoved { after: 0, last: 3000 }]);
}

#[test]
fn a_store_begun_anew_beside_an_old_key_is_whole() {
    let chain = Chain::of(10);
    chain.store().sign_head().unwrap();
    let key = std::fs::File::options().write(true).open(chain.path.with_file_name("audit.key")).unwrap();
    key.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    std::fs::remove_file(&chain.path).unwrap();
    for more in ["s.db-wal", "s.db-shm"] {
        let _ = std::fs::remove_file(chain.path.with_file_name(more));
    }
    chain.add(3);
    let found = chain.verify();
    assert_eq!((found.problems, found.records), (vec![], 3));
}

#[test]
fn a_head_of_another_key_counts_for_nothing() {
    let chain = Chain::of(10);
    chain.store().sign_head().unwrap();
    std::fs::remove_file(chain.path.with_file_name("audit.key")).unwrap();
    assert_eq!(chain.verify().problems, [Problem::NotSigned { seq: 10 }]);
}

#[test]
fn a_missing_end_is_told_by_a_head_in_the_store_or_elsewhere() {
    let chain = Chain::of(10);
    let head = chain.store().sign_head().unwrap();
    assert_eq!(chain.verify_with(&head).exported, Some(10));
    chain.tamper("DELETE FROM event WHERE seq > 6");
    let cut = Problem::CutOff { last: 6, head: 10 };
    assert_eq!(chain.verify().problems, std::slice::from_ref(&cut));
    // Whoever takes the head away too is told by the one that was exported.
    chain.tamper("DELETE FROM head");
    assert_eq!(chain.verify().problems, [Problem::HeadsRemoved { after: 0, last: 6 }]);
    assert_eq!(chain.verify_with(&head).problems, [Problem::HeadsRemoved { after: 0, last: 6 }, cut]);
    chain.add(10);
    chain.store().sign_head().unwrap();
    assert_eq!(chain.verify_with(&head).problems, [Problem::Rewritten { after: 0, head: 10 }]);
}

#[test]
fn an_exported_head_that_was_changed_or_is_of_another_store_is_refused() {
    let (chain, other) = (Chain::of(10), Chain::of(10));
    let head = chain.store().sign_head().unwrap();
    let lies = Head { seq: 5, ..head.clone() };
    for (chain, head) in [(&chain, &lies), (&other, &head)] {
        let found = chain.verify_with(head);
        assert!(matches!(found.problems.as_slice(), [Problem::WrongHead { .. }]), "{found:?}");
        assert_eq!(found.exported, None);
    }
}

#[test]
fn pruning_by_hand_without_the_key_is_told() {
    let chain = Chain::of(20);
    chain.tamper(
        "INSERT INTO anchor SELECT seq, CAST(lower(hex(hash)) AS BLOB), time_ms, x'00', x'00' FROM event WHERE seq = 10;
         DELETE FROM event WHERE seq <= 10;",
    );
    assert_eq!(chain.verify().problems, [Problem::NotSigned { seq: 10 }]);
}

#[test]
fn any_single_change_of_a_row_is_told() {
    let columns = ["id", "time_ms", "kind", "agent", "session", "tool", "verdict", "rule", "body", "prev", "hash"];
    for column in columns {
        let chain = Chain::of(6);
        let value = match column {
            "time_ms" => "time_ms + 1".to_owned(),
            "prev" | "hash" => "zeroblob(32)".to_owned(),
            "body" => "replace(body, 'about 2', 'about 7')".to_owned(),
            _ => "'x'".to_owned(),
        };
        chain.tamper(&format!("UPDATE event SET {column} = {value} WHERE seq = 3"));
        let problems = chain.verify().problems;
        assert!(!problems.is_empty(), "{column}");
        assert!(problems.iter().all(|p| matches!(p, Problem::Changed { seq: 2 | 3, .. })), "{column}: {problems:?}");
    }
}
