//! A process that carries out a plan is killed between two steps, again and again: no step runs twice by its grant.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::approval::Reply;
use sayso_gate::plan::PlannedCall;
use sayso_gate::store::Answering;
use sayso_gate::{
    Asking, Circumstances, FactsOf, Gate, InForce, Memory, Places, ProcessEnvironment, RealFiles, Unrecorded,
};
use sayso_policy::{Facts, Layer, Person, PolicyText, ToolCall, Workspace};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const STEPS: usize = 12;

fn gate(dir: &Path) -> (Gate, Memory) {
    let memory = Memory::of(&Places::below(&dir.join("home"), dir));
    let text = "default = \"ask\"\n".to_owned();
    let file = PolicyText { layer: Layer::Given, name: "t.toml".into(), text, trusted: true };
    (Gate::new(InForce::given(vec![file]).unwrap(), Box::new(Unrecorded)).with_memory(memory.clone()), memory)
}

fn call(step: usize) -> ToolCall {
    let mut call = ToolCall::command(format!("make step{step}").as_bytes());
    call.cwd = Some("/nonexistent/w".into());
    call.workspace = Workspace::new("/nonexistent/w", None);
    call.actor.session = Some("s".to_owned());
    call.actor.agent = Some("coder".to_owned());
    call
}

/// Not a test of its own: the process that is killed. It tries the whole plan from its beginning, as an agent would that
/// forgot how far it came, and writes down what it was told to run.
#[test]
fn worker() {
    let Ok(dir) = std::env::var("SAYSO_TEST_PLAN") else { return };
    let dir = Path::new(&dir);
    let (gate, _) = gate(dir);
    let mut ran = std::fs::OpenOptions::new().append(true).create(true).open(dir.join("ran")).unwrap();
    for step in 0..STEPS {
        let judged =
            gate.judge(call(step), Circumstances::of("test".into(), Asking::Nobody), FactsOf::Gate).settle().record();
        if let Some(permit) = judged.permit {
            permit.spend(|| ran.write_all(format!("{step}\n").as_bytes())).unwrap();
        }
    }
}

#[test]
fn no_step_runs_twice_however_often_its_runner_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let (gate, memory) = gate(dir.path());
    let calls: Vec<PlannedCall> =
        (0..STEPS).map(|step| PlannedCall { call: call(step), env: Box::new(ProcessEnvironment) }).collect();
    let plan = gate.submit_plan(&calls, "test").unwrap().plan;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let answer = Answering {
        id: &plan.id,
        person: &Person::named("ann"),
        via: "test",
        reply: &Reply::allow_once(),
        policy: None,
        facts: Facts { files: &RealFiles, env: &ProcessEnvironment },
        now_ms: u64::try_from(now).unwrap(),
    };
    memory.store().unwrap().answer(&answer).unwrap();
    let run = |kill: Option<Duration>| {
        let mut worker = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "worker", "--test-threads", "1"])
            .env("SAYSO_TEST_PLAN", dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        if let Some(after) = kill {
            std::thread::sleep(after);
            worker.kill().unwrap();
        }
        worker.wait().unwrap()
    };
    let ran = || std::fs::read_to_string(dir.path().join("ran")).unwrap_or_default();
    let mut killed_midway = 0;
    for round in 0..40_u64 {
        run(Some(Duration::from_millis(5 + round * 3)));
        let lines = ran().lines().count();
        killed_midway += usize::from(lines > 0 && lines < STEPS);
    }
    run(None);
    let ran: Vec<usize> = ran().lines().map(|line| line.parse().unwrap()).collect();
    let once: std::collections::BTreeSet<usize> = ran.iter().copied().collect();
    assert_eq!(once.len(), ran.len(), "no step ran twice: {ran:?}");
    assert!(ran.is_sorted(), "in order: {ran:?}");
    assert!(killed_midway > 0, "no kill fell between two steps, so this has shown nothing");
    // A step whose grant was used up but whose runner died before it ran is lost, and stays so.
    for step in 0..STEPS {
        let judged =
            gate.judge(call(step), Circumstances::of("test".into(), Asking::Nobody), FactsOf::Gate).settle().record();
        assert!(judged.permit.is_none(), "step {step} has no grant left");
    }
}
