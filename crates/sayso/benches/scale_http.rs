//! What the page asks a server over HTTP, with a thousand records and with a million: `cargo bench --bench scale_http`.
//!
//! The whole way is measured, from a request on a connection that is kept to the last byte of its answer. Medians and the longest
//! of a hundred. `-- 100000` fills the large store with so many records. What the store itself takes is in `scale` of `sayso-gate`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark that fails stops")]

use sayso_gate::audit::Written;
use sayso_gate::{Asking, Circumstances, FactsOf, Gate, InForce, Places, Record, Unrecorded, store};
use sayso_policy::{Actor, Layer, PolicyText, ToolCall, Verdict, Workspace};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SMALL: usize = 1_000;
const HOUR: u64 = 60 * 60 * 1000;
const TIMES: usize = 100;
const ADDRESSES: [(&str, &str); 4] = [
    ("the status", "/v1/status"),
    ("all counts of a week", "/v1/audit/counts"),
    ("a text that stands nowhere", "/v1/audit?text=no%20such%20text%20anywhere"),
    ("the latest 50 records", "/v1/audit?limit=50"),
];

fn main() {
    let large = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(1_000_000);
    let (mut small, mut big) = (Served::with(SMALL), Served::with(large));
    println!("\n| what | {SMALL} records: median, longest | {large} records: median, longest |\n|---|---|---|");
    for (what, address) in ADDRESSES {
        println!("| {what}, `{address}` | {} | {} |", small.measure(address), big.measure(address));
    }
}

/// A server over a store with so many records, and a connection to it.
struct Served {
    child: Child,
    connection: BufReader<TcpStream>,
    token: String,
    // Read no further: what it says later goes into the pipe.
    _output: BufReader<std::process::ChildStdout>,
    _folder: tempfile::TempDir,
}

impl Served {
    fn with(records: usize) -> Self {
        // On a real disk: the system's folder for temporary files may be memory.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fill(folder.path(), records);
        let mut serve = Command::new(env!("CARGO_BIN_EXE_sayso"));
        serve.args(["serve", "--port", "0"]).env("HOME", folder.path()).current_dir(folder.path());
        let mut child = serve.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("#k=") {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the server says where it listens");
        }
        let address = line.split("http://").nth(1).unwrap();
        let (host, key) = address.split_once("/#k=").unwrap();
        let key = key.split_whitespace().next().unwrap();
        let connection = BufReader::new(TcpStream::connect(host).unwrap());
        let mut served = Self { child, connection, token: String::new(), _output: output, _folder: folder };
        let body = format!("{{\"key\":\"{key}\"}}");
        let told = served.send(&format!(
            "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
        served.token = told["token"].as_str().unwrap().to_owned();
        served
    }

    fn measure(&mut self, address: &str) -> String {
        let request =
            format!("GET {address} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", self.token);
        let mut waits: Vec<Duration> = (0..TIMES)
            .map(|_| {
                let began = Instant::now();
                self.send(&request);
                began.elapsed()
            })
            .collect();
        waits.sort();
        let shown = |wait: Duration| format!("{:.2} ms", wait.as_secs_f64() * 1e3);
        format!("{}, {}", shown(waits[TIMES / 2]), shown(waits[TIMES - 1]))
    }

    /// Sends a request and reads the body of its answer, which must be a good one.
    fn send(&mut self, request: &str) -> Vec<u8> {
        self.connection.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut line, mut length, mut first) = (String::new(), 0, true);
        loop {
            line.clear();
            assert!(self.connection.read_line(&mut line).unwrap() > 0, "the server hung up");
            assert!(!std::mem::take(&mut first) || line.contains(" 200 "), "{request}\n{line}");
            let (name, value) = line.trim_end().split_once(": ").unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.connection.read_exact(&mut body).unwrap();
        body
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn fill(home: &Path, records: usize) {
    let places = Places::below(home, home);
    let store = store::open(&places).unwrap();
    let (template, now) = (record(home), now_ms());
    let mut batch = Vec::new();
    for n in 0..records {
        let mut one = template.clone();
        one.id = format!("{n:012x}-{n:016x}");
        one.time_ms = now - 168 * HOUR + (168 * HOUR / records as u64) * n as u64;
        one.actor.session = Some(format!("s{}", n / 100));
        one.verdict = [Verdict::Allow, Verdict::Allow, Verdict::Ask, Verdict::Deny][n % 4];
        one.command = Some(format!("cargo test -p crate-{}", n % 997));
        batch.push(Written::of(one).unwrap());
        if batch.len() == 4096 || n + 1 == records {
            assert!(store.record_all(std::mem::take(&mut batch)).iter().all(Result::is_ok));
        }
    }
    while store.sketch(1024).unwrap() > 0 {}
}

/// A typical record.
fn record(home: &Path) -> Record {
    let text = "extends = [\"developer\"]\n".to_owned();
    let file = PolicyText { layer: Layer::Given, name: "p.toml".into(), text, trusted: true };
    let gate = Gate::new(InForce::given(vec![file]).unwrap(), Box::new(Unrecorded));
    let mut call = ToolCall::command("cargo test");
    call.actor = Actor { agent: Some("claude-code".into()), ..Actor::default() };
    call.cwd = Some(home.to_owned());
    call.workspace = Workspace::new(home.to_owned(), None);
    gate.judge(call, Circumstances::of("bench".to_owned(), Asking::OwnPrompt), FactsOf::Gate).settle().record().record
}

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}
