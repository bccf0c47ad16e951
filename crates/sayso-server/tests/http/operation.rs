//! `/v1/ready` and `/metrics`.

use crate::client::Served;
use sayso_server::Role;
use serde_json::json;

const POLICY: &str = "default = \"ask\"\n[allow]\ntool = [\"web_search\"]\n[limits.session]\ncalls = 1\n";

#[test]
fn a_server_is_ready_until_something_is_in_the_way() {
    let served = Served::with(POLICY);
    let ready = served.send("GET", None, "/v1/ready", None);
    assert_eq!((ready.status, ready.json()), (200, json!({"ready": true, "reasons": []})));
    std::fs::write(&served.places.user, "default = 7\n").unwrap();
    let began = std::time::Instant::now();
    let told = loop {
        let told = served.send("GET", None, "/v1/ready", None);
        if told.status == 503 || began.elapsed().as_secs() > 20 {
            break told;
        }
    };
    assert_eq!((told.status, &told.json()["reasons"][0]["code"]), (503, &json!("policy-refused")), "{}", told.body);
    assert!(!told.body.contains(served.places.home.to_str().unwrap()), "no path: {}", told.body);
    assert_eq!(served.send("GET", None, "/v1/health", None).status, 200, "it runs all the same");
}

#[test]
fn a_store_that_refuses_is_in_the_way() {
    let served = Served::with(POLICY);
    let other = rusqlite::Connection::open(served.places.state.join("sayso.db")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let told = served.send("GET", None, "/v1/ready", None);
    assert_eq!((told.status, &told.json()["reasons"][0]["code"]), (503, &json!("store-refuses")), "{}", told.body);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(served.send("GET", None, "/v1/ready", None).status, 200);
}

#[test]
fn metrics_count_and_name_nobody() {
    let served = Served::with(POLICY);
    let call = |tool: &str| json!({"tool": tool, "wait": 0, "context": {"agent": "very-secret-name", "session": "s"}});
    served.decide(None, &call("web_search"));
    served.decide(None, &call("web_search"));
    served.decide(None, &call("file_write"));
    let token = served.token("scraper", Role::Agent, None);
    for token in [None, Some(token.as_str())] {
        let told = served.send("GET", token, "/metrics", None);
        assert_eq!(told.status, 200);
        assert!(told.head.contains("openmetrics-text"), "{}", told.head);
        for line in [
            "sayso_decisions_total{verdict=\"allow\"} 1",
            "sayso_limited_total 2",
            "sayso_decision_duration_seconds_count 3",
            "sayso_approvals{standing=\"pending\"} 0",
            "sayso_store_failures_total 0",
            "sayso_policy_versions 1",
            "sayso_build_info{version=\"0.1.0\"} 1",
        ] {
            assert!(told.body.lines().any(|it| it == line), "{line}\n{}", told.body);
        }
        assert!(!told.body.contains("very-secret-name") && !told.body.contains("web_search"), "{}", told.body);
        assert!(told.body.ends_with("# EOF\n"));
    }
    let walled = served.token("a", Role::Admin, Some("a"));
    assert_eq!(served.send("GET", Some(&walled), "/metrics", None).status, 403);
}
