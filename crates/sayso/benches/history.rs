//! What `sayso history` costs: `cargo bench --bench history`.
//!
//! Transcripts of 100 MB with results as long as real ones, and 40,000 calls of a team: half of them differ. What is told is CPU
//! time, which other work on the machine changes least; budgets are 3 s for the first and 20,000 calls a second for the second.

#![allow(clippy::unwrap_used, reason = "a benchmark that fails stops")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Clock ticks a second in `/proc`, as Linux tells them.
const TICKS: f64 = 100.0;
const COMMANDS: [&str; 8] = [
    "cd /home/dev/app && cargo test 2>&1 | tail -20",
    "git status --short && git diff HEAD~1 -- src/N.rs",
    "rg -n 'fn N' crates | head",
    "terraform plan -out=N.plan",
    "python3 scripts/N.py --fast",
    "npx tsc --noEmit -p packages/N",
    "gh api repos/acme/app/pulls/N/comments",
    "docker compose up -d webN",
];

fn main() {
    let large = measured(4_000, 25_000);
    println!("history of {:.0} MB, {} calls: {:.2} s of CPU (budget 3 s)", large.1, 4_000, large.0);
    let many = measured(40_000, 200);
    println!(
        "history of {:.0} MB, {} calls: {:.0} calls a second of CPU (budget 20,000)",
        many.1,
        40_000,
        40_000.0 / many.0
    );
}

/// Seconds of CPU, and megabytes that were read.
fn measured(calls: usize, result: usize) -> (f64, f64) {
    let home = tempfile::tempdir().unwrap();
    let bytes = transcript(home.path(), calls, result);
    let before = of_children();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
    command.args(["history", "--json", "--policy", "preset:developer"]).env("HOME", home.path());
    let status = command.current_dir(home.path()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{status}");
    (of_children() - before, bytes / 1e6)
}

fn transcript(home: &Path, calls: usize, result: usize) -> f64 {
    let folder = home.join(".claude/projects/-home-dev-app");
    std::fs::create_dir_all(&folder).unwrap();
    let long = "x".repeat(result);
    let mut text = String::new();
    for (n, command) in (0..calls).zip(COMMANDS.iter().cycle()) {
        let command = command.replace('N', &(n % (calls / 2)).to_string());
        let common = "\"sessionId\":\"s\",\"cwd\":\"/home/dev/app\",\"timestamp\":\"2026-11-15T12:02:36.528Z\"";
        writeln!(text, "{{{common},\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"Bash\",\"input\":{{\"command\":\"{command}\"}}}}]}}}}").unwrap();
        writeln!(text, "{{{common},\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"{long}\"}}]}}}}").unwrap();
    }
    std::fs::write(folder.join("s.jsonl"), &text).unwrap();
    text.len() as f64
}

/// CPU time of children that have ended, in seconds.
fn of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    let ticks = rest.split(' ').skip(13).take(2).map(|it| it.parse::<f64>().unwrap());
    ticks.sum::<f64>() / TICKS
}
