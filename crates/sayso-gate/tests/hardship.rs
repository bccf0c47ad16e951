//! A full disk, a store that is read-only, locked or damaged, a clock that goes backwards: no call runs on a record that
//! was not kept, the reason says why, and nothing that was acknowledged is lost.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::audit::{Change, Event, Kind, Log, Query, Spool};
use sayso_gate::store;
use sayso_gate::{Asking, Circumstances, Expected, FactsOf, Gate, InForce, Judged, Places, Recorder};
use sayso_policy::{Answer, Layer, PolicyText, ToolCall};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

/// Set in processes that this test starts: what to do, and where.
const TASK: &str = "SAYSO_TEST_TASK";

fn places(dir: &Path) -> Places {
    Places::below(&dir.join("home"), dir)
}

fn judge(recorder: Box<dyn Recorder + Send + Sync>) -> Judged {
    let text = "[allow]\nrun = [\"true\"]\n".to_owned();
    let file = PolicyText { layer: Layer::Given, name: "t.toml".into(), text, trusted: true };
    let circumstances = Circumstances {
        way_in: "test".into(),
        peer: None,
        event: None,
        call_id: None,
        asking: Asking::Nobody,
        expected: Expected::default(),
        findings: Vec::new(),
        can_hold: sayso_policy::CanHold::No,
    };
    Gate::new(InForce::given(vec![file]).unwrap(), recorder)
        .judge(ToolCall::command("true"), circumstances.clone(), FactsOf::Gate)
        .settle()
        .record()
}

fn assert_denied(judged: &Judged) {
    assert_eq!(judged.decision.answer, Answer::Deny);
    assert!(judged.permit.is_none());
    let first = &judged.decision.reasons[0];
    assert_eq!(first.code.as_str(), "record-failed", "{first:?}");
    println!("denied: {}", first.text);
}

/// Not a test of its own: what is done in processes whose disk is full, or whose store is read-only.
#[test]
fn task() {
    let Some(task) = std::env::var(TASK).ok() else { return };
    let (task, dir) = task.split_once(' ').unwrap();
    let places = places(Path::new(dir));
    match task {
        "fill" => {
            let store = store::open(&places).unwrap();
            let denied = loop {
                let judged = judge(Box::new(Arc::clone(&store)));
                match judged.decision.answer {
                    Answer::Allow => println!("kept {}", judged.record.id),
                    _ => break judged,
                }
            };
            assert_denied(&denied);
            let change = || Event::from(Change::now(Kind::Grant, "x".repeat(8192)));
            while store.append(&[change()], &[]).is_ok() {}
            // A process that was told no goes on being told no, and does not fall over.
            assert_denied(&judge(Box::new(Arc::clone(&store))));
        }
        "fill-spool" => loop {
            let judged = judge(Box::new(Spool::open(&places).unwrap()));
            match judged.decision.answer {
                Answer::Allow => println!("kept {}", judged.record.id),
                _ => break assert_denied(&judged),
            }
        },
        "read-only" => {
            match store::open(&places) {
                Ok(store) => assert_denied(&judge(Box::new(store))),
                Err(error) => println!("denied: {error}"),
            }
            match Spool::open(&places) {
                Ok(spool) => assert_denied(&judge(Box::new(spool))),
                Err(error) => println!("denied: {error}"),
            }
        }
        other => panic!("{other}"),
    }
    println!("the task ended well");
}

/// Runs a task in a process of its own, which a shell prepares.
fn run(prepare: &str, task: &str, dir: &Path) -> Output {
    let script = format!("{prepare} exec \"$0\" task --exact --nocapture");
    let task = format!("{task} {}", dir.display());
    let exe = std::env::current_exe().unwrap();
    Command::new("sh").args(["-c", &script]).arg(exe).env(TASK, task).output().unwrap()
}

fn kept(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("denied: ") && text.contains("the task ended well"), "{text}\n{output:?}");
    text.lines().filter_map(|line| line.split_once("kept ").map(|(_, id)| id.to_owned())).collect()
}

fn assert_all_there(dir: &Path, ids: &[String]) {
    let log = Log::open(&places(dir)).unwrap();
    let found = log.query(&Query::default()).unwrap();
    for id in ids {
        assert!(found.iter().any(|stored| stored.record.id == *id), "{id} was acknowledged and is lost");
    }
    assert_eq!(log.store().verify(None).unwrap().problems, []);
    assert!(log.store().record(&found[0].record).is_err(), "an id is taken once");
    let judged = judge(Box::new(Arc::clone(log.store())));
    assert_eq!(judged.decision.answer, Answer::Allow, "it recovers: {:?}", judged.decision.reasons);
}

#[test]
fn a_full_disk_denies_with_a_reason_recovers_and_loses_nothing_acknowledged() {
    for (task, blocks) in [("fill", 600), ("fill", 200), ("fill-spool", 40)] {
        let dir = tempfile::tempdir().unwrap();
        places(dir.path()).own_folder("").unwrap();
        drop(store::open(&places(dir.path())).unwrap());
        // No file may grow beyond this; the signal that would tell is ignored, so that writes fail instead.
        let output = run(&format!("trap '' XFSZ; ulimit -f {blocks};"), task, dir.path());
        let ids = kept(&output);
        assert!(!ids.is_empty(), "{task}: {output:?}");
        assert_all_there(dir.path(), &ids);
    }
}

#[test]
fn a_disk_without_room_denies_and_recovers() {
    let dir = tempfile::tempdir().unwrap();
    let mount = dir.path().join("small");
    std::fs::create_dir_all(&mount).unwrap();
    // A small file system of its own, which ends with the process; its content is copied out before.
    let prepare = format!(
        "mount -t tmpfs -o size=1m none {0} || {{ echo cannot mount; exit 77; }}; cp -a {1}/. {0}/ && ( {2}=\"fill {0}\" \"$0\" task --exact --nocapture ); cp -a {0}/. {1}/;",
        mount.display(),
        dir.path().join("out").display(),
        TASK,
    );
    std::fs::create_dir_all(dir.path().join("out")).unwrap();
    let script = format!("{prepare} true");
    let exe = std::env::current_exe().unwrap();
    let output = Command::new("unshare").args(["-rm", "sh", "-c", &script]).arg(exe).output();
    let output = match output {
        Ok(output) if output.status.code() != Some(77) && !output.stdout.is_empty() => output,
        other => {
            eprintln!("NOT TESTED: a disk without room, because no small file system can be mounted here: {other:?}");
            return;
        }
    };
    assert_all_there(&dir.path().join("out"), &kept(&output));
}

#[test]
fn a_read_only_store_denies_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(dir.path());
    drop(store::open(&places).unwrap());
    drop(Spool::open(&places).unwrap());
    let state = &places.state;
    let output = if rustix::process::geteuid().is_root() {
        // Root may write what is closed to writing; not so what is mounted read-only.
        let mount = format!(
            "mount --bind {0} {0} && mount -o remount,ro,bind {0} || {{ echo cannot mount; exit 77; }};",
            state.display()
        );
        let script = format!("{mount} exec \"$0\" task --exact --nocapture");
        let exe = std::env::current_exe().unwrap();
        let task = format!("read-only {}", dir.path().display());
        let output = Command::new("unshare").args(["-m", "sh", "-c", &script]).arg(exe).env(TASK, task).output();
        match output {
            Ok(output) if output.status.code() != Some(77) && !output.stdout.is_empty() => output,
            other => {
                eprintln!("NOT TESTED: a read-only store, because nothing can be mounted read-only here: {other:?}");
                return;
            }
        }
    } else {
        let files = ["sayso.db", "sayso.db-wal", "sayso.db-shm"].map(|name| state.join(name));
        let all: Vec<PathBuf> = files.into_iter().filter(|path| path.exists()).chain([state.join("spool")]).collect();
        let close =
            |mode| all.iter().for_each(|p| std::fs::set_permissions(p, PermissionsExt::from_mode(mode)).unwrap());
        close(0o500);
        let output = run("", "read-only", dir.path());
        close(0o700);
        output
    };
    kept(&output);
    let judged = judge(Box::new(store::open(&places).unwrap()));
    assert_eq!(judged.decision.answer, Answer::Allow);
}

#[test]
fn a_store_that_another_process_keeps_locked_denies_all_who_wait_and_recovers() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(dir.path());
    let store = store::open(&places).unwrap();
    let _ = judge(Box::new(Arc::clone(&store)));
    let other = rusqlite::Connection::open(places.state.join("sayso.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let store = Arc::clone(&store);
            scope.spawn(move || assert_denied(&judge(Box::new(store))));
        }
    });
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(judge(Box::new(Arc::clone(&store))).decision.answer, Answer::Allow);
}

#[test]
fn a_damaged_store_denies_while_hooks_records_wait_in_the_spool() {
    let dir = tempfile::tempdir().unwrap();
    let places = places(dir.path());
    let log = Log::open(&places).unwrap();
    for _ in 0..300 {
        let _ = judge(Box::new(Arc::clone(log.store())));
    }
    let copy = dir.path().join("copy.db");
    log.store().back_up(&copy).unwrap();
    let path = places.state.join("sayso.db");
    drop(log);
    // Whatever still lies in the log would mend what is damaged here.
    let whole = rusqlite::Connection::open(&path).unwrap();
    whole.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(whole);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096..].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();

    match store::open(&places) {
        Ok(store) => assert_denied(&judge(Box::new(store))),
        Err(error) => println!("refused: {error}"),
    }
    let waits = judge(Box::new(Spool::open(&places).unwrap()));
    assert_eq!(waits.decision.answer, Answer::Allow);
    assert!(Log::open(&places).and_then(|log| log.fold()).is_err());

    for side in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{side}", path.display()));
    }
    std::fs::rename(&copy, &path).unwrap();
    assert_all_there(dir.path(), &[waits.record.id]);
}
