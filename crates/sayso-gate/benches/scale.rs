//! What a million records and ten thousand answers cost, measured: `cargo bench -p sayso-gate --bench scale`.
//!
//! Every line is measured twice in one run, with a small store and with a large one: how long one waits, and what it takes of
//! a processor, which other work beside it changes less. Medians; the ratio is that of the processor's time.
//! `docs/benchmarks.md` holds what it printed. `-- 100000` fills the large one with so many records.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark that fails stops")]

use sayso_gate::approval::{Remember, Reply, Width};
use sayso_gate::audit::{By, Kind, Query, Written};
use sayso_gate::store::{self, Answering, Keep, Store, Watch};
use sayso_gate::{
    Asking, Circumstances, Expected, FactsOf, Gate, InForce, Memory, Otherwise, Places, ProcessEnvironment, RealFiles,
    Record, Recorder, Unrecorded,
};
use sayso_policy::{Actor, Answer, Facts, Layer, Person, PolicyText, ToolCall, Verdict, Workspace};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SMALL: usize = 1_000;
const HOUR: u64 = 60 * 60 * 1000;
const ASKS: &str = "default = \"ask\"\n";

fn main() {
    let large = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(1_000_000);
    let small = World::new("small", SMALL);
    let big = World::new("large", large);
    println!("\n| what | {SMALL} records | {large} records | ratio |\n|---|---|---|---|");
    let line = |what: &str, of: &dyn Fn(&World) -> Took| {
        let (few, many) = (of(&small), of(&big));
        println!("| {what} | {} | {} | {} |", few.shown(), many.shown(), many.ratio(few));
    };
    let now = now_ms();
    let since = |since_ms: u64| Query {
        kinds: vec![Kind::Decision],
        since_ms: Some(since_ms),
        until_ms: Some(now + 1),
        ..Query::default()
    };
    line("decisions counted, as `/v1/status` does", &|w| {
        median(|| {
            std::hint::black_box(w.store.count(&Query { kinds: vec![Kind::Decision], ..Query::default() }).unwrap());
        })
    });
    for (what, week) in [
        ("all counts of a week, as `/v1/audit/counts` does", since((now - 168 * HOUR) / HOUR * HOUR)),
        ("the same from the middle of an hour on", since((now - 140 * HOUR) / HOUR * HOUR + HOUR / 2)),
    ] {
        line(what, &|w| {
            median(|| {
                let asked = Query { verdict: Some(Verdict::Ask), ..week.clone() };
                let _ = (w.store.count(&asked).unwrap(), w.store.count_by(&asked, By::Rule).unwrap());
                let _ = (w.store.count(&week).unwrap(), w.store.over_time(&week, By::Verdict, HOUR).unwrap());
                for by in [By::Verdict, By::Agent, By::Rule, By::Verdict] {
                    let _ = w.store.count_by(&week, by).unwrap();
                }
            })
        });
    }
    for (what, text) in [
        ("a text that stands in the oldest record alone, found", "the-needle-at-0-"),
        ("a text that stands nowhere, not found", "no such text anywhere"),
        ("a text that stands in every record, the latest 50", "cargo"),
    ] {
        line(what, &|w| {
            let query = Query { text: Some(text.into()), limit: Some(50), ..Query::default() };
            median(|| drop(w.store.events(&query).unwrap()))
        });
    }
    line("a call that a remembered yes answers, by a process that opens the store", &|w| {
        median(|| {
            let memory = Memory::of(&w.places);
            assert_eq!(w.judge(&memory, "make granted", Asking::Nobody), Answer::Allow);
        })
    });
    line("the newest records checked", &|w| median(|| assert_eq!(Watch::over(&w.store).newest().unwrap(), None)));
    grants();
    prune(&big);
}

struct World {
    places: Places,
    store: Arc<dyn Store>,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(name: &str, records: usize) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::create_dir_all(folder.path().join("project/.git")).unwrap();
        let places = Places::below(folder.path(), folder.path());
        let store = store::open(&places).unwrap();
        let world = Self { places, store, _folder: folder };
        let began = Instant::now();
        world.grant("make granted");
        world.fill(records);
        while world.store.sketch(1024).unwrap() > 0 {}
        println!("{name}: {records} records in {:.1} s", began.elapsed().as_secs_f64());
        world
    }

    fn project(&self) -> std::path::PathBuf {
        self.places.home.join("project")
    }

    fn fill(&self, records: usize) {
        let template = record(&self.project());
        let (now, agents, rules) = (now_ms(), ["claude-code", "codex", "gemini"], ["readers", "git-push", "secrets"]);
        let mut batch = Vec::new();
        for n in 0..records {
            let mut one = template.clone();
            one.id = format!("{n:012x}-{n:016x}");
            one.time_ms = now - 168 * HOUR + (168 * HOUR / records as u64) * n as u64;
            one.actor.agent = Some(agents[n % 3].to_owned());
            one.actor.session = Some(format!("s{}", n / 100));
            one.verdict = [Verdict::Allow, Verdict::Allow, Verdict::Ask, Verdict::Deny][n % 4];
            one.reasons[0].code = rules[n % 3].to_owned();
            one.command =
                Some(format!("cargo test -p crate-{} -- {}", n % 997, if n == 0 { "the-needle-at-0-" } else { "x" }));
            batch.push(Written::of(one).unwrap());
            if batch.len() == 4096 || n + 1 == records {
                assert!(self.store.record_all(std::mem::take(&mut batch)).iter().all(Result::is_ok));
            }
        }
    }

    fn judge(&self, memory: &Memory, command: &str, asking: Asking) -> Answer {
        gate(memory, ASKS)
            .judge(call(&self.project(), command), circumstances(asking), FactsOf::Gate)
            .settle()
            .record()
            .decision
            .answer
    }

    /// A yes that is remembered.
    fn grant(&self, command: &str) {
        let memory = Memory::with(&self.places, Arc::clone(&self.store));
        let until = Instant::now() + Duration::from_millis(1);
        let _ = self.judge(&memory, command, Asking::Queue { until, otherwise: Otherwise::Nobody });
        let id = self.store.approvals(true, 1).unwrap()[0].question.id.clone();
        let reply = Reply::allow_once().remembered(Remember::Always, Width::Exact);
        let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
        let person = Person::named("ann");
        self.store
            .answer(&Answering {
                id: &id,
                person: &person,
                via: "bench",
                reply: &reply,
                policy: None,
                facts,
                now_ms: now_ms(),
            })
            .unwrap();
    }
}

fn grants() {
    let world = World::new("for answers", 10);
    let memory = Memory::with(&world.places, Arc::clone(&world.store));
    let measure = || median(|| assert_eq!(world.judge(&memory, "make granted", Asking::Nobody), Answer::Allow));
    let anew = || {
        median(|| assert_eq!(world.judge(&Memory::of(&world.places), "make granted", Asking::Nobody), Answer::Allow))
    };
    for n in 0..9 {
        world.grant(&format!("make other-{n}"));
    }
    let (few, few_anew) = (measure(), anew());
    for n in 0..9_990 {
        world.grant(&format!("make another-{n}"));
    }
    let (many, many_anew) = (measure(), anew());
    println!("\n| what | 10 answers | 10,000 answers | ratio |\n|---|---|---|---|");
    println!("| a call that one of them answers | {} | {} | {} |", few.shown(), many.shown(), many.ratio(few));
    println!(
        "| the same, by a process that opens the store | {} | {} | {} |",
        few_anew.shown(),
        many_anew.shown(),
        many_anew.ratio(few_anew)
    );
}

fn prune(world: &World) {
    let size = || std::fs::metadata(world.places.state.join("sayso.db")).unwrap().len() / (1024 * 1024);
    let (before, began, cpu) = (size(), Instant::now(), cpu_time());
    let pruned = world.store.prune(Keep::Last(1000), "bench").unwrap();
    println!(
        "\n{} records pruned in {:.1} s ({:.1} s of CPU); the file had {before} MiB, it has {} MiB.",
        pruned.records,
        began.elapsed().as_secs_f64(),
        (cpu_time() - cpu).as_secs_f64(),
        size()
    );
}

fn gate(memory: &Memory, policy: &str) -> Gate {
    let file = PolicyText { layer: Layer::Given, name: "p.toml".into(), text: policy.to_owned(), trusted: true };
    Gate::new(InForce::given(vec![file]).unwrap(), Box::new(Unrecorded)).with_memory(memory.clone())
}

fn call(project: &Path, command: &str) -> ToolCall {
    let mut call = ToolCall::command(command);
    call.actor = Actor { agent: Some("claude-code".into()), session: Some("s".into()), ..Actor::default() };
    call.cwd = Some(project.to_owned());
    call.workspace = Workspace::new(project.to_owned(), None);
    call
}

fn circumstances(asking: Asking) -> Circumstances {
    let (peer, event, call_id, expected) = (None, None, None, Expected::default());
    Circumstances {
        way_in: "bench".into(),
        peer,
        event,
        call_id,
        asking,
        expected,
        findings: Vec::new(),
        can_hold: sayso_policy::CanHold::No,
    }
}

/// A typical record.
fn record(project: &Path) -> Record {
    let text = "extends = [\"developer\"]\n".to_owned();
    let file = PolicyText { layer: Layer::Given, name: "p.toml".into(), text, trusted: true };
    let gate = Gate::new(InForce::given(vec![file]).unwrap(), Box::new(Unrecorded));
    gate.judge(call(project, "cargo test"), circumstances(Asking::OwnPrompt), FactsOf::Gate).settle().record().record
}

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

/// What something took: of the clock, and of the processors.
#[derive(Clone, Copy)]
struct Took {
    clock: Duration,
    cpu: Duration,
}

impl Took {
    fn shown(self) -> String {
        format!("{:.2} ms ({:.2} ms of CPU)", self.clock.as_secs_f64() * 1e3, self.cpu.as_secs_f64() * 1e3)
    }

    fn ratio(self, to: Self) -> String {
        format!("{:.1} x", self.cpu.as_secs_f64() / to.cpu.as_secs_f64().max(1e-9))
    }
}

fn median(mut work: impl FnMut()) -> Took {
    work();
    let (mut clocks, mut cpus): (Vec<Duration>, Vec<Duration>) = (0..15)
        .map(|_| {
            let (began, cpu) = (Instant::now(), cpu_time());
            work();
            (began.elapsed(), cpu_time() - cpu)
        })
        .unzip();
    clocks.sort();
    cpus.sort();
    Took { clock: clocks[clocks.len() / 2], cpu: cpus[cpus.len() / 2] }
}

/// What this thread has taken of the processors so far.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}
