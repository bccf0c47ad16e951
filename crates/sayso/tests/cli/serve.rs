//! `sayso serve`: the process. What the API does is tested beside it, the page in `e2e/`.

use crate::person::{Person, first};
use crate::served::serve;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn it_says_where_it_is_and_stops_when_told() {
    let person = Person::new();
    let served = serve(&person);
    let lines: Vec<&str> = served.printed.lines().collect();
    assert_eq!(lines[0], "sayso 0.1.0  enforcing preset developer  (no policy file yet: `sayso init` writes one)");
    assert!(lines[2].starts_with("  page     http://127.0.0.1:") && lines[2].contains("/#k="), "{}", lines[2]);
    assert!(
        lines[3].starts_with("  record   ~/.local/state/sayso ") && lines[3].ends_with("    0 decisions"),
        "{}",
        lines[3]
    );
    assert!(served.printed.contains("Next:  sayso install claude-code"));

    let health = serde_json::json!({"status": "ok", "version": "0.1.0"});
    assert_eq!(served.send("GET", "/v1/health", &[], "").body, health);
    assert_eq!(std::fs::metadata(&served.socket).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(served.send_to_socket("GET", "/v1/health", &[], "").body, health);
    // The socket tells who asks, and opens nothing: an agent's child is the same user.
    let told = served.send_to_socket("GET", "/v1/records", &[], "");
    assert_eq!((told.status, &told.body["error"]["code"]), (401, &"signed-out".into()));

    // The key is nowhere on disk.
    let key = served.key();
    let found = std::process::Command::new("grep").args(["-r", "-l", &key]).arg(person.home()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");

    let another = person.run(&["serve", "--port", "0"]);
    assert_eq!((another.code, another.out.as_str()), (2, ""));
    assert!(first(&another.err).starts_with("error: another `sayso serve` answers at"), "{}", another.err);

    let socket = served.socket.clone();
    served.stop();
    assert!(!socket.exists());
}

#[test]
fn no_key_is_written_into_a_log() {
    let person = Person::new();
    let log = person.home().join("serve.log");
    let mut serve = person.sayso();
    let mut child = serve.args(["serve", "--port", "0"]).stdout(std::fs::File::create(&log).unwrap()).spawn().unwrap();
    let printed = loop {
        let printed = std::fs::read_to_string(&log).unwrap();
        if printed.contains("Next:") || child.try_wait().unwrap().is_some() {
            break printed;
        }
        std::thread::yield_now();
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(printed.contains("  page     http://127.0.0.1:") && !printed.contains("#k="), "{printed}");
    assert!(printed.contains("run `sayso serve` in a terminal"), "{printed}");
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
