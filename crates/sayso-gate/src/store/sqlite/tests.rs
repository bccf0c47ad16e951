//! Many callers in one group: what one of them cannot have takes nothing from the others.

use super::Sqlite;
use crate::Error;
use crate::audit::{Change, Event, Kind, Order, Query};
use crate::store::Records as _;

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
