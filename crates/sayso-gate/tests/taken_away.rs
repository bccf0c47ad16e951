//! The store's files, taken away from under a process that writes to them: nothing is allowed that is not recorded.
#![allow(clippy::unwrap_used, clippy::panic, clippy::allow_attributes, reason = "a failed unwrap is a failed test")]

use sayso_gate::store::{self, Store};
use sayso_gate::{Asking, Circumstances, Error, Expected, FactsOf, Gate, InForce, Judged, Memory, Places};
use sayso_policy::{Answer, Layer, PolicyText, ToolCall, Workspace};
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct World {
    dir: tempfile::TempDir,
    places: Places,
    store: Arc<dyn Store>,
}

fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    let places = Places::below(&dir.path().join("home"), dir.path());
    let store = store::open(&places).unwrap();
    World { dir, places, store }
}

impl World {
    fn judge(&self, policy: &str) -> Judged {
        let file = PolicyText { layer: Layer::Given, name: "t.toml".into(), text: policy.to_owned(), trusted: true };
        let memory = Memory::with(&self.places, Arc::clone(&self.store));
        let recorder = Box::new(Arc::clone(&self.store));
        let gate = Gate::new(InForce::given(vec![file]).unwrap(), recorder).with_memory(memory);
        let mut call = ToolCall::command("true");
        call.cwd = Some(self.dir.path().to_owned());
        call.workspace = Workspace::new(self.dir.path(), None);
        let (asking, expected) = (Asking::Nobody, Expected::default());
        let (peer, event, call_id) = (None, None, None);
        gate.judge(
            call,
            Circumstances {
                way_in: "test".into(),
                peer,
                event,
                call_id,
                asking,
                expected,
                findings: Vec::new(),
                can_hold: sayso_policy::CanHold::No,
            },
            FactsOf::Gate,
        )
        .settle()
        .record()
    }

    fn file(&self, ending: &str) -> PathBuf {
        PathBuf::from(format!("{}{ending}", self.places.state.join("sayso.db").display()))
    }
}

const PLAIN: &str = "default = \"allow\"\n";
const LIMITED: &str = "default = \"allow\"\n[limits.session]\ncalls = 100\n";

fn copy_over(path: &Path) {
    let copy = path.with_extension("copy");
    std::fs::copy(path, &copy).unwrap();
    std::fs::rename(copy, path).unwrap();
}

/// What becomes of a file, and how.
type Way = (&'static str, fn(&Path));

#[test]
fn nothing_is_allowed_once_a_file_of_the_store_is_deleted_moved_or_replaced() {
    let ways: [Way; 3] = [
        ("deleted", |path| std::fs::remove_file(path).unwrap()),
        ("moved", |path| std::fs::rename(path, path.with_extension("away")).unwrap()),
        ("replaced", copy_over),
    ];
    for ending in ["", "-wal", "-shm"] {
        for (way, take) in ways {
            for policy in [PLAIN, LIMITED] {
                let w = world();
                assert_eq!(w.judge(policy).decision.answer, Answer::Allow);
                take(&w.file(ending));
                let judged = w.judge(policy);
                let code = judged.decision.reasons.first().unwrap().code.to_string();
                assert_eq!((judged.decision.answer, code.as_str()), (Answer::Deny, "store-replaced"), "{way} {ending}");
                assert!(matches!(w.store.writable(), Err(Error::Replaced(_))), "{way} {ending}");
            }
        }
    }
}

/// In another process: whoever closes a descriptor of the file gives up all locks of its own on it.
fn elsewhere(program: &str, arguments: &[&str]) {
    assert!(std::process::Command::new(program).args(arguments).status().unwrap().success());
}

#[test]
fn nothing_is_allowed_once_a_file_of_the_store_is_cut_off() {
    for (ending, length) in [("", 0), ("", 4096), ("", 8192), ("-wal", 0), ("-wal", 32), ("-wal", 5000)] {
        for policy in [PLAIN, LIMITED] {
            let w = world();
            for _ in 0..3 {
                assert_eq!(w.judge(policy).decision.answer, Answer::Allow);
            }
            if ending.is_empty() {
                let other = rusqlite::Connection::open(w.file("")).unwrap();
                other.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
                assert_eq!(w.judge(policy).decision.answer, Answer::Allow);
            }
            assert!(std::fs::metadata(w.file(ending)).unwrap().len() > length);
            elsewhere("truncate", &["-s", &length.to_string(), w.file(ending).to_str().unwrap()]);
            // Where something was written behind the cut before anybody looked, the next look of a newcomer finds it.
            let noticed = || w.judge(policy).decision.answer == Answer::Deny && w.store.writable().is_err();
            if !noticed() && !noticed() {
                std::thread::sleep(std::time::Duration::from_secs(6));
                let _ = w.judge(policy);
                assert!(noticed(), "{ending} {length} {policy}");
            }
        }
    }
}

#[test]
fn nothing_is_allowed_once_others_cannot_read_the_store() {
    let w = world();
    assert_eq!(w.judge(PLAIN).decision.answer, Answer::Allow);
    let other = rusqlite::Connection::open(w.file("")).unwrap();
    other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let of = format!("of={}", w.file("").display());
    elsewhere("dd", &["if=/dev/zero", &of, "bs=4096", "count=1", "conv=notrunc", "status=none"]);
    std::thread::sleep(std::time::Duration::from_secs(6));
    let _ = w.judge(PLAIN);
    assert_eq!(w.judge(PLAIN).decision.answer, Answer::Deny);
    assert!(w.store.writable().is_err());
}

#[test]
fn a_store_that_gets_shorter_in_good_order_stays_in_use() {
    let w = world();
    for _ in 0..200 {
        assert_eq!(w.judge(PLAIN).decision.answer, Answer::Allow);
    }
    let before = std::fs::metadata(w.file("")).unwrap().len();
    let other = rusqlite::Connection::open(w.file("")).unwrap();
    other
        .execute_batch("CREATE TABLE room AS SELECT randomblob(1000000) AS x; PRAGMA wal_checkpoint(TRUNCATE);")
        .unwrap();
    assert_eq!(w.judge(PLAIN).decision.answer, Answer::Allow);
    assert!(std::fs::metadata(w.file("")).unwrap().len() > before);
    other.execute_batch("DROP TABLE room; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);").unwrap();
    for _ in 0..3 {
        assert_eq!(w.judge(PLAIN).decision.answer, Answer::Allow);
    }
    w.store.writable().unwrap();
}

#[test]
fn a_store_that_is_put_back_stays_out_of_use_until_it_is_opened_anew() {
    let w = world();
    assert_eq!(w.judge(PLAIN).decision.answer, Answer::Allow);
    let (there, away) = (w.file(""), w.file(".away"));
    std::fs::rename(&there, &away).unwrap();
    assert!(w.store.writable().is_err());
    std::fs::rename(&away, &there).unwrap();
    assert!(w.store.writable().is_err(), "what others did meanwhile is not known");
    assert_eq!(store::open(&w.places).unwrap().verify(None).unwrap().problems, []);
}

#[test]
fn a_folder_above_that_is_moved_away_is_noticed_too() {
    let w = world();
    assert_eq!(w.judge(PLAIN).decision.answer, Answer::Allow);
    let state = &w.places.state;
    std::fs::rename(state, state.with_extension("away")).unwrap();
    assert_eq!(w.judge(PLAIN).decision.answer, Answer::Deny);
}
