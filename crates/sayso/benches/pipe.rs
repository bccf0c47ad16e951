//! What `sayso acp` adds to a pipe: `cargo bench --bench pipe`.
//!
//! A client writes a message to a program that says it back, once through a direct pipe and once through the proxy,
//! in turns in the same run, so that both meet the same machine. Then a million messages, and what they leave in
//! memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark that fails stops")]

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The program on the far side.
const ECHO: &str = "cat";

fn main() {
    let folder = tempfile::tempdir().unwrap();
    println!("| what | direct | through the proxy | added | budget | ratio |");
    println!("|---|---|---|---|---|---|");
    for (name, message, rounds, budget) in [
        ("round trip, small message", message(60), 30_000, "20 µs"),
        ("round trip, 64 KB", message(64 * 1024), 4_000, ""),
        ("round trip, told call (recorded when it ends)", call(), 10_000, ""),
    ] {
        let mut direct = Echo::direct();
        let mut through = Echo::through(&folder);
        let (mut plain, mut guarded) = (Vec::new(), Vec::new());
        for turn in 0..rounds {
            let (one, two) = (direct.round(&message), through.round(&message));
            if turn > rounds / 10 {
                plain.push(one);
                guarded.push(two);
            }
        }
        let (plain, guarded) = (median(plain), median(guarded));
        println!(
            "| {name} | {} | {} | {} | {budget} | {:.2} x |",
            micros(plain),
            micros(guarded),
            micros(guarded.saturating_sub(plain)),
            guarded.as_secs_f64() / plain.as_secs_f64()
        );
    }
    million(&folder);
}

fn million(folder: &tempfile::TempDir) {
    let mut through = Echo::through(folder);
    let small = message(60);
    let block = small.repeat(100);
    let mut memory = Vec::new();
    let began = Instant::now();
    for turn in 0..10_000 {
        through.round(&block);
        if turn % 1_000 == 100 {
            memory.push(through.memory());
        }
    }
    let each = began.elapsed() / 1_000_000;
    println!(
        "\nA million messages, a hundred at a time: {} each. Memory of the proxy after 10,000 messages {} KiB, at the end {} KiB.",
        micros(each),
        memory[0],
        through.memory()
    );
}

/// A client's line; what comes back is the agent's.
fn message(size: usize) -> Vec<u8> {
    let text = "x".repeat(size);
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s-1\",\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}}}}}\n").into_bytes()
}

fn call() -> Vec<u8> {
    b"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"c-1\",\"title\":\"ls\",\"rawInput\":{\"command\":\"ls -la\"},\"status\":\"in_progress\"}}}\n".to_vec()
}

struct Echo {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    buffer: Vec<u8>,
}

impl Echo {
    fn direct() -> Self {
        Self::start(&mut Command::new(ECHO))
    }

    fn through(folder: &tempfile::TempDir) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
        command.args(["acp", "--policy", "preset:developer", "--", ECHO]).env("HOME", folder.path());
        Self::start(&mut command)
    }

    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output, buffer: vec![0; 256 * 1024] }
    }

    /// Writes everything and reads as much back.
    fn round(&mut self, message: &[u8]) -> Duration {
        let began = Instant::now();
        self.input.write_all(message).unwrap();
        let mut left = message.len();
        while left > 0 {
            let room = left.min(self.buffer.len());
            let count = self.output.read(&mut self.buffer[..room]).unwrap();
            assert!(count > 0, "the pipe ended");
            left -= count;
        }
        began.elapsed()
    }

    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn micros(time: Duration) -> String {
    format!("{:.2} µs", time.as_nanos() as f64 / 1_000.0)
}
