//! What every store promises.

use sayso_gate::approval::Presence;
use sayso_gate::audit::{
    By, Change, Event, HistoryOf, Kind, Order, PolicyVersion, Problem, Query, Verified, Written, bundle,
};
use sayso_gate::store::{Keep, Memo, Store, Subject, Watch};
use sayso_gate::{Asking, Circumstances, Expected, Record};
use sayso_policy::{Actor, Counting, Layer, Person, PolicyText, Scope, Verdict};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

fn new() -> (tempfile::TempDir, Arc<dyn Store>) {
    let dir = tempfile::tempdir().unwrap();
    let store = super::open(module_path!(), &super::places(&dir));
    (dir, store)
}

pub(crate) fn change(about: &str) -> Event {
    let mut change = Change::now(Kind::Grant, "given");
    change.about = Some(about.to_owned());
    change.into()
}

pub(crate) fn abouts(store: &dyn Store) -> Vec<String> {
    let all = Query { order: Order::OldestFirst, ..Query::default() };
    let about = |event: Event| match event {
        Event::Change(change) => change.about.unwrap_or_default(),
        other => panic!("{other:?}"),
    };
    store.events(&all).unwrap().into_iter().map(|chained| about(chained.event)).collect()
}

fn grow(store: &dyn Store, records: u64) {
    let some: Vec<Event> = (0..records).map(|n| change(&format!("about {n}"))).collect();
    store.append(&some, &[]).unwrap();
}

#[test]
fn many_threads_share_commits_and_numbers_have_no_gaps() {
    let (_dir, store) = new();
    let (threads, each) = (16, 25);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let store = &store;
            scope.spawn(move || {
                for n in 0..each {
                    store.append(&[change(&format!("{thread}-{n}"))], &[]).unwrap();
                }
            });
        }
    });
    let all = store.events(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    let numbers: Vec<u64> = all.iter().map(|chained| chained.seq).collect();
    assert_eq!(numbers, (1..=threads * each).collect::<Vec<_>>());
    assert_eq!(abouts(store.as_ref()).into_iter().collect::<BTreeSet<_>>().len() as u64, threads * each);
}

#[test]
fn an_id_that_is_taken_by_something_else_is_told() {
    let (_dir, store) = new();
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
        can_hold: sayso_policy::CanHold::No,
    };
    let reason = sayso_gate::reason::built_in(sayso_policy::Code::CallMalformed, "x");
    Record::refused(&circumstances, sayso_policy::Actor::default(), "bash", &reason)
}

#[test]
fn decisions_of_many_threads_share_batches_with_each_other_and_with_changes() {
    let (_dir, store) = new();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let store = &store;
            scope.spawn(move || {
                for n in 0..25 {
                    if thread < 2 {
                        store.append(&[change(&format!("{thread}-{n}"))], &[]).unwrap();
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
    let (_dir, store) = new();
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

#[test]
fn a_call_whose_turn_panics_takes_nothing() {
    let (_dir, store) = new();
    let counting = Counting { scopes: vec![Scope::Session], ..Counting::default() };
    let actor = Actor { session: Some("s".into()), ..Actor::default() };
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
    let blocked = || store.used(1_000).unwrap().first().map_or(0, |used| used.usage.blocked);
    store.turn(&subject, &mut |_| Memo::denied()).unwrap();
    let records = store.count(&Query::default()).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| store.turn(&subject, &mut |_| panic!("on purpose"))));
    assert!(panicked.is_err());
    assert_eq!((blocked(), store.count(&Query::default()).unwrap()), (1, records));
    store
        .turn(&subject, &mut |known| {
            assert_eq!(known.usage[&Scope::Session].blocked, 1);
            Memo::denied()
        })
        .unwrap();
    assert_eq!(blocked(), 2);
}

#[test]
fn what_is_pruned_leaves_the_rest_verifiable() {
    let (_dir, store) = new();
    grow(store.as_ref(), 20);
    let old = store.sign_head().unwrap();
    assert_eq!(store.prunable(Keep::Last(5)).unwrap(), 15);
    let pruned = store.prune(Keep::Last(5), "ann").unwrap();
    assert_eq!((pruned.records, pruned.up_to), (15, 15));
    let found = store.verify(None).unwrap();
    assert_eq!((found.problems.as_slice(), found.first, found.last, found.pruned), (&[][..], 16, 21, 15));
    assert_eq!(store.verify(Some(old.clone())).unwrap().exported, Some(20));
    grow(store.as_ref(), 3);
    assert_eq!(store.prune(Keep::Since(u64::MAX), "ann").unwrap().up_to, 24);
    assert_eq!(store.prune(Keep::Since(0), "ann").unwrap().records, 0);
    let found = store.verify(None).unwrap();
    assert_eq!((found.problems.as_slice(), found.first, found.last), (&[][..], 25, 25));
    let found = store.verify(Some(old)).unwrap();
    assert!(matches!(found.problems.as_slice(), [Problem::WrongHead { .. }]), "{found:?}");
}

#[test]
fn heads_are_signed_as_the_chain_grows() {
    let (_dir, store) = new();
    grow(store.as_ref(), 1500);
    assert_eq!(store.verify(None).unwrap().signed, 1500);
    grow(store.as_ref(), 100);
    assert_eq!(store.verify(None).unwrap().signed, 1500);
}

#[test]
fn a_clock_that_goes_backwards_breaks_no_chain_and_lets_nothing_young_go() {
    let (_dir, store) = new();
    for time_ms in [5_000, 4_000, 9_000_000_000_000, 1, 0, 4_500, u64::MAX, 4_600] {
        let change = Change { time_ms, ..Change::now(Kind::Mode, "changed") };
        store.append(&[Event::from(change)], &[]).unwrap();
    }
    assert_eq!(store.verify(None).unwrap().problems, []);
    let since = Query { since_ms: Some(4_500), until_ms: Some(5_000), ..Query::default() };
    assert_eq!(store.count(&since).unwrap(), 2);
    assert_eq!(store.prune(Keep::Since(4_800), "ann").unwrap().records, 0, "the first record is young");
    assert_eq!(store.prune(Keep::Since(6_000), "ann").unwrap().up_to, 2);
    assert_eq!(store.verify(None).unwrap().problems, []);
}

const HOUR: u64 = 60 * 60 * 1000;

/// Five hundred records over two days, of several agents, sessions, rules and a tenant.
fn varied() -> (tempfile::TempDir, Arc<dyn Store>) {
    let (dir, store) = new();
    let one = |n: u64| {
        let mut change = Change::now(if n.is_multiple_of(3) { Kind::Mode } else { Kind::Token }, "x");
        change.time_ms = 1_000_000_000 + n * 60_000 * 7;
        change.actor = Actor {
            agent: (!n.is_multiple_of(4)).then(|| format!("a{}", n % 4)),
            tenant: (n.is_multiple_of(5)).then(|| "t".to_owned()),
            session: Some(format!("s{}", n % 11)),
            run: (n % 11 == 3).then(|| "r".to_owned()),
            ..Actor::default()
        };
        change.verdict = Some(if n.is_multiple_of(7) { Verdict::Deny } else { Verdict::Allow });
        change.rule = Some(format!("r{}", n % 2));
        change.about = Some(format!("Record \"{n}\""));
        Event::from(change)
    };
    store.append(&(0..500).map(one).collect::<Vec<_>>(), &[]).unwrap();
    (dir, store)
}

/// Every query is counted as if each record were looked at.
#[test]
fn counts_are_those_of_the_records() {
    let (_dir, store) = varied();
    let check = || {
        let one_by_one = |query: &Query| store.events(&Query { limit: None, ..query.clone() }).unwrap().len() as u64;
        let (first, last) = (1_000_000_000_u64, 1_000_000_000 + 499 * 60_000 * 7);
        let times = [None, Some(0), Some(first), Some(first + 1), Some(first + 5 * HOUR), Some(first + 5_000_001)];
        let ends = [None, Some(last), Some(last + 1), Some(first + 9 * HOUR + 77), Some(first + 10), Some(last * 2)];
        for (since_ms, until_ms) in times.into_iter().flat_map(|since| ends.map(|until| (since, until))) {
            for tenant in [None, Some("t".to_owned())] {
                for agent in [None, Some("a1".to_owned())] {
                    let query = Query { since_ms, until_ms, tenant: tenant.clone(), agent, ..Query::default() };
                    assert_eq!(store.count(&query).unwrap(), one_by_one(&query), "{query:?}");
                    for by in [By::Verdict, By::Agent, By::Rule, By::Kind, By::Tool, By::Session] {
                        let sum: u64 = store.count_by(&query, by).unwrap().iter().map(|(_, n)| n).sum();
                        assert_eq!(sum, one_by_one(&query), "{by:?} {query:?}");
                        let over: u64 = store.over_time(&query, by, HOUR).unwrap().iter().map(|(.., n)| n).sum();
                        assert_eq!(over, sum, "{by:?} {query:?}");
                    }
                }
            }
        }
    };
    check();
    store.prune(Keep::Last(100), "ann").unwrap();
    check();
}

#[test]
fn records_are_found_by_what_they_are_about() {
    let (_dir, store) = varied();
    let found = |query: &Query| -> Vec<u64> { store.events(query).unwrap().iter().map(|it| it.seq).collect() };
    let all = Query::default();
    let text = |text: &str| Query { text: Some(text.to_owned()), ..Query::default() };
    assert_eq!(found(&text("record \"77\"")), [78], "in any case, and as it was said");
    assert_eq!(found(&text("r_cord")), [0_u64; 0]);
    assert_eq!(found(&text("100%")), [0_u64; 0]);
    assert_eq!(found(&Query { limit: Some(2), ..all.clone() }), [500, 499]);
    assert_eq!(found(&Query { limit: Some(2), order: Order::OldestFirst, ..all.clone() }), [1, 2]);
    assert_eq!(found(&Query { after: Some(3), before: Some(6), ..all.clone() }), [5, 4]);
    let deny = Query { verdict: Some(Verdict::Deny), session: Some("s0".into()), ..all.clone() };
    assert_eq!(found(&deny), [463, 386, 309, 232, 155, 78, 1]);
    assert_eq!(found(&Query { tenant: Some("u".into()), ..all.clone() }), [0_u64; 0]);
    assert_eq!(found(&Query { run: Some("r".into()), ..all.clone() }).len(), 46);
    assert_eq!(found(&Query { kinds: vec![Kind::Mode], rule: Some("r1".into()), ..all }).len(), 83);
}

#[test]
fn sessions_and_runs_are_gathered_from_the_record() {
    let (_dir, store) = varied();
    let all = store.session_histories(HistoryOf::Session, &Query { limit: Some(2), ..Query::default() }).unwrap();
    let ids: Vec<(&str, Option<&str>)> = all.iter().map(|it| (it.id.as_str(), it.tenant.as_deref())).collect();
    assert_eq!(ids, [("s4", None), ("s4", Some("t")), ("s3", None), ("s3", Some("t"))]);
    assert_eq!((all[0].last_seq, all[1].last_seq), (500, 456));
    let agents: BTreeSet<&str> = all[0].agents.iter().map(String::as_str).collect();
    assert_eq!(agents, ["a1", "a2", "a3"].into());
    let page = Query { limit: Some(1), before: Some(all[0].last_seq), ..Query::default() };
    assert_eq!(store.session_histories(HistoryOf::Session, &page).unwrap()[0].id, "s3");
    let runs =
        store.session_histories(HistoryOf::Run, &Query { tenant: Some("t".into()), ..Query::default() }).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0].id.as_str(), runs[0].sessions.as_slice()), ("r", &["s3".to_owned()][..]));
}

fn signed(store: &dyn Store) {
    grow(store, 1);
    store.sign_head().unwrap();
}

#[test]
fn what_earlier_keys_signed_stays_proved_and_a_key_may_lie_elsewhere() {
    let ((_dir, store), elsewhere) = (new(), tempfile::tempdir().unwrap());
    signed(store.as_ref());
    let first = store.rotate_key(None, "ann").unwrap();
    signed(store.as_ref());
    let place = elsewhere.path().join("key");
    let second = store.rotate_key(Some(&place), "ann").unwrap();
    assert_eq!((second.old, second.place.as_path()), (first.new.clone(), place.as_path()));
    signed(store.as_ref());
    let third = store.rotate_key(None, "ann").unwrap();
    assert_eq!(third.place, place, "it stays where it was put");
    assert_eq!(store.key().unwrap(), (third.new, place.clone()));
    signed(store.as_ref());
    let found = store.verify(None).unwrap();
    assert_eq!((found.problems, found.signed), (vec![], found.last));
    // Without the key that follows, nothing is signed.
    std::fs::remove_file(&place).unwrap();
    assert!(store.sign_head().is_err());
}

#[test]
fn an_export_with_links_is_proved_without_the_store() {
    let (_dir, store) = new();
    signed(store.as_ref());
    store.rotate_key(None, "ann").unwrap();
    grow(store.as_ref(), 30);
    store.prune(Keep::Last(20), "ann").unwrap();
    let mut export = Vec::new();
    let written = store.export_links(&mut export).unwrap();
    let proved = bundle::check(export.as_slice(), Vec::new()).unwrap();
    assert_eq!((proved.verified.problems, proved.verified.records), (vec![], written));
    assert_eq!(proved.key, Some(store.key().unwrap().0));
    let text = String::from_utf8(export).unwrap().replace("about 17", "about 71");
    assert!(!bundle::check(text.as_bytes(), Vec::new()).unwrap().verified.problems.is_empty());
}

fn pass(watch: &Watch) -> Verified {
    loop {
        if let Some(found) = watch.step(7).unwrap() {
            return found;
        }
    }
}

#[test]
fn a_chain_that_grows_or_loses_its_old_end_while_it_is_checked_is_whole() {
    let (_dir, store) = new();
    grow(store.as_ref(), 50);
    let watch = Watch::over(&store);
    for n in 0..600 {
        grow(store.as_ref(), 1);
        if n % 200 == 199 {
            store.prune(Keep::Last(60), "ann").unwrap();
        }
        if let Some(found) = watch.step(3).unwrap() {
            assert_eq!(found.problems, [], "{n}");
        }
        assert_eq!(watch.newest().unwrap(), None);
    }
    assert_eq!(store.last_checked().unwrap(), None);
    watch.say(&pass(&watch), None).unwrap();
    let last = store.last_checked().unwrap().unwrap();
    assert_eq!(last.problems, 0);
    assert!(last.records > 60 && last.time_ms > 0, "{last:?}");
}

#[test]
fn the_texts_of_policies_are_kept_once() {
    let (_dir, store) = new();
    let file =
        PolicyText { layer: Layer::User, name: "p.toml".into(), text: "default = \"ask\"\n".into(), trusted: true };
    store.keep_policy("v1", std::slice::from_ref(&file)).unwrap();
    store.keep_policy("v1", std::slice::from_ref(&file)).unwrap();
    assert_eq!(store.count(&Query { kinds: vec![Kind::Policy], ..Query::default() }).unwrap(), 1, "it is told once");
    store.append(&[], &[PolicyVersion::new("v2", std::slice::from_ref(&file))]).unwrap();
    assert_eq!(store.policy("v2").unwrap().unwrap().files[0].text, file.text);
    assert_eq!(store.policy("v3").unwrap(), None);
    let versions: BTreeSet<String> = store.policies().unwrap().into_iter().map(|(version, _)| version).collect();
    assert_eq!(versions, ["v1".to_owned(), "v2".to_owned()].into());
}

#[test]
fn who_waits_for_questions_is_there_until_they_say_nothing_more() {
    let (_dir, store) = new();
    let one = |name: &str| Presence { id: name.into(), person: Person::named(name), via: "test".into() };
    let there = |now_ms: u64| -> Vec<String> {
        store.present(now_ms).unwrap().into_iter().map(|presence| presence.id).collect()
    };
    store.attend(&one("ann"), 10_000).unwrap();
    store.attend(&one("bob"), 12_000).unwrap();
    assert_eq!(there(13_000), ["ann", "bob"]);
    assert_eq!(there(17_000), ["bob"]);
    assert_eq!(there(1_000), [""; 0], "a clock that was set back says nothing about now");
    store.leave("bob").unwrap();
    assert_eq!(there(13_000), ["ann"]);
}

#[test]
fn a_store_takes_changes_and_is_where_it_was() {
    let (_dir, store) = new();
    store.writable().unwrap();
    store.in_place().unwrap();
    assert_eq!(store.standings().unwrap(), []);
}
