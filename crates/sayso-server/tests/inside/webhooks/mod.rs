//! Questions told elsewhere, to a real receiver, and the one-time links in them.

mod https;

use super::*;
use crate::Role;
use crate::webhook::{self, Webhook, Webhooks};
use hmac::{Hmac, Mac as _};
use sayso_policy::Person;
use sha2::Sha256;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

const ASKING: &str = "default = \"ask\"\n";
const BASE: &str = "http://127.0.0.1:7171";

/// What a receiver got.
struct Got {
    head: String,
    text: String,
    body: Value,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        let found = self.head.lines().find(|line| line.to_lowercase().starts_with(name));
        found.unwrap_or_else(|| panic!("{}", self.head)).split_once(": ").unwrap().1
    }

    fn link(&self) -> &str {
        self.body["link"].as_str().unwrap().strip_prefix("http://127.0.0.1:7171/answer#").unwrap()
    }
}

/// A receiver that answers in turn with these statuses, then always with 200. 0: never.
async fn receiver(statuses: Vec<u16>) -> (String, mpsc::UnboundedReceiver<Got>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (accepted, streams) = mpsc::unbounded_channel();
    tokio::spawn(async move { while accepted.send(listener.accept().await.unwrap().0).is_ok() {} });
    (url, receive(statuses, streams))
}

/// Speaks HTTP on these streams, one after the other.
fn receive<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    mut statuses: Vec<u16>,
    mut streams: mpsc::UnboundedReceiver<S>,
) -> mpsc::UnboundedReceiver<Got> {
    let (sender, got) = mpsc::unbounded_channel();
    statuses.reverse();
    tokio::spawn(async move {
        let mut hung = Vec::new();
        while let Some(mut stream) = streams.recv().await {
            let mut bytes = Vec::new();
            let (head, text) = loop {
                assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0);
                let whole = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, text)) = whole.split_once("\r\n\r\n") else { continue };
                let length = head
                    .to_lowercase()
                    .split("content-length: ")
                    .nth(1)
                    .unwrap()
                    .lines()
                    .next()
                    .unwrap()
                    .parse::<usize>();
                if text.len() == length.unwrap() {
                    break (head.to_owned(), text.to_owned());
                }
            };
            let _ = sender.send(Got { body: serde_json::from_str(&text).unwrap(), head, text });
            match statuses.pop().unwrap_or(200) {
                0 => hung.push(stream),
                status => {
                    let answer = format!(
                        "HTTP/1.1 {status} x\r\nLocation: http://127.0.0.1:1/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
                    );
                    stream.write_all(answer.as_bytes()).await.unwrap();
                    // Over TLS the other side hears that it was the end.
                    let _ = stream.shutdown().await;
                }
            }
        }
    });
    got
}

impl Server {
    fn tells(&self, hooks: &[Webhook]) {
        self.tells_trusting(hooks, None);
    }

    /// The same with an authority of one's own; gives what the owner is told of receivers.
    fn tells_trusting(&self, hooks: &[Webhook], authority: Option<&Path>) -> mpsc::UnboundedReceiver<String> {
        let (sender, said) = mpsc::unbounded_channel();
        let report = Box::new(move |sentence: &str| drop(sender.send(sentence.to_owned())));
        let mut webhooks = Webhooks::new(&self.app, hooks, authority, BASE, report).unwrap().unwrap();
        webhooks.rest = Duration::from_millis(20);
        tokio::spawn(crate::tail::watch(Arc::clone(&self.app)));
        tokio::spawn(webhook::tell(Arc::clone(&self.app), webhooks));
        said
    }

    async fn link(&self, what: &str, body: Value) -> (StatusCode, Value) {
        self.send(post(&format!("/v1/links/{what}"), &body)).await
    }

    async fn standing(&self, id: &str) -> Value {
        self.send(get(&format!("/v1/approvals/{id}"))).await.1["standing"].clone()
    }
}

fn hook(name: &str, url: &str) -> Webhook {
    Webhook { person: Person::named(name), url: url.to_owned() }
}

#[tokio::test]
async fn a_question_is_told_signed_and_answered_once_by_its_link() {
    let server = Server::new(ASKING);
    let (url, mut got) = receiver(Vec::new()).await;
    server.tells(&[hook("alice", &url)]);
    let call = json!({"command": "git push \u{202e}\u{1b}[31m origin", "wait": 0, "context": {"agent": "coder"}});
    let (_, told) = server.send(post("/v1/decisions", &call)).await;
    let id = told["approval"].as_str().unwrap();
    let message = got.recv().await.unwrap();
    assert_eq!((&message.body["type"], &message.body["approval"]), (&json!("approval_required"), &json!(id)));
    assert_eq!((&message.body["for"], &message.body["agent"]), (&json!("alice"), &json!("coder")));
    assert!(!message.text.contains('\u{202e}') && !message.text.contains("\\u001b"), "{}", message.text);

    // As a receiver checks it.
    let places = &server.app.places;
    let secret = std::fs::read_to_string(places.own_folder("").unwrap().join("webhook-secret")).unwrap();
    let signature = |body: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(format!("{}.{}.{body}", message.header("sayso-id"), message.header("sayso-timestamp")).as_bytes());
        let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("v1={hex}")
    };
    assert_eq!(message.header("sayso-signature"), signature(&message.text));
    assert_ne!(
        message.header("sayso-signature"),
        signature(&message.text.replace("alice", "mallory")),
        "tampered with"
    );

    // The preview of a chat fetches the address, which has nothing behind # and answers nothing.
    for path in ["/answer", "/answer.js", "/v1/links/answer", "/v1/links/question"] {
        server.send(get(path)).await;
    }
    let (status, seen) = server.link("question", json!({"link": message.link()})).await;
    assert_eq!((status, &seen["approval"]["id"]), (StatusCode::OK, &json!(id)), "{seen}");
    assert_eq!(server.standing(id).await, "pending", "looking is no answer");

    let (status, answered) = server.link("answer", json!({"link": message.link(), "verdict": "allow"})).await;
    assert_eq!((status, &answered["standing"]), (StatusCode::OK, &json!("approved")), "{answered}");
    for (what, body) in
        [("answer", json!({"link": message.link(), "verdict": "deny"})), ("question", json!({"link": message.link()}))]
    {
        let (status, again) = server.link(what, body).await;
        assert_eq!((status, &again["error"]["code"]), (StatusCode::GONE, &json!("link-used")), "{what}");
    }
    let (_, whole) = server.send(with_token(&format!("/v1/approvals/{id}"), &server.token().await)).await;
    let given = &whole["answers"][0];
    assert_eq!((&given["person"], &given["via"]), (&json!({"name": "alice"}), &json!("webhook link")), "{whole}");
    let ended = got.recv().await.unwrap();
    assert_eq!((&ended.body["type"], &ended.body["standing"]), (&json!("approval_response"), &json!("approved")));
    assert_eq!(ended.body.get("link"), None);
}

#[tokio::test]
async fn a_link_is_for_one_question_and_one_person() {
    let policy = "default = \"ask\"\n[[rule]]\nid = \"r\"\nask = { tool = \"web_search\" }\napprover = \"leads\"\n\
                  [approvals.leads]\nmembers = [\"alice\"]\n";
    let server = Server::new(policy);
    let ((to_alice, mut alice), (to_mallory, mut mallory)) = (receiver(Vec::new()).await, receiver(Vec::new()).await);
    server.tells(&[hook("alice", &to_alice), hook("mallory", &to_mallory)]);
    let [first, second] = [server.question(None, None).await, server.question(None, None).await];
    let [of_first, of_second] = [alice.recv().await.unwrap(), alice.recv().await.unwrap()];
    assert_eq!(of_first.body["approval"], json!(first));
    // Nobody sends the id of another question along: the link decides.
    let body = json!({"link": of_second.link(), "verdict": "deny", "approval": first});
    assert_eq!(server.link("answer", body).await.0, StatusCode::BAD_REQUEST);
    let body = json!({"link": of_second.link(), "verdict": "deny"});
    assert_eq!(server.link("answer", body).await.0, StatusCode::OK);
    assert_eq!((server.standing(&first).await, server.standing(&second).await), (json!("pending"), json!("denied")));
    assert!(mallory.try_recv().is_err(), "nothing is addressed to mallory");
    // A link opens no other address.
    for path in ["/v1/approvals", "/v1/audit", "/v1/status", "/v1/stream"] {
        assert_eq!(server.send(with_token(path, of_first.link())).await.0, StatusCode::UNAUTHORIZED, "{path}");
    }
    for body in [
        json!({"verdict": "allow"}),
        json!({"link": of_first.link()}),
        json!({"link": of_first.link(), "verdict": "allow", "automated": "no"}),
    ] {
        assert_eq!(server.link("answer", body).await.0, StatusCode::BAD_REQUEST);
    }
    assert_eq!(server.link("answer", json!({"link": "0".repeat(64), "verdict": "allow"})).await.0, StatusCode::GONE);
    assert_eq!(server.standing(&first).await, "pending");
}

#[tokio::test]
async fn a_question_that_was_answered_on_the_page_is_not_answered_by_its_link() {
    let server = Server::new(ASKING);
    let (url, mut got) = receiver(Vec::new()).await;
    server.tells(&[hook("alice", &url)]);
    let id = server.question(None, None).await;
    let message = got.recv().await.unwrap();
    let token = server.token().await;
    let no = post(&format!("/v1/approvals/{id}/answer"), &json!({"verdict": "deny"}));
    assert_eq!(server.as_one(&token, no).await.0, StatusCode::OK);
    let (status, _) = server.link("answer", json!({"link": message.link(), "verdict": "allow"})).await;
    assert!([StatusCode::GONE, StatusCode::CONFLICT].contains(&status), "{status}");
    assert_eq!(server.standing(&id).await, "denied");
}

#[tokio::test]
async fn a_link_that_is_over_says_why() {
    let policy = "default = \"ask\"\n[[rule]]\nid = \"r\"\nask = { tool = \"web_search\" }\napprover = \"leads\"\n\
                  [approvals.leads]\nmembers = [\"alice\"]\nexpires = \"50ms\"\n";
    let server = Server::new(policy);
    let (url, mut got) = receiver(Vec::new()).await;
    server.tells(&[hook("alice", &url)]);
    let code = async |link: &str| {
        let (status, told) = server.link("question", json!({ "link": link })).await;
        (status, told["error"]["code"].as_str().unwrap_or_default().to_owned())
    };
    // Somebody else was faster.
    let call = json!({"tool": "web_fetch", "args": {}, "wait": 0});
    let (_, told) = server.send(post("/v1/decisions", &call)).await;
    let elsewhere = got.recv().await.unwrap();
    let no = post(&format!("/v1/approvals/{}/answer", told["approval"].as_str().unwrap()), &json!({"verdict": "deny"}));
    assert_eq!(server.as_one(&server.token().await, no).await.0, StatusCode::OK);
    assert_eq!(got.recv().await.unwrap().body["type"], "approval_response");
    assert_eq!(code(elsewhere.link()).await, (StatusCode::GONE, "link-over".to_owned()));
    assert_eq!(code(&"0".repeat(64)).await, (StatusCode::GONE, "link-unknown".to_owned()));
    // Nobody was fast enough. A receiver that was told too late shows nothing either.
    let _ = server.question(None, None).await;
    let Some(late) = got.recv().await.filter(|it| it.body["type"] == "approval_required") else { return };
    let expires = late.body["expires_ms"].as_u64().unwrap();
    while crate::clock::now_ms() <= expires {
        tokio::task::yield_now().await;
    }
    assert_eq!(code(late.link()).await, (StatusCode::GONE, "link-expired".to_owned()));
}

#[tokio::test]
async fn who_asked_gets_no_link_and_answers_with_none() {
    let server = Server::trusting(ASKING);
    let (url, mut got) = receiver(Vec::new()).await;
    server.tells(&[hook("coder", &url)]);
    let coder = server.made("coder", Role::Agent, None);
    let call = json!({"tool": "web_search", "args": {"n": 1}, "wait": 0});
    let (_, told) = server.as_one(&coder, post("/v1/decisions", &call)).await;
    assert_eq!(told["verdict"], "ask", "{told}");
    let call = json!({"tool": "web_search", "args": {"n": 2}, "wait": 0, "context": {"agent": "other"}});
    let (_, told) = server.send(post("/v1/decisions", &call)).await;
    assert_eq!(got.recv().await.unwrap().body["approval"], told["approval"], "only what others asked");
}

#[tokio::test]
async fn a_service_that_answers_by_itself_is_recorded_as_such() {
    let server = Server::new(ASKING);
    let (url, mut got) = receiver(Vec::new()).await;
    let robot = Webhook { person: Person { automated: true, ..Person::named("robot") }, url };
    server.tells(&[robot]);
    let id = server.question(None, None).await;
    let message = got.recv().await.unwrap();
    // It cannot say that it is a person.
    let body = json!({"link": message.link(), "verdict": "deny", "automated": false});
    assert_eq!(server.link("answer", body).await.0, StatusCode::OK);
    let (_, whole) = server.send(with_token(&format!("/v1/approvals/{id}"), &server.token().await)).await;
    assert_eq!(whole["answers"][0]["person"], json!({"name": "robot", "automated": true}), "{whole}");
}

#[tokio::test]
async fn a_receiver_that_fails_is_told_again_and_holds_up_nobody() {
    let server = Server::new(ASKING);
    let (url, mut got) = receiver(vec![500, 302, 503]).await;
    let (hanging, mut hung) = receiver(vec![0; 100]).await;
    server.tells(&[hook("alice", &url), hook("bob", &hanging)]);
    let id = server.question(None, None).await;
    let first = got.recv().await.unwrap();
    for _ in 0..3 {
        let again = got.recv().await.unwrap();
        assert_eq!((&again.text, again.header("sayso-id")), (&first.text, first.header("sayso-id")));
    }
    hung.recv().await.unwrap();
    // More questions than wait for the one that hangs: decisions and the other receiver go on.
    for n in 0..300 {
        let call = json!({"tool": "web_search", "args": {"n": n}, "wait": 0, "context": {"session": format!("s{n}")}});
        assert_eq!(server.send(post("/v1/decisions", &call)).await.1["verdict"], "ask");
    }
    assert_eq!(server.link("answer", json!({"link": first.link(), "verdict": "allow"})).await.0, StatusCode::OK);
    assert_eq!(server.standing(&id).await, "approved");
    for _ in 0..300 {
        got.recv().await.unwrap();
    }
}

#[tokio::test]
async fn questions_that_wait_are_told_again_by_the_next_server() {
    let server = Server::new(ASKING);
    let id = server.question(None, None).await;
    let (url, mut got) = receiver(Vec::new()).await;
    server.tells(&[hook("alice", &url)]);
    let message = got.recv().await.unwrap();
    assert_eq!(message.body["approval"], json!(id));
    assert_eq!(server.link("answer", json!({"link": message.link(), "verdict": "allow"})).await.0, StatusCode::OK);
}

#[tokio::test]
async fn links_go_where_nobody_on_the_way_reads_them() {
    let server = Server::new(ASKING);
    let new = |url| Webhooks::new(&server.app, &[hook("alice", url)], None, BASE, Box::new(|_| {}));
    for url in [
        "http://chat.example/x",
        "ftp://x/",
        "nonsense",
        "https://me:secret@chat.example/",
        "http://127.0.0.1.evil.example/",
    ] {
        assert!(new(url).is_err(), "{url}");
    }
    assert!(new("https://chat.example/x").is_ok());
}
