//! What `sayso mcp` adds to a round trip: `cargo bench --bench gateway`.
//!
//! A client asks a server directly and through the gateway, in turns in the same run, over standard input and output
//! and over HTTP. Then a million judged calls, and what they leave in memory. The server is this very program.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark that fails stops")]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
const CALL: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"words\":\"hello\"}}}\n";
const TOOLS: &str = "{\"tools\":[{\"name\":\"echo\",\"description\":\"Says it back.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"words\":{\"type\":\"string\"}},\"required\":[\"words\"]}}]}";

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("server") => lines(),
        Some("web") => web(),
        _ => measure(),
    }
}

// --- the server --------------------------------------------------------------------------------------------------

fn answer(line: &str) -> Option<String> {
    let id = line.split_once("\"id\":")?.1.split([',', '}']).next()?;
    let result = match line {
        list if list.contains("tools/list") => TOOLS,
        call if call.contains("tools/call") => "{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}",
        _ => "{}",
    };
    Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"))
}

fn lines() {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if let Some(answer) = answer(&line) {
            out.write_all(answer.as_bytes()).unwrap();
            out.flush().unwrap();
        }
    }
}

fn web() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    for stream in listener.incoming().map_while(Result::ok) {
        std::thread::spawn(move || {
            stream.set_nodelay(true).unwrap();
            let mut out = stream.try_clone().unwrap();
            let mut reader = BufReader::new(stream);
            while let Some(body) = message(&mut reader) {
                let body = answer(&body).unwrap_or_default();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                out.write_all((head + &body).as_bytes()).unwrap();
            }
        });
    }
}

/// The body of a request or an answer.
fn message(reader: &mut impl BufRead) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}

// --- the client --------------------------------------------------------------------------------------------------

trait Peer {
    fn round(&mut self, message: &str) -> Duration;
}

struct Lines {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Lines {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut this = Self { child, input, output, line: String::new() };
        this.round(&PING.replace("ping", "tools/list"));
        this
    }

    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

impl Peer for Lines {
    fn round(&mut self, message: &str) -> Duration {
        let began = Instant::now();
        self.input.write_all(message.as_bytes()).unwrap();
        self.line.clear();
        self.output.read_line(&mut self.line).unwrap();
        assert!(self.line.contains("\"result\"") && !self.line.contains("isError"), "{}", self.line);
        began.elapsed()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Web {
    reader: BufReader<TcpStream>,
    out: TcpStream,
    host: String,
}

impl Web {
    fn connect(host: &str) -> Self {
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(host).is_err() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        let stream = TcpStream::connect(host).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut this = Self { out: stream.try_clone().unwrap(), reader: BufReader::new(stream), host: host.to_owned() };
        this.round(&PING.replace("ping", "tools/list"));
        this
    }
}

impl Peer for Web {
    fn round(&mut self, body: &str) -> Duration {
        let began = Instant::now();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        self.out.write_all((head + body).as_bytes()).unwrap();
        let answer = message(&mut self.reader).unwrap();
        assert!(answer.contains("\"result\"") && !answer.contains("isError"), "{answer}");
        began.elapsed()
    }
}

fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.toml");
    std::fs::write(&policy, "[allow]\ntool = [\"mcp:bench/*\"]\n").unwrap();
    let me = std::env::current_exe().unwrap();
    let gateway = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
        command.args(["mcp", "--name", "bench", "--policy"]).arg(&policy).env("HOME", folder.path());
        command
    };
    println!("| what | direct | through the gateway | added | budget | ratio |");
    println!("|---|---|---|---|---|---|");
    for (name, message, rounds, budget) in [
        ("stdio, small message (ping)", PING, 30_000, "20 µs"),
        ("stdio, call: checked, judged, recorded", CALL, 10_000, ""),
    ] {
        let mut direct = Lines::start(Command::new(&me).arg("server"));
        let mut through = Lines::start(gateway().arg("--").arg(&me).arg("server"));
        compare(name, message, rounds, budget, &mut direct, &mut through);
    }

    let mut server = Command::new(&me).arg("web").stdout(Stdio::piped()).spawn().unwrap();
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let upstream = format!("127.0.0.1:{}", port.trim());
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut proxy = gateway().args(["--url", &format!("http://{upstream}/mcp"), "--listen", &free]).spawn().unwrap();
    for (name, message) in [("HTTP, small message (ping)", PING), ("HTTP, call: checked, judged, recorded", CALL)] {
        compare(name, message, 5_000, "", &mut Web::connect(&upstream), &mut Web::connect(&free));
    }
    for child in [&mut proxy, &mut server] {
        let _ = child.kill();
        let _ = child.wait();
    }

    let mut through = Lines::start(gateway().arg("--").arg(&me).arg("server"));
    let spool = folder.path().join(".local/state/sayso/spool/current.jsonl");
    let began = Instant::now();
    let mut early = 0;
    for turn in 0..1_000_000 {
        through.round(CALL);
        if turn % 50_000 == 0 {
            // A server would fold them; a disk of a test machine need not hold a million records.
            let _ = std::fs::remove_file(&spool);
        }
        if turn == 20_000 {
            early = through.memory();
        }
    }
    let each = began.elapsed() / 1_000_000;
    println!(
        "\nA million judged and recorded calls: {} each. Memory of the gateway after 20,000 {early} KiB, at the end {} KiB.",
        micros(each),
        through.memory()
    );
}

fn compare(name: &str, message: &str, rounds: usize, budget: &str, direct: &mut dyn Peer, through: &mut dyn Peer) {
    let (mut plain, mut guarded) = (Vec::new(), Vec::new());
    for turn in 0..rounds {
        let (one, two) = (direct.round(message), through.round(message));
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

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn micros(time: Duration) -> String {
    format!("{:.2} µs", time.as_nanos() as f64 / 1_000.0)
}
