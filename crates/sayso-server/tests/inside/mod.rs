//! The API as callers see it, without a network.

mod analysed;
mod approvals;
mod connections;
mod description;
mod matrix;
mod peer;
mod record;
mod resume;
mod roles;
mod stream;
mod webhooks;

use crate::app::{About, App};
use crate::guard::WayIn;
use crate::key::Keys;
use crate::site::Site;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use sayso_gate::Places;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

const PORT: u16 = 7171;

struct Server {
    _folder: tempfile::TempDir,
    app: Arc<App>,
}

impl Server {
    fn new(policy: &str) -> Self {
        Self::with(policy, About { owner: "owner".to_owned(), ..About::default() })
    }

    fn with(policy: &str, about: About) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::below(folder.path(), folder.path());
        std::fs::create_dir_all(places.user.parent().unwrap()).unwrap();
        std::fs::write(&places.user, policy).unwrap();
        let keys = Keys::new().unwrap();
        let app = App::new(places, keys, Vec::new(), about, Box::new(|_, _| {})).unwrap();
        Self { _folder: folder, app: Arc::new(app) }
    }

    fn over(&self, way_in: WayIn) -> Site {
        Site::new(&self.app, way_in)
    }

    async fn send(&self, request: Request<Body>) -> (StatusCode, Value) {
        send(self.over(WayIn::Loopback(PORT)), request).await
    }

    async fn token(&self) -> String {
        let (status, body) = self.send(post("/v1/session", &json!({"key": self.app.keys.key()}))).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body["token"].as_str().unwrap().to_owned()
    }
}

async fn send(site: Site, request: Request<Body>) -> (StatusCode, Value) {
    let response = site.answer(request).await;
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

fn get(path: &str) -> Request<Body> {
    Request::get(path).header("host", "127.0.0.1:7171").body(Body::empty()).unwrap()
}

fn with_token(path: &str, token: &str) -> Request<Body> {
    let request = Request::get(path).header("host", "127.0.0.1:7171");
    request.header("authorization", format!("Bearer {token}")).body(Body::empty()).unwrap()
}

fn post(path: &str, body: &Value) -> Request<Body> {
    let request = Request::post(path).header("host", "127.0.0.1:7171").header("content-type", "application/json");
    request.body(Body::from(body.to_string())).unwrap()
}

fn signed(mut request: Request<Body>, token: &str) -> Request<Body> {
    let value = format!("Bearer {token}").parse().unwrap();
    request.headers_mut().insert("authorization", value);
    request
}

const POLICY: &str = "default = \"ask\"\n[allow]\ntool = [\"web_search\"]\n[deny]\ntool = [\"file_delete\"]\n";

#[tokio::test]
async fn a_decision_is_judged_recorded_and_shown_to_who_holds_the_key() {
    let server = Server::new(POLICY);
    let call = json!({"id": 7, "tool": "file_delete", "args": {"path": "/x"}, "cwd": "/nowhere", "call_id": "c1",
        "context": {"agent": "coder", "session": "s"}});
    let (status, answer) = server.send(post("/v1/decisions", &call)).await;
    assert_eq!((status, &answer["id"], &answer["verdict"]), (StatusCode::OK, &json!(7), &json!("deny")), "{answer}");

    assert_eq!(server.send(get("/v1/audit")).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(server.send(with_token("/v1/audit", "0".repeat(64).as_str())).await.0, StatusCode::UNAUTHORIZED);
    let token = server.token().await;
    let (status, found) = server.send(with_token("/v1/audit?limit=5", &token)).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    let record = &found["records"][0];
    assert_eq!(record["id"], answer["record"]);
    assert_eq!(
        (&record["tool"], &record["way_in"], &record["call_id"]),
        (&json!("file_delete"), &json!("http"), &json!("c1"))
    );
    assert_eq!(record["actor"], json!({"agent": "coder", "session": "s"}));

    let (_, after) = server.send(with_token(&format!("/v1/audit?after={}", record["seq"]), &token)).await;
    assert_eq!(after, json!({"records": []}));
    assert_eq!(server.send(with_token("/v1/audit?verdcit=deny", &token)).await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_trial_is_traced_and_not_recorded() {
    let server = Server::new(POLICY);
    let call = post("/v1/try", &json!({"tool": "web_search", "args": {"query": "x"}}));
    let (status, trace) = server.send(signed(call, &server.token().await)).await;
    assert_eq!((status, &trace["verdict"]), (StatusCode::OK, &json!("allow")), "{trace}");
    assert!(!trace["effects"].as_array().unwrap().is_empty());
    let (_, found) = server.send(with_token("/v1/audit", &server.token().await)).await;
    assert_eq!(found, json!({"records": []}));
}

#[tokio::test]
async fn the_first_call_of_a_session_fixes_its_workspace() {
    let server = Server::new(POLICY);
    for cwd in ["/nowhere/one", "/nowhere/two"] {
        let call = json!({"tool": "web_search", "args": {}, "cwd": cwd, "context": {"session": "s"}});
        assert_eq!(server.send(post("/v1/decisions", &call)).await.0, StatusCode::OK);
    }
    let (_, found) = server.send(with_token("/v1/audit", &server.token().await)).await;
    let folders: BTreeSet<&str> =
        found["records"].as_array().unwrap().iter().map(|record| record["workspace"].as_str().unwrap()).collect();
    assert_eq!(folders, BTreeSet::from(["/nowhere/one"]));
}

#[tokio::test]
async fn what_is_not_understood_is_refused_with_a_stable_code() {
    let server = Server::new(POLICY);
    let text = |kind: &str, body: &str| {
        let request = Request::post("/v1/decisions").header("host", "localhost:7171").header("content-type", kind);
        request.body(Body::from(body.to_owned())).unwrap()
    };
    for (request, status, code) in [
        (text("text/plain", "{}"), StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json"),
        (text("application/json", "{"), StatusCode::BAD_REQUEST, "call-malformed"),
        (text("application/json", "{}"), StatusCode::BAD_REQUEST, "call-malformed"),
        (text("application/json", r#"{"command":"ls","command":"rm x"}"#), StatusCode::BAD_REQUEST, "call-malformed"),
        (get("/v1/nothing"), StatusCode::NOT_FOUND, "not-found"),
        (post("/v1/session", &json!({"key": "0000-0000"})), StatusCode::FORBIDDEN, "key-refused"),
        (post("/v1/session", &json!({})), StatusCode::BAD_REQUEST, "call-malformed"),
    ] {
        let (got, body) = server.send(request).await;
        assert_eq!((got, &body["error"]["code"]), (status, &json!(code)), "{body}");
    }
    let long = json!({"command": "x".repeat(super::MAX_BODY)});
    let (status, body) = server.send(post("/v1/decisions", &long)).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::PAYLOAD_TOO_LARGE, &json!("body-unreadable")));
    let (status, body) = server.send(get("/v1/decisions")).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::METHOD_NOT_ALLOWED, &json!("wrong-method")));
}

#[tokio::test]
async fn every_answer_carries_the_headers_that_keep_others_out() {
    let server = Server::new(POLICY);
    for path in ["/", "/app.js", "/v1/health", "/v1/audit", "/nothing"] {
        let response = server.over(WayIn::Loopback(PORT)).answer(get(path)).await;
        let headers = response.headers();
        assert!(headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"), "{path}");
        assert_eq!(headers["cache-control"], "no-store", "{path}");
        assert!(headers.get("access-control-allow-origin").is_none(), "{path}");
    }
    let foreign = Request::get("/").header("host", "evil.example:7171").body(Body::empty()).unwrap();
    assert_eq!(server.send(foreign).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_stream_begins_behind_what_was_seen() {
    let server = Server::new(POLICY);
    for _ in 0..3 {
        server.send(post("/v1/decisions", &json!({"tool": "web_search"}))).await;
    }
    let response = server.over(WayIn::Socket).answer(with_token("/v1/stream?after=1", &server.token().await)).await;
    let mut body = response.into_body();
    let mut text = String::new();
    while text.matches("\n\n").count() < 2 {
        let frame = body.frame().await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    let ids: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    assert_eq!(ids, ["2", "3"], "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_callers_at_once_is_told_what_is_recorded_of_it() {
    let server = Arc::new(Server::new("[allow]\nrun = [\"true\"]\n[deny]\nrun = [\"false\"]\n"));
    let ask = |n: usize| {
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let (command, said) = if n.is_multiple_of(3) { ("false", "deny") } else { ("true", "allow") };
            let body = json!({"id": n, "command": command, "env": {"PATH": "/usr/bin:/bin"}, "cwd": "/"});
            let (status, body) = server.send(post("/v1/decisions", &body)).await;
            assert_eq!((status, &body["id"], &body["verdict"]), (StatusCode::OK, &json!(n), &json!(said)), "{body}");
            (body["record"].as_str().unwrap().to_owned(), command)
        })
    };
    let asked: Vec<_> = (0..200).map(ask).collect();
    let mut told = BTreeSet::new();
    for one in asked {
        told.insert(one.await.unwrap());
    }
    let kept = server.app.with_log(|log| log.query(&sayso_gate::audit::Query::default())).unwrap();
    let kept: BTreeSet<(String, &str)> = kept
        .iter()
        .map(|stored| (stored.record.id.clone(), stored.record.command.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(kept.len(), 200);
    assert_eq!(kept, told);
}

#[test]
fn no_address_is_served_to_whoever_is_not_identified() {
    for address in super::addresses() {
        assert!(super::serves(address.path), "{}", address.path);
    }
}
