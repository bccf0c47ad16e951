//! A long-running gate follows its policy files: a good version counts from the next decision on, a bad one never.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::{Asking, Circumstances, Expected, FactsOf, Gate, Live, Places, Unrecorded};
use sayso_policy::{Answer, ToolCall, Workspace};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

struct Site {
    dir: tempfile::TempDir,
    places: Places,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(&dir.path().join("home"), dir.path());
        std::fs::create_dir_all(dir.path().join("work/.git")).unwrap();
        std::fs::create_dir_all(places.user.parent().unwrap()).unwrap();
        Self { dir, places }
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("work").canonicalize().unwrap()
    }

    fn gate(&self) -> Gate {
        Gate::over(Live::follow(&self.places, Some(&self.work())).unwrap(), Box::new(Unrecorded))
    }

    fn answer(&self, gate: &Gate) -> Answer {
        let mut call = ToolCall::tool("Read", serde_json::json!({"file_path": self.work().join("x")}));
        call.cwd = Some(self.work());
        call.workspace = Workspace::new(self.work(), None);
        let asking = Asking::OwnPrompt;
        let expected = Expected::default();
        gate.judge(
            call,
            Circumstances {
                way_in: "test".into(),
                peer: None,
                event: None,
                call_id: None,
                asking,
                expected,
                findings: Vec::new(),
                can_hold: sayso_policy::CanHold::No,
            },
            FactsOf::Gate,
        )
        .settle()
        .record()
        .decision
        .answer
    }

    /// Waits until the gate says this.
    fn comes_to(&self, gate: &Gate, answer: Answer) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.answer(gate) != answer {
            assert!(Instant::now() < deadline, "it never came to {answer:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Replaces a file as editors do.
fn write(path: &Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(new, path).unwrap();
}

const ALLOWS: &str = "[allow]\nread = [\"./**\"]\n";
const DENIES: &str = "[deny]\nread = [\"./**\"]\n";

#[test]
fn a_good_version_counts_and_a_bad_one_leaves_the_old_in_force() {
    let site = Site::new();
    write(&site.places.user, ALLOWS);
    let gate = site.gate();
    assert_eq!(site.answer(&gate), Answer::Allow);
    write(&site.places.user, DENIES);
    site.comes_to(&gate, Answer::Deny);
    let version = gate.in_force().policy.version().to_owned();
    write(&site.places.user, "[alow]\nread = [\"./**\"]\n");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(site.answer(&gate), Answer::Deny);
    assert!(gate.in_force().notices.iter().any(|notice| notice.reason.code.as_str() == "last-good-policy"));
    write(&site.places.user, DENIES);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(gate.in_force().policy.version(), version);
    assert!(gate.in_force().notices.is_empty());
}

#[test]
fn a_projects_file_and_its_trust_are_followed_too() {
    let site = Site::new();
    write(&site.places.user, "default = \"ask\"\n");
    let gate = site.gate();
    assert_eq!(site.answer(&gate), Answer::Ask);
    write(&site.work().join(".sayso.toml"), ALLOWS);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(site.answer(&gate), Answer::Ask, "not trusted");
    sayso_gate::policy::trust(&site.places, &site.work(), "ann").unwrap();
    site.comes_to(&gate, Answer::Allow);
    write(&site.work().join(".sayso.toml"), DENIES);
    site.comes_to(&gate, Answer::Deny);
}

#[test]
fn decisions_during_a_change_are_of_one_version_or_the_other() {
    let site = Site::new();
    write(&site.places.user, ALLOWS);
    let gate = site.gate();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    assert!(matches!(site.answer(&gate), Answer::Allow | Answer::Deny));
                }
            });
        }
        for round in 0..10 {
            let text = if round % 2 == 0 { DENIES } else { ALLOWS };
            write(&site.places.user, text);
            std::thread::sleep(Duration::from_millis(150));
        }
        over.store(true, Ordering::Relaxed);
    });
    write(&site.places.user, DENIES);
    site.comes_to(&gate, Answer::Deny);
}
