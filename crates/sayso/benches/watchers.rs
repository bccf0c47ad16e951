//! What watchers cost `sayso serve`: `cargo bench --bench watchers`.
//!
//! A thousand of each kind follow the record of one server while decisions are made; each must get all of them in
//! order. Memory is the server's resident set, before they came and after they were told.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark that fails stops")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const WATCHERS: usize = 1000;
const DECISIONS: usize = 100;

struct Server {
    child: Child,
    address: String,
    key: String,
    _home: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
        command.args(["serve", "--port", "0"]).env_clear().env("HOME", home.path()).current_dir(home.path());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("Next:") {
            assert_ne!(output.read_line(&mut said).unwrap(), 0, "{said}");
        }
        let (address, rest) = said.split_once("http://").unwrap().1.split_once("/#k=").unwrap();
        let key = rest.split_whitespace().next().unwrap().to_owned();
        // What it says later must not stop it.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Self { child, address: address.to_owned(), key, _home: home }
    }

    fn post(&self, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, length) = (&self.address, body.len());
        write!(stream, "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer
    }

    fn token(&self) -> String {
        let answer = self.post("/v1/session", &format!("{{\"key\":\"{}\"}}", self.key));
        answer.split("\"token\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    fn follow(&self, token: &str, upgrade: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        write!(stream, "GET /v1/stream HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{upgrade}\r\n")
            .unwrap();
        let mut reader = BufReader::with_capacity(4096, stream);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            assert_ne!(reader.read_line(&mut line).unwrap(), 0);
        }
        reader
    }

    /// Kilobytes.
    fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        status.split("VmRSS:").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The number of the next decision, of server-sent events.
fn event(reader: &mut BufReader<TcpStream>) -> usize {
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0);
        if let Some(number) = line.strip_prefix("data: ").and_then(number) {
            return number;
        }
    }
}

/// The same, of frames: the server's are not masked.
fn message(reader: &mut BufReader<TcpStream>) -> usize {
    loop {
        let mut head = [0; 2];
        reader.read_exact(&mut head).unwrap();
        let length = match head[1] {
            126 => {
                let mut long = [0; 2];
                reader.read_exact(&mut long).unwrap();
                usize::from(u16::from_be_bytes(long))
            }
            short => usize::from(short),
        };
        let mut text = vec![0; length];
        reader.read_exact(&mut text).unwrap();
        if let Some(number) = number(&String::from_utf8(text).unwrap()) {
            return number;
        }
    }
}

fn number(record: &str) -> Option<usize> {
    record.split("\"call_id\":\"").nth(1)?.split('"').next()?.parse().ok()
}

fn measure(name: &str, upgrade: &str, next: fn(&mut BufReader<TcpStream>) -> usize) {
    let server = Server::start();
    let token = server.token();
    let decide = |n: usize| server.post("/v1/decisions", &format!("{{\"tool\":\"web_search\",\"call_id\":\"{n}\"}}"));
    // Whatever is made once is there before it is measured.
    let mut first = server.follow(&token, upgrade);
    decide(0);
    assert_eq!(next(&mut first), 0);
    let before = server.memory();
    let mut watchers: Vec<_> = (0..WATCHERS).map(|_| server.follow(&token, upgrade)).collect();
    let came = server.memory();
    let start = Instant::now();
    for n in 1..=DECISIONS {
        decide(n);
    }
    for watcher in &mut watchers {
        for n in 1..=DECISIONS {
            assert_eq!(next(watcher), n);
        }
    }
    let took = start.elapsed();
    let told = server.memory();
    println!(
        "| {name}, {WATCHERS} watchers | {:.1} KiB each, {:.1} KiB after {DECISIONS} records | {} MiB in all | {:.0} ms until all had all |",
        came.saturating_sub(before) as f64 / WATCHERS as f64,
        told.saturating_sub(before) as f64 / WATCHERS as f64,
        told / 1024,
        took.as_secs_f64() * 1000.0,
    );
}

fn main() {
    println!("| what | memory of a watcher | of the server | time |\n|---|---|---|---|");
    measure("server-sent events", "", event);
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    measure("WebSocket", upgrade, message);
}
