//! A server that runs, and those who speak to it.

use crate::person::Person;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A server that runs until this is dropped.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) printed: String,
    pub(crate) socket: PathBuf,
    output: BufReader<ChildStdout>,
}

/// What a server answered.
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

pub(crate) fn serve(person: &Person) -> Served {
    serve_with(person, person.sayso(), &[])
}

pub(crate) fn serve_with(person: &Person, mut sayso: Command, arguments: &[&str]) -> Served {
    // Whoever says where says the port too.
    let port: &[&str] = if arguments.contains(&"--address") { &[] } else { &["--port", "0"] };
    sayso.arg("serve").args(port).args(arguments);
    let mut child = sayso.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.contains("Next:") {
        assert_ne!(output.read_line(&mut printed).unwrap(), 0, "{printed}");
    }
    let host = printed.split("://").nth(1).unwrap().split('/').next().unwrap();
    let port = host.rsplit(':').next().unwrap().parse().unwrap();
    let socket = person.home().join(".local/state/sayso/sayso.sock");
    Served { child, port, printed, socket, output }
}

impl Served {
    /// The key that it showed first.
    pub(crate) fn key(&self) -> String {
        key(&self.printed)
    }

    /// The key that it shows once the last one was used.
    pub(crate) fn next_key(&mut self) -> String {
        key(&self.says("#k="))
    }

    /// The next line that it prints with this in it.
    pub(crate) fn says(&mut self, what: &str) -> String {
        let mut line = String::new();
        while !line.contains(what) {
            line.clear();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0);
        }
        line
    }

    /// Sends a request over TCP.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Told {
        let host = format!("Host: 127.0.0.1:{}", self.port);
        let own = headers.iter().any(|header| header.to_ascii_lowercase().starts_with("host:"));
        let hosts: Vec<&str> = if own { Vec::new() } else { vec![&host] };
        let headers: Vec<&str> = hosts.into_iter().chain(headers.iter().copied()).collect();
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        told(&ask(stream, &request(method, path, &headers, body)))
    }

    /// Sends a request over the socket.
    pub(crate) fn send_to_socket(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Told {
        let headers: Vec<&str> = std::iter::once("Host: sayso").chain(headers.iter().copied()).collect();
        told(&ask(UnixStream::connect(&self.socket).unwrap(), &request(method, path, &headers, body)))
    }

    /// A token for the key, as a browser gets one.
    pub(crate) fn signed_in(&self, key: &str) -> String {
        let origin = format!("Origin: http://127.0.0.1:{}", self.port);
        let body = serde_json::json!({ "key": key }).to_string();
        let told = self.send("POST", "/v1/session", &[JSON, &origin], &body);
        assert_eq!(told.status, 200, "{}", told.body);
        told.body["token"].as_str().unwrap().to_owned()
    }

    /// Asks about a call, and gives back the question that waits for people.
    pub(crate) fn question(&self, token: Option<&str>, call: &Value) -> String {
        let bearer = token.map(|token| format!("Authorization: Bearer {token}"));
        let headers: Vec<&str> = std::iter::once(JSON).chain(bearer.as_deref()).collect();
        let told = self.send("POST", "/v1/decisions", &headers, &call.to_string());
        told.body["approval"].as_str().unwrap_or_else(|| panic!("{}", told.body)).to_owned()
    }

    /// Says yes to a question with this token.
    pub(crate) fn says_yes(&self, token: &str, id: &str) -> Told {
        let bearer = format!("Authorization: Bearer {token}");
        self.send("POST", &format!("/v1/approvals/{id}/answer"), &[JSON, &bearer], YES)
    }

    pub(crate) fn get(&self, token: &str, path: &str) -> Told {
        self.send("GET", path, &[&format!("Authorization: Bearer {token}")], "")
    }

    /// Stops it in good order.
    pub(crate) fn stop(mut self) {
        let kill = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(kill.success());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) const JSON: &str = "Content-Type: application/json";
pub(crate) const YES: &str = "{\"verdict\":\"allow\"}";

fn key(text: &str) -> String {
    text.split("#k=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
}

pub(crate) fn request(method: &str, path: &str, headers: &[&str], body: &str) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

pub(crate) fn ask(mut stream: impl Read + Write, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn told(answer: &str) -> Told {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Told { status, body: serde_json::from_str(body).unwrap_or_default() }
}
