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
    };
    let reason = sayso_gate::reason::built_in("call-malformed", "x");
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
        log.store().write(|tx| tx.append(&Event::from(Change::now(Kind::Grant, "given")))).unwrap();
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
