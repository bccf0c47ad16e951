//! The budgets of speed and size, measured: `cargo bench`.
//!
//! Every line is a median of this run and stands beside its budget; where there is a natural baseline (a program that
//! does nothing, the same with twenty rules) the ratio to it is printed, because a ratio says more on another machine
//! than microseconds do. `docs/benchmarks.md` holds what it printed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark that fails stops")]

use sayso_gate::{ProcessEnvironment, RealFiles};
use sayso_policy::shell::{Context, Dialect, Environment, Files, MemoryFiles, analyze};
use sayso_policy::{Facts, Layer, Operation, Policy, PolicyText, State, ToolCall, Workspace};
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// 27 bytes, typical.
const SHORT: &str = "git log --oneline -n 10 src";
/// About 80 bytes, the mean of real one-liners.
const LONG: &str = "grep -rn 'fn main' src --include='*.rs' | sort | uniq -c | head -20 && git status";

struct NoVariables;

impl Environment for NoVariables {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

fn main() {
    // `cargo bench -- decisions` measures one part.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    println!("| what | measured | budget | ratio |");
    println!("|---|---|---|---|");
    let work = time(plain);
    line("plain work, to compare machines by", &micros(work), "", "1 x");
    let parts: [(&str, fn()); 4] =
        [("analysis", analysis), ("decisions", decisions), ("compilation", compilation), ("hook", hook)];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            part();
        }
    }
}

fn line(what: &str, measured: &str, budget: &str, ratio: &str) {
    println!("| {what} | {measured} | {budget} | {ratio} |");
}

/// What one call took.
#[derive(Clone, Copy)]
struct Time {
    median: Duration,
    /// That of the quickest twentieth: what is left of it where a machine is shared with others.
    quickest: Duration,
    /// In how much plain work ([`plain`]), done in turns with it: what a faster machine changes least.
    plain: f64,
}

/// Work to compare machines by: allocations, comparisons and a hash, and nothing of Sayso.
fn plain() {
    let words = black_box("the quick brown fox jumps over the lazy dog and runs away from all of it");
    let mut sorted: Vec<String> = words.split(' ').map(str::to_owned).collect();
    sorted.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in sorted.iter().flat_map(|word| word.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    black_box(hash);
}

fn batch(count: u32, mut work: impl FnMut()) -> Duration {
    let began = Instant::now();
    for _ in 0..count {
        work();
    }
    began.elapsed() / count
}

fn middle<T: Copy>(sorted: &[T]) -> T {
    sorted[sorted.len() / 2]
}

/// Measures one call, over batches that are long enough for the clock.
fn time(mut work: impl FnMut()) -> Time {
    batch(200, &mut work);
    let each = batch(100, &mut work);
    let count = (Duration::from_micros(200).as_nanos() / each.as_nanos().max(1)).clamp(1, 5_000) as u32;
    let mut samples = Vec::new();
    let mut ratios = Vec::new();
    for _ in 0..1_001 {
        let beside = batch(200, plain);
        let took = batch(count, &mut work);
        samples.push(took);
        ratios.push(took.as_secs_f64() / beside.as_secs_f64());
    }
    samples.sort();
    ratios.sort_by(f64::total_cmp);
    Time { median: middle(&samples), quickest: samples[samples.len() / 20], plain: middle(&ratios) }
}

fn micros(time: Time) -> String {
    let micros = |time: Duration| time.as_nanos() as f64 / 1_000.0;
    format!("{:.2} µs, quickest {:.2}", micros(time.median), micros(time.quickest))
}

fn beside(time: Time, budget: Duration) -> String {
    format!("{}, {:.1} x plain work", over(time.median, budget), time.plain)
}

fn over(time: Duration, budget: Duration) -> String {
    format!("{:.2} of the budget", time.as_nanos() as f64 / budget.as_nanos() as f64)
}

fn memory() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    files.folder("/app/src");
    files.folder("/home/ann");
    for program in ["git", "grep", "sort", "uniq", "head"] {
        files.program(format!("/usr/bin/{program}"), b"");
    }
    files
}

fn analysis() {
    let files = memory();
    let context = Context {
        cwd: Some(Path::new("/app")),
        home: Some(Path::new("/home/ann")),
        workspace: Some(Path::new("/app")),
        env: &NoVariables,
        files: &files,
        dialect: Dialect::Bash,
    };
    for (name, command, budget) in [("27 bytes", SHORT, 2), ("81 bytes", LONG, 6)] {
        let took = time(|| {
            black_box(analyze(black_box(command.as_bytes()), &context));
        });
        let budget_time = Duration::from_micros(budget);
        line(&format!("parse + effects, {name}"), &micros(took), &format!("{budget} µs"), &beside(took, budget_time));
    }
}

fn call(command: &str, root: &str) -> ToolCall {
    ToolCall {
        cwd: Some(root.into()),
        workspace: Workspace::new(root, Some(Path::new("/home/ann"))),
        home: Some("/home/ann".into()),
        ..ToolCall::command(command.as_bytes())
    }
}

/// A policy of so many rules, all of a kind that might be meant: programs, subcommands, paths, hosts, tools.
fn policy_text(rules: usize) -> String {
    let mut text = String::from(
        "default = \"ask\"\n[allow]\nrun = [\"git {status,log,diff}\", \"grep\", \"sort\", \"uniq\", \"head\"]\n",
    );
    text.push_str("read = [\"./**\"]\n");
    for at in 0..rules.saturating_sub(8) {
        let (verb, pattern) = match at % 5 {
            0 => ("run", format!("program{at} sub --flag")),
            1 => ("run", format!("git made-up-{at}")),
            2 => ("read", format!("/srv/data/{at}/**")),
            3 => ("connect", format!("host{at}.example.org")),
            _ => ("tool", format!("mcp:server{at}/*")),
        };
        writeln!(text, "[[rule]]\nid = \"rule-{at}\"\ndeny = {{ {verb} = \"{pattern}\" }}").unwrap();
    }
    text
}

fn policy(rules: usize) -> Policy {
    policy_of(&policy_text(rules))
}

fn policy_of(text: &str) -> Policy {
    let file = PolicyText { layer: Layer::User, name: "bench.toml".into(), text: text.to_owned(), trusted: true };
    Policy::compile(&[file]).unwrap()
}

fn decisions() {
    let files = memory();
    let facts = Facts { files: &files, env: &NoVariables };
    let (few, many) = (policy(20), policy(10_000));
    let decide = |policy: &Policy, facts: Facts<'_>, operation: &Operation| {
        time(|| {
            let _ = black_box(policy.evaluate(black_box(operation), &State::default(), facts));
        })
    };
    let operation = Operation::new(call(SHORT, "/app"), facts);
    let with_few = decide(&few, facts, &operation);
    let with_many = decide(&many, facts, &operation);
    line(
        "decision, files in memory, 20 rules, beyond the analysis",
        &micros(with_few),
        "2 µs",
        &beside(with_few, Duration::from_micros(2)),
    );
    line(
        "the same with 10,000 rules",
        &micros(with_many),
        "1.25 x",
        &format!("{:.2} x", with_many.plain / with_few.plain),
    );
    let scored = policy_of(&format!("{}[risk]\nask_above = 99\n", policy_text(20)));
    let with_score = decide(&scored, facts, &operation);
    let beyond = with_score.median.saturating_sub(with_few.median);
    line("risk score, beyond the decision", &format!("{:.2} µs", beyond.as_secs_f64() * 1e6), "0.3 µs", "");
    real(&few);
}

/// With real paths and PATH: everything from the text of the command to the decision.
fn real(policy: &Policy) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("src")).unwrap();
    let facts = Facts { files: &RealFiles as &dyn Files, env: &ProcessEnvironment };
    let root = root.to_str().unwrap();
    let took = time(|| {
        let operation = Operation::new(call(SHORT, root), facts);
        let _ = black_box(policy.evaluate(&operation, &State::default(), facts));
    });
    line(
        "decision with real paths and PATH, analysis included",
        &micros(took),
        "30 µs",
        &beside(took, Duration::from_micros(30)),
    );
}

fn compilation() {
    let text = policy_text(10_000);
    let file = PolicyText { layer: Layer::User, name: "bench.toml".into(), text, trusted: true };
    let mut samples: Vec<Duration> = (0..9)
        .map(|_| {
            let began = Instant::now();
            black_box(Policy::compile(std::slice::from_ref(&file)).unwrap());
            began.elapsed()
        })
        .collect();
    samples.sort();
    let took = samples[samples.len() / 2];
    line(
        "compile 10,000 rules",
        &format!("{:.1} ms", took.as_secs_f64() * 1_000.0),
        "100 ms",
        &over(took, Duration::from_millis(100)),
    );
}

/// What programs took, each started again and again in turn with the others.
struct Took {
    wall: Duration,
    cpu: Duration,
    memory: u64,
    faults: u64,
}

impl Took {
    fn shown(&self) -> String {
        format!(
            "{:.2} ms, {:.2} ms of CPU, {:.1} MiB, {} faults",
            self.wall.as_secs_f64() * 1_000.0,
            self.cpu.as_secs_f64() * 1_000.0,
            self.memory as f64 / 1024.0,
            self.faults
        )
    }

    fn times(&self, other: &Self) -> String {
        let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
        format!("{:.2} x ({:.2} x of CPU)", ratio(self.wall, other.wall), ratio(self.cpu, other.cpu))
    }
}

/// From spawn to exit, policy loaded and decision recorded, against a static C program that does nothing.
fn hook() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("nothing.c"), "int main(void) { return 0; }\n").unwrap();
    std::fs::write(at("spawn.c"), include_str!("spawn.c")).unwrap();
    let build = |name: &str, option: &str| {
        let (from, to) = (at(&format!("{name}.c")), at(name));
        let built = Command::new("cc").args(["-O2", option, "-o"]).arg(to).arg(from).status();
        built.is_ok_and(|status| status.success())
    };
    if !build("nothing", "-static") || !build("spawn", "-Wall") {
        line("`sayso-hook`", "not measured: no C compiler with a static library", "2 x", "");
        return;
    }
    let project = at("project");
    std::fs::create_dir(&project).unwrap();
    let input = format!(
        "{{\"session_id\":\"bench\",\"cwd\":{cwd:?},\"permission_mode\":\"default\",\"hook_event_name\":\"PreToolUse\",\
         \"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"{SHORT}\"}},\"tool_use_id\":\"toolu_1\"}}",
        cwd = project.to_str().unwrap()
    );
    std::fs::write(at("input"), input).unwrap();
    let home = |name: &str, text: &str| {
        let home = at(name);
        std::fs::create_dir_all(home.join(".config/sayso")).unwrap();
        std::fs::write(home.join(".config/sayso/policy.toml"), text).unwrap();
        home
    };
    let few = home("few", &policy_text(20));
    let preset = home("preset", "extends = [\"developer\"]\n");
    let many = home("many", &policy_text(10_000));
    // As an installation does. What a linker has just written lies in memory in small pieces, which cost a third more.
    for (built, name) in [(env!("CARGO_BIN_EXE_sayso"), "sayso"), (env!("CARGO_BIN_EXE_sayso-hook"), "sayso-hook")] {
        std::fs::copy(built, at(name)).unwrap();
    }
    let nothing = vec![at("nothing").to_str().unwrap().to_owned()];
    // The words that `install` registers.
    let started = |program: &str, home: &Path| {
        let (program, home) = (at(program), home.to_str().unwrap());
        let words =
            [program.to_str().unwrap(), "hook", "claude-code", "--home", home, "--shell", "bash", "--wait", "590"];
        words.map(str::to_owned).to_vec()
    };
    let hook = |home: &Path| started("sayso-hook", home);
    let spawn = |count: usize, programs: &[&Vec<String>]| spawn(&at("spawn"), &at("input"), count, programs);
    // A policy that changed just now is compiled at each call, until its files have been at rest for two seconds.
    let young = [&few, &many].map(|home| spawn(9, &[&hook(home)]).remove(0));
    std::thread::sleep(Duration::from_millis(2500));
    let (few_hook, preset_hook, many_hook) = (hook(&few), hook(&preset), hook(&many));
    spawn(1, &[&few_hook, &preset_hook, &many_hook]);
    for home in [&few, &preset, &many] {
        assert_eq!(std::fs::read_dir(home.join(".local/state/sayso/compiled")).unwrap().count(), 1);
    }
    let took = spawn(500, &[&nothing, &few_hook, &preset_hook, &many_hook]);
    let [floor, few, preset, many] = took.as_slice() else { unreachable!() };
    // Both programs, in turns of their own: each keeps a compiled copy of the policy, and there is one for a workspace.
    let whole = home("whole", &policy_text(20));
    let whole_hook = started("sayso", &whole);
    spawn(1, &[&whole_hook]);
    std::thread::sleep(Duration::from_millis(2500));
    spawn(1, &[&whole_hook]);
    let both = spawn(500, &[&few_hook, &whole_hook]);
    let [small, whole] = both.as_slice() else { unreachable!() };
    line("a static C program that does nothing", &floor.shown(), "", "1 x");
    line("`sayso-hook`, 20 rules, decision recorded", &few.shown(), "2 x, 10 MiB", &few.times(floor));
    line(
        "the same by `sayso hook`, the whole program",
        &whole.shown(),
        "",
        &format!("{} of `sayso-hook`", whole.times(small)),
    );
    line("`sayso-hook`, preset `developer`", &preset.shown(), "", &preset.times(floor));
    line("`sayso-hook`, 10,000 rules", &many.shown(), "1.25 x of 20 rules", &many.times(few));
    let [young_few, young_many] = young;
    line("`sayso-hook`, 20 rules, just changed", &young_few.shown(), "", &young_few.times(floor));
    line("`sayso-hook`, 10,000 rules, just changed", &young_many.shown(), "", &young_many.times(floor));
}

fn spawn(with: &Path, input: &Path, count: usize, programs: &[&Vec<String>]) -> Vec<Took> {
    let mut command = Command::new(with);
    // As Claude Code does: so its hook knows that nobody else is told of the call, and records each.
    command.env("CLAUDECODE", "1");
    command.arg(count.to_string()).arg(input).stdin(Stdio::null());
    for (at, words) in programs.iter().enumerate() {
        if at > 0 {
            command.arg("--");
        }
        command.args(words.iter());
    }
    let output = command.output().unwrap();
    let took: Vec<Took> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| {
            let numbers: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
            assert!(numbers[4] == 0.0, "exit status {}", numbers[4]);
            Took {
                wall: Duration::from_secs_f64(numbers[0] / 1e6),
                cpu: Duration::from_secs_f64(numbers[1] / 1e6),
                memory: numbers[2] as u64,
                faults: numbers[3] as u64,
            }
        })
        .collect();
    assert_eq!(took.len(), programs.len());
    took
}
