//! A list of calls in one request.

use crate::client::Served;
use sayso_server::Role;
use serde_json::{Value, json};

const POLICY: &str = "default = \"ask\"\n[allow]\ntool = [\"web_search\"]\n[deny]\ntool = [\"file_delete\"]\n";

#[test]
fn each_call_of_a_list_is_answered_in_its_place() {
    let served = Served::with(POLICY);
    let calls = json!([
        {"id": 1, "tool": "web_search"},
        {"id": "two", "tool": "file_delete"},
        {"id": 3, "tool": "file_write", "wait": 0},
        {"id": 4},
        {"id": 5, "tool": "file_write", "args": {"n": 5}, "wait": 30},
        7,
        {"id": 6, "tool": "web_search", "cwd": "relative"},
    ]);
    let (status, told) = served.post(None, "/v1/decisions", &calls);
    assert_eq!(status, 200, "{told}");
    let told = told.as_array().unwrap();
    let short: Vec<(&Value, &Value, &Value)> =
        told.iter().map(|it| (&it["id"], &it["verdict"], &it["error"]["code"])).collect();
    let (none, bad) = (&Value::Null, &json!("call-malformed"));
    assert_eq!(
        short,
        [
            (&json!(1), &json!("allow"), none),
            (&json!("two"), &json!("deny"), none),
            (&json!(3), &json!("ask"), none),
            (&json!(4), none, bad),
            (&json!(5), none, bad),
            (none, none, bad),
            (&json!(6), none, bad),
        ]
    );
    assert!(told[2]["approval"].is_string(), "{}", told[2]);
    assert!(told[4]["error"]["text"].as_str().unwrap().contains("`wait`"));
    let (_, found) = served.get(&served.owner, "/v1/audit?order=oldest");
    let kept: Vec<&Value> = found["records"].as_array().unwrap().iter().map(|record| &record["id"]).collect();
    assert_eq!(kept, [&told[0]["record"], &told[1]["record"], &told[2]["record"]], "in their order");
    assert_eq!(served.post(None, "/v1/decisions", &json!([])), (200, json!([])));
}

#[test]
fn a_list_is_bounded_and_signed_like_a_single_call() {
    let served = Served::with(POLICY);
    let many: Vec<Value> = (0..1001).map(|n| json!({"id": n, "tool": "web_search"})).collect();
    let (status, told) = served.post(None, "/v1/decisions", &json!(many));
    assert_eq!((status, &told["error"]["code"]), (400, &json!("call-malformed")));
    let (status, told) = served.post(None, "/v1/decisions", &json!(many[..1000]));
    assert_eq!((status, told.as_array().unwrap().len()), (200, 1000));
    for broken in ["[", "[{}", "[1,]", "[{\"tool\":\"x\"}] x"] {
        let answer = served.send("POST", None, "/v1/decisions", Some(broken));
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!("call-malformed")), "{broken}");
    }
    let bot = served.token("bot", Role::Agent, Some("a"));
    served.post(
        Some(&bot),
        "/v1/decisions",
        &json!([{"tool": "web_search", "context": {"agent": "x", "tenant": "b"}}]),
    );
    let (_, found) = served.get(&served.owner, "/v1/audit?limit=1");
    assert_eq!(found["records"][0]["actor"], json!({"agent": "bot", "tenant": "a"}));
}
