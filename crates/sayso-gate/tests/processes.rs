//! Several processes with many threads each: limits are never overspent, each question is answered once, and a yes or
//! a grant is used as often as it may be.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::approval::{Reply, Standing};
use sayso_gate::audit::{Event, Kind, Query};
use sayso_gate::policy::{self, Putting};
use sayso_gate::store::{self, Answering};
use sayso_gate::{
    Asking, Circumstances, Error, Expected, FactsOf, Gate, InForce, Memory, Otherwise, Places, ProcessEnvironment,
    RealFiles, Unrecorded,
};
use sayso_policy::{Answer, Facts, Layer, Person, PolicyText, ToolCall, Workspace};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const PROCESSES: usize = 3;
const THREADS: usize = 6;
const POLICY: &str = "default = \"ask\"\n[allow]\nrun = [\"echo\"]\n[limits.session]\ncalls = 40\ntokens = 1000\n";

fn gate(dir: &Path) -> (Gate, Memory) {
    let memory = Memory::of(&Places::below(&dir.join("home"), dir));
    let file = PolicyText { layer: Layer::Given, name: "t.toml".into(), text: POLICY.into(), trusted: true };
    (Gate::new(InForce::given(vec![file]).unwrap(), Box::new(Unrecorded)).with_memory(memory.clone()), memory)
}

fn call(command: &str) -> ToolCall {
    let mut call = ToolCall::tool("Bash", serde_json::json!({ "command": command }));
    call.cwd = Some("/nonexistent/w".into());
    call.workspace = Workspace::new("/nonexistent/w", None);
    call.actor.session = Some("s".to_owned());
    call.actor.agent = Some("coder".to_owned());
    call
}

fn circumstances(asking: Asking) -> Circumstances {
    let expected = Expected { input_tokens: 10, ..Expected::default() };
    Circumstances {
        way_in: "test".into(),
        peer: None,
        event: None,
        call_id: None,
        asking,
        expected,
        findings: Vec::new(),
        can_hold: sayso_policy::CanHold::No,
    }
}

/// How many of this process's threads succeeded, all at once.
fn crowd(one: impl Fn(usize) -> usize + Sync) -> usize {
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (one, done) = (&one, &done);
            scope.spawn(move || done.fetch_add(one(thread), Ordering::SeqCst));
        }
    });
    done.load(Ordering::SeqCst)
}

/// Not a test of its own: the other processes run it, and say how often they succeeded.
#[test]
fn worker() {
    let (Ok(job), Ok(dir)) = (std::env::var("SAYSO_TEST_JOB"), std::env::var("SAYSO_TEST_DIR")) else { return };
    let dir = Path::new(&dir);
    // All begin together.
    while !dir.join("go").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let me = std::process::id();
    let done = match job.as_str() {
        "calls" => crowd(|thread| {
            let (gate, _) = gate(dir);
            let allowed = |n: &i32| {
                let judged = gate
                    .judge(call(&format!("echo {me} {thread} {n}")), circumstances(Asking::Nobody), FactsOf::Gate)
                    .settle()
                    .record();
                judged.decision.answer == Answer::Allow
            };
            (0..6).filter(allowed).count()
        }),
        "answers" => crowd(|thread| {
            let (_, memory) = gate(dir);
            let id = std::fs::read_to_string(dir.join("question")).unwrap();
            let reply = if thread % 2 == 0 { Reply::allow_once() } else { Reply::deny() };
            let answer = Answering {
                id: &id,
                person: &Person::named(format!("p{me}-{thread}")),
                via: "test",
                reply: &reply,
                policy: None,
                facts: Facts { files: &RealFiles, env: &ProcessEnvironment },
                now_ms: now(),
            };
            usize::from(memory.store().unwrap().answer(&answer).is_ok())
        }),
        "uses" => crowd(|_| {
            let (gate, _) = gate(dir);
            usize::from(
                gate.judge(call("make x"), circumstances(Asking::Nobody), FactsOf::Gate)
                    .settle()
                    .record()
                    .permit
                    .is_some(),
            )
        }),
        "policies" => crowd(|thread| {
            let places = Places::below(&dir.join("home"), dir);
            let base = std::fs::read_to_string(dir.join("base")).unwrap();
            let text = format!("# {me} {thread}\n{POLICY}");
            let putting = Putting { by: "ann", from: None, base: Some(&base) };
            match policy::put(&places, store::open(&places).unwrap().as_ref(), None, &text, &putting) {
                Ok(_) => 1,
                Err(Error::OtherVersion(_)) => 0,
                Err(error) => panic!("{error}"),
            }
        }),
        other => panic!("{other}"),
    };
    println!("\nDONE {done}");
}

fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// How often all processes together succeeded.
fn processes(dir: &Path, job: &str) -> usize {
    let _ = std::fs::remove_file(dir.join("go"));
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "worker", "--nocapture"])
                .env("SAYSO_TEST_JOB", job)
                .env("SAYSO_TEST_DIR", dir)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    std::thread::sleep(Duration::from_millis(200));
    std::fs::write(dir.join("go"), "").unwrap();
    let done = |child: std::process::Child| {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        let line = text.lines().find_map(|line| line.strip_prefix("DONE ")).expect("a count");
        line.parse::<usize>().unwrap()
    };
    children.into_iter().map(done).sum()
}

/// Puts the question of `make x`.
fn question(dir: &Path) -> String {
    let (gate, memory) = gate(dir);
    let asking = Asking::Queue { until: Instant::now(), otherwise: Otherwise::Nobody };
    let _ = gate.judge(call("make x"), circumstances(asking), FactsOf::Gate).settle().record();
    memory.store().unwrap().approvals(true, 10).unwrap().remove(0).question.id
}

#[test]
fn processes_together_never_overspend() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(processes(dir.path(), "calls"), 40);
    let used = gate(dir.path()).1.store().unwrap().used(now()).unwrap();
    assert_eq!((used[0].usage.calls, used[0].usage.input_tokens), (40, 400));
}

#[test]
fn a_question_is_answered_once_whoever_answers() {
    let dir = tempfile::tempdir().unwrap();
    let id = question(dir.path());
    std::fs::write(dir.path().join("question"), &id).unwrap();
    assert_eq!(processes(dir.path(), "answers"), 1);
    let approval = gate(dir.path()).1.store().unwrap().approval(&id).unwrap().unwrap();
    assert_eq!(approval.answers.len(), 1);
    assert!(matches!(approval.standing, Standing::Approved | Standing::Denied));
}

#[test]
fn of_changes_made_from_one_version_of_the_policy_one_is_written_and_the_version_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let places = Places::below(&dir.path().join("home"), dir.path());
    std::fs::create_dir_all(places.user.parent().unwrap()).unwrap();
    std::fs::write(&places.user, POLICY).unwrap();
    let base = InForce::load(&places, None).unwrap().policy.version().to_owned();
    std::fs::write(dir.path().join("base"), &base).unwrap();
    assert_eq!(processes(dir.path(), "policies"), 1);

    let store = store::open(&places).unwrap();
    let changes = store.events(&Query { kinds: vec![Kind::Policy], ..Query::default() }).unwrap();
    let activated = |event: &&Event| matches!(event, Event::Change(change) if change.what == "activated");
    assert_eq!(changes.iter().map(|chained| &chained.event).filter(activated).count(), 1, "nor is one recorded");
    // It has judged nothing, and can be gone back to all the same.
    let was = policy::find(store.as_ref(), &base).unwrap();
    assert_eq!(was.files[0].text, POLICY);
    let putting = Putting { by: "ann", from: Some(&base), base: None };
    let put = policy::put(&places, store.as_ref(), None, &was.files[0].text, &putting).unwrap();
    assert_eq!(put.in_force.version, base);
}

#[test]
fn a_program_that_does_not_let_go_of_the_policy_stops_a_change_and_not_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let places = Places::below(&dir.path().join("home"), dir.path());
    let held = std::fs::File::create(places.own_folder("").unwrap().join("policy.lock")).unwrap();
    held.lock().unwrap();
    let putting = Putting { by: "ann", from: None, base: None };
    let store = store::open(&places).unwrap();
    let put = policy::put(&places, store.as_ref(), None, POLICY, &putting);
    assert!(matches!(put, Err(Error::PolicyBusy(_))), "{put:?}");
    assert!(!places.user.exists(), "nothing was written");
    held.unlock().unwrap();
    policy::put(&places, store.as_ref(), None, POLICY, &putting).unwrap();
}

#[test]
fn a_yes_runs_one_call_of_all_processes() {
    let dir = tempfile::tempdir().unwrap();
    let id = question(dir.path());
    let (_, memory) = gate(dir.path());
    let answer = Answering {
        id: &id,
        person: &Person::named("ann"),
        via: "test",
        reply: &Reply::allow_once(),
        policy: None,
        facts: Facts { files: &RealFiles, env: &ProcessEnvironment },
        now_ms: now(),
    };
    memory.store().unwrap().answer(&answer).unwrap();
    assert_eq!(processes(dir.path(), "uses"), 1);
}
