//! `/v1/sessions` and `/v1/runs`.

use crate::client::Served;
use sayso_server::Role;
use serde_json::{Value, json};

const POLICY: &str = "default = \"ask\"\n[allow]\ntool = [\"web_search\"]\n[deny]\ntool = [\"file_delete\"]\n";

fn call(tool: &str, tenant: Option<&str>, session: &str, run: Option<&str>) -> Value {
    json!({"tool": tool, "cwd": "/nowhere/at/all", "wait": 0,
        "context": {"agent": "coder", "session": session, "run": run, "tenant": tenant}})
}

#[test]
fn a_session_tells_what_it_did_and_what_it_waits_for() {
    let served = Served::with(POLICY);
    for tool in ["web_search", "web_search", "file_delete"] {
        served.decide(None, &call(tool, None, "s 1/é", Some("r1")));
    }
    let asked = served.decide(None, &call("file_write", None, "s 1/é", Some("r2")));
    served.decide(None, &call("web_search", None, "other", None));

    let (status, found) = served.get(&served.owner, "/v1/sessions");
    assert_eq!(status, 200, "{found}");
    let ids: Vec<&Value> = found["sessions"].as_array().unwrap().iter().map(|session| &session["id"]).collect();
    assert_eq!(ids, [&json!("other"), &json!("s 1/é")]);
    let session = &found["sessions"][1];
    assert_eq!(session["decisions"], json!({"allow": 2, "ask": 1, "deny": 1}), "{session}");
    assert_eq!(
        (&session["agents"], &session["workspace"], &session["pending"]),
        (&json!(["coder"]), &json!("/nowhere/at/all"), &json!(1))
    );
    assert!(session["first_ms"].as_u64() <= session["last_ms"].as_u64());

    let (status, one) = served.get(&served.owner, "/v1/sessions/s%201%2F%C3%A9");
    assert_eq!(status, 200, "{one}");
    assert_eq!(
        (&one["id"], &one["pending"][0]["id"], &one["grants"]),
        (&json!("s 1/é"), &asked["approval"], &json!([]))
    );
    served.say_yes(&asked, "session", "exact");
    let (_, one) = served.get(&served.owner, "/v1/sessions/s%201%2F%C3%A9");
    assert_eq!((one["pending"].as_array().unwrap().len(), one["grants"].as_array().unwrap().len()), (0, 1), "{one}");

    // The answer was the latest record.
    let (_, page) = served.get(&served.owner, "/v1/sessions?limit=1");
    let before = page["sessions"][0]["last_seq"].as_u64().unwrap();
    let (_, rest) = served.get(&served.owner, &format!("/v1/sessions?before={before}"));
    assert_eq!((rest["sessions"].as_array().unwrap().len(), &rest["sessions"][0]["id"]), (1, &json!("other")));
}

#[test]
fn a_run_is_shown_the_same_way() {
    let served = Served::with(POLICY);
    served.decide(None, &call("web_search", None, "s", Some("r1")));
    let asked = served.decide(None, &call("file_write", None, "s", Some("r2")));
    let (status, found) = served.get(&served.owner, "/v1/runs");
    let ids: Vec<&Value> = found["runs"].as_array().unwrap().iter().map(|run| &run["id"]).collect();
    assert_eq!((status, ids), (200, vec![&json!("r2"), &json!("r1")]));
    let (_, one) = served.get(&served.owner, "/v1/runs/r2");
    assert_eq!((&one["sessions"], &one["pending"][0]["id"]), (&json!(["s"]), &asked["approval"]), "{one}");
    let (_, other) = served.get(&served.owner, "/v1/runs/r1");
    assert_eq!(other["pending"], json!([]));
    assert_eq!(served.get(&served.owner, "/v1/runs/s").0, 404);
}

#[test]
fn sessions_and_runs_of_another_tenant_are_not_there() {
    let served = Served::with(POLICY);
    for (tenant, session) in [(Some("a"), "same"), (Some("b"), "same"), (Some("b"), "b only"), (None, "nobody's")] {
        served.decide(None, &call("file_write", tenant, session, Some("run")));
    }
    let a = served.token("a-admin", Role::Admin, Some("a"));
    for (path, list) in [("/v1/sessions", "sessions"), ("/v1/runs", "runs")] {
        let (_, found) = served.get(&a, path);
        let found = found[list].as_array().unwrap();
        assert_eq!(found.len(), 1, "{path}: {found:?}");
        assert_eq!(
            (&found[0]["tenant"], &found[0]["decisions"]["ask"], &found[0]["pending"]),
            (&json!("a"), &json!(1), &json!(1))
        );
        assert_eq!(served.get(&a, &format!("{path}?tenant=b")).0, 404);
    }
    let (_, one) = served.get(&a, "/v1/sessions/same");
    assert_eq!((&one["tenant"], one["pending"].as_array().unwrap().len()), (&json!("a"), 1));
    for path in ["/v1/sessions/b%20only", "/v1/sessions/nobody's", "/v1/sessions/same?tenant=b"] {
        assert_eq!(served.get(&a, path).0, 404, "{path}");
    }
    let (_, b) = served.get(&served.owner, "/v1/sessions/same?tenant=b");
    assert_eq!(b["tenant"], "b");
}

#[test]
fn only_admins_see_sessions() {
    let served = Served::with(POLICY);
    let approver = served.token("alice", Role::Approver, None);
    for path in ["/v1/sessions", "/v1/sessions/x", "/v1/runs", "/v1/runs/x"] {
        assert_eq!(served.get(&approver, path).0, 403, "{path}");
        assert_eq!(served.send("GET", None, path, None).status, 401, "{path}");
    }
    assert_eq!(served.get(&served.owner, "/v1/sessions?limit=many").0, 400);
    assert_eq!(served.get(&served.owner, "/v1/sessions/%ff").0, 400);
    assert_eq!(served.get(&served.owner, "/v1/sessions/nothing").0, 404);
}
