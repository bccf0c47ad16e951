//! Nothing in a request is left aside: a word that is not understood may be one that was meant to hold something back.

use crate::client::Served;
use serde_json::{Value, json};

const POLICY: &str = "default = \"ask\"\n[allow]\ntool = [\"web_search\"]\n";

/// Bodies that are in order, for each address that takes one.
fn bodies(approval: &str) -> Vec<(String, Value)> {
    let context = json!({"agent": "a", "provider": "p/m", "group": "g", "member": "m", "tenant": "t", "session": "s", "run": "r",
        "subagent": true});
    let call = json!({"id": 1, "tool": "web_search", "args": {"any": {"thing": 1}}, "cwd": "/nowhere", "workspace": "/nowhere",
        "home": "/nowhere", "env": {"A": "1"}, "kind": "read", "context": context, "call_id": "c", "wait": 0});
    let mut trial = call.clone();
    trial["nearest"] = json!(false);
    let outcome = json!({"record": "r", "call_id": "c", "session": "s", "agent": "a", "tenant": "t", "ok": true,
        "not_run": false, "duration_ms": 1, "input_tokens": 1, "output_tokens": 1, "cost_micros": 1, "bytes_written": 1,
        "deletes": 1, "text": "x"});
    let tools = json!({"tools": ["a", {"name": "b", "server": "s", "description": "left aside"}], "cwd": "/nowhere",
        "workspace": "/nowhere", "context": context});
    [
        ("/v1/decisions", call),
        ("/v1/try", trial),
        ("/v1/outcomes", outcome),
        ("/v1/tools/filter", tools),
        ("/v1/policy/validate", json!({"text": POLICY})),
        (&format!("/v1/approvals/{approval}/answer"), json!({"verdict": "deny", "remember": "once", "width": "exact"})),
    ]
    .map(|(path, body)| (path.to_owned(), body))
    .into()
}

fn more(body: &Value, key: &str) -> Value {
    let mut body = body.clone();
    body[key] = json!(true);
    body
}

#[test]
fn a_word_that_is_not_known_is_refused_in_every_body() {
    let served = Served::with(POLICY);
    let asked = served.decide(None, &json!({"tool": "file_write", "wait": 0}));
    let refused = |path: &str, body: &Value, named: &str| {
        let (status, told) = served.post(Some(&served.owner), path, body);
        assert_eq!((status, &told["error"]["code"]), (400, &json!("call-malformed")), "{path}: {told}");
        let text = told["error"]["text"].as_str().unwrap();
        assert!(text.starts_with(&format!("`{named}` is not a known field; use one of: ")), "{text}");
    };
    for (path, body) in bodies(asked["approval"].as_str().unwrap()) {
        for key in ["dry_run", "Verdict", "verdict ", "", "__proto__"] {
            refused(&path, &more(&body, key), key);
        }
        if body["context"].is_object() {
            let mut with = body.clone();
            with["context"] = more(&body["context"], "team");
            refused(&path, &with, "context.team");
        }
        let (status, told) = served.post(Some(&served.owner), &path, &body);
        assert_eq!(status, 200, "{path}: {told}");
    }
    for (path, body, key) in [
        ("/v1/policy/activate", json!({"text": "default = \"deny\"\n", "if_match": "x"}), "if_match"),
        ("/v1/policy/activate", json!({"text": "default = \"deny\"\n", "Base": "x"}), "Base"),
        ("/v1/policy/rollback", json!({"version": "x", "dry_run": true}), "dry_run"),
        ("/v1/policy/validate", json!({"text": "", "base": "x"}), "base"),
        ("/v1/session", json!({"key": "0000-0000", "role": "admin"}), "role"),
        ("/v1/links/question", json!({"link": "x", "verdict": "allow"}), "verdict"),
        ("/v1/links/answer", json!({"link": "x", "verdict": "allow", "remember": "always"}), "remember"),
    ] {
        refused(path, &body, key);
    }
    assert_eq!(std::fs::read_to_string(&served.places.user).unwrap(), POLICY, "nothing was written");
}

#[test]
fn a_word_that_is_not_known_is_refused_in_its_call_of_a_list() {
    let served = Served::with(POLICY);
    let calls = json!([{"tool": "web_search"}, {"tool": "web_search", "dry_run": true}, {"tool": "web_search"}]);
    let (status, told) = served.post(None, "/v1/decisions", &calls);
    let verdicts: Vec<&Value> = told.as_array().unwrap().iter().map(|each| &each["verdict"]).collect();
    assert_eq!((status, verdicts), (200, vec![&json!("allow"), &Value::Null, &json!("allow")]), "{told}");
    assert_eq!(told[1]["error"]["code"], "call-malformed");
}

#[test]
fn a_header_that_is_decided_by_and_stands_there_twice_is_refused() {
    let served = Served::with(POLICY);
    let bearer = format!("Authorization: Bearer {}", served.owner);
    let host = format!("Host: 127.0.0.1:{}", served.port());
    let origin = format!("Origin: http://127.0.0.1:{}", served.port());
    let joined = format!("Authorization: Bearer {0}, Bearer {0}", served.owner);
    let ask = |headers: &[&str]| served.raw("GET /v1/audit", headers).status;
    assert_eq!(ask(&[&host, &bearer]), 200);
    assert_eq!(ask(&[&host, &origin, &bearer]), 200);
    for (headers, status) in [
        (vec![&*host, &bearer, &bearer], 400),
        (vec![&*host, "Authorization: Bearer x", &bearer], 400),
        (vec![&*host, &bearer, "authorization: Bearer x"], 400),
        (vec![&*host, &joined], 401),
        (vec![&*host, &origin, &origin, &bearer], 400),
        (vec![&*host, &origin, "ORIGIN: https://evil.example", &bearer], 400),
        (vec![&*host, "Origin: https://evil.example", &origin, &bearer], 400),
        (vec![&*host, &host, &bearer], 400),
        (vec!["Host: evil.example", &host, &bearer], 400),
        (vec![&*host, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site", &bearer], 400),
        (vec![&bearer], 403),
    ] {
        assert_eq!(ask(&headers), status, "{headers:?}");
    }
    let addressed = |first: &str| served.raw(first, &[&host, &bearer]).status;
    assert_eq!(addressed(&format!("GET http://127.0.0.1:{}/v1/audit", served.port())), 200);
    assert_eq!(addressed("GET http://evil.example/v1/audit"), 403);
    assert_eq!(addressed(&format!("GET http://owner@127.0.0.1:{}/v1/audit", served.port())), 403);
}

#[test]
fn every_refusal_says_what_to_do_and_shows_nothing_that_hides() {
    let served = Served::with(POLICY);
    let send = |method: &str, path: &str, body: Option<&str>| served.send(method, Some(&served.owner), path, body);
    for (method, path, body, status, code, part) in [
        ("GET", "/v1/audit?limit=x", None, 400, "call-malformed", "See /v1/openapi.json"),
        ("GET", "/v1/audit?verdcit=deny", None, 400, "call-malformed", "unknown field `verdcit`, expected one of"),
        ("GET", "/v1/limits?scope=%1b[31m", None, 400, "call-malformed", "See /v1/openapi.json"),
        ("GET", "/v1/approvals/%ff", None, 400, "call-malformed", "Invalid address"),
        ("GET", "/v1/approvals/nothing", None, 404, "not-found", "GET /v1/approvals lists"),
        ("GET", "/v1/nothing", None, 404, "not-found", "/v1/openapi.json"),
        ("PUT", "/v1/audit", None, 405, "wrong-method", "/v1/openapi.json"),
        ("POST", "/v1/policy/validate", Some("{\"text\":"), 400, "call-malformed", "JSON object"),
        ("POST", "/v1/policy/validate", Some("{}"), 400, "call-malformed", "`text` is missing"),
        ("POST", "/v1/policy/validate", Some("{\"\\u001b[31m\\u202e\":1}"), 400, "call-malformed", "use one of: text"),
        (
            "POST",
            "/v1/session",
            Some(&format!("{{\"key\":\"{}\"}}", "x".repeat(8000))),
            413,
            "body-unreadable",
            "4,096",
        ),
        ("GET", "/v1/stream?after=-1", None, 400, "call-malformed", "See /v1/openapi.json"),
    ] {
        let answer = send(method, path, body);
        let told = answer.json();
        assert_eq!((answer.status, &told["error"]["code"]), (status, &json!(code)), "{method} {path}: {told}");
        let text = told["error"]["text"].as_str().unwrap();
        assert!(text.contains(part), "{method} {path}: {text}");
        assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{method} {path}: {text:?}");
        assert!(!text.contains("deserialize") && text.ends_with('.'), "{text}");
    }
}

#[test]
fn a_parameter_is_refused_where_none_is_taken() {
    let served = Served::with(POLICY);
    let asked = served.decide(None, &json!({"tool": "file_write", "wait": 0}));
    let approval = format!("/v1/approvals/{}?x=1", asked["approval"].as_str().unwrap());
    for path in [
        "/v1/health?x=1",
        "/v1/ready?x",
        "/v1/status?x",
        "/v1/status?tenant=a",
        "/metrics?x=1",
        "/v1/openapi.json?x=1",
        "/v1/policy/versions?x=1",
        "/v1/audit/verify?x=1",
        "/v1/audit/counts?x=1",
        "/v1/audit/counts?step=0",
        &approval,
    ] {
        let (status, told) = served.get(&served.owner, path);
        assert_eq!((status, &told["error"]["code"]), (400, &json!("call-malformed")), "{path}: {told}");
    }
    let body = json!({"tool": "web_search"});
    let (status, told) = served.post(None, "/v1/decisions?wait=0", &body);
    assert_eq!((status, &told["error"]["code"]), (400, &json!("call-malformed")), "{told}");
    // A mark without anything behind it says nothing.
    assert_eq!(served.get(&served.owner, "/v1/status?").0, 200);
}
