//! Compiled copies of the policy: used when nothing changed, and never when anything did.
//!
//! A copy does not hold the texts of the files, so `files` tells whether one was used. Copies are left only of files
//! that have been at rest for two seconds: each test prepares all its machines, waits once, and then goes on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::audit::Spool;
use sayso_gate::policy::{InForce, distrust, trust};
use sayso_gate::{Asking, Circumstances, Expected, FactsOf, Gate, Places, Recorder, Unrecorded};
use sayso_policy::{Decision, ToolCall, Workspace};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

const USER: &str =
    "default = \"ask\"\n[allow]\nrun = [\"git status\", \"ls\"]\nread = [\"./**\"]\n[deny]\nrun = [\"sudo\"]\n";
const PROJECT: &str = "[deny]\nrun = [\"git push\"]\n[allow]\nrun = [\"make\"]\n";

struct Machine {
    _dir: tempfile::TempDir,
    base: PathBuf,
    places: Places,
    project: PathBuf,
}

impl Machine {
    /// A user's policy, a repository with an untrusted project file, and a folder in it.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let project = base.join("src/project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::create_dir_all(project.join("sub/deep")).unwrap();
        std::fs::create_dir_all(base.join("home")).unwrap();
        let machine = Self { places: Places::below(&base.join("home"), &base), project, base, _dir: dir };
        machine.write(&machine.places.user, USER);
        machine.write(&machine.project.join(".sayso.toml"), PROJECT);
        machine
    }

    fn write(&self, path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn workspace(&self) -> PathBuf {
        self.project.join("sub/deep")
    }

    fn load(&self) -> InForce {
        InForce::load_compiled(&self.places, Some(&self.workspace())).unwrap()
    }

    fn copy(&self) -> PathBuf {
        let folder = self.places.state.join("compiled");
        let name = blake3::hash(self.workspace().as_os_str().as_encoded_bytes()).to_hex().to_string();
        folder.join(name)
    }

    /// A copy is left, and used.
    fn remember(&self) {
        let loaded = self.load();
        assert!(!loaded.files.is_empty());
        Spool::open(&self.places).unwrap().keep_policy(loaded.policy.version(), &loaded.files).unwrap();
        assert!(self.load().files.is_empty(), "no copy was left");
    }

    /// What is in force is what compiling says, whether from a copy or not.
    fn same_as_compiled(&self, what: &str) -> bool {
        let fresh = InForce::load(&self.places, Some(&self.workspace()));
        let Ok(fresh) = fresh else {
            assert!(InForce::load_compiled(&self.places, Some(&self.workspace())).is_err(), "{what}");
            return false;
        };
        let found = self.load();
        let from_copy = found.files.is_empty();
        assert_eq!(found.policy.version(), fresh.policy.version(), "{what}");
        assert_eq!(found.floor, fresh.floor, "{what}");
        assert_eq!(found.notices, fresh.notices, "{what}");
        let (fresh, found) = (gate(fresh), gate(found));
        for command in COMMANDS {
            assert_eq!(self.judge(&found, command), self.judge(&fresh, command), "{what}: {command}");
        }
        from_copy
    }

    fn judge(&self, gate: &Gate, command: &str) -> Decision {
        let call = ToolCall {
            cwd: Some(self.workspace()),
            workspace: Workspace::new(self.workspace(), None),
            home: Some(self.places.home.clone()),
            ..ToolCall::command(command.as_bytes())
        };
        let circumstances = Circumstances {
            way_in: "test".into(),
            peer: None,
            event: None,
            call_id: None,
            asking: Asking::OwnPrompt,
            expected: Expected::default(),
            findings: Vec::new(),
            can_hold: sayso_policy::CanHold::No,
        };
        gate.judge(call, circumstances.clone(), FactsOf::Gate).settle().record().decision
    }
}

const COMMANDS: &[&str] =
    &["git status", "git push", "make", "ls", "sudo ls", "cat .env", "rm -rf ~/.local/state/sayso", "curl x.example"];

fn gate(in_force: InForce) -> Gate {
    Gate::new(in_force, Box::new(Unrecorded))
}

fn rest() {
    std::thread::sleep(Duration::from_millis(2100));
}

#[test]
fn a_copy_is_left_of_files_at_rest_and_says_the_same() {
    let m = Machine::new();
    // Too young: another change could look like none.
    assert!(!m.load().files.is_empty());
    assert!(!m.copy().exists());
    rest();
    m.remember();
    assert!(m.same_as_compiled("at rest"));
    assert_eq!(m.load().notices[0].reason.code.as_str(), "untrusted-project");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&m.copy()), mode(m.copy().parent().unwrap())), (0o600, 0o700));
    assert!(InForce::load_compiled(&m.places, None).unwrap().policy.version() != m.load().policy.version());
}

#[test]
fn a_copy_is_not_used_while_the_texts_it_was_made_of_are_not_on_record() {
    let m = Machine::new();
    rest();
    m.remember();
    std::fs::remove_dir_all(m.places.state.join("policies")).unwrap();
    assert!(!m.load().files.is_empty());
}

type Change = (&'static str, fn(&Machine));

/// Whatever changes what is in force, or may.
const CHANGES: &[Change] = &[
    ("the user's file is edited", |m| m.write(&m.places.user, &USER.replace("ask", "deny"))),
    ("the user's file is edited to the same size and its time is put back", |m| {
        let before = std::fs::metadata(&m.places.user).unwrap().modified().unwrap();
        m.write(&m.places.user, &USER.replace("sudo", "make"));
        std::fs::File::options().write(true).open(&m.places.user).unwrap().set_modified(before).unwrap();
    }),
    ("another file is moved over the user's", |m| {
        let other = m.base.join("other.toml");
        m.write(&other, &USER.replace("sudo", "make"));
        std::fs::rename(other, &m.places.user).unwrap();
    }),
    ("the user's file becomes a link", |m| {
        let other = m.base.join("other.toml");
        m.write(&other, &USER.replace("sudo", "make"));
        std::fs::remove_file(&m.places.user).unwrap();
        symlink(other, &m.places.user).unwrap();
    }),
    ("the user's file is gone", |m| std::fs::remove_file(&m.places.user).unwrap()),
    ("the user's file is broken", |m| m.write(&m.places.user, "nonsense")),
    ("anybody may write to the user's file", |m| {
        std::fs::set_permissions(&m.places.user, std::fs::Permissions::from_mode(0o666)).unwrap();
    }),
    ("there is a managed file", |m| m.write(&m.places.managed, "[deny]\nrun = [\"ls\"]\n")),
    ("the project's file is edited", |m| m.write(&m.project.join(".sayso.toml"), "[deny]\nrun = [\"ls\"]\n")),
    ("the project's file is edited to the same size and its time is put back", |m| {
        let path = m.project.join(".sayso.toml");
        let before = std::fs::metadata(&path).unwrap().modified().unwrap();
        m.write(&path, &PROJECT.replace("push", "pull"));
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    }),
    ("the project's file is gone", |m| std::fs::remove_file(m.project.join(".sayso.toml")).unwrap()),
    ("the project's file becomes a link", |m| {
        std::fs::rename(m.project.join(".sayso.toml"), m.project.join("aside")).unwrap();
        symlink("aside", m.project.join(".sayso.toml")).unwrap();
    }),
    ("the project's file becomes a pipe", |m| {
        let path = m.project.join(".sayso.toml");
        std::fs::remove_file(&path).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }),
    ("a file is planted nearer to the workspace", |m| {
        m.write(&m.project.join("sub/.sayso.toml"), "[deny]\nrun = [\"ls\"]\n");
    }),
    ("a repository is planted nearer to the workspace", |m| {
        std::fs::create_dir(m.project.join("sub/.git")).unwrap();
    }),
    ("the repository becomes a pointer", |m| {
        std::fs::remove_dir(m.project.join(".git")).unwrap();
        m.write(&m.project.join(".git"), "gitdir: /nowhere\n");
    }),
    ("the repository is gone", |m| std::fs::remove_dir(m.project.join(".git")).unwrap()),
    ("the project is trusted", |m| {
        trust(&m.places, &m.workspace(), "ann").unwrap();
    }),
    ("trust was written by hand", |m| m.write(&m.places.state.join("trust").join(book(m)), "{}")),
    ("the repository is moved and linked from where it was", |m| {
        std::fs::rename(m.project.parent().unwrap(), m.base.join("moved")).unwrap();
        symlink("moved", m.project.parent().unwrap()).unwrap();
    }),
];

fn book(m: &Machine) -> String {
    let identity = m.project.join(".git");
    format!("{}.json", blake3::hash(identity.as_os_str().as_encoded_bytes()).to_hex())
}

#[test]
fn whatever_changes_is_seen_at_once() {
    let machines: Vec<(Machine, &Change)> = CHANGES.iter().map(|change| (Machine::new(), change)).collect();
    rest();
    for (m, (what, change)) in &machines {
        m.remember();
        change(m);
        assert!(!m.same_as_compiled(what), "{what}: a copy was used");
    }
}

#[test]
fn trust_that_changes_is_seen_at_once() {
    let machines: Vec<Machine> = (0..3).map(|_| Machine::new()).collect();
    for m in &machines {
        trust(&m.places, &m.workspace(), "ann").unwrap();
    }
    rest();
    let [dropped, changed, moved] = machines.as_slice() else { unreachable!() };
    for m in &machines {
        m.remember();
        assert!(m.same_as_compiled("trusted"));
    }
    distrust(&dropped.places, &dropped.workspace(), "ann").unwrap();
    assert!(!dropped.same_as_compiled("distrusted"));
    changed.write(&changed.project.join(".sayso.toml"), "[deny]\nrun = [\"ls\"]\n");
    assert!(!changed.same_as_compiled("changed after it was trusted"));
    assert!(changed.load().notices.iter().any(|notice| notice.reason.code.as_str() == "trust-outdated"));
    // The same inodes at another place are another repository, which nobody trusted.
    std::fs::rename(moved.project.parent().unwrap(), moved.base.join("moved")).unwrap();
    symlink("moved", moved.project.parent().unwrap()).unwrap();
    assert!(!moved.same_as_compiled("moved after it was trusted"));
}

#[test]
fn a_copy_that_others_may_have_written_is_not_used() {
    let spoil: [Change; 6] = [
        ("others may write to it", |m| {
            std::fs::set_permissions(m.copy(), std::fs::Permissions::from_mode(0o620)).unwrap();
        }),
        ("others may write to its folder", |m| {
            std::fs::set_permissions(m.copy().parent().unwrap(), std::fs::Permissions::from_mode(0o770)).unwrap();
        }),
        ("others may write to Sayso's folder", |m| {
            std::fs::set_permissions(&m.places.state, std::fs::Permissions::from_mode(0o702)).unwrap();
        }),
        ("it is a link", |m| {
            std::fs::rename(m.copy(), m.base.join("copy")).unwrap();
            symlink(m.base.join("copy"), m.copy()).unwrap();
        }),
        ("its folder is a link", |m| {
            let folder = m.copy().parent().unwrap().to_owned();
            std::fs::rename(&folder, m.base.join("folder")).unwrap();
            symlink(m.base.join("folder"), folder).unwrap();
        }),
        ("it is a pipe", |m| {
            std::fs::remove_file(m.copy()).unwrap();
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, m.copy(), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        }),
    ];
    let machines: Vec<(Machine, Change)> = spoil.into_iter().map(|change| (Machine::new(), change)).collect();
    rest();
    for (m, (what, spoil)) in &machines {
        m.remember();
        spoil(m);
        assert!(!m.same_as_compiled(what), "{what}: it was used");
    }
}

#[test]
fn a_damaged_or_foreign_copy_changes_nothing() {
    let (m, other) = (Machine::new(), Machine::new());
    other.write(&other.places.user, "default = \"allow\"\n[allow]\nrun = [\"@anything\"]\n");
    rest();
    m.remember();
    other.remember();
    // Another machine's copy, a looser one, under this one's name.
    let good = std::fs::read(m.copy()).unwrap();
    std::fs::copy(other.copy(), m.copy()).unwrap();
    assert!(!m.same_as_compiled("another's copy"));
    for at in (0..good.len()).step_by(good.len() / 40) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        std::fs::write(m.copy(), &bytes).unwrap();
        m.same_as_compiled("a changed byte");
        std::fs::write(m.copy(), &good[..at]).unwrap();
        m.same_as_compiled("cut");
    }
    std::fs::write(m.copy(), &good).unwrap();
    assert!(m.same_as_compiled("put back"));
}

#[test]
fn what_is_not_a_plain_policy_is_not_kept() {
    let (broken, last_good) = (Machine::new(), Machine::new());
    broken.write(&broken.project.join(".sayso.toml"), "nonsense");
    last_good.load();
    last_good.write(&last_good.places.user, "nonsense");
    rest();
    for m in [&broken, &last_good] {
        m.load();
        assert!(!m.same_as_compiled("broken"));
        assert!(!m.copy().exists());
    }
}

#[test]
fn old_copies_make_room() {
    let m = Machine::new();
    rest();
    let folder = m.places.own_folder("compiled").unwrap();
    for at in 0..100 {
        std::fs::write(folder.join(format!("old{at}")), "x").unwrap();
    }
    m.remember();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 64);
}
