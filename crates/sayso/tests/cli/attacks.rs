//! Each line of "who may do what" (docs/server.md), attacked for real: a program that was allowed to run, under the same
//! user, against a server that runs. What it can still do stands in SECURITY.md.

mod child;
mod forged;
mod memory;
mod roles;

use crate::person::Person;
use crate::pty::{agent_above, at_terminal, the_key, the_number};
use crate::served::{JSON, Served, YES, request, serve};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};

const ASKING: &str = "default = \"ask\"\n";

/// A server, and a question of an agent that waits there.
fn asked() -> (Person, Served, String) {
    let person = Person::new();
    person.policy(ASKING);
    let served = serve(&person);
    let id = served.question(None, &call(&person));
    (person, served, id)
}

fn call(person: &Person) -> Value {
    json!({"tool": "web_search", "args": {"query": "x"}, "wait": 0, "cwd": person.project(),
        "context": {"agent": "coder"}})
}

/// Nothing that the attacker did counted: the question still waits, and the call does not pass.
fn still_waits(person: &Person, served: &Served, id: &str) {
    let told = served.send("GET", &format!("/v1/approvals/{id}"), &[], "");
    assert_eq!(told.body["standing"], "pending", "{}", told.body);
    let told = served.send("POST", "/v1/decisions", &[JSON], &call(person).to_string());
    assert_eq!(told.body["verdict"], "ask", "{}", told.body);
}

#[test]
fn the_command_answers_nothing_without_the_key() {
    let (person, served, id) = asked();
    for input in ["", "y\n", "allow\n1234\n"] {
        let said = person.run_with(&["approvals", "answer", &id, "allow"], input);
        assert_eq!(said.code, 2, "{}", said.out);
    }
    still_waits(&person, &served, &id);
}

#[test]
fn a_terminal_that_a_program_made_for_itself_does_not_help_it() {
    let (person, served, id) = asked();
    for command in [&["approvals", "answer", &id, "allow", "--always"][..], &["approvals", "watch"]] {
        // As a program would: it types back what it reads there.
        let (code, shown) = at_terminal(&person, command, &mut the_key(&id));
        if agent_above(&shown) {
            return;
        }
        // It waits for a key that the program does not know; nothing that is shown there says it.
        assert!(!shown.contains(&served.key()), "{shown}");
        assert_eq!(code, 2, "{shown}");
    }
    still_waits(&person, &served, &id);
    for command in
        [&["mode", "off", "--for", "1h", "--because", "x"][..], &["token", "create", "me", "--role", "admin"]]
    {
        let (code, shown) = at_terminal(&person, command, &mut the_key("7Q4F-K2MX"));
        assert_eq!(code, 2, "{command:?}: {shown}");
        assert!(shown.contains("key is invalid"), "{shown}");
    }
    still_waits(&person, &served, &id);
}

#[test]
fn without_the_server_nothing_is_answered_at_all() {
    let (person, served, id) = asked();
    // A program may end another one of the same user.
    served.stop();
    let (code, shown) = at_terminal(&person, &["approvals", "answer", &id, "allow"], &mut the_number());
    if agent_above(&shown) {
        return;
    }
    assert_eq!(code, 2, "{shown}");
    let served = serve(&person);
    still_waits(&person, &served, &id);
}

#[test]
fn neither_the_socket_nor_loopback_authorises_an_answer() {
    let (person, served, id) = asked();
    let path = format!("/v1/approvals/{id}/answer");
    for headers in [
        &[JSON][..],
        &[JSON, "Authorization: Bearer "],
        &[JSON, "Authorization: Bearer null"],
        &[JSON, "Authorization: Basic cm9vdDpyb290"],
        &[JSON, "Cookie: token=1"],
        &[JSON, "X-Forwarded-User: root", "Forwarded: for=127.0.0.1"],
    ] {
        assert_eq!(served.send("POST", &path, headers, YES).status, 401, "{headers:?}");
        assert_eq!(served.send_to_socket("POST", &path, headers, YES).status, 401, "{headers:?}");
    }
    still_waits(&person, &served, &id);
}

#[test]
fn a_get_answers_nothing_whoever_sends_it() {
    let (person, served, id) = asked();
    let token = served.signed_in(&served.key());
    let path = format!("/v1/approvals/{id}/answer");
    assert_eq!(served.get(&token, &path).status, 405);
    assert_eq!(served.get(&token, &format!("{path}?verdict=allow")).status, 405);
    let (bearer, other) = (format!("Authorization: Bearer {token}"), "X-HTTP-Method-Override: POST");
    assert_eq!(served.send("GET", &path, &[&bearer, other, JSON], YES).status, 405);
    for method in ["HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        assert_eq!(served.send(method, &path, &[&bearer, JSON], YES).status, 405, "{method}");
    }
    still_waits(&person, &served, &id);
}

#[test]
fn another_site_in_the_owners_browser_answers_nothing() {
    let (person, served, id) = asked();
    let token = served.signed_in(&served.key());
    let (path, bearer) = (format!("/v1/approvals/{id}/answer"), format!("Authorization: Bearer {token}"));
    let ours = format!("Host: localhost:{}", served.port);
    for (headers, status) in [
        (vec!["Origin: https://evil.example", JSON, &bearer], 403),
        (vec!["Origin: null", JSON, &bearer], 403),
        (vec!["Sec-Fetch-Site: cross-site", JSON, &bearer], 403),
        // A name that came to mean 127.0.0.1 (DNS rebinding).
        (vec!["Host: evil.example", JSON, &bearer], 403),
        (vec![&ours, "Host: evil.example", JSON, &bearer], 403),
        // A form of another site: no header of its own, no JSON.
        (vec!["Content-Type: text/plain", &bearer], 415),
        (vec!["Content-Type: application/x-www-form-urlencoded"], 401),
    ] {
        // Some are refused before they are read, as one that has two hosts is by the HTTP library itself.
        let told = served.send("POST", &path, &headers, YES).status;
        assert!(told == status || told == 400 && headers.len() == 4, "{headers:?}: {told}");
    }
    still_waits(&person, &served, &id);
}

#[test]
fn keys_cannot_be_guessed() {
    let (person, served, id) = asked();
    let (mut wrong, mut refused) = (0, 0);
    for n in 0..20 {
        let body = match n % 2 {
            0 => json!({"key": format!("0000-{n:04}")}),
            _ => json!({"proof": format!("{n:064x}"), "nonce": "x"}),
        };
        match served.send_to_socket("POST", "/v1/session", &[JSON], &body.to_string()).status {
            403 => wrong += 1,
            429 => refused += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!((wrong, refused), (8, 12));
    // Now not even the right one is taken, for a while: guessing tells nothing.
    let body = json!({"key": served.key()}).to_string();
    assert_eq!(served.send("POST", "/v1/session", &[JSON], &body).status, 429);
    // Tokens are not guessed either.
    let told: Vec<u16> = (0..80).map(|n| served.get(&format!("{n:064x}"), "/v1/approvals").status).collect();
    assert!(told.iter().all(|status| [401, 429].contains(status)) && told.last() == Some(&429), "{told:?}");
    still_waits(&person, &served, &id);
}

#[test]
fn a_key_works_once_and_a_session_ends_with_its_server() {
    let (person, served, id) = asked();
    let token = served.signed_in(&served.key());
    let body = json!({"key": served.key()}).to_string();
    assert_eq!(served.send("POST", "/v1/session", &[JSON], &body).status, 403);
    served.stop();
    let served = serve(&person);
    assert_eq!(served.says_yes(&token, &id).status, 401, "a session of the server before");
    still_waits(&person, &served, &id);
    // And this is what a yes looks like.
    let token = served.signed_in(&served.key());
    let told = served.says_yes(&token, &id);
    assert_eq!((told.status, &told.body["standing"]), (200, &json!("approved")), "{}", told.body);
    assert_eq!(told.body["answers"][0]["via"], "page");
    assert_eq!(served.says_yes(&token, &id).status, 409);
}

/// A program puts a socket of its own in the place of the server's, and passes on what people type there.
#[test]
fn a_socket_put_in_the_servers_place_learns_no_key() {
    let (person, served, id) = asked();
    std::fs::rename(&served.socket, served.socket.with_extension("real")).unwrap();
    let listener = UnixListener::bind(&served.socket).unwrap();
    let heard = Arc::new(Mutex::new(String::new()));
    let (ear, port) = (Arc::clone(&heard), served.port);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut buffer = [0; 4096];
            let length = stream.read(&mut buffer).unwrap_or(0);
            if length == 0 {
                continue;
            }
            let said = String::from_utf8_lossy(&buffer[..length]).into_owned();
            let body = said.split_once("\r\n\r\n").unwrap().1.to_owned();
            ear.lock().unwrap().push_str(&said);
            let passed_on = request("POST", "/v1/session", &[&format!("Host: 127.0.0.1:{port}"), JSON], &body);
            let answer = crate::served::ask(TcpStream::connect(("127.0.0.1", port)).unwrap(), &passed_on);
            ear.lock().unwrap().push_str(&answer);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let (code, shown) = at_terminal(&person, &["approvals", "answer", &id, "allow"], &mut the_key(&served.key()));
    if agent_above(&shown) {
        return;
    }
    assert_eq!(code, 2, "{shown}");
    let heard = heard.lock().unwrap().clone();
    assert!(heard.contains("\"proof\"") && heard.contains("403 Forbidden"), "{heard}");
    assert!(!heard.contains(&served.key()) && !heard.contains(&served.key().replace('-', "")), "{heard}");
    still_waits(&person, &served, &id);
    served.signed_in(&served.key());
}
