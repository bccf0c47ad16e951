//! A tenant is a wall: nothing of others pushes theirs out of sight, and no id of others' opens anything.

use crate::client::Served;
use sayso_server::Role;
use serde_json::{Value, json};

const POLICY: &str =
    "default = \"ask\"\n[allow]\ntool = [\"web_search\"]\n[limits.tenant]\ncalls = 1000\ntokens = 1000000\n";

#[test]
fn many_records_of_others_do_not_push_theirs_out_of_a_page() {
    let served = Served::with(POLICY);
    let mine = served.decide(None, &json!({"tool": "file_write", "wait": 0, "context": {"tenant": "a"}}));
    for n in 0..20 {
        served.decide(None, &json!({"tool": "file_write", "args": {"n": n}, "wait": 0, "context": {"tenant": "b", "session": n.to_string()}}));
    }
    let admin = served.token("a-admin", Role::Admin, Some("a"));
    let approver = served.token("a-approver", Role::Approver, Some("a"));
    let (_, found) = served.get(&admin, "/v1/audit?limit=5");
    assert_eq!(
        (found["records"].as_array().unwrap().len(), &found["records"][0]["id"]),
        (1, &mine["record"]),
        "{found}"
    );
    for token in [&admin, &approver] {
        let (_, found) = served.get(token, "/v1/approvals?limit=5");
        assert_eq!(
            (found["approvals"].as_array().unwrap().len(), &found["approvals"][0]["id"]),
            (1, &mine["approval"])
        );
    }
    assert_eq!(served.get(&admin, "/v1/status").1["decisions"], 1);
}

#[test]
fn an_outcome_of_another_tenants_call_counts_nothing() {
    let served = Served::with(POLICY);
    let of =
        |tenant: &str| json!({"tool": "web_search", "call_id": "c1", "context": {"tenant": tenant, "session": "s"}});
    let bot = served.token("bot", Role::Agent, Some("a"));
    let theirs = served.decide(Some(&served.token("their-bot", Role::Agent, Some("b"))), &of("b"));
    let said = |which: Value| {
        let mut outcome = json!({"not_run": true, "input_tokens": 7});
        outcome.as_object_mut().unwrap().extend(which.as_object().unwrap().clone());
        served.post(Some(&bot), "/v1/outcomes", &outcome)
    };
    for which in [json!({"record": theirs["record"]}), json!({"call_id": "c1", "session": "s"})] {
        assert_eq!(said(which.clone()), (200, json!({"counted": false})), "{which}");
    }
    let (_, found) = served.get(&served.owner, "/v1/limits?scope=tenant&tenant=b");
    assert_eq!(found["used"][0]["usage"]["calls"], 1, "nothing was given back: {found}");
    let own = served.decide(Some(&bot), &of("a"));
    assert_eq!(said(json!({"record": own["record"]})), (200, json!({"counted": true})));
}

#[test]
fn an_outcome_of_a_tokens_call_counts_nothing_without_the_token() {
    let served = Served::with(POLICY);
    let bot = served.token("bot", Role::Agent, Some("a"));
    let told = served.decide(Some(&bot), &json!({"tool": "web_search"}));
    let outcome = json!({"record": told["record"], "input_tokens": 900_000});
    assert_eq!(served.post(None, "/v1/outcomes", &outcome), (200, json!({"counted": false})));
    let (_, found) = served.get(&served.owner, "/v1/limits?scope=tenant&tenant=a");
    assert_eq!(found["used"][0]["usage"]["input_tokens"], 0, "nothing was charged: {found}");
    assert_eq!(served.post(Some(&bot), "/v1/outcomes", &outcome), (200, json!({"counted": true})));
}

#[test]
fn without_a_token_a_call_that_did_not_run_stays_counted() {
    let served = Served::with("[allow]\ntool = [\"web_search\"]\n[limits.session]\ncalls = 2\n");
    let verdicts = |token: Option<&str>, session: &str| -> Vec<Value> {
        let judge = |_| {
            let told = served.decide(token, &json!({"tool": "web_search", "context": {"session": session}}));
            let back = json!({"record": told["record"], "not_run": true});
            let counted = served.post(token, "/v1/outcomes", &back);
            assert_eq!(counted, (200, json!({"counted": told["verdict"] == "allow"})));
            told["verdict"].clone()
        };
        (0..4).map(judge).collect()
    };
    assert_eq!(verdicts(None, "a"), ["allow", "allow", "deny", "deny"]);
    let bot = served.token("bot", Role::Agent, None);
    assert_eq!(verdicts(Some(&bot), "b"), ["allow"; 4]);
}

#[test]
fn remembered_answers_of_another_tenant_are_not_there() {
    let served = Served::with(POLICY);
    let call = json!({"tool": "file_write", "wait": 0, "context": {"tenant": "b", "session": "s", "agent": "coder"}});
    served.say_yes(&served.decide(None, &call), "session", "exact");
    let (_, found) = served.get(&served.owner, "/v1/grants");
    let id = found["grants"][0]["id"].as_str().unwrap().to_owned();
    let a = served.token("a-admin", Role::Admin, Some("a"));
    assert_eq!(served.get(&a, "/v1/grants?all=true").1, json!({"grants": []}));
    assert_eq!(served.get(&a, "/v1/grants?tenant=b").0, 404);
    assert_eq!(served.send("DELETE", Some(&a), &format!("/v1/grants/{id}"), None).status, 404);
    assert_eq!(served.get(&served.owner, "/v1/grants").1["grants"][0]["in_force"], true);
    let b = served.token("b-admin", Role::Admin, Some("b"));
    assert_eq!(served.send("DELETE", Some(&b), &format!("/v1/grants/{id}"), None).status, 200);
}

#[test]
fn questions_are_listed_by_tenant_and_no_other_is_found_behind_the_wall() {
    let served = Served::with("default = \"ask\"\n");
    for tenant in ["a", "b"] {
        let told = served.decide(None, &json!({"tool": "web_search", "wait": 0, "context": {"tenant": tenant}}));
        assert_eq!(told["verdict"], "ask");
    }
    let of = |token: &str, path: &str| {
        let (status, found) = served.get(token, path);
        let all = found["approvals"].as_array().cloned().unwrap_or_default();
        let tenants: Vec<String> =
            all.iter().filter_map(|it| it["actor"]["tenant"].as_str().map(str::to_owned)).collect();
        (status, tenants)
    };
    assert_eq!(of(&served.owner, "/v1/approvals?order=oldest").1, ["a", "b"]);
    assert_eq!(of(&served.owner, "/v1/approvals?tenant=b"), (200, vec!["b".to_owned()]));
    assert_eq!(of(&served.owner, "/v1/approvals?tenant=c"), (200, Vec::new()));
    let admin = served.token("their-admin", Role::Admin, Some("a"));
    assert_eq!(of(&admin, "/v1/approvals?tenant=a"), (200, vec!["a".to_owned()]));
    assert_eq!(of(&admin, "/v1/approvals?tenant=b").0, 404);
}
