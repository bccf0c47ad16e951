//! What remembering costs, measured: `cargo bench -p sayso-gate --bench memory`.
//!
//! Baselines in the same run: one SQLite connection that inserts the same rows, each in a transaction of its own that
//! is synced, and all in one transaction that never is. `docs/benchmarks.md` holds what it printed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark that fails stops")]

use sayso_gate::audit::{Change, Event, Kind, Query, Spool};
use sayso_gate::store::{self, Store};
use sayso_gate::{Asking, Circumstances, Expected, FactsOf, Gate, InForce, Memory, Places, Recorder, Unrecorded};
use sayso_policy::{Actor, Layer, PolicyText, ToolCall, Workspace};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CALLERS: usize = 64;
const FOR: Duration = Duration::from_secs(3);
const COMMANDS: [&str; 4] = ["git log --oneline -n 10 src", "cat README.md | head -20", "cargo test", "ls -la src"];

fn main() {
    // On a real disk: the system's folder for temporary files may be memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let places = Places::below(folder.path(), folder.path());
    let body = one_body(&places);
    println!("{CALLERS} callers, records of {} bytes, {} s each\n", body.len(), FOR.as_secs());
    println!(
        "| what | a second | ratio to single synced inserts | processor time of one | wait: median, 99 %, longest |"
    );
    println!("|---|---|---|---|---|");

    let synced = raw(folder.path(), &body, true);
    let unsynced = raw(folder.path(), &body, false);
    line("SQLite, one insert and one sync at a time", synced, synced, Vec::new());
    line("SQLite, one transaction, never synced", unsynced, synced, Vec::new());

    // `cargo bench --bench memory -- chain`: only the lines that hold the word.
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    let measure = |what: &str, run: &dyn Fn() -> (Rate, Vec<Duration>)| {
        if what.contains(&word) {
            let (rate, waits) = run();
            line(what, rate, synced, waits);
        }
    };
    measure("decisions, not recorded", &|| decisions(&places, || Box::new(Unrecorded)));
    let store = store::open(&places).unwrap();
    measure("decisions, recorded in the chain, synced within 100 ms", &|| {
        decisions(&places, || Box::new(std::sync::Arc::clone(&store)))
    });
    let recorded = store.count(&Query::default()).unwrap();
    measure("changes with their record, synced before they are acknowledged", &|| changes(store.as_ref()));
    measure("decisions while 8 of the callers make such changes", &|| both(&places, &store));
    measure("decisions with limits, synced before they are acknowledged", &|| limited(&places, &store));
    measure("decisions, appended to a spool", &|| decisions(&places, || Box::new(Spool::open(&places).unwrap())));

    let began = Instant::now();
    let verified = store.verify(None).unwrap();
    assert_eq!(verified.problems, []);
    let took = began.elapsed().as_secs_f64();
    println!("\n{recorded} decisions were recorded; {} records verified in {took:.2} s.", verified.records);
}

/// How much was done, and what it took of the processors: that does not depend on who else uses them.
#[derive(Clone, Copy)]
struct Rate {
    each_second: f64,
    cpu: Duration,
}

impl Rate {
    fn of(done: usize, began: Instant, cpu: Duration) -> Self {
        let count = u32::try_from(done).unwrap().max(1);
        Self { each_second: f64::from(count) / began.elapsed().as_secs_f64(), cpu: (cpu_time() - cpu) / count }
    }
}

/// What this process has taken of the processors so far.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

fn line(what: &str, rate: Rate, baseline: Rate, mut waits: Vec<Duration>) {
    let ratio = rate.each_second / baseline.each_second;
    let ratio = if ratio < 10.0 { format!("{ratio:.1} x") } else { format!("{ratio:.0} x") };
    waits.sort();
    let at = |part: f64| waits[((waits.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    let waited = || format!("{:.2} ms, {:.2} ms, {:.1} ms", at(0.5), at(0.99), at(1.0));
    let waited = if waits.is_empty() { String::new() } else { waited() };
    let cpu = rate.cpu.as_nanos() as f64 / 1e3;
    println!("| {what} | {:.0} | {ratio} | {cpu:.1} µs | {waited} |", rate.each_second);
}

fn call(places: &Places, n: usize) -> (ToolCall, Circumstances) {
    let workspace = places.home.join("project");
    let call = ToolCall {
        actor: Actor { agent: Some("claude-code".into()), session: Some(format!("s{}", n % 16)), ..Actor::default() },
        cwd: Some(workspace.clone()),
        workspace: Workspace::new(workspace, Some(&places.home)),
        home: Some(places.home.clone()),
        ..ToolCall::command(COMMANDS[n % COMMANDS.len()])
    };
    let (asking, expected) = (Asking::OwnPrompt, Expected::default());
    (
        call,
        Circumstances {
            way_in: "bench".into(),
            peer: None,
            event: None,
            call_id: None,
            asking,
            expected,
            findings: Vec::new(),
            can_hold: sayso_policy::CanHold::No,
        },
    )
}

/// The line of a typical record.
fn one_body(places: &Places) -> String {
    let gate = Gate::new(InForce::load(places, None).unwrap(), Box::new(Unrecorded));
    let (call, circumstances) = call(places, 0);
    Event::from(gate.judge(call, circumstances.clone(), FactsOf::Gate).settle().record().record).to_line().unwrap()
}

fn raw(folder: &Path, body: &str, sync: bool) -> Rate {
    let path = folder.join(format!("raw-{sync}.db"));
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", if sync { "FULL" } else { "OFF" }).unwrap();
    connection.execute_batch("CREATE TABLE record (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT").unwrap();
    if !sync {
        connection.execute_batch("BEGIN").unwrap();
    }
    let mut insert = connection.prepare("INSERT INTO record (body) VALUES (?1)").unwrap();
    let (began, cpu) = (Instant::now(), cpu_time());
    let mut inserted = 0;
    while began.elapsed() < FOR {
        insert.execute([body]).unwrap();
        inserted += 1;
    }
    Rate::of(inserted, began, cpu)
}

/// Runs callers side by side; tells how many turns they took in a second, and how long each waited.
fn together(turn: impl Fn(usize, usize) -> bool + Sync) -> (Rate, Vec<Duration>) {
    let waits = Mutex::new(Vec::new());
    let stop = AtomicBool::new(false);
    let (began, cpu) = (Instant::now(), cpu_time());
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (turn, waits, stop) = (&turn, &waits, &stop);
            scope.spawn(move || {
                let mut mine = Vec::new();
                let mut n = caller;
                while !stop.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    if turn(caller, n) {
                        mine.push(began.elapsed());
                    }
                    n += CALLERS;
                }
                waits.lock().unwrap().append(&mut mine);
            });
        }
        std::thread::sleep(FOR);
        stop.store(true, Ordering::Relaxed);
    });
    let waits = waits.into_inner().unwrap();
    (Rate::of(waits.len(), began, cpu), waits)
}

fn decisions(places: &Places, recorder: impl Fn() -> Box<dyn Recorder + Send + Sync>) -> (Rate, Vec<Duration>) {
    let gate = Gate::new(InForce::load(places, None).unwrap(), recorder());
    together(|_, n| {
        let (call, circumstances) = call(places, n);
        let judged = gate.judge(call, circumstances.clone(), FactsOf::Gate).settle().record();
        assert!(judged.decision.reasons.iter().all(|reason| reason.code.as_str() != "record-failed"));
        true
    })
}

fn limited(places: &Places, store: &std::sync::Arc<dyn Store>) -> (Rate, Vec<Duration>) {
    let text = "extends = [\"developer\"]\n[limits.session]\ncalls = 100000000\n[limits.day]\ncalls = 1000000000\n";
    let file = PolicyText { layer: Layer::Given, name: "limits.toml".into(), text: text.into(), trusted: true };
    let recorder = Box::new(std::sync::Arc::clone(store));
    let memory = Memory::with(places, std::sync::Arc::clone(store));
    let gate = Gate::new(InForce::given(vec![file]).unwrap(), recorder).with_memory(memory);
    together(|_, n| {
        let (call, circumstances) = call(places, n);
        let judged = gate.judge(call, circumstances.clone(), FactsOf::Gate).settle().record();
        assert!(judged.decision.reasons.iter().all(|reason| reason.code.as_str() != "store-failed"));
        true
    })
}

fn change(store: &dyn Store) {
    store.append(&[Event::from(Change::now(Kind::Grant, "given"))], &[]).unwrap();
}

fn changes(store: &dyn Store) -> (Rate, Vec<Duration>) {
    together(|_, _| {
        change(store);
        true
    })
}

fn both(places: &Places, store: &std::sync::Arc<dyn Store>) -> (Rate, Vec<Duration>) {
    let gate = Gate::new(InForce::load(places, None).unwrap(), Box::new(std::sync::Arc::clone(store)));
    together(|caller, n| {
        if caller < 8 {
            change(store.as_ref());
            return false;
        }
        let (call, circumstances) = call(places, n);
        let _ = gate.judge(call, circumstances.clone(), FactsOf::Gate).settle().record();
        true
    })
}
