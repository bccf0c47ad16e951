//! Somebody at the page of a real server, who answers what held runs want.

use crate::room::Room;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A server that runs, and somebody who is signed in.
pub(crate) struct Desk {
    child: Child,
    port: u16,
    token: String,
    seat: Option<TcpStream>,
}

impl Desk {
    /// Starts a server and signs in. Nobody is there yet.
    pub(crate) fn open(room: &Room) -> Self {
        let mut child = room.command(&["serve", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        while !printed.contains("Next:") {
            assert_ne!(output.read_line(&mut printed).unwrap(), 0, "{printed}");
        }
        let host = printed.split("://").nth(1).unwrap().split('/').next().unwrap();
        let port = host.rsplit(':').next().unwrap().parse().unwrap();
        let key = printed.split("#k=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
        std::thread::spawn(move || drop(std::io::copy(&mut output, &mut std::io::sink())));
        let mut desk = Self { child, port, token: String::new(), seat: None };
        let signed_in = desk.send("POST", "/v1/session", Some(&json!({ "key": key })));
        desk.token = signed_in["token"].as_str().unwrap_or_else(|| panic!("{signed_in}")).to_owned();
        desk
    }

    /// Sits down: from now on runs wait for answers.
    pub(crate) fn sit(&mut self) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(self.request("GET", "/v1/stream?attend=true&after=0", "").as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        self.seat = Some(stream);
        std::thread::sleep(Duration::from_millis(300));
    }

    fn request(&self, method: &str, path: &str, body: &str) -> String {
        let Self { port, token, .. } = self;
        format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nConnection: close\r\n\
             Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = body.map(ToString::to_string).unwrap_or_default();
        let mut request = self.request(method, path, &body);
        if self.token.is_empty() {
            request = request.replace("Authorization: Bearer \r\n", "");
        }
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or(Value::String(answer))
    }

    /// The questions that wait, whole.
    pub(crate) fn pending(&self) -> Vec<Value> {
        let listed = self.send("GET", "/v1/approvals", None);
        let ids = listed["approvals"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned());
        ids.map(|id| self.send("GET", &format!("/v1/approvals/{id}"), None)).collect()
    }

    /// The next question.
    pub(crate) fn next(&self) -> Value {
        let began = Instant::now();
        loop {
            if let Some(question) = self.pending().pop() {
                return question;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "nobody asks");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    pub(crate) fn answer(&self, question: &Value, reply: &Value) -> Value {
        self.send("POST", &format!("/v1/approvals/{}/answer", question["id"].as_str().unwrap()), Some(reply))
    }

    /// How a question stands.
    pub(crate) fn standing(&self, question: &Value) -> String {
        let shown = self.send("GET", &format!("/v1/approvals/{}", question["id"].as_str().unwrap()), None);
        shown["standing"].as_str().unwrap().to_owned()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
