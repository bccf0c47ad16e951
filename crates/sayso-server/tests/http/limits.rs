//! `/v1/limits`.

use crate::client::Served;
use sayso_server::Role;
use serde_json::{Value, json};

const LIMITED: &str = r#"
default = "allow"
[allow]
tool = ["web_search"]
[limits.session]
calls = 5
cost = "2.00 USD"
rate = "4/1m"
at_limit = "ask"
[limits.tenant]
calls = 100
"#;

fn of<'a>(found: &'a Value, scope: &str) -> &'a Value {
    found["used"].as_array().unwrap().iter().find(|used| used["scope"] == scope).unwrap_or_else(|| panic!("{found}"))
}

#[test]
fn every_limit_says_what_is_used_and_left() {
    let served = Served::with(LIMITED);
    let coder = served.token("coder", Role::Agent, Some("acme"));
    let call = json!({"tool": "web_search", "context": {"session": "s/1"}});
    for _ in 0..2 {
        assert_eq!(served.decide(Some(&coder), &call)["verdict"], "allow");
    }
    let (status, found) = served.get(&served.owner, "/v1/limits");
    assert_eq!(status, 200, "{found}");
    assert_eq!(found["stated"].as_array().unwrap().len(), 4, "{found}");
    let session = of(&found, "session");
    assert_eq!(
        (&session["agent"], &session["session"], &session["tenant"]),
        (&json!("coder"), &json!("s/1"), &json!("acme"))
    );
    let calls = &session["limits"][0];
    assert_eq!(
        (&calls["what"], &calls["used"], &calls["most"], &calls["left"]),
        (&json!("calls"), &json!(2), &json!(5), &json!(3))
    );
    assert_eq!(calls["at_limit"], "ask");
    assert!(calls["source"].as_str().unwrap().contains("policy.toml:"), "{calls}");
    let rate = session["limits"].as_array().unwrap().iter().find(|limit| limit["what"] == "rate").unwrap();
    assert_eq!((&rate["used"], &rate["most"], &rate["per_ms"]), (&json!(2), &json!(4), &json!(60_000)));
    assert_eq!(of(&found, "tenant")["limits"][0]["left"], 98);

    let (_, only) = served.get(&served.owner, "/v1/limits?scope=tenant");
    assert_eq!((only["used"].as_array().unwrap().len(), only["stated"].as_array().unwrap().len()), (1, 1), "{only}");
}

#[test]
fn limits_are_shown_to_admins_of_that_tenant_alone() {
    let served = Served::with(LIMITED);
    for tenant in ["a", "b"] {
        let agent = served.token(&format!("{tenant}-agent"), Role::Agent, Some(tenant));
        served.decide(Some(&agent), &json!({"tool": "web_search"}));
    }
    let a = served.token("a-admin", Role::Admin, Some("a"));
    let (status, found) = served.get(&a, "/v1/limits");
    assert_eq!(status, 200);
    let tenants: Vec<&Value> = found["used"].as_array().unwrap().iter().map(|used| &used["tenant"]).collect();
    assert_eq!(tenants, [&json!("a"), &json!("a")], "{found}");
    assert_eq!(served.get(&a, "/v1/limits?tenant=b").0, 404);
    let (_, b) = served.get(&served.owner, "/v1/limits?tenant=b&limit=1");
    assert_eq!((b["used"].as_array().unwrap().len(), &b["used"][0]["tenant"]), (1, &json!("b")));
    let approver = served.token("alice", Role::Approver, Some("a"));
    assert_eq!(served.get(&approver, "/v1/limits").0, 403);
    assert_eq!(served.get(&served.owner, "/v1/limits?scope=galaxy").0, 400);
}
