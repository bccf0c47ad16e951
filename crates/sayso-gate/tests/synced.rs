//! What must be on disk before it is acknowledged is synced before: seen in the system calls of a process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::audit::{Change, Event, Kind, Log, Query, Spool};
use sayso_gate::{Places, Record, Recorder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in the process that is traced: where it works.
const TRACED: &str = "SAYSO_TEST_TRACED";
const TURNS: usize = 20;

fn record() -> Record {
    let circumstances = sayso_gate::Circumstances {
        way_in: "test".into(),
        peer: None,
        event: None,
        call_id: None,
        asking: sayso_gate::Asking::Nobody,
        expected: sayso_gate::Expected::default(),
        findings: Vec::new(),
        can_hold: sayso_policy::CanHold::No,
    };
    let reason = sayso_gate::reason::built_in(sayso_policy::Code::CallMalformed, "x");
    Record::refused(&circumstances, sayso_policy::Actor::default(), "bash", &reason)
}

/// Not a test of its own: the process that is traced. It says in a file what was acknowledged.
#[test]
fn traced() {
    let Some(dir) = std::env::var_os(TRACED).map(PathBuf::from) else { return };
    let places = Places::below(&dir, &dir);
    let log = Log::open(&places).unwrap();
    let mut told = std::fs::File::create(dir.join("told")).unwrap();
    for n in 0..TURNS {
        log.store().append(&[Event::from(Change::now(Kind::Grant, "given"))], &[]).unwrap();
        told.write_all(format!("changed {n}\n").as_bytes()).unwrap();
    }
    let spool = Spool::open(&places).unwrap();
    for n in 0..TURNS {
        spool.record(&record()).unwrap();
        log.fold().unwrap();
        told.write_all(format!("folded {n}\n").as_bytes()).unwrap();
    }
    for n in 0..TURNS {
        log.store().record(&record()).unwrap();
        told.write_all(format!("decided {n}\n").as_bytes()).unwrap();
    }
    // Decisions are synced by a thread of their own, soon.
    std::thread::sleep(std::time::Duration::from_millis(300));
    told.write_all(b"waited\n").unwrap();
}

/// Set in the process whose syncs are timed: where it works.
const TIMED: &str = "SAYSO_TEST_TIMED";
/// What was told is on disk so long afterwards, in seconds.
const PROMISED: f64 = 0.1;
/// A machine with other work to do may be late itself; a promise that is not kept is never kept.
const TRIES: usize = 8;

/// Not a test of its own: the process whose syncs are timed. Single decisions with nothing behind them, then many at once.
#[test]
fn timed() {
    let Some(dir) = std::env::var_os(TIMED).map(PathBuf::from) else { return };
    let log = Log::open(&Places::below(&dir, &dir)).unwrap();
    let told = std::fs::File::create(dir.join("told")).unwrap();
    let decide = |what: &str| {
        log.store().record(&record()).unwrap();
        (&told).write_all(format!("{what}\n").as_bytes()).unwrap();
    };
    for _ in 0..4 {
        decide("alone");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let until = std::time::Instant::now() + std::time::Duration::from_millis(500);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while std::time::Instant::now() < until {
                    decide("among others");
                }
            });
        }
    });
    std::thread::sleep(std::time::Duration::from_millis(700));
}

/// When a process wrote to the log, synced it (from and to), and told of a decision.
#[derive(Default)]
struct Times {
    written: Vec<f64>,
    synced: Vec<(f64, f64)>,
    told: Vec<f64>,
}

/// What the timed process did; `None` if this machine does not let one be traced.
fn times(arguments: &[&str]) -> Option<Times> {
    let dir = tempfile::tempdir().unwrap();
    let (dir, out) = (dir.path().canonicalize().unwrap(), dir.path().join("trace"));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-ttt", "-T", "-e", "trace=write,pwrite64,fdatasync"]).args(arguments).arg("-o").arg(&out);
    strace.arg(std::env::current_exe().unwrap()).args(["timed", "--exact"]).env(TIMED, dir);
    match strace.output() {
        Ok(output) if output.status.success() => {}
        other => {
            eprintln!("NOT TESTED: when things are synced, because strace does not run here: {other:?}");
            return None;
        }
    }
    let mut found = Times::default();
    let mut begun = std::collections::HashMap::new();
    for line in std::fs::read_to_string(&out).unwrap().lines() {
        let mut words = line.split_whitespace();
        let (Some(process), Some(time)) = (words.next(), words.next()) else { continue };
        let Ok(time) = time.parse::<f64>() else { continue };
        let took = line.rsplit_once('<').and_then(|(_, took)| took.strip_suffix('>')?.parse::<f64>().ok());
        let of_log = line.contains("sayso.db-wal>");
        if line.contains("pwrite64(") && of_log {
            found.written.push(time);
        } else if line.contains("fdatasync(") && of_log {
            match took {
                Some(took) => found.synced.push((time, time + took)),
                None => drop(begun.insert(process.to_owned(), time)),
            }
        } else if line.contains("fdatasync resumed") {
            found.synced.extend(begun.remove(process).map(|from| (from, time)));
        } else if line.contains("write(") && line.contains("/told>") {
            found.told.push(time);
        }
    }
    assert!(found.told.len() > 8 && !found.synced.is_empty(), "{} told", found.told.len());
    Some(found)
}

/// Tries until it is kept: gives how long it took at the most, each time.
fn kept(arguments: &[&str], longest: impl Fn(&Times) -> f64) {
    let mut all = Vec::new();
    for _ in 0..TRIES {
        let Some(times) = times(arguments) else { return };
        all.push(longest(&times));
        if all.last().is_some_and(|longest| *longest <= PROMISED) {
            return;
        }
    }
    panic!("it took up to {all:?} seconds");
}

#[test]
fn a_decision_that_was_told_is_synced_in_time_alone_and_among_many() {
    kept(&[], |times| {
        let until_synced = |told: &f64| {
            let written = times.written.iter().filter(|written| *written <= told).fold(0.0, |a: f64, b| a.max(*b));
            let covers = times.synced.iter().filter(|(from, _)| *from >= written).map(|(_, to)| to - told);
            covers.fold(f64::INFINITY, f64::min)
        };
        times.told.iter().map(until_synced).fold(0.0, f64::max)
    });
}

#[test]
fn nothing_is_told_far_ahead_of_a_disk_that_is_slow() {
    kept(&["-e", "inject=fdatasync:delay_enter=250000"], |times| {
        let ahead = |told: &f64| {
            let covered = times.synced.iter().filter(|(_, to)| to <= told).map(|(from, _)| *from).fold(0.0, f64::max);
            let open = times.written.iter().filter(|written| **written > covered && *written <= told);
            open.map(|written| told - written).fold(0.0, f64::max)
        };
        times.told.iter().map(ahead).fold(0.0, f64::max)
    });
}

/// The calls of the traced process, in order; `None` if this machine does not let one be traced.
fn trace(dir: &Path) -> Option<Vec<String>> {
    let out = dir.join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-e", "trace=write,pwrite64,pwritev,fsync,fdatasync,unlink,unlinkat", "-o"]).arg(&out);
    strace.arg(std::env::current_exe().unwrap()).args(["traced", "--exact"]).env(TRACED, dir);
    match strace.output() {
        Ok(output) if output.status.success() => {}
        other => {
            eprintln!("NOT TESTED: that things are synced, because strace does not run here: {other:?}");
            return None;
        }
    }
    assert_eq!(Log::open(&Places::below(dir, dir)).unwrap().count(&Query::default()).unwrap(), 2 * TURNS as u64);
    Some(std::fs::read_to_string(&out).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn changes_are_synced_before_they_are_acknowledged_and_decisions_soon_after() {
    let dir = tempfile::tempdir().unwrap();
    let Some(calls) = trace(&dir.path().canonicalize().unwrap()) else { return };
    let is_commit = |call: &String| call.contains("pwrite64(") && call.contains("sayso.db-wal>");
    // A call that another thread interrupts is written in two lines: the second is where it returns.
    let is_sync = |call: &String| {
        (call.contains("fdatasync(") && call.contains("sayso.db-wal>") || call.contains("<... fdatasync resumed>"))
            && call.trim_end().ends_with("= 0")
    };
    let at =
        |what: &str| calls.iter().position(|call| call.contains("write(") && call.contains(&format!("\"{what}\\n\"")));
    let mut before = 0;
    for what in ["changed", "folded"] {
        for n in 0..TURNS {
            let told = at(&format!("{what} {n}")).unwrap();
            let since = &calls[before..told];
            let commit = since.iter().rposition(is_commit).unwrap_or_else(|| panic!("{what} {n} was not committed"));
            let sync = since.iter().rposition(is_sync).unwrap_or_else(|| panic!("{what} {n} was not synced"));
            assert!(commit < sync, "{what} {n} was committed after the last sync: {since:#?}");
            if what == "folded" {
                let removed = since.iter().position(|call| call.contains("unlink") && call.contains(".folding"));
                assert!(removed.is_some_and(|removed| sync < removed), "a spool went before it was synced: {since:#?}");
            }
            before = told;
        }
    }
    for n in 0..TURNS {
        let told = at(&format!("decided {n}")).unwrap();
        assert!(calls[before..told].iter().any(is_commit), "decision {n} was not written before it was acknowledged");
        before = told;
    }
    let waited = at("waited").unwrap();
    let last_commit = calls[..before].iter().rposition(is_commit).unwrap();
    assert!(calls[last_commit..waited].iter().any(is_sync), "the last decisions were never synced");
}
