//! A server of this test's own, and a caller that says exactly what it is told to.

use crate::conformance::Described;
use sayso_gate::Places;
use sayso_server::{About, Listening, Options, Role, Tokens, serve};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{OnceLock, mpsc};

pub(crate) struct Served {
    _folder: tempfile::TempDir,
    pub(crate) places: Places,
    port: u16,
    /// The owner's.
    pub(crate) owner: String,
    described: OnceLock<Described>,
}

/// An answer as it came.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Served {
    /// A server that counts the store's tokens for everything. It runs until the test's process ends.
    pub(crate) fn with(policy: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::below(folder.path(), folder.path());
        std::fs::create_dir_all(places.user.parent().unwrap()).unwrap();
        std::fs::write(&places.user, policy).unwrap();
        let (ready, listening) = mpsc::channel::<Listening>();
        let options = Options {
            places: places.clone(),
            policy: Vec::new(),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            beyond: None,
            webhooks: Vec::new(),
            about: About {
                folder: folder.path().to_string_lossy().into_owned(),
                trust_tokens: true,
                owner: "owner".to_owned(),
                ..About::default()
            },
            ready: Box::new(move |listening| ready.send(listening.clone()).unwrap()),
            announce: Box::new(|_, _| {}),
            webhook_authority: None,
            report: Box::new(|_| {}),
        };
        std::thread::spawn(move || serve(options));
        let listening = listening.recv().unwrap();
        let mut served = Self {
            _folder: folder,
            places,
            port: listening.address.port(),
            owner: String::new(),
            described: OnceLock::new(),
        };
        let (status, told) = served.post(None, "/v1/session", &json!({"key": listening.key}));
        assert_eq!(status, 200, "{told}");
        told["token"].as_str().unwrap().clone_into(&mut served.owner);
        served
    }

    /// A token, as `sayso token create` makes it.
    pub(crate) fn token(&self, name: &str, role: Role, tenant: Option<&str>) -> String {
        let tokens = Tokens::of(&self.places).unwrap();
        tokens.create(name, role, tenant.map(str::to_owned), Vec::new(), u64::MAX).unwrap()
    }

    pub(crate) fn get(&self, token: &str, path: &str) -> (u16, Value) {
        let answer = self.send("GET", Some(token), path, None);
        (answer.status, answer.json())
    }

    pub(crate) fn post(&self, token: Option<&str>, path: &str, body: &Value) -> (u16, Value) {
        let answer = self.send("POST", token, path, Some(&body.to_string()));
        (answer.status, answer.json())
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Sends these headers and no others, behind a first line that begins like this.
    pub(crate) fn raw(&self, first: &str, headers: &[&str]) -> Answer {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        self.exchange(&format!("{first} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n"), "")
    }

    /// Sends a request, and holds the answer to the description that the server gives of itself.
    pub(crate) fn send(&self, method: &str, token: Option<&str>, path: &str, body: Option<&str>) -> Answer {
        let answer = self.unchecked(method, token, path, body);
        let described =
            self.described.get_or_init(|| Described::new(self.unchecked("GET", None, "/v1/openapi.json", None).json()));
        described.check(method, path, &answer).unwrap_or_else(|wrong| panic!("{method} {path}: {wrong}"));
        answer
    }

    fn unchecked(&self, method: &str, token: Option<&str>, path: &str, body: Option<&str>) -> Answer {
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let length = body.map_or(String::new(), |body| {
            format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len())
        });
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n{token}{length}\r\n",
            self.port
        );
        self.exchange(&head, body.unwrap_or_default())
    }

    fn exchange(&self, head: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_lowercase(),
            body: if chunked { unchunked(body) } else { body.to_owned() },
        }
    }

    /// Asks for a decision, and answers it if it is asked about.
    pub(crate) fn decide(&self, token: Option<&str>, call: &Value) -> Value {
        let (status, told) = self.post(token, "/v1/decisions", call);
        assert_eq!(status, 200, "{told}");
        told
    }

    /// Asks until the answer is this: a policy file that changed is looked at every now and then.
    pub(crate) fn until(&self, call: &Value, verdict: &str) -> Value {
        let began = std::time::Instant::now();
        loop {
            let told = self.decide(None, call);
            if told["verdict"] == verdict || began.elapsed().as_secs() > 20 {
                return told;
            }
        }
    }

    /// Says yes to a question.
    pub(crate) fn say_yes(&self, told: &Value, remember: &str, width: &str) {
        let id = told["approval"].as_str().unwrap_or_else(|| panic!("{told}"));
        let reply = json!({"verdict": "allow", "remember": remember, "width": width});
        let (status, answered) = self.post(Some(&self.owner), &format!("/v1/approvals/{id}/answer"), &reply);
        assert_eq!(status, 200, "{answered}");
    }
}

fn unchunked(body: &str) -> String {
    let (mut rest, mut whole) = (body, String::new());
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        whole.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
        if length == 0 {
            break;
        }
    }
    whole
}
