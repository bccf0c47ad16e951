//! `/v1/grants`.

use crate::client::Served;
use sayso_server::Role;
use serde_json::json;

const ASKING: &str = "default = \"ask\"\n";

#[test]
fn an_answer_that_is_remembered_is_listed_and_can_be_taken_back() {
    let served = Served::with(ASKING);
    let call = json!({"tool": "web_search", "args": {"q": 1}, "cwd": "/nowhere", "wait": 0,
        "context": {"agent": "coder", "session": "s1"}});
    let told = served.decide(None, &call);
    assert_eq!(told["verdict"], "ask");
    served.say_yes(&told, "session", "exact");

    let (status, found) = served.get(&served.owner, "/v1/grants");
    assert_eq!(status, 200, "{found}");
    let grant = &found["grants"][0];
    assert_eq!(
        (&grant["in_force"], &grant["session"], &grant["verdict"]),
        (&json!(true), &json!("s1"), &json!("allow"))
    );
    assert_eq!(grant["givers"][0]["name"], "owner");
    assert_eq!(served.get(&served.owner, "/v1/grants?session=other").1, json!({"grants": []}));

    let path = format!("/v1/grants/{}", grant["id"].as_str().unwrap());
    let gone = served.send("DELETE", Some(&served.owner), &path, None);
    assert_eq!((gone.status, &gone.json()["in_force"]), (200, &json!(false)), "{}", gone.body);
    assert_eq!(served.get(&served.owner, "/v1/grants").1, json!({"grants": []}));
    assert_eq!(served.get(&served.owner, "/v1/grants?all=true").1["grants"].as_array().unwrap().len(), 1);
    let again = served.send("DELETE", Some(&served.owner), &path, None);
    assert_eq!((again.status, &again.json()["error"]["code"]), (404, &json!("not-found")));
    // The call is asked about anew once the one yes is used.
    served.decide(None, &call);
    assert_eq!(served.decide(None, &call)["verdict"], "ask");
}

#[test]
fn an_approver_or_an_agent_lists_and_takes_back_nothing() {
    let served = Served::with(ASKING);
    for role in [Role::Agent, Role::Approver] {
        let token = served.token(role.as_str(), role, None);
        assert_eq!(served.get(&token, "/v1/grants").0, 403);
        assert_eq!(served.send("DELETE", Some(&token), "/v1/grants/x", None).status, 403);
    }
    assert_eq!(served.send("DELETE", None, "/v1/grants/x", None).status, 401);
    assert_eq!(served.send("GET", None, "/v1/grants", None).status, 401);
}

#[test]
fn what_is_not_understood_is_refused() {
    let served = Served::with(ASKING);
    for path in ["/v1/grants?all=perhaps", "/v1/grants?limit=-1", "/v1/grants?sesion=x"] {
        let (status, told) = served.get(&served.owner, path);
        assert_eq!((status, &told["error"]["code"]), (400, &json!("call-malformed")), "{path}");
    }
    let odd = served.send("DELETE", Some(&served.owner), "/v1/grants/%ff", None);
    assert_eq!((odd.status, &odd.json()["error"]["code"]), (400, &json!("call-malformed")));
    let posted = served.send("POST", Some(&served.owner), "/v1/grants", Some("{}"));
    assert_eq!((posted.status, &posted.json()["error"]["code"]), (405, &json!("wrong-method")));
}
