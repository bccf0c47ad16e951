//! `sayso serve`: the process. What the API does is tested beside it, the page in `e2e/`.

use crate::person::{Person, first};
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

struct Served {
    child: Child,
    port: u16,
    printed: String,
}

fn serve(person: &Person) -> Served {
    let mut child = person.sayso().args(["serve", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.contains("Next:") {
        assert_ne!(output.read_line(&mut printed).unwrap(), 0, "{printed}");
    }
    let port = printed.split("127.0.0.1:").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
    Served { child, port, printed }
}

fn ask(mut stream: impl std::io::Read + std::io::Write, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_says_where_it_is_and_stops_when_told() {
    let person = Person::new();
    let mut served = serve(&person);
    let lines: Vec<&str> = served.printed.lines().collect();
    assert_eq!(lines[0], "sayso 0.1.0  enforcing preset developer  (no policy file yet: `sayso init` writes one)");
    assert!(lines[2].starts_with("  page     http://127.0.0.1:") && lines[2].contains("/#k="), "{}", lines[2]);
    assert!(
        lines[3].starts_with("  record   ~/.local/state/sayso ") && lines[3].ends_with("    0 decisions"),
        "{}",
        lines[3]
    );
    assert!(served.printed.contains("Next:  sayso install claude-code"));

    let request = format!("GET /v1/health HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n", served.port);
    let answer = ask(TcpStream::connect(("127.0.0.1", served.port)).unwrap(), &request);
    assert!(answer.ends_with("{\"status\":\"ok\",\"version\":\"0.1.0\"}"), "{answer}");

    let socket = person.home().join(".local/state/sayso/sayso.sock");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let request = "GET /v1/records HTTP/1.1\r\nHost: sayso\r\nConnection: close\r\n\r\n";
    let answer = ask(UnixStream::connect(&socket).unwrap(), request);
    // The socket tells who asks, and opens nothing: an agent's child is the same user.
    assert!(answer.starts_with("HTTP/1.1 401 ") && answer.contains("\"signed-out\""), "{answer}");
    let request = "GET /v1/health HTTP/1.1\r\nHost: sayso\r\nConnection: close\r\n\r\n";
    let answer = ask(UnixStream::connect(&socket).unwrap(), request);
    assert!(answer.ends_with("{\"status\":\"ok\",\"version\":\"0.1.0\"}"), "{answer}");

    // The key is nowhere on disk.
    let key = served.printed.split("#k=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let found = std::process::Command::new("grep").args(["-r", "-l", &key]).arg(person.home()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");

    let another = person.run(&["serve", "--port", "0"]);
    assert_eq!((another.code, another.out.as_str()), (2, ""));
    assert!(first(&another.err).starts_with("error: another `sayso serve` answers at"), "{}", another.err);

    let kill = std::process::Command::new("kill").arg(served.child.id().to_string()).status().unwrap();
    assert!(kill.success());
    assert!(served.child.wait().unwrap().success());
    assert!(!socket.exists());
}

#[test]
fn a_taken_port_says_what_to_do() {
    let person = Person::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let said = person.run(&["serve", "--port", &port.to_string()]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (
            2,
            format!("error: 127.0.0.1:{port} is taken by another program\n\n  Stop that one, or take another port: sayso serve --port {}\n", port + 1)
                .as_str()
        )
    );
}

#[test]
fn a_broken_named_policy_refuses_to_serve() {
    let person = Person::new();
    person.file("p.toml", "nonsense = 1\n");
    let said = person.run(&["serve", "--port", "0", "--policy", "p.toml"]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.contains("p.toml:1:1"), "{}", said.err);
}
