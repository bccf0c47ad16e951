//! A user with a home folder and a project, for whom Sayso runs things held.

use sayso_gate::audit::{Event, Happening, Kind, Log, Query};
use sayso_gate::{Places, Record};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Who runs things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the tests.
    Own,
    /// Somebody without any rights, where root runs the tests.
    Nobody,
}

const NOBODY: u32 = 65534;

/// Everybody as whom tests can run here.
pub(crate) fn users() -> Vec<User> {
    let all = if rustix::process::geteuid().is_root() { vec![User::Own, User::Nobody] } else { vec![User::Own] };
    all.into_iter().filter(|user| can_hold(*user)).collect()
}

fn can_hold(user: User) -> bool {
    let output = Room::new(user).command(&["doctor", "--hold"]).output().unwrap();
    let yes = output.status.success();
    if !yes {
        let why = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(std::env::var_os("SAYSO_HOLD_REQUIRED").is_none(), "holds cannot be made here: {why}");
        eprintln!("not run: this machine cannot hold a run of {user:?}: {why}");
    }
    yes
}

/// Everything that is named may run; what was not looked into runs held.
pub(crate) const POLICY: &str = r#"
default = "allow"
[allow]
write = ["./**"]
[deny]
run = ["git push --force"]
read = ["@secrets"]
[hold]
run = ["@builds", "@scripts", "@code"]
"#;

pub(crate) struct Room {
    folder: tempfile::TempDir,
    pub(crate) user: User,
}

impl Room {
    pub(crate) fn new(user: User) -> Self {
        // Not in a folder that policies count as scratch.
        let folder = tempfile::Builder::new()
            .prefix("run")
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in("/var/tmp")
            .unwrap();
        let room = Self { folder, user };
        for name in ["home/.config/sayso", "project", "bin", "outside"] {
            fs::create_dir_all(room.path(name)).unwrap();
        }
        let program = Path::new(env!("CARGO_BIN_EXE_sayso"));
        let place = room.path("bin/sayso");
        fs::hard_link(program, &place).or_else(|_| fs::copy(program, &place).map(drop)).unwrap();
        room.policy(POLICY);
        room.give_away();
        room
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn policy(&self, text: &str) {
        fs::write(self.path("home/.config/sayso/policy.toml"), text).unwrap();
        self.give_away();
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path("project").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.give_away();
        path
    }

    /// Everything but the program, which may be the very file that was built, is the user's.
    pub(crate) fn give_away(&self) {
        if self.user == User::Nobody {
            for name in ["home", "project", "outside"] {
                give(&self.path(name), NOBODY);
            }
        }
    }

    pub(crate) fn places(&self) -> Places {
        Places::below(&self.path("home"), Path::new("/"))
    }

    /// Sayso, in the project.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/sayso"));
        command.args(words);
        self.prepare(command)
    }

    /// Any program, as this user, in the project.
    pub(crate) fn prepare(&self, mut command: Command) -> Command {
        command.current_dir(self.path("project")).stdin(Stdio::null());
        command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        if self.user == User::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    pub(crate) fn sayso(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// `sayso run -- sh -c SCRIPT`
    pub(crate) fn sh(&self, script: &str) -> Output {
        self.sayso(&["run", "--", "sh", "-c", script])
    }

    pub(crate) fn with_input(&self, words: &[&str], input: &[u8]) -> Output {
        let mut command = self.command(words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    /// Makes the project a repository in which secrets are ignored, so that decoys stand in their place.
    pub(crate) fn repository(&self) {
        self.file(".gitignore", "out.txt\n*.env\n");
        assert!(self.git(&["init", "-q"]).status.success());
        assert!(self.git(&["add", "-A"]).status.success());
        assert!(self.git(&["commit", "-qm", "one"]).status.success());
    }

    pub(crate) fn git(&self, words: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]).args(words);
        self.prepare(command).output().unwrap()
    }

    /// Does something with the home as whoever runs the tests: what is another user's is refused.
    pub(crate) fn as_tester<T>(&self, what: impl FnOnce() -> T) -> T {
        if self.user == User::Nobody {
            give(&self.path("home"), 0);
        }
        let done = what();
        self.give_away();
        done
    }

    fn events(&self) -> Vec<Event> {
        let query = Query { kinds: vec![Kind::Happening, Kind::Decision], ..Query::default() };
        let events = self.as_tester(|| Log::open(&self.places()).and_then(|log| log.events(&query)).unwrap());
        events.into_iter().map(|chained| chained.event).rev().collect()
    }

    /// Runs something that no analysis sees through, by a script of the project.
    pub(crate) fn unseen(&self, script: &str) -> Output {
        self.file(
            "script.py",
            &format!("import subprocess, sys\nsys.exit(subprocess.call(['sh', '-c', {script:?}]))\n"),
        );
        self.sayso(&["run", "--", "python3", "script.py"])
    }

    /// What happened, the latest last.
    pub(crate) fn happenings(&self) -> Vec<Happening> {
        let one = |event| if let Event::Happening(it) = event { Some(*it) } else { None };
        self.events().into_iter().filter_map(one).collect()
    }

    /// Every decision, the latest last.
    pub(crate) fn decisions(&self) -> Vec<Record> {
        let one = |event| if let Event::Decision(it) = event { Some(*it) } else { None };
        self.events().into_iter().filter_map(one).collect()
    }
}

fn give(path: &Path, user: u32) {
    let _ = lchown(path, Some(user), Some(user));
    if !path.is_symlink() {
        fs::read_dir(path).into_iter().flatten().flatten().for_each(|entry| give(&entry.path(), user));
    }
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits until this is so.
pub(crate) fn until(what: &str, so: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !so() {
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "{what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
