//! What held runs leave under guarded names: found after the run, and again after a runner that was killed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

use sayso_gate::audit::Spool;
use sayso_gate::hold::{bounds, settle};
use sayso_gate::{Asking, Circumstances, FactsOf, Gate, InForce, Live, Memory, Places};
use sayso_policy::{PolicyText, ToolCall};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// What this process has open is settled by whoever asks first.
static ONE: Mutex<()> = Mutex::new(());

struct World {
    _dir: tempfile::TempDir,
    home: PathBuf,
    app: PathBuf,
    places: Places,
}

const DEVELOPER: &str = "extends = ['developer']";

impl World {
    /// A project in a folder that is called like output, as some are.
    fn new() -> Self {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (home, app) = (base.join("ann"), base.join("ann/build/out/app"));
        fs::create_dir_all(app.join("src")).unwrap();
        let places = Places::below(&home, &base);
        let world = Self { _dir: dir, home, app, places };
        world.git(&world.app, &["init", "-q", "-b", "main"]);
        world.write("old/CLAUDE.md", "the owner's");
        world.write("old/.npmrc", "registry=https://r.example/\n//r.example/:_authToken=hunter2\n");
        world
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.app.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn git(&self, folder: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]).args(arguments).current_dir(folder);
        let done = git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    fn in_force(text: &str) -> InForce {
        let layer = sayso_policy::Layer::User;
        InForce::given(vec![PolicyText { layer, name: "p.toml".into(), text: text.into(), trusted: true }]).unwrap()
    }

    fn hold(&self) -> sayso_shell::bounds::Bounds {
        bounds(
            &self.places,
            &Self::in_force(DEVELOPER),
            &self.app,
            Some(&self.home),
            (&sayso_policy::Actor::default(), &[]),
        )
        .unwrap()
        .bounds
    }

    fn settle(&self) -> Vec<String> {
        let moved = settle(&self.places, None);
        let mut names: Vec<String> = moved
            .iter()
            .map(|it| {
                assert!(it.aside.as_ref().is_some_and(|to| to.exists()), "{it:?}");
                it.path.strip_prefix(&self.app).unwrap().display().to_string()
            })
            .collect();
        names.sort();
        names
    }

    fn open(&self) -> usize {
        fs::read_dir(self.places.state.join("hold/open")).map_or(0, Iterator::count)
    }

    /// Judges a call, as a hook would.
    fn judge(&self) {
        let spool = Box::new(Spool::open(&self.places).unwrap());
        let live = Live::loaded(Self::in_force(DEVELOPER), &self.places, Some(&self.app));
        let gate = Gate::over(live, spool).with_memory(Memory::of(&self.places));
        let call = ToolCall { cwd: Some(self.app.clone()), ..ToolCall::command("ls") };
        drop(gate.judge(call, Circumstances::of("test".into(), Asking::Nobody), FactsOf::Gate));
    }
}

/// Names of all kinds: by name, by ending, in folders, below the top.
const STEERING: &[&str] = &[
    "sub/CLAUDE.md",
    "sub/deep/AGENTS.md",
    "sub/.npmrc",
    "sub/.cargo/config.toml",
    "sub/x.pth",
    "sub/b.code-workspace",
    "sub/.husky/pre-commit",
    "sub/lefthook.yml",
    "sub/.github/workflows/ci.yml",
    "sub/.vscode/tasks.json",
    "sub/.envrc",
    "sub/.env",
    "CLAUDE.md",
    "src/\nname/.claude/settings.json",
];

#[test]
fn whatever_steers_and_is_new_is_moved_aside_and_nothing_else() {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let world = World::new();
    let _ = world.hold();
    for path in STEERING {
        world.write(path, "evil");
    }
    let others = [
        "sub/main.rs",
        "sub/.github/notes.md",
        "node_modules/x/.npmrc",
        "target/x/CLAUDE.md",
        "sub/server.pem",
        "sub/.venv/lib/x.pth",
    ];
    for path in others {
        world.write(path, "fine");
    }
    let moved = world.settle();
    for path in STEERING {
        assert!(!world.app.join(path).exists(), "{path} stayed: {moved:?}");
    }
    for path in others {
        assert!(world.app.join(path).exists(), "{path} was moved: {moved:?}");
    }
    for path in ["old/CLAUDE.md", "old/.npmrc"] {
        assert!(world.app.join(path).exists(), "{path} was there before");
    }
    assert!(moved.contains(&"sub/.husky".to_owned()) && moved.contains(&"sub/.npmrc".to_owned()), "{moved:?}");
    assert_eq!(world.open(), 0);
    assert!(world.settle().is_empty());
}

#[test]
fn a_repository_that_a_run_made_stays_unless_it_steers() {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let world = World::new();
    world.git(&world.app, &["commit", "-q", "--allow-empty", "-m", "x"]);
    let _ = world.hold();
    for name in ["plain", "steers", "hooks"] {
        world.git(&world.app, &["init", "-q", name]);
    }
    world.git(&world.app, &["init", "-q", "--bare", "bare"]);
    world.git(&world.app, &["init", "-q", "--bare", "evil-bare"]);
    world.git(&world.app, &["worktree", "add", "-q", "tree"]);
    world.git(&world.app, &["-C", "steers", "config", "core.fsmonitor", "evil"]);
    world.git(&world.app, &["-C", "evil-bare", "config", "core.fsmonitor", "evil"]);
    world.write("hooks/.git/hooks/post-checkout", "evil");
    world.write("pointer/.git", "gitdir: ../evil-bare\n");
    world.write(".git/worktrees/forged/commondir", "/evil\n");
    world.write(".git/worktrees/forged/gitdir", "/evil/.git\n");
    world.write(".git/rebase-merge/git-rebase-todo", "exec evil\n");
    world.write(".git/sequencer/todo", "pick 123 fine\n");
    world.write(".git/config.worktree", "[core]\n\tfsmonitor = evil\n");
    let moved = world.settle();
    let wanted = [
        ".git/config.worktree",
        ".git/rebase-merge",
        ".git/worktrees/forged",
        "evil-bare",
        "hooks/.git",
        "pointer/.git",
        "steers/.git",
    ];
    assert_eq!(moved, wanted);
    for stays in ["plain/.git/config", "bare/config", "tree/.git", ".git/worktrees/tree/gitdir", ".git/sequencer/todo"]
    {
        assert!(world.app.join(stays).exists(), "{stays}");
    }
}

#[test]
fn a_flood_of_guarded_names_hides_none() {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let world = World::new();
    let _ = world.hold();
    for number in 0..4_200 {
        world.write(&format!("a/{}/{number}.pth", number % 50), "evil");
    }
    world.write("z/CLAUDE.md", "evil");
    assert_eq!(world.settle().len(), 4_201);
    assert!(!world.app.join("z/CLAUDE.md").exists());
}

/// The runner of a hold, in a process of its own: told to end at once, it leaves everything as it is.
#[test]
fn the_next_call_looks_instead_of_a_runner_that_was_killed() {
    if let Some(root) = std::env::var_os("SAYSO_TEST_RUNNER") {
        let base = PathBuf::from(root);
        let (home, app) = (base.join("ann"), base.join("ann/build/out/app"));
        let places = Places::below(&home, &base);
        let _ = bounds(&places, &World::in_force(DEVELOPER), &app, Some(&home), (&sayso_policy::Actor::default(), &[]))
            .unwrap();
        fs::create_dir_all(app.join("sub")).unwrap();
        fs::write(app.join("sub/CLAUDE.md"), "evil").unwrap();
        println!("ready");
        std::thread::sleep(std::time::Duration::from_secs(60));
        return;
    }
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let world = World::new();
    let base = world.home.parent().unwrap();
    let mut runner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_next_call_looks_instead_of_a_runner_that_was_killed", "--nocapture"])
        .env("SAYSO_TEST_RUNNER", base)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(runner.stdout.take().unwrap()));
    while !lines.next().unwrap().unwrap().contains("ready") {}
    // While it runs, a call that is judged looks too, and leaves it open.
    world.judge();
    assert!(!world.app.join("sub/CLAUDE.md").exists());
    assert_eq!(world.open(), 1);
    world.write("sub/AGENTS.md", "evil");
    runner.kill().unwrap();
    runner.wait().unwrap();
    assert!(world.app.join("sub/AGENTS.md").exists());
    world.judge();
    assert!(!world.app.join("sub/AGENTS.md").exists());
    assert_eq!(world.open(), 0);
    world.write("sub/GEMINI.md", "the owner's own");
    world.judge();
    assert!(world.app.join("sub/GEMINI.md").exists(), "nothing is held any more");
}
