//! Hosts by name.

use crate::room::{Room, can_hold, own_address};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Output;

/// A server on an address of this machine that is not its loopback; it says hello and what it was told.
fn server(address: &str) -> (u16, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let handle = std::thread::spawn(move || {
        let mut heard = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut text = [0; 256];
            let count = stream.read(&mut text).unwrap();
            let text = String::from_utf8_lossy(&text[..count]).into_owned();
            stream.write_all(format!("hello {text}").as_bytes()).unwrap();
            let last = text.starts_with("last");
            heard.push(text);
            if last {
                break;
            }
        }
        heard
    });
    (port, handle)
}

fn talk(room: &Room, options: &[&str], host: &str, port: u16, text: &str) -> Output {
    let script = format!("exec 3<>/dev/tcp/{host}/{port} && printf '{text}' >&3 && cat <&3");
    let ws = room.text("ws");
    let options = [&["--write", ws.as_str()], options].concat();
    room.held(&options, &["bash", "-c", &script])
}

#[test]
fn an_allowed_name_is_reached_and_no_other_name_port_or_address() {
    if !can_hold() {
        return;
    }
    let Some(address) = own_address() else {
        eprintln!("not run: this machine has no address but its loopback");
        return;
    };
    let room = Room::new();
    let (port, heard) = server(&address);
    let host = format!("good.example:{port}");
    let (resolve, resolve_evil) = (format!("good.example={address}"), format!("evil.example={address}"));
    let options = ["--host", &host, "--resolve", &resolve, "--resolve", &resolve_evil];
    let good = talk(&room, &options, "good.example", port, "one");
    assert_eq!(good.stdout, b"hello one", "{}", String::from_utf8_lossy(&good.stderr));

    let evil = talk(&room, &options, "evil.example", port, "two");
    assert_ne!(evil.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&evil.stderr).contains("held back: connect evil.example ("));
    assert_ne!(talk(&room, &options, "good.example", 1, "three").status.code(), Some(0));
    let direct = talk(&room, &options, &address, port, "four");
    assert_ne!(direct.status.code(), Some(0));
    let told = String::from_utf8_lossy(&direct.stderr).into_owned();
    assert!(told.contains(&format!("held back: connect {address}:{port} (1)")), "{told}");
    // An address that is allowed as such.
    let literal = format!("{address}:{port}");
    let last = talk(&room, &["--host", &literal], &address, port, "last");
    assert_eq!(last.stdout, b"hello last", "{}", String::from_utf8_lossy(&last.stderr));
    assert_eq!(heard.join().unwrap(), ["one", "last"]);
}

#[test]
fn a_name_that_leads_to_this_machine_is_not_dialled() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let host = format!("*.rebound.example:{port}");
    let output =
        talk(&room, &["--host", &host, "--resolve", "a.rebound.example=127.0.0.1"], "a.rebound.example", port, "x");
    assert!(output.stdout.is_empty());
    assert!(listener.accept().is_err());
}

#[test]
fn another_name_in_tls_is_refused() {
    if !can_hold() || std::process::Command::new("curl").arg("--version").output().is_err() {
        return;
    }
    let Some(address) = own_address() else {
        eprintln!("not run: this machine has no address but its loopback");
        return;
    };
    let room = Room::new();
    let resolve = format!("good.example={address}");
    let options = ["--write", &room.text("ws"), "--host", "good.example", "--resolve", &resolve];
    // The client connects to the allowed name's address and asks for another one in TLS.
    let output = room.held(
        &options,
        &[
            "curl",
            "-sk",
            "--max-time",
            "5",
            "--connect-to",
            "evil.example:443:good.example:443",
            "https://evil.example/",
        ],
    );
    assert_ne!(output.status.code(), Some(0));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("held back: connect evil.example:443"), "{told}");
}

#[test]
fn a_host_that_is_asked_about_is_dialled_after_a_yes_and_refused_after_a_no() {
    if !can_hold() {
        return;
    }
    let Some(address) = own_address() else {
        eprintln!("not run: this machine has no address but its loopback");
        return;
    };
    let room = Room::new();
    let (port, heard) = server(&address);
    // The port is known by a host that is allowed; the name that is asked about is another one.
    let host = format!("good.example:{port}");
    let resolve = format!("asked.example={address}");
    let options =
        |answer: &'static str| ["--host", &host, "--resolve", &resolve, "--answer", answer].map(str::to_owned);
    let no = options("no");
    let no: Vec<&str> = no.iter().map(String::as_str).collect();
    let refused = talk(&room, &no, "asked.example", port, "one");
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.stdout.is_empty(), "{told}");
    assert!(told.contains(&format!("held back: connect asked.example:{port} (1)")), "{told}");
    assert_eq!(told.matches("asked: Connect").count(), 1, "{told}");

    let yes = options("yes");
    let yes: Vec<&str> = [yes.iter().map(String::as_str).collect(), vec!["--write"]].concat();
    let ws = room.text("ws");
    let script =
        format!("for word in two last; do exec 3<>/dev/tcp/ASKED.example/{port} && printf $word >&3 && cat <&3; done");
    let output = room.held(&[yes.as_slice(), &[ws.as_str()]].concat(), &["bash", "-c", &script]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello twohello last", "{told}");
    assert_eq!(told.matches("asked: Connect").count(), 1, "a yes lasts as long as the hold: {told}");
    assert!(!told.contains("held back"), "{told}");
    assert_eq!(heard.join().unwrap(), ["two", "last"]);
}
