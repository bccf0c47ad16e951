//! The store: what many threads and processes write together is kept whole, or not at all.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::audit::{Change, Event, Kind, Order, Query, Written};
use sayso_gate::store::{Records, Sqlite};
use sayso_gate::{Asking, Circumstances, Error, Expected, Record, Recorder};
use sayso_policy::Verdict;
use std::collections::BTreeSet;

fn change(about: &str) -> Event {
    let mut change = Change::now(Kind::Grant, "given");
    change.about = Some(about.to_owned());
    change.into()
}

fn abouts(store: &Sqlite) -> Vec<String> {
    let all = Query { order: Order::OldestFirst, ..Query::default() };
    let about = |event: Event| match event {
        Event::Change(change) => change.about.unwrap(),
        other => panic!("{other:?}"),
    };
    store.events(&all).unwrap().into_iter().map(|chained| about(chained.event)).collect()
}

#[test]
fn many_threads_share_commits_and_numbers_have_no_gaps() {
    let dir = tempfile::tempdir().unwrap();
    let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
    let (threads, each) = (16, 25);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let store = &store;
            scope.spawn(move || {
                for n in 0..each {
                    store.write(|tx| tx.append(&change(&format!("{thread}-{n}")))).unwrap();
                }
            });
        }
    });
    let all = store.events(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    let numbers: Vec<u64> = all.iter().map(|chained| chained.seq).collect();
    assert_eq!(numbers, (1..=threads * each).collect::<Vec<_>>());
    assert_eq!(abouts(&store).into_iter().collect::<BTreeSet<_>>().len() as u64, threads * each);
}

#[test]
fn a_change_that_fails_takes_nothing_of_others_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for n in 0..20 {
                    let kept = store.write(|tx| {
                        tx.append(&change(&format!("{thread}-{n}")))?;
                        if n % 2 == 0 { Ok(()) } else { Err(Error::NoHome) }
                    });
                    assert_eq!(kept.is_ok(), n % 2 == 0);
                }
            });
        }
    });
    let found = abouts(&store);
    assert_eq!(found.len(), 80);
    assert!(found.iter().all(|about| about.ends_with(['0', '2', '4', '6', '8'])));
}

#[test]
fn a_panic_in_a_change_is_its_callers_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let store = &store;
            let worker = scope.spawn(move || {
                store.write(|tx| {
                    tx.append(&change(&thread.to_string()))?;
                    assert_eq!(thread % 2, 0, "on purpose");
                    Ok(())
                })
            });
            assert_eq!(worker.join().is_ok(), thread % 2 == 0);
        }
    });
    assert_eq!(abouts(&store), ["0", "2", "4", "6"]);
    store.write(|tx| tx.append(&change("after"))).unwrap();
}

#[test]
fn two_stores_on_one_file_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.db");
    std::thread::scope(|scope| {
        for opener in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let store = Sqlite::open_at(path).unwrap();
                for n in 0..50 {
                    store.write(|tx| tx.append(&change(&format!("{opener}-{n}")))).unwrap();
                }
            });
        }
    });
    let store = Sqlite::open_at(&path).unwrap();
    let all = store.events(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    assert_eq!(all.iter().map(|c| c.seq).collect::<Vec<_>>(), (1..=200).collect::<Vec<_>>());
}

#[test]
fn many_may_make_the_same_store_at_once() {
    for _ in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        std::thread::scope(|scope| {
            for opener in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    let store = Sqlite::open_at(path).unwrap();
                    store.write(|tx| tx.append(&change(&opener.to_string()))).unwrap();
                });
            }
        });
        assert_eq!(abouts(&Sqlite::open_at(&path).unwrap()).len(), 8);
    }
}

#[test]
fn an_id_that_is_taken_by_something_else_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
    let mut one = Change::now(Kind::Grant, "given");
    let first = Event::from(one.clone());
    one.what = "revoked".to_owned();
    let other = Event::from(one);
    assert_eq!(store.append(std::slice::from_ref(&first), &[]).unwrap().new, 1);
    let again = store.append(&[first, other, change("new")], &[]).unwrap();
    assert_eq!((again.new, again.conflicting), (1, vec![1]));
}

fn decision() -> Record {
    let circumstances = Circumstances {
        way_in: "test".into(),
        event: None,
        call_id: None,
        peer: None,
        asking: Asking::Nobody,
        expected: Expected::default(),
        findings: Vec::new(),
    };
    let reason = sayso_gate::reason::built_in("call-malformed", "x");
    Record::refused(&circumstances, sayso_policy::Actor::default(), "bash", &reason)
}

#[test]
fn decisions_of_many_threads_share_batches_with_each_other_and_with_changes() {
    let dir = tempfile::tempdir().unwrap();
    let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let store = &store;
            scope.spawn(move || {
                for n in 0..25 {
                    if thread < 2 {
                        store.write(|tx| tx.append(&change(&format!("{thread}-{n}")))).unwrap();
                        continue;
                    }
                    let record = decision();
                    store.record(&record).unwrap();
                    // What was acknowledged is there, for everybody.
                    let mine = Query { text: Some(record.id.clone()), ..Query::default() };
                    assert_eq!(store.count(&mine).unwrap(), 1);
                }
            });
        }
    });
    assert_eq!(store.query(&Query::default()).unwrap().len(), 14 * 25);
    let verified = store.verify(None).unwrap();
    assert_eq!((verified.problems, verified.records), (vec![], 16 * 25));
}

#[test]
fn a_decision_whose_id_is_taken_is_refused_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
    let (one, two, three) = (decision(), decision(), decision());
    store.record(&one).unwrap();
    let kept: Vec<bool> = store
        .record_all([&two, &one, &three].map(|record| Written::copy(record).unwrap()).into())
        .iter()
        .map(Result::is_ok)
        .collect();
    assert_eq!(kept, [true, false, true]);
    let all = store.query(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    let ids: Vec<String> = all.into_iter().map(|stored| stored.record.id).collect();
    assert_eq!(ids, [one.id, two.id, three.id]);
    assert_eq!(store.verify(None).unwrap().problems, []);
    assert!(store.record_all(Vec::new()).is_empty());
}

/// The store that this text makes, opened by this version.
fn earlier(sql: &str) -> (tempfile::TempDir, Sqlite) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let store = Sqlite::open_at(&path).unwrap();
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
