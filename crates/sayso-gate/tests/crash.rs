//! Killed at any moment: nothing that was acknowledged is lost or doubled, the chain verifies, the store opens.
//!
//! `SAYSO_KILL_ROUNDS=300 cargo test -p sayso-gate --test crash` kills three hundred times; a few by default.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::approval::{Reply, Standing};
use sayso_gate::audit::{Chained, Event, Log, Order, Query, Spool};
use sayso_gate::store::{Answering, Store};
use sayso_gate::{
    Asking, Circumstances, Expected, FactsOf, Gate, InForce, Judged, Memory, Otherwise, Places, ProcessEnvironment,
    RealFiles, Recorder,
};
use sayso_policy::{Answer, Facts, Layer, Person, PolicyText, Scope, ToolCall, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::hash::BuildHasher;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Set in processes that this test starts to kill them: where they work.
const WORKER: &str = "SAYSO_TEST_WORKER";
const POLICY: &str = "default = \"ask\"\n[allow]\nrun = [\"true\"]\n[limits.session]\ncalls = 100000000\n";

fn places(dir: &Path) -> Places {
    Places::below(&dir.join("home"), dir)
}

fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// Where a worker writes down what it was told is kept. Its own death loses nothing that it has written.
struct Told(File);

impl Told {
    fn open(dir: &Path) -> Self {
        let path = dir.join(format!("told-{}", std::process::id()));
        Self(OpenOptions::new().append(true).create(true).open(path).unwrap())
    }

    fn write(&self, what: &str, id: &str) {
        (&self.0).write_all(format!("{what} {id}\n").as_bytes()).unwrap();
    }
}

fn judge(
    dir: &Path,
    store: &Arc<dyn Store>,
    recorder: Box<dyn Recorder + Send + Sync>,
    session: &str,
    command: &str,
) -> Judged {
    let file = PolicyText { layer: Layer::Given, name: "t.toml".into(), text: POLICY.into(), trusted: true };
    let memory = Memory::with(&places(dir), Arc::clone(store));
    let gate = Gate::new(InForce::given(vec![file]).unwrap(), recorder).with_memory(memory);
    let asking = Asking::Queue { until: Instant::now(), otherwise: Otherwise::Nobody };
    let mut call = ToolCall::command(command);
    call.actor.session = Some(session.to_owned());
    call.workspace = Workspace::new(dir.join("work"), None);
    let circumstances = Circumstances {
        way_in: "test".into(),
        peer: None,
        event: None,
        call_id: None,
        asking,
        expected: Expected::default(),
        findings: Vec::new(),
        can_hold: sayso_policy::CanHold::No,
    };
    gate.judge(call, circumstances.clone(), FactsOf::Gate).settle().record()
}

/// Not a test of its own: what the processes do that are killed.
#[test]
fn worker() {
    let Some(dir) = std::env::var_os(WORKER).map(PathBuf::from) else { return };
    let log = Log::open(&places(&dir)).unwrap();
    let told = Told::open(&dir);
    let session = format!("s{}", std::process::id());
    std::thread::scope(|scope| {
        let (dir, log, told, session) = (&dir, &log, &told, &session);
        for _ in 0..2 {
            // Decisions of a server, each counted by a limit.
            scope.spawn(move || {
                loop {
                    let judged = judge(dir, log.store(), Box::new(Arc::clone(log.store())), session, "true");
                    assert_eq!(judged.decision.answer, Answer::Allow, "{:?}", judged.decision.reasons);
                    told.write("decision", &judged.record.id);
                }
            });
            // Decisions of hooks.
            scope.spawn(move || {
                loop {
                    let spool = Spool::open(&places(dir)).unwrap();
                    let judged = judge(dir, log.store(), Box::new(spool), session, "true");
                    assert_eq!(judged.decision.answer, Answer::Allow, "{:?}", judged.decision.reasons);
                    told.write("decision", &judged.record.id);
                }
            });
        }
        // Questions, and a person who answers them.
        scope.spawn(move || {
            for n in 0.. {
                let command = format!("make {session}-{n}");
                let _ = judge(dir, log.store(), Box::new(Arc::clone(log.store())), session, &command);
                let pending = log.store().approvals(true, 100).unwrap();
                let Some(mine) = pending.iter().find(|it| it.question.command.as_deref() == Some(command.as_str()))
                else {
                    continue;
                };
                told.write("asked", &mine.question.id);
                let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
                let (person, reply) = (Person::named("ann"), Reply::allow_once());
                let id = mine.question.id.as_str();
                let answer =
                    Answering { id, person: &person, via: "test", reply: &reply, policy: None, facts, now_ms: now() };
                log.store().answer(&answer).unwrap();
                told.write("answered", id);
            }
        });
        scope.spawn(move || {
            loop {
                log.fold().unwrap();
            }
        });
    });
}

fn start(dir: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["worker", "--exact", "--nocapture"]).env(WORKER, dir);
    command.stdout(Stdio::null()).stderr(File::create(dir.join("stderr")).unwrap()).spawn().unwrap()
}

/// What workers were told is kept. A line that broke off was never finished, and so nobody was told.
fn told(dir: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if !entry.file_name().to_string_lossy().starts_with("told-") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let (what, id) = line.trim_end().split_once(' ').unwrap();
            all.entry(what.to_owned()).or_default().insert(id.to_owned());
        }
    }
    all
}

fn check(dir: &Path) -> usize {
    let log = Log::open(&places(dir)).unwrap();
    let folded = log.fold().unwrap();
    assert_eq!(folded.damaged, 0, "a killed writer leaves whole lines or half a line that nobody was told of");
    let store = log.store();
    let verified = store.verify(None).unwrap();
    assert_eq!(verified.problems, []);
    let all: Vec<Chained> = store.events(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    assert!(all.iter().map(|it| it.seq).eq(1..=all.len() as u64), "numbers have no gaps");
    let mut ids = BTreeSet::new();
    assert!(all.iter().all(|it| ids.insert(it.event.id().to_owned())), "nothing is doubled");

    let told = told(dir);
    let empty = BTreeSet::new();
    let of = |what: &str| told.get(what).unwrap_or(&empty);
    let lost: Vec<_> = of("decision").difference(&ids).collect();
    assert!(lost.is_empty(), "lost decisions: {lost:?}");
    for id in of("asked") {
        assert!(store.approval(id).unwrap().is_some(), "lost question {id}");
    }
    for id in of("answered") {
        let approval = store.approval(id).unwrap().unwrap();
        assert_eq!((approval.standing, approval.answers.len()), (Standing::Approved, 1), "{id}");
        let about = |it: &&Chained| matches!(&it.event, Event::Change(c) if c.what == "answered" && c.about.as_deref() == Some(id));
        assert_eq!(all.iter().filter(about).count(), 1, "an answer and its record are kept together: {id}");
    }
    // Every decision that was acknowledged was counted.
    let counted: u64 =
        store.used(now()).unwrap().iter().filter(|u| u.scope == Scope::Session).map(|u| u.usage.calls).sum();
    assert!(counted >= of("decision").len() as u64, "{counted} counted, {} acknowledged", of("decision").len());
    told.values().map(BTreeSet::len).sum()
}

fn random(below: u64) -> u64 {
    std::hash::RandomState::new().hash_one(Instant::now()) % below
}

#[test]
fn killed_at_any_moment_nothing_acknowledged_is_lost_or_doubled() {
    let rounds: u32 = std::env::var("SAYSO_KILL_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let (mut total, mut kept) = (0, 0);
    let mut dir = tempfile::tempdir().unwrap();
    for round in 0..rounds {
        // A new store now and then, so that young ones are killed too.
        if round % 4 == 0 {
            total += kept;
            kept = 0;
            dir = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(dir.path().join("work")).unwrap();
            places(dir.path()).own_folder("").unwrap();
        }
        let mut workers = [start(dir.path()), start(dir.path())];
        // Some are killed while they open or make the store, most while they work.
        let deadline = Instant::now() + Duration::from_secs(20);
        while round % 4 != 1 && told(dir.path()).values().map(BTreeSet::len).sum::<usize>() <= kept {
            assert!(Instant::now() < deadline, "the workers do nothing");
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(random(if round % 4 == 1 { 60 } else { 300 })));
        for worker in &mut workers {
            let ended = worker.try_wait().unwrap();
            assert!(ended.is_none(), "{}", std::fs::read_to_string(dir.path().join("stderr")).unwrap());
            worker.kill().unwrap();
        }
        for worker in &mut workers {
            worker.wait().unwrap();
        }
        kept = check(dir.path());
    }
    total += kept;
    println!("{rounds} rounds; {total} things were acknowledged, and all of them kept");
    assert!(total > 0 || rounds == 0);
}
