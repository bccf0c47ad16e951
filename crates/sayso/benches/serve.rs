//! How many decisions `sayso serve` records in a second over HTTP: `cargo bench --bench serve`.
//!
//! In turns in the same run: the server, and a handler of the same framework that reads the body and answers with a
//! text as long as a decision. The load comes from this very program, on the same processors, over connections that
//! are kept. Then what a thousand questions that wait cost in memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark that fails stops")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const CALLERS: usize = 64;
const FOR: Duration = Duration::from_secs(3);
const TURNS: usize = 3;
const QUESTIONS: u32 = 1000;
const COMMANDS: [&str; 4] = ["git log --oneline -n 10 src", "cat README.md | head -20", "cargo test", "ls -la src"];
/// What is said of such a command is about as long.
const ANSWER: &str = "{\"id\":null,\"verdict\":\"allow\",\"reasons\":[{\"code\":\"read-only-git\",\"text\":\"Looking at a repository changes nothing in it.\",\"layer\":\"preset developer\",\"source\":\"preset:developer:12:3\"}],\"record\":\"01a1df1f0000-0123456789abcdef\"}";

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match std::env::args().nth(1).as_deref() {
        Some("nothing") => tokio::runtime::Runtime::new().unwrap().block_on(nothing()),
        _ => runtime.block_on(measure()),
    }
}

/// A server that does nothing.
async fn nothing() {
    let answer = || async { ([("content-type", "application/json")], ANSWER) };
    let handler = axum::routing::post(move |_: axum::body::Bytes| answer());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/#", listener.local_addr().unwrap());
    axum::serve(listener, axum::Router::new().route("/v1/decisions", handler)).await.unwrap();
}

async fn measure() {
    // On a real disk: the system's folder for temporary files may be memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let plain = Server::start(Command::new(std::env::current_exe().unwrap()).arg("nothing"));
    let sayso = Server::start(command(folder.path()).args(["serve", "--port", "0"]));
    let rest = sayso.memory();
    println!("{CALLERS} callers, {TURNS} turns of {} s each, load and server on the same processors\n", FOR.as_secs());
    println!("| what | a second | processor time of one: server, load | wait: median, 99 %, longest |");
    println!("|---|---|---|---|");
    let (mut best, mut answered) = ([0.0_f64; 2], 0);
    for _ in 0..TURNS {
        for (which, what, server) in
            [(0, "a handler that does nothing", &plain), (1, "decisions, judged and recorded", &sayso)]
        {
            let load = load(server, &project).await;
            best[which] = best[which].max(load.each_second());
            answered += if which == 1 { load.waits.len() } else { 0 };
            println!("{}", load.line(what));
        }
    }
    println!(
        "\nBest of each: {:.0} and {:.0} a second, {:.2} of what does nothing.",
        best[0],
        best[1],
        best[1] / best[0]
    );
    println!("Memory of the server at rest {rest} KiB, after {answered} decisions {} KiB.", sayso.memory());
    questions(&sayso, folder.path(), &project).await;
    drop(sayso);
    let verified = command(folder.path()).args(["log", "verify"]).output().unwrap();
    assert!(verified.status.success());
    println!("{}", String::from_utf8_lossy(&verified.stdout).lines().next().unwrap_or_default());
}

fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
    command.env("HOME", home).current_dir(home);
    command
}

// --- the servers -------------------------------------------------------------------------------------------------

struct Server {
    child: Child,
    address: String,
    // Read no further: what it says later goes into the pipe.
    _output: BufReader<std::process::ChildStdout>,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the server says where it listens");
        }
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Self { child, address, _output: output }
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).unwrap()
    }

    /// What is resident, in KiB.
    fn memory(&self) -> u64 {
        let status = self.read("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// What it has taken of the processors, in the system's hundredths.
    fn cpu(&self) -> Duration {
        let stat = self.read("stat");
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        Duration::from_millis(10 * (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

// --- the load ----------------------------------------------------------------------------------------------------

struct Load {
    waits: Vec<Duration>,
    took: Duration,
    server: Duration,
    load: Duration,
}

impl Load {
    fn each_second(&self) -> f64 {
        self.waits.len() as f64 / self.took.as_secs_f64()
    }

    fn line(&self, what: &str) -> String {
        let mut waits = self.waits.clone();
        waits.sort();
        let at = |part: f64| waits[((waits.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
        let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / waits.len() as f64;
        format!(
            "| {what} | {:.0} | {:.1} µs, {:.1} µs | {:.2} ms, {:.2} ms, {:.1} ms |",
            self.each_second(),
            each(self.server),
            each(self.load),
            at(0.5),
            at(0.99),
            at(1.0)
        )
    }
}

/// What this process has taken of the processors so far.
fn own_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

async fn load(server: &Server, project: &Path) -> Load {
    let stop = std::sync::Arc::new(AtomicBool::new(false));
    let mut callers = Vec::new();
    for caller in 0..CALLERS {
        callers.push(Connection::open(&server.address, project, caller).await);
    }
    let (began, cpu, own) = (Instant::now(), server.cpu(), own_cpu());
    let callers: Vec<_> = callers.into_iter().map(|caller| tokio::spawn(caller.run(stop.clone()))).collect();
    tokio::time::sleep(FOR).await;
    stop.store(true, Ordering::Relaxed);
    let mut waits = Vec::new();
    for caller in callers {
        waits.append(&mut caller.await.unwrap());
    }
    Load { waits, took: began.elapsed(), server: server.cpu() - cpu, load: own_cpu() - own }
}

struct Connection {
    stream: TcpStream,
    /// What it asks, in turns.
    requests: Vec<Vec<u8>>,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: &str, project: &Path, caller: usize) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let ask = |command: &&str| {
            let body = format!(
                "{{\"command\":\"{command}\",\"cwd\":\"{}\",\"context\":{{\"agent\":\"claude-code\",\"session\":\"s{}\"}}}}",
                project.display(),
                caller % 16
            );
            request(address, &body)
        };
        Self { stream, requests: COMMANDS.iter().map(ask).collect(), buffer: Vec::with_capacity(4096) }
    }

    async fn run(mut self, stop: std::sync::Arc<AtomicBool>) -> Vec<Duration> {
        let mut waits = Vec::new();
        for turn in 0.. {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let began = Instant::now();
            self.stream.write_all(&self.requests[turn % self.requests.len()]).await.unwrap();
            answer(&mut self.stream, &mut self.buffer).await;
            waits.push(began.elapsed());
        }
        waits
    }
}

fn request(address: &str, body: &str) -> Vec<u8> {
    let head = format!(
        "POST /v1/decisions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    (head + body).into_bytes()
}

/// Reads one answer, which must be an allow.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) {
    buffer.clear();
    loop {
        assert!(stream.read_buf(buffer).await.unwrap() > 0, "the server keeps the connection");
        let Some(head) = buffer.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
        let (head, body) = buffer.split_at(head + 4);
        let head = std::str::from_utf8(head).unwrap();
        let length = head.split("content-length: ").nth(1).unwrap().split('\r').next().unwrap();
        if body.len() >= length.parse::<usize>().unwrap() {
            let said = String::from_utf8_lossy(body);
            assert!(head.starts_with("HTTP/1.1 200") && said.contains("\"verdict\":\"allow\""), "{head}{said}");
            return;
        }
    }
}

// --- questions that wait ---------------------------------------------------------------------------------------------

async fn questions(server: &Server, home: &Path, project: &Path) {
    let before = server.memory();
    let mut waiting = Vec::new();
    for number in 0..QUESTIONS {
        let mut stream = TcpStream::connect(&server.address).await.unwrap();
        let body = format!(
            "{{\"command\":\"git push origin b{number}\",\"cwd\":\"{}\",\"wait\":true,\"context\":{{\"session\":\"q{number}\"}}}}",
            project.display()
        );
        stream.write_all(&request(&server.address, &body)).await.unwrap();
        waiting.push(stream);
    }
    let store = rusqlite::Connection::open(home.join(".local/state/sayso/sayso.db")).unwrap();
    let pending = || -> u32 {
        store.query_row("SELECT count(*) FROM approval WHERE standing = 'pending'", [], |row| row.get(0)).unwrap()
    };
    let began = Instant::now();
    while pending() < QUESTIONS && began.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    println!(
        "{} questions wait, each with its caller: memory of the server {} KiB, {} KiB before.",
        pending(),
        server.memory(),
        before
    );
}
