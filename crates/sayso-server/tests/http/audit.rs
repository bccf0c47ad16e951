//! `/v1/audit`.

use crate::client::Served;
use sayso_server::Role;
use serde_json::{Value, json};

const POLICY: &str = "default = \"ask\"\n[allow]\ntool = [\"web_search\"]\n[deny]\ntool = [\"file_delete\"]\n";

fn call(tool: &str, agent: &str, tenant: Option<&str>) -> Value {
    json!({"tool": tool, "args": {"q": "=1+1"}, "context": {"agent": agent, "session": "s", "tenant": tenant, "run": "r"}})
}

fn count(counts: &Value, what: &str) -> u64 {
    let found = counts.as_array().unwrap().iter().find(|it| it["what"] == what);
    found.unwrap_or_else(|| panic!("{counts}"))["count"].as_u64().unwrap()
}

#[test]
fn records_are_found_by_what_they_say_and_paged_by_their_number() {
    let served = Served::with(POLICY);
    for (tool, agent) in [("web_search", "a"), ("file_delete", "a"), ("web_search", "b"), ("file_write", "b")] {
        served.decide(None, &call(tool, agent, None));
    }
    let found = |query: &str| -> Vec<u64> {
        let (status, page) = served.get(&served.owner, &format!("/v1/audit?{query}"));
        assert_eq!(status, 200, "{query}: {page}");
        page["records"].as_array().unwrap().iter().map(|record| record["seq"].as_u64().unwrap()).collect()
    };
    let all = found("order=oldest");
    assert_eq!(all.len(), 4);
    assert_eq!(found("agent=a&order=oldest"), all[..2]);
    assert_eq!(found("verdict=deny"), [all[1]]);
    assert_eq!(found("tool=web_search"), [all[2], all[0]]);
    assert_eq!(found("session=s&run=r").len(), 4);
    assert_eq!(found("run=other"), [0_u64; 0]);
    assert_eq!(found("text=FILE_WRITE"), [all[3]]);
    assert_eq!(found("since=0&until=1"), [0_u64; 0]);
    assert!(found("kind=all").len() > 4, "the policy was recorded too");
    let (_, page) = served.get(&served.owner, "/v1/audit?limit=3");
    assert_eq!(page["next"], json!(all[1]));
    assert_eq!(found(&format!("before={}", all[1])), [all[0]]);
    let (_, rest) = served.get(&served.owner, &format!("/v1/audit?limit=3&before={}", all[1]));
    assert_eq!(rest["next"], Value::Null);
    let (_, denied) = served.get(&served.owner, "/v1/audit?verdict=deny");
    let rule = denied["records"][0]["reasons"][0]["code"].as_str().unwrap();
    assert_eq!(found(&format!("rule={rule}")), [all[1]]);
    for wrong in ["verdcit=deny", "verdict=maybe", "kind=secrets", "after=-1", "limit=x", "format=csv"] {
        let (status, told) = served.get(&served.owner, &format!("/v1/audit?{wrong}"));
        assert_eq!((status, &told["error"]["code"]), (400, &json!("call-malformed")), "{wrong}");
    }
}

#[test]
fn counts_say_how_often_people_were_asked_and_what_would_have_saved_it() {
    let served = Served::with(POLICY);
    for n in 0..3 {
        let call = json!({"command": format!("make b{n}"), "cwd": served.places.home, "context": {"agent": "a"}});
        assert_eq!(served.decide(None, &call)["verdict"], "ask");
    }
    served.decide(None, &call("web_search", "b", None));
    let (status, counts) = served.get(&served.owner, "/v1/audit/counts?savings=true&by=agent");
    assert_eq!(status, 200, "{counts}");
    assert_eq!((&counts["decisions"], &counts["prompts"]["asked"]), (&json!(4), &json!(3)));
    assert_eq!((count(&counts["by_verdict"], "ask"), count(&counts["by_agent"], "b")), (3, 1));
    let over: u64 = counts["over_time"].as_array().unwrap().iter().map(|it| it["count"].as_u64().unwrap()).sum();
    assert_eq!(over, 4);
    let best = &counts["prompts"]["savings"]["rules"][0];
    assert_eq!((&best["saved"], best["examples"].as_array().unwrap().len()), (&json!(3), 3), "{counts}");
    assert!(best["rule"].as_str().unwrap().contains("allow = { run = \"make {b0,b1,b2}\" }"), "{best}");
    // Nobody asked for it: it takes longer.
    let (_, quick) = served.get(&served.owner, "/v1/audit/counts?step=1");
    assert_eq!(quick["prompts"].get("savings"), None);
    assert!(quick["step"].as_u64().unwrap() > 1_000, "so many stretches would not fit: {quick}");
    assert_eq!(served.get(&served.owner, "/v1/audit/counts?by=colour").0, 400);
}

#[test]
fn a_rule_saves_asks_of_a_preset_as_it_would_in_a_first_file() {
    let served = Served::with("");
    std::fs::remove_file(&served.places.user).unwrap();
    let folder = served.places.home.join("project");
    std::fs::create_dir(&folder).unwrap();
    let call = json!({"command": "terraform plan", "cwd": folder});
    assert_eq!(served.until(&call, "ask")["verdict"], "ask");
    let (_, counts) = served.get(&served.owner, "/v1/audit/counts?savings=true");
    let best = &counts["prompts"]["savings"]["rules"][0];
    assert!(best["rule"].as_str().is_some_and(|rule| rule.contains("terraform plan")), "{counts}");
}

#[test]
fn a_rule_that_the_same_file_overrules_saves_nothing() {
    let served = Served::with("default = \"allow\"\n[ask]\nrun = [\"git push\"]\n[allow]\nrun = [\"git\"]\n");
    let call = json!({"command": "git push", "cwd": served.places.home});
    assert_eq!(served.decide(None, &call)["verdict"], "ask");
    let (_, counts) = served.get(&served.owner, "/v1/audit/counts?savings=true");
    assert_eq!(counts["prompts"]["savings"]["rules"], json!([]), "{counts}");
    assert_eq!(counts["prompts"]["savings"]["looked_at"], 1);
}

#[test]
fn an_export_has_everything_and_no_formula() {
    let served = Served::with(POLICY);
    for n in 0..3 {
        served.decide(None, &call("web_search", &format!("=agent{n}"), None));
    }
    let lines = served.send("GET", Some(&served.owner), "/v1/audit/export?kind=all", None);
    assert_eq!(lines.status, 200);
    assert!(lines.head.contains("content-type: application/x-ndjson"), "{}", lines.head);
    let records: Vec<Value> = lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = records.iter().map(|record| record["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=u64::try_from(numbers.len()).unwrap()).collect::<Vec<_>>());
    let sheet = served.send("GET", Some(&served.owner), "/v1/audit/export?format=csv&limit=2", None);
    assert!(sheet.head.contains("content-type: text/csv"), "{}", sheet.head);
    assert_eq!(sheet.body.lines().count(), 3, "{}", sheet.body);
    assert!(sheet.body.contains("\"'=agent0\""), "{}", sheet.body);
    assert_eq!(served.get(&served.owner, "/v1/audit/export?format=xml").0, 400);
}

#[test]
fn a_long_export_is_read_page_by_page() {
    let served = Served::with(POLICY);
    let calls: Vec<Value> = (0..600).map(|n| json!({"tool": "web_search", "args": {"n": n}})).collect();
    for call in &calls {
        served.decide(None, call);
    }
    let lines = served.send("GET", Some(&served.owner), "/v1/audit/export", None);
    assert_eq!(lines.body.lines().count(), 600);
}

#[test]
fn the_chain_is_verified_and_what_was_changed_is_named() {
    let served = Served::with(POLICY);
    served.decide(None, &call("web_search", "a", None));
    let (status, found) = served.get(&served.owner, "/v1/audit/verify");
    assert_eq!((status, &found["whole"], &found["problems"]), (200, &json!(true), &json!([])), "{found}");
    let store = rusqlite::Connection::open(served.places.state.join("sayso.db")).unwrap();
    store
        .execute("UPDATE event SET body = replace(body, 'web_search', 'web_sEarch') WHERE kind = 'decision'", [])
        .unwrap();
    let (_, found) = served.get(&served.owner, "/v1/audit/verify");
    assert_eq!((&found["whole"], &found["problems"][0]["problem"]), (&json!(false), &json!("changed")), "{found}");
}

#[test]
fn the_record_of_others_is_behind_a_wall_everywhere() {
    let served = Served::with(POLICY);
    for tenant in [Some("a"), Some("b"), None] {
        served.decide(None, &call("file_write", "x", tenant));
    }
    let a = served.token("a-admin", Role::Admin, Some("a"));
    let (_, page) = served.get(&a, "/v1/audit?kind=all&limit=1000");
    for record in page["records"].as_array().unwrap() {
        assert_eq!(record["actor"]["tenant"], "a", "{record}");
    }
    let (_, counts) = served.get(&a, "/v1/audit/counts?savings=true");
    assert_eq!((&counts["decisions"], &counts["prompts"]["savings"]["looked_at"]), (&json!(1), &json!(1)), "{counts}");
    let lines = served.send("GET", Some(&a), "/v1/audit/export?kind=decision", None);
    assert_eq!(lines.body.lines().count(), 1, "{}", lines.body);
    assert_eq!(served.get(&a, "/v1/audit/verify").0, 403);
    for path in ["/v1/audit", "/v1/audit/counts", "/v1/audit/export"] {
        assert_eq!(served.get(&a, &format!("{path}?tenant=b")).0, 404, "{path}");
    }
    let approver = served.token("alice", Role::Approver, None);
    for path in ["/v1/audit", "/v1/audit/counts", "/v1/audit/export", "/v1/audit/verify"] {
        assert_eq!(served.get(&approver, path).0, 403, "{path}");
        assert_eq!(served.send("GET", None, path, None).status, 401, "{path}");
    }
}

#[test]
fn tokens_come_and_go_in_the_record() {
    let served = Served::with(POLICY);
    let secret = served.token("bot", Role::Agent, Some("a"));
    sayso_server::Tokens::of(&served.places).unwrap().changed_by("alice").revoke("bot").unwrap();
    let answer = served.send("GET", Some(&served.owner), "/v1/audit?kind=token&order=oldest", None);
    let found = answer.json();
    let told: Vec<_> =
        found["records"].as_array().unwrap().iter().map(|it| (&it["what"], &it["about"], &it["by"])).collect();
    assert_eq!(
        told,
        [(&json!("created"), &json!("bot"), &json!("sayso")), (&json!("revoked"), &json!("bot"), &json!("alice"))]
    );
    assert!(!answer.body.contains(&secret));
}
