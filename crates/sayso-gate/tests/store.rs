//! The store: what many threads and processes write together is kept whole, or not at all. The same tests over each store;
//! what is about SQLite's file, and files of earlier versions, is its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    clippy::duplicate_mod,
    reason = "a failed unwrap is a failed test"
)]

#[path = "store/suite.rs"]
mod in_memory;
#[path = "store/suite.rs"]
mod sqlite;

use sayso_gate::Places;
use sayso_gate::audit::{Event, Kind, Order, Query};
use sayso_gate::store::{self, Store};
use sayso_policy::Verdict;
use sqlite::{abouts, change};
use std::sync::Arc;

/// The store of tests in this module: it says which one.
fn open(module: &str, places: &Places) -> Arc<dyn Store> {
    if module.contains("in_memory") { store::open_in_memory(places).unwrap() } else { store::open(places).unwrap() }
}

/// Where Sayso's own files are in a folder.
fn places(dir: &tempfile::TempDir) -> Places {
    Places::below(dir.path(), dir.path())
}

#[test]
fn two_stores_on_one_file_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    std::thread::scope(|scope| {
        for opener in 0..4 {
            let places = &places;
            scope.spawn(move || {
                let store = store::open(places).unwrap();
                for n in 0..50 {
                    store.append(&[change(&format!("{opener}-{n}"))], &[]).unwrap();
                }
            });
        }
    });
    let store = store::open(&places).unwrap();
    let all = store.events(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    assert_eq!(all.iter().map(|c| c.seq).collect::<Vec<_>>(), (1..=200).collect::<Vec<_>>());
}

#[test]
fn many_may_make_the_same_store_at_once() {
    for _ in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let places = places(&dir);
        std::thread::scope(|scope| {
            for opener in 0..8 {
                let places = &places;
                scope.spawn(move || {
                    let store = store::open(places).unwrap();
                    store.append(&[change(&opener.to_string())], &[]).unwrap();
                });
            }
        });
        assert_eq!(abouts(store::open(&places).unwrap().as_ref()).len(), 8);
    }
}

#[test]
fn nobody_finds_a_store_that_is_not_made_yet() {
    for _ in 0..10 {
        let dir = tempfile::tempdir().unwrap();
        let places = places(&dir);
        std::thread::scope(|scope| {
            let makers: Vec<_> = (0..4).map(|_| scope.spawn(|| store::open(&places).unwrap())).collect();
            while !makers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                let found = store::look(&places).unwrap();
                assert!(found.version.is_none_or(|version| version == found.known), "{found:?}");
            }
        });
        let left: Vec<_> = std::fs::read_dir(&places.state).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().contains(".new-")), "{left:?}");
    }
}

/// The store that this text makes, opened by this version.
fn earlier(sql: &str) -> (tempfile::TempDir, Arc<dyn Store>) {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    places.own_folder("").unwrap();
    rusqlite::Connection::open(places.state.join("sayso.db")).unwrap().execute_batch(sql).unwrap();
    let store = store::open(&places).unwrap();
    (dir, store)
}

#[test]
fn what_the_first_version_kept_is_taken_over_into_the_chain() {
    let (_dir, store) = earlier(include_str!("stores/version-1.sql"));
    let decisions = store.query(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    let seen: Vec<_> = decisions.iter().map(|d| (d.seq, d.record.tool.as_str(), d.record.verdict)).collect();
    assert_eq!(seen, [(1, "bash_execute", Verdict::Deny), (2, "web_search", Verdict::Allow)]);
    assert_eq!(decisions[0].record.reasons[0].code, "no-force-push");
    let verified = store.verify(None).unwrap();
    assert_eq!((verified.problems, verified.last), (vec![], 3), "two decisions, and that they were taken over");
    let by_rule = Query { rule: Some("no-force-push".into()), ..Query::default() };
    assert_eq!(store.count(&by_rule).unwrap(), 1);
}

#[test]
fn an_earlier_record_that_cannot_be_read_is_kept_all_the_same() {
    let sql = include_str!("stores/version-1.sql").to_owned() + "UPDATE record SET body = 'torn {' WHERE seq = 3;";
    let (_dir, store) = earlier(&sql);
    let all = store.events(&Query { kinds: vec![Kind::Chain], order: Order::OldestFirst, ..Query::default() }).unwrap();
    assert!(matches!(&all[0].event, Event::Change(c) if c.what == "unreadable" && c.detail == "torn {"), "{all:?}");
    assert_eq!(store.verify(None).unwrap().problems, []);
}

#[test]
fn what_the_second_version_kept_stands_in_the_order_of_time() {
    let (_dir, store) = earlier(include_str!("stores/version-2.sql"));
    let all = store.events(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    let kinds: Vec<_> = all.iter().map(|chained| chained.event.kind()).collect();
    assert_eq!(kinds, [Kind::Decision, Kind::Happening, Kind::Decision, Kind::Chain]);
    assert_eq!(store.happenings(&Query::default()).unwrap()[0].ended.unwrap().ok, Some(false));
    assert_eq!(store.verify(None).unwrap().problems, []);
}
