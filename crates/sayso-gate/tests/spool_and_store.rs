//! The record: hooks append, readers fold, nothing is lost and nothing doubled.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::audit::{CalledAs, Change, Ended, Event, Happening, Kind, Log, Order, Query, Spool, What};
use sayso_gate::{Places, Record, Recorder};
use sayso_policy::{Actor, Answer, Verdict};
use std::collections::BTreeSet;
use std::io::Write;

fn record(n: usize) -> Record {
    Record {
        past: Vec::new(),
        id: format!("{n:08}"),
        time_ms: 1_000 + n as u64,
        way_in: "test".into(),
        peer: None,
        event: None,
        call_id: None,
        actor: Actor { agent: Some("a".into()), session: Some(format!("s{}", n % 2)), ..Actor::default() },
        tool: if n.is_multiple_of(3) { "file_read" } else { "bash_execute" }.into(),
        command: Some(format!("echo \"{n}\" 100%")),
        arguments: None,
        cwd: None,
        workspace: None,
        home: None,
        claimed_homes: Vec::new(),
        env: None,
        called_as: CalledAs::default(),
        would: None,
        hold: None,
        plan: None,
        risk: None,
        opinions: vec![],
        verdict: if n.is_multiple_of(5) { Verdict::Deny } else { Verdict::Allow },
        answer: Answer::Allow,
        reasons: vec![],
        effects: vec![],
        more_effects: 0,
        policy: "p".into(),
        digest: None,
        micros: 1,
        unverified: false,
    }
}

fn places(dir: &tempfile::TempDir) -> Places {
    Places::below(dir.path(), dir.path())
}

/// What was kept of lines that are no records.
fn damaged(places: &Places) -> Vec<String> {
    let listing = std::fs::read_dir(places.state.join("spool")).unwrap();
    let paths =
        listing.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "damaged"));
    paths.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

fn ids(log: &Log) -> Vec<String> {
    let all = Query { order: Order::OldestFirst, ..Query::default() };
    log.query(&all).unwrap().into_iter().map(|s| s.record.id).collect()
}

#[test]
fn many_writers_and_readers_lose_and_double_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (writers, each) = (6, 150);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let places = places(&dir);
            scope.spawn(move || {
                for n in 0..each {
                    // A hook opens the spool anew each time.
                    Spool::open(&places).unwrap().record(&record(writer * each + n)).unwrap();
                }
            });
        }
        for _ in 0..2 {
            let places = places(&dir);
            scope.spawn(move || {
                let log = Log::open(&places).unwrap();
                for _ in 0..40 {
                    log.fold().unwrap();
                    std::thread::yield_now();
                }
            });
        }
    });
    let log = Log::open(&places(&dir)).unwrap();
    let found = ids(&log);
    assert_eq!(found.len(), writers * each);
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), writers * each);
}

#[test]
fn a_file_that_was_folded_but_not_removed_is_not_doubled() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    let spool = Spool::open(&places).unwrap();
    spool.record(&record(1)).unwrap();
    let current = places.state.join("spool/current.jsonl");
    // As after a crash between commit and removal: the same lines stand in a file put aside.
    std::fs::copy(&current, places.state.join("spool/000-crashed.folding")).unwrap();
    let log = Log::open(&places).unwrap();
    assert_eq!(ids(&log), ["00000001"]);
    assert!(!current.exists());
}

#[test]
fn half_a_line_spoils_only_itself_and_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    let spool = Spool::open(&places).unwrap();
    spool.record(&record(1)).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(places.state.join("spool/current.jsonl")).unwrap();
    file.write_all(b"\n{\"id\":\"torn").unwrap();
    spool.record(&record(2)).unwrap();
    let log = Log::open(&places).unwrap();
    let folded = log.fold().unwrap();
    assert_eq!((folded.records, folded.damaged), (2, 1));
    assert_eq!(ids(&log), ["00000001", "00000002"]);
    assert_eq!(damaged(&places), ["{\"id\":\"torn\n"]);
}

#[test]
fn a_line_that_no_process_of_sayso_wrote_is_kept_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    let spool = Spool::open(&places).unwrap();
    spool.record(&record(1)).unwrap();
    let current = places.state.join("spool/current.jsonl");
    let genuine = std::fs::read_to_string(&current).unwrap();
    // As an early version wrote it; with the mark of another line; with a mark of its own; saying that it is good.
    let early = Event::from(record(2)).to_line().unwrap();
    let changed = genuine.replace("00000001", "00000003");
    let marked = Event::from(record(4)).to_line().unwrap().replace("\"micros\"", "\"mark\":\"00\",\"micros\"");
    let good = Event::from(Record { unverified: false, ..record(5) }).to_line().unwrap();
    let good = good.replace("\"micros\"", "\"unverified\":false,\"micros\"");
    let mut file = std::fs::OpenOptions::new().append(true).open(&current).unwrap();
    for line in [early, changed, marked, good] {
        file.write_all(format!("{}\n", line.trim()).as_bytes()).unwrap();
    }
    let log = Log::open(&places).unwrap();
    let all = log.events(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    let said: Vec<_> = all.iter().map(|one| (one.event.id().to_owned(), one.event.is_unverified())).collect();
    let expected =
        [("00000001", false), ("00000002", true), ("00000003", true), ("00000004", true), ("00000005", true)];
    assert_eq!(said, expected.map(|(id, unverified)| (id.to_owned(), unverified)));
    assert!(sayso_gate::audit::export::json(&all[1]).unwrap().contains("\"unverified\":true"));
    assert_eq!(log.store().verify(None).unwrap().problems, []);
}

#[test]
fn a_long_spool_is_folded_whole_whatever_blank_lines_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    let spool = Spool::open(&places).unwrap();
    spool.record(&record(1)).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(places.state.join("spool/current.jsonl")).unwrap();
    file.write_all(&vec![b'\n'; 20_000]).unwrap();
    let line = serde_json::to_string(&record(0)).unwrap();
    let many: String = (2..5000).map(|n| line.replace("00000000", &format!("{n:08}")) + "\n").collect();
    file.write_all(many.as_bytes()).unwrap();
    assert_eq!(Log::open(&places).unwrap().fold().unwrap().records, 4999);
}

#[test]
fn a_writer_that_has_stopped_holds_no_reader_up_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    let spool = Spool::open(&places).unwrap();
    spool.record(&record(1)).unwrap();
    let held = std::fs::File::open(places.state.join("spool/current.jsonl")).unwrap();
    held.lock_shared().unwrap();
    let log = Log::open(&places).unwrap();
    assert_eq!(log.fold().unwrap().records, 0);
    spool.record(&record(2)).unwrap();
    drop(held);
    assert_eq!(ids(&log), ["00000001", "00000002"]);
}

#[test]
fn questions_are_answered_by_every_field() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    let spool = Spool::open(&places).unwrap();
    for n in 1..=30 {
        spool.record(&record(n)).unwrap();
    }
    let log = Log::open(&places).unwrap();
    let count = |query: Query| {
        let found = log.query(&query).unwrap().len();
        assert_eq!(log.count(&query).unwrap() as usize, found);
        found
    };
    let all = Query::default;
    assert_eq!(count(all()), 30);
    assert_eq!(count(Query { verdict: Some(Verdict::Deny), ..all() }), 6);
    assert_eq!(count(Query { tool: Some("file_read".into()), ..all() }), 10);
    assert_eq!(count(Query { session: Some("s1".into()), ..all() }), 15);
    assert_eq!(count(Query { agent: Some("b".into()), ..all() }), 0);
    assert_eq!(count(Query { since_ms: Some(1_010), until_ms: Some(1_020), ..all() }), 10);
    assert_eq!(count(Query { text: Some("ECHO \"7\" 100%".into()), ..all() }), 1);
    assert_eq!(count(Query { text: Some("1__%".into()), ..all() }), 0);
    let newest = log.query(&Query { limit: Some(1), ..all() }).unwrap();
    assert_eq!(newest[0].record.id, "00000030");
    let after = log.query(&Query { after: Some(newest[0].seq - 2), order: Order::OldestFirst, ..all() }).unwrap();
    assert_eq!(after.iter().map(|s| s.record.id.as_str()).collect::<Vec<_>>(), ["00000029", "00000030"]);
}

#[test]
fn a_record_reads_back_as_it_was_written_and_new_fields_are_tolerated() {
    let record = record(4);
    let mut json = serde_json::to_value(&record).unwrap();
    json["from_the_future"] = true.into();
    assert_eq!(serde_json::from_value::<Record>(json).unwrap(), record);
}

#[test]
fn what_happened_around_calls_goes_the_same_way_and_holds_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    let spool = Spool::open(&places).unwrap();
    let actor = Actor { session: Some("s1".into()), ..Actor::default() };
    let mut ended = Happening::new(What::CallEnded, "hook test", actor.clone());
    ended.call_id = Some("c".repeat(1000));
    ended.ended = Some(Ended { ok: Some(false), duration_ms: Some(7), ..Ended::default() });
    ended.text = Some(format!("failed with ghp_{}", "a".repeat(36)));
    spool.record(&record(1)).unwrap();
    spool.note(&ended).unwrap();
    spool.note(&Happening::new(What::SettingsChanged, "hook test", Actor::default())).unwrap();

    let log = Log::open(&places).unwrap();
    assert_eq!(ids(&log).len(), 1);
    let all = log.happenings(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    assert_eq!(all.iter().map(|h| h.what).collect::<Vec<_>>(), [What::CallEnded, What::SettingsChanged]);
    assert_eq!(all[0].ended, ended.ended);
    assert!(all[0].call_id.as_ref().unwrap().len() < 200);
    assert!(!all[0].text.as_ref().unwrap().contains("ghp_a"), "{all:?}");
    let of_session = Query { session: Some("s1".into()), tool: Some("left aside".into()), ..Query::default() };
    assert_eq!(log.happenings(&of_session).unwrap().len(), 1);
    assert!(damaged(&places).is_empty());
}

#[test]
fn a_second_record_under_a_known_id_is_kept_aside_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    let spool = Spool::open(&places).unwrap();
    let log = Log::open(&places).unwrap();
    spool.record(&record(1)).unwrap();
    log.fold().unwrap();
    let mut forged = record(1);
    forged.verdict = Verdict::Deny;
    spool.record(&record(1)).unwrap();
    spool.record(&forged).unwrap();
    let folded = log.fold().unwrap();
    assert_eq!((folded.records, folded.damaged), (0, 1));
    assert_eq!(log.query(&Query::default()).unwrap()[0].record.verdict, Verdict::Allow);
    assert!(damaged(&places)[0].contains("\"verdict\":\"deny\""), "{:?}", damaged(&places));
}

#[test]
fn damaged_bytes_of_any_kind_cost_no_whole_record() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    let spool = Spool::open(&places).unwrap();
    for (n, bytes) in
        [&b"\x00\x00\x00\x00"[..], b"\xff\xfe{", b"{}\r", b"null", b"[[[[[[", b"{\"id\":1}"].iter().enumerate()
    {
        spool.record(&record(n)).unwrap();
        let current = places.state.join("spool/current.jsonl");
        std::fs::OpenOptions::new().append(true).open(current).unwrap().write_all(bytes).unwrap();
    }
    spool.record(&record(99)).unwrap();
    let log = Log::open(&places).unwrap();
    let folded = log.fold().unwrap();
    assert_eq!((folded.records, folded.damaged), (7, 6));
}

#[test]
fn only_what_hooks_write_is_taken_from_the_spool() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(&dir);
    let spool = Spool::open(&places).unwrap();
    spool.record(&record(1)).unwrap();
    spool.keep_policy("v1", &[]).unwrap();
    let mut forged: Vec<Event> = Kind::ALL[2..].iter().map(|kind| Change::now(*kind, "given").into()).collect();
    forged
        .push(Change { id: "g-0-given".into(), about: Some("g-0".into()), ..Change::now(Kind::Grant, "given") }.into());
    // The name that a real revocation will need.
    forged.push(Record { id: "g-0-revoked".into(), ..record(2) }.into());
    let lines: String = forged.iter().map(|event| event.to_line().unwrap() + "\n").collect();
    let current = places.state.join("spool/current.jsonl");
    std::fs::OpenOptions::new().append(true).open(current).unwrap().write_all(lines.as_bytes()).unwrap();

    let log = Log::open(&places).unwrap();
    let folded = log.fold().unwrap();
    assert_eq!((folded.records, folded.damaged), (2, forged.len()));
    assert!(damaged(&places)[0].contains("g-0-given"), "{:?}", damaged(&places));
    let kept = |kind| log.events(&Query { kinds: vec![kind], ..Query::default() }).unwrap().len();
    assert_eq!((kept(Kind::Decision), kept(Kind::Policy), kept(Kind::Grant)), (1, 1, 0));
}
