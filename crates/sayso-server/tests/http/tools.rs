//! `/v1/tools/filter`.

use crate::client::Served;
use serde_json::{Value, json};

const HIDING: &str =
    "[tools]\nhide = [\"file_delete\", \"mcp:github/*\"]\n[tools.for.\"agent:coder\"]\nhide = [\"web_search\"]\n";

#[test]
fn a_list_of_tools_says_which_are_there_and_who_takes_the_others_away() {
    let served = Served::with(HIDING);
    let tools =
        json!(["Read", "delete_file", {"name": "get_issue", "server": "github", "inputSchema": {}}, "web_search"]);
    let seen = |agent: &str| -> Vec<bool> {
        let body = json!({"tools": tools, "context": {"agent": agent}});
        let (status, told) = served.post(None, "/v1/tools/filter", &body);
        assert_eq!(status, 200, "{told}");
        told["tools"].as_array().unwrap().iter().map(|tool| tool["available"] == true).collect()
    };
    assert_eq!(seen("other"), [true, false, false, true]);
    assert_eq!(seen("coder"), [true, false, false, false]);
    let (_, told) = served.post(None, "/v1/tools/filter", &json!({"tools": ["delete_file"]}));
    let tool = &told["tools"][0];
    assert_eq!((&tool["name"], &tool["canonical"]), (&json!("delete_file"), &json!("file_delete")));
    assert!(tool["reason"]["source"].as_str().unwrap().contains("policy.toml:1"), "{tool}");
    let (_, found) = served.get(&served.owner, "/v1/audit");
    assert_eq!(found["records"], json!([]), "nothing is recorded");
}

#[test]
fn a_token_filters_as_itself_and_what_is_no_list_is_refused() {
    let served = Served::with(HIDING);
    let coder = served.token("coder", sayso_server::Role::Agent, None);
    let body = json!({"tools": ["web_search"], "context": {"agent": "other"}});
    let (_, told) = served.post(Some(&coder), "/v1/tools/filter", &body);
    assert_eq!(told["tools"][0]["available"], false, "the token's name counts, not the body's");
    for body in
        [json!({}), json!({"tools": 1}), json!({"tools": [1]}), json!({"tools": [{}]}), json!({"tools": [{"name": 1}]})]
    {
        let (status, told) = served.post(None, "/v1/tools/filter", &body);
        assert_eq!((status, &told["error"]["code"]), (400, &json!("call-malformed")), "{body}");
    }
    let many: Vec<Value> = vec![json!("x"); 10_001];
    assert_eq!(served.post(None, "/v1/tools/filter", &json!({"tools": many})).0, 400);
}
