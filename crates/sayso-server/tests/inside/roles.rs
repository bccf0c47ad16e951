//! Each line of "who may do what", attacked.

use super::*;
use crate::Role;

const ASKING: &str = "default = \"ask\"\n";

impl Server {
    /// A server that counts the store's tokens for answers too.
    pub(super) fn trusting(policy: &str) -> Self {
        let mut server = Self::new(policy);
        Arc::get_mut(&mut server.app).unwrap().trust_tokens = true;
        server
    }

    pub(super) fn made(&self, name: &str, role: Role, tenant: Option<&str>) -> String {
        self.app.tokens.create(name, role, tenant.map(str::to_owned), Vec::new(), u64::MAX).unwrap()
    }

    pub(super) async fn as_one(&self, token: &str, mut request: Request<Body>) -> (StatusCode, Value) {
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        self.send(request).await
    }

    pub(super) async fn question(&self, token: Option<&str>, tenant: Option<&str>) -> String {
        let n: u64 = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        let call = json!({"tool": "web_search", "args": {"n": n}, "wait": 0, "context": {"tenant": tenant}});
        let (_, told) = match token {
            Some(token) => self.as_one(token, post("/v1/decisions", &call)).await,
            None => self.send(post("/v1/decisions", &call)).await,
        };
        told["approval"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned()
    }

    async fn says_yes(&self, token: &str, id: &str) -> StatusCode {
        self.as_one(token, post(&format!("/v1/approvals/{id}/answer"), &json!({"verdict": "allow"}))).await.0
    }
}

#[tokio::test]
async fn a_token_in_the_store_answers_nothing_unless_the_server_was_told_to_trust_it() {
    let server = Server::new(ASKING);
    // A child of the agent, under the same user, adds a token to the store.
    let forged = server.made("forged", Role::Admin, None);
    let id = server.question(None, None).await;
    assert_eq!(server.says_yes(&forged, &id).await, StatusCode::FORBIDDEN);
    for path in ["/v1/audit", "/v1/approvals", "/v1/status", "/v1/stream?attend=true"] {
        assert_eq!(server.as_one(&forged, get(path)).await.0, StatusCode::FORBIDDEN, "{path}");
    }
    let (status, _) = server.as_one(&forged, post("/v1/decisions", &json!({"tool": "x"}))).await;
    assert_eq!(status, StatusCode::OK, "it may ask");
    let server = Server::trusting(ASKING);
    let real = server.made("alice", Role::Approver, None);
    let id = server.question(None, None).await;
    assert_eq!(server.says_yes(&real, &id).await, StatusCode::OK);
}

#[tokio::test]
async fn an_agent_sees_and_answers_nothing() {
    let server = Server::trusting(ASKING);
    let bot = server.made("bot", Role::Agent, None);
    let id = server.question(Some(&bot), None).await;
    assert_eq!(server.says_yes(&bot, &id).await, StatusCode::FORBIDDEN);
    for path in ["/v1/audit", "/v1/approvals", "/v1/status", "/v1/stream?attend=true"] {
        assert_eq!(server.as_one(&bot, get(path)).await.0, StatusCode::FORBIDDEN, "{path}");
    }
    let (status, brief) = server.as_one(&bot, get(&format!("/v1/approvals/{id}"))).await;
    assert_eq!((status, brief.as_object().unwrap().len()), (StatusCode::OK, 3));
}

#[tokio::test]
async fn a_token_asks_under_its_own_name_and_who_asked_never_answers_whatever_the_role() {
    let server = Server::trusting(ASKING);
    let admin = server.made("root-bot", Role::Admin, None);
    let call = json!({"tool": "web_search", "wait": 0, "context": {"agent": "somebody-else"}});
    let (_, told) = server.as_one(&admin, post("/v1/decisions", &call)).await;
    let id = told["approval"].as_str().unwrap();
    let (_, question) = server.as_one(&admin, get(&format!("/v1/approvals/{id}"))).await;
    assert_eq!(question["actor"]["agent"], "root-bot");
    assert_eq!(server.says_yes(&admin, id).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn who_asked_never_answers_by_a_token_made_anew_nor_through_a_subagent_nor_under_another_tenant() {
    let server = Server::trusting(ASKING);
    let asked = async |token: &str, context: Value| {
        let n: u64 = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 1);
        let call = json!({"tool": "web_search", "args": {"n": n}, "wait": 0, "context": context});
        let (_, told) = server.as_one(token, post("/v1/decisions", &call)).await;
        told["approval"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned()
    };
    // As a subagent, as somebody else's member, in another session: the token's name is the one that asks.
    let bot = server.made("bot", Role::Agent, None);
    let contexts = [
        json!({"subagent": true}),
        json!({"subagent": true, "agent": "parent", "session": "other"}),
        json!({"member": "alice", "group": "team"}),
        json!({"agent": "owner"}),
    ];
    let mut ids = Vec::new();
    for context in contexts {
        ids.push(asked(&bot, context).await);
    }
    // The same name again, now with a role that answers.
    server.app.tokens.revoke("bot").unwrap();
    for role in [Role::Approver, Role::Admin] {
        let again = server.made("bot", role, None);
        for id in &ids {
            assert_ne!(server.says_yes(&again, id).await, StatusCode::OK, "{role:?}");
        }
        server.app.tokens.revoke("bot").unwrap();
    }
    let somebody = server.made("alice", Role::Approver, None);
    for id in &ids {
        assert_eq!(server.says_yes(&somebody, id).await, StatusCode::OK, "somebody else may");
    }
}

#[tokio::test]
async fn an_approver_has_only_what_is_addressed_to_it() {
    let policy = "default = \"ask\"\n[[rule]]\nid = \"r\"\nask = { tool = \"web_search\" }\napprover = \"leads\"\n\
                  [approvals.leads]\nmembers = [\"alice\"]\n";
    let server = Server::trusting(policy);
    let (alice, mallory) = (server.made("alice", Role::Approver, None), server.made("mallory", Role::Approver, None));
    let id = server.question(None, None).await;
    assert_eq!(server.as_one(&mallory, get("/v1/approvals")).await.1, json!({"approvals": [], "next": null}));
    assert_eq!(server.as_one(&mallory, get(&format!("/v1/approvals/{id}"))).await.0, StatusCode::NOT_FOUND);
    assert_eq!(server.says_yes(&mallory, &id).await, StatusCode::NOT_FOUND);
    assert_eq!(server.as_one(&alice, get("/v1/audit")).await.0, StatusCode::FORBIDDEN);
    assert_eq!(server.says_yes(&alice, &id).await, StatusCode::OK);
}

#[tokio::test]
async fn a_tenant_is_a_wall() {
    let server = Server::trusting(ASKING);
    let bot = server.made("bot-b", Role::Agent, Some("b"));
    let (a, b) = (server.made("admin-a", Role::Admin, Some("a")), server.made("admin-b", Role::Admin, Some("b")));
    // The body says another tenant than the token: the token counts.
    let id = server.question(Some(&bot), Some("a")).await;
    let none = server.question(None, None).await;
    for hidden in [&id, &none] {
        assert_eq!(server.as_one(&a, get(&format!("/v1/approvals/{hidden}"))).await.0, StatusCode::NOT_FOUND);
        assert_eq!(server.says_yes(&a, hidden).await, StatusCode::NOT_FOUND);
    }
    assert_eq!(server.as_one(&a, get("/v1/approvals?all=true")).await.1, json!({"approvals": [], "next": null}));
    assert_eq!(server.as_one(&a, get("/v1/audit")).await.1, json!({"records": []}));
    let (_, status) = server.as_one(&a, get("/v1/status")).await;
    assert_eq!(status["decisions"], 0, "nor how many others asked for");
    let (_, theirs) = server.as_one(&b, get("/v1/approvals")).await;
    assert_eq!(theirs["approvals"][0]["id"], json!(id));
    assert_eq!(server.as_one(&b, get("/v1/audit")).await.1["records"].as_array().unwrap().len(), 1);
    assert_eq!(server.says_yes(&b, &id).await, StatusCode::OK);

    let stream = server.over(WayIn::Loopback(PORT)).answer(with_token("/v1/stream?after=0", &a)).await;
    let mut body = stream.into_body();
    let mut streamed = String::new();
    while let Ok(Some(Ok(frame))) = tokio::time::timeout(std::time::Duration::from_millis(400), body.frame()).await {
        streamed.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    let events: Vec<Value> =
        streamed.lines().filter_map(|line| line.strip_prefix("data: ")).map(|json| json.parse().unwrap()).collect();
    let told: Vec<_> = events.iter().map(|event| (&event["type"], &event["about"])).collect();
    assert_eq!(told, [(&json!("token"), &json!("admin-a"))], "nothing of others is streamed");
}

#[tokio::test]
async fn a_token_that_ended_or_was_taken_back_is_refused_and_not_taken_for_none() {
    let server = Server::trusting(ASKING);
    let over = server.app.tokens.create("old", Role::Admin, None, Vec::new(), 1).unwrap();
    let taken = server.made("taken", Role::Admin, None);
    assert_eq!(server.as_one(&taken, get("/v1/audit")).await.0, StatusCode::OK);
    server.app.tokens.revoke("taken").unwrap();
    for token in [&over, &taken] {
        for request in [get("/v1/audit"), get("/v1/health"), post("/v1/decisions", &json!({"tool": "x"}))] {
            assert_eq!(server.as_one(token, request).await.0, StatusCode::UNAUTHORIZED);
        }
    }
}

#[tokio::test]
async fn guessing_tokens_is_slowed_down_and_those_who_have_one_are_not() {
    let server = Server::trusting(ASKING);
    let good = server.made("good", Role::Admin, None);
    let mut last = StatusCode::OK;
    for n in 0..100 {
        last = server.as_one(&format!("sayso_{n:064}"), get("/v1/audit")).await.0;
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(server.as_one(&good, get("/v1/audit")).await.0, StatusCode::OK);
    assert_eq!(server.send(get("/v1/health")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn nobody_asks_under_the_name_or_tenant_of_a_token_without_it() {
    let server = Server::trusting(ASKING);
    let of_acme = server.made("deployer", Role::Agent, Some("acme"));
    let plain = server.made("plain", Role::Agent, None);
    let call = |context: Value| json!({"tool": "web_search", "args": {"query": "x"}, "wait": 0, "context": context});
    let theirs = [json!({"agent": "deployer"}), json!({"tenant": "acme"}), json!({"agent": "zz", "tenant": "acme"})];
    for context in theirs {
        let (status, told) = server.send(post("/v1/decisions", &call(context.clone()))).await;
        assert_eq!((status, &told["error"]["code"]), (StatusCode::FORBIDDEN, &json!("needs-that-token")), "{context}");
        let outcome = json!({"call_id": "1", "session": "s", "input_tokens": 9,
            "agent": context["agent"], "tenant": context["tenant"]});
        assert_eq!(server.send(post("/v1/outcomes", &outcome)).await.0, StatusCode::FORBIDDEN, "{context}");
    }
    let (status, _) = server.as_one(&plain, post("/v1/decisions", &call(json!({"tenant": "acme"})))).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "a token of no tenant is not one of this tenant");
    for (token, context) in [(Some(&of_acme), json!({"tenant": "other"})), (Some(&plain), json!({})), (None, json!({}))]
    {
        let asked = post("/v1/decisions", &call(context));
        let (status, told) = match token {
            Some(token) => server.as_one(token, asked).await,
            None => server.send(asked).await,
        };
        assert_eq!(status, StatusCode::OK, "{told}");
    }
}

#[tokio::test]
async fn questions_of_others_do_not_use_up_a_tenants_own() {
    let server = Server::trusting(ASKING);
    let of_acme = server.made("deployer", Role::Agent, Some("acme"));
    let call = |tool: &str| json!({"tool": tool, "args": {}, "wait": 0, "context": {"session": "run-7"}});
    let mut last = Value::Null;
    for number in 0..25 {
        last = server.send(post("/v1/decisions", &call(&format!("tool_{number}")))).await.1;
    }
    assert_eq!(last["reasons"][0]["code"], "too-many-pending", "{last}");
    let (_, told) = server.as_one(&of_acme, post("/v1/decisions", &call("mine"))).await;
    assert_eq!(told["verdict"], "ask", "{told}");
}

#[tokio::test]
async fn what_two_readers_could_read_differently_is_refused_at_any_depth() {
    let server = Server::new("default = \"allow\"\n");
    let send = async |body: &str| {
        let request = Request::post("/v1/decisions").header("host", "127.0.0.1:7171");
        let request = request.header("content-type", "application/json").body(Body::from(body.to_owned())).unwrap();
        server.send(request).await
    };
    for args in [
        r#"{"command":"rm -rf /","command":"git status"}"#,
        r#"{"a":[{"b":1,"\u0062":2}]}"#,
        r#"{"account":10000000000000000000001}"#,
        r#"{"account":9007199254740993.0}"#,
    ] {
        let (status, told) = send(&format!(r#"{{"tool":"pay","args":{args}}}"#)).await;
        assert_eq!((status, &told["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("call-malformed")), "{args}");
        let (_, told) = send(&format!(r#"[{{"tool":"pay","args":{args}}}]"#)).await;
        assert_eq!(told[0]["error"]["code"], "call-malformed", "{args}: {told}");
    }
    let (status, _) = send(r#"{"tool":"pay","args":{},"context":{"agent":"a","agent":"b"}}"#).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}
