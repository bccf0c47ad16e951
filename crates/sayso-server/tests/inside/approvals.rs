//! Questions over HTTP: who may see and answer them, and whoever waits.

use super::*;
use std::time::Duration;

const ASKING: &str = "default = \"ask\"\n";

fn answer(id: &str, token: Option<&str>, body: &Value) -> Request<Body> {
    let request = Request::post(format!("/v1/approvals/{id}/answer"))
        .header("host", "127.0.0.1:7171")
        .header("content-type", "application/json");
    let request = match token {
        Some(token) => request.header("authorization", format!("Bearer {token}")),
        None => request,
    };
    request.body(Body::from(body.to_string())).unwrap()
}

impl Server {
    /// The questions that wait, once there are so many.
    async fn questions(&self, token: &str, many: usize) -> Vec<Value> {
        for _ in 0..600 {
            let (status, found) = self.send(with_token("/v1/approvals", token)).await;
            assert_eq!(status, StatusCode::OK, "{found}");
            let found = found["approvals"].as_array().unwrap().clone();
            if found.len() >= many {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{many} questions never came");
    }

    fn ask(&self, call: &Value) -> tokio::task::JoinHandle<(StatusCode, Value)> {
        let (router, request) = (self.over(WayIn::Loopback(PORT)), post("/v1/decisions", call));
        tokio::spawn(send(router, request))
    }
}

#[tokio::test]
async fn a_caller_that_waits_gets_the_answer() {
    let server = Server::new(ASKING);
    let token = server.token().await;
    for (word, verdict, code) in [("allow", "allow", "approved"), ("deny", "deny", "denied-by-person")] {
        let waits = server.ask(&json!({"tool": "web_search", "args": {"q": word}, "wait": 60}));
        let question = server.questions(&token, 1).await.remove(0);
        let id = question["id"].as_str().unwrap();
        let (status, answered) = server.send(answer(id, Some(&token), &json!({"verdict": word}))).await;
        assert_eq!(status, StatusCode::OK, "{answered}");
        assert_eq!(answered["answers"][0]["person"]["name"], "owner");
        let (status, told) = waits.await.unwrap();
        assert_eq!((status, &told["verdict"]), (StatusCode::OK, &json!(verdict)), "{told}");
        assert_eq!((&told["reasons"][0]["code"], &told["approval"]), (&json!(code), &json!(id)), "{told}");
    }
    let (_, found) = server.send(with_token("/v1/audit", &token)).await;
    assert_eq!(found["records"].as_array().unwrap().len(), 2, "one record for each call that was answered");
}

#[tokio::test]
async fn a_caller_that_comes_back_passes_once() {
    let server = Server::new(ASKING);
    let token = server.token().await;
    let call = json!({"tool": "web_search", "args": {"q": 1}, "wait": 0, "context": {"session": "s"}});
    let (_, told) = server.send(post("/v1/decisions", &call)).await;
    assert_eq!(told["verdict"], "ask", "{told}");
    let id = told["approval"].as_str().unwrap().to_owned();
    let (_, again) = server.send(post("/v1/decisions", &call)).await;
    assert_eq!(again["approval"], told["approval"], "the same question, not a second one");

    let (status, brief) = server.send(get(&format!("/v1/approvals/{id}"))).await;
    assert_eq!((status, &brief["standing"]), (StatusCode::OK, &json!("pending")));
    assert_eq!(brief.as_object().unwrap().len(), 3, "whoever asked sees how it stands, and no more");

    assert_eq!(server.send(answer(&id, Some(&token), &json!({"verdict": "allow"}))).await.0, StatusCode::OK);
    let (_, passed) = server.send(post("/v1/decisions", &call)).await;
    assert_eq!(passed["verdict"], "allow", "{passed}");
    let (_, second) = server.send(post("/v1/decisions", &call)).await;
    assert_eq!(second["verdict"], "ask", "a yes is used once");
}

#[tokio::test]
async fn an_answer_needs_the_key_and_a_post() {
    let server = Server::new(ASKING);
    let (_, told) = server.send(post("/v1/decisions", &json!({"tool": "web_search", "wait": 0}))).await;
    let id = told["approval"].as_str().unwrap();
    let yes = json!({"verdict": "allow"});
    for way_in in [WayIn::Loopback(PORT), WayIn::Socket] {
        for token in [None, Some(""), Some("0000"), Some(id)] {
            let (status, body) = send(server.over(way_in), answer(id, token, &yes)).await;
            assert_eq!((status, &body["error"]["code"]), (StatusCode::UNAUTHORIZED, &json!("signed-out")), "{token:?}");
        }
        let address = format!("/v1/approvals/{id}/answer");
        assert_eq!(send(server.over(way_in), get(&address)).await.0, StatusCode::METHOD_NOT_ALLOWED);
        for path in ["/v1/approvals", "/v1/audit", "/v1/status", "/v1/stream"] {
            assert_eq!(send(server.over(way_in), get(path)).await.0, StatusCode::UNAUTHORIZED, "{path}");
        }
    }
    // The key itself is no token: it must be exchanged, which the terminal announces.
    let key = server.app.keys.key();
    assert_eq!(server.send(answer(id, Some(&key), &yes)).await.0, StatusCode::UNAUTHORIZED);
    let token = server.token().await;
    for body in [json!({}), json!({"verdict": "yes"}), json!({"verdict": "allow", "remember": "forever"})] {
        assert_eq!(server.send(answer(id, Some(&token), &body)).await.0, StatusCode::BAD_REQUEST, "{body}");
    }
    let wide = json!({"verdict": "allow", "remember": "session", "width": "folder"});
    assert_eq!(server.send(answer(id, Some(&token), &wide)).await.0, StatusCode::CONFLICT);
    assert_eq!(server.send(answer("unknown", Some(&token), &yes)).await.0, StatusCode::NOT_FOUND);
    assert_eq!(server.send(answer(id, Some(&token), &yes)).await.0, StatusCode::OK);
    let (status, body) = server.send(answer(id, Some(&token), &yes)).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("approval-over")));
}

#[tokio::test]
async fn who_asked_cannot_answer() {
    let server = Server::new(ASKING);
    let token = server.token().await;
    // Whoever asks with the owner's token asks as the owner, whatever the body says.
    let mut request =
        post("/v1/decisions", &json!({"tool": "web_search", "wait": 0, "context": {"agent": "innocent"}}));
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    let (_, told) = server.send(request).await;
    let id = told["approval"].as_str().unwrap();
    let (status, body) = server.send(answer(id, Some(&token), &json!({"verdict": "allow"}))).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::FORBIDDEN, &json!("not-yours")), "{body}");

    // A name that nobody proved is no proof that the owner asked.
    let call = json!({"tool": "web_search", "wait": 0, "context": {"agent": "owner"}});
    let (_, told) = server.send(post("/v1/decisions", &call)).await;
    let id = told["approval"].as_str().unwrap();
    assert_eq!(server.send(answer(id, Some(&token), &json!({"verdict": "deny"}))).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_question_that_ends_is_a_no() {
    let policy = "default = \"allow\"\n[[rule]]\nid = \"r\"\nask = { tool = \"web_search\" }\napprover = \"leads\"\n\
                  [approvals.leads]\nmembers = [\"alice\"]\nexpires = \"1s\"\n";
    let server = Server::new(policy);
    let (_, told) = server.send(post("/v1/decisions", &json!({"tool": "web_search", "wait": true}))).await;
    assert_eq!((&told["verdict"], &told["reasons"][0]["code"]), (&json!("deny"), &json!("unanswered")), "{told}");
}

#[tokio::test]
async fn only_those_it_is_addressed_to_answer() {
    let policy = "default = \"allow\"\n[[rule]]\nid = \"r\"\nask = { tool = \"web_search\" }\napprover = \"leads\"\n\
                  [approvals.leads]\nmembers = [\"alice\"]\n";
    let server = Server::new(policy);
    let token = server.token().await;
    let (_, told) = server.send(post("/v1/decisions", &json!({"tool": "web_search", "wait": 0}))).await;
    let id = told["approval"].as_str().unwrap();
    let (status, body) = server.send(answer(id, Some(&token), &json!({"verdict": "allow"}))).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::FORBIDDEN, &json!("not-yours")), "{body}");
}

#[tokio::test]
async fn a_changed_policy_makes_a_question_void() {
    let server = Server::new(ASKING);
    let token = server.token().await;
    let (_, told) = server.send(post("/v1/decisions", &json!({"tool": "web_search", "wait": 0}))).await;
    let id = told["approval"].as_str().unwrap();
    std::fs::write(&server.app.places.user, "default = \"ask\"\n[deny]\ntool = [\"file_delete\"]\n").unwrap();
    for _ in 0..200 {
        if server.app.gate(None).unwrap().in_force().files.iter().any(|file| file.text.contains("file_delete")) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (status, body) = server.send(answer(id, Some(&token), &json!({"verdict": "allow"}))).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("approval-void")), "{body}");
}

#[tokio::test]
async fn a_width_shows_what_else_it_would_let_pass() {
    let server = Server::new(ASKING);
    let token = server.token().await;
    let folder = server._folder.path().to_str().unwrap().to_owned();
    let call = |text: &str| json!({"command": text, "cwd": folder, "wait": 0, "context": {"session": "s"}});
    server.send(post("/v1/decisions", &call("date -u"))).await;
    let (_, told) = server.send(post("/v1/decisions", &call("date -R"))).await;
    let id = told["approval"].as_str().unwrap();
    let (status, shown) = server.send(with_token(&format!("/v1/approvals/{id}/preview?width=program"), &token)).await;
    assert_eq!(status, StatusCode::OK, "{shown}");
    assert!(shown["words"].as_str().unwrap().contains("`date`"), "{shown}");
    assert!(shown["preview"]["looked_at"].as_u64().unwrap() >= 1, "{shown}");
    let (status, _) = server.send(with_token(&format!("/v1/approvals/{id}/preview?width=all"), &token)).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn watchers_hear_of_questions_and_answers_and_miss_nothing() {
    let server = Server::new(ASKING);
    let token = server.token().await;
    let (_, told) = server.send(post("/v1/decisions", &json!({"tool": "web_search", "wait": 0}))).await;
    let id = told["approval"].as_str().unwrap();
    server.send(answer(id, Some(&token), &json!({"verdict": "allow"}))).await;
    server.send(post("/v1/decisions", &json!({"tool": "web_search", "wait": 0}))).await;
    // More than is read at a time.
    for _ in 0..600 {
        server.send(post("/v1/decisions", &json!({"tool": "nothing"}))).await;
    }
    let response = server.over(WayIn::Loopback(PORT)).answer(with_token("/v1/stream?after=0", &token)).await;
    let mut body = response.into_body();
    let mut text = String::new();
    while text.matches("\n\n").count() < 604 {
        let frame = body.frame().await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    let numbers: Vec<u64> = text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect();
    let first = numbers[0];
    assert_eq!(numbers, (first..first + numbers.len() as u64).collect::<Vec<_>>(), "without gaps, in order");
    let names: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    for name in ["approval_required", "approval_response", "decision"] {
        assert!(names.contains(name), "{names:?}");
    }
}

#[tokio::test]
async fn whoever_follows_to_answer_is_there_and_whoever_leaves_is_not() {
    let server = Server::new(ASKING);
    let token = server.token().await;
    let keeper = tokio::spawn(crate::attendance::keep(Arc::clone(&server.app)));
    let there = || server.app.store().present(crate::clock::now_ms()).unwrap();
    let response = server.over(WayIn::Loopback(PORT)).answer(with_token("/v1/stream", &token)).await;
    assert!(there().is_empty(), "a watcher alone answers nothing");
    drop(response);
    let stream = with_token("/v1/stream?attend=true", &token);
    let response = server.over(WayIn::Loopback(PORT)).answer(stream).await;
    assert_eq!(there().first().map(|presence| presence.person.name.clone()).as_deref(), Some("owner"));
    drop(response);
    for _ in 0..200 {
        if there().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(there().is_empty());
    keeper.abort();
}

#[test]
fn a_thousand_wait_at_once_without_a_thread_each() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(4)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let server = Server::new(ASKING);
        let token = server.token().await;
        let call = |n: usize| {
            json!({"tool": "web_search", "args": {"n": n}, "wait": 600, "context": {"session": format!("s{}", n / 20)}})
        };
        let waits: Vec<_> = (0..1000).map(|n| server.ask(&call(n))).collect();
        // What is answered makes room in the list, which shows the latest five hundred.
        let mut answered = BTreeSet::new();
        while answered.len() < 1000 {
            for question in server.questions(&token, 1).await {
                let id = question["id"].as_str().unwrap().to_owned();
                if answered.insert(id.clone()) {
                    assert_eq!(server.send(answer(&id, Some(&token), &json!({"verdict": "allow"}))).await.0, StatusCode::OK);
                }
            }
        }
        for wait in waits {
            let (status, told) = wait.await.unwrap();
            assert_eq!((status, &told["verdict"]), (StatusCode::OK, &json!("allow")), "{told}");
        }
    });
}

#[tokio::test]
async fn an_outcome_is_taken_down_and_counted() {
    let server = Server::new("[allow]\ntool = [\"web_search\"]\n[limits.session]\ntokens = 100\n");
    let call = json!({"tool": "web_search", "call_id": "c1", "context": {"session": "s"}});
    let (_, told) = server.send(post("/v1/decisions", &call)).await;
    assert_eq!(told["verdict"], "allow", "{told}");
    let outcome = json!({"record": told["record"], "ok": true, "input_tokens": 90, "output_tokens": 20});
    let (status, counted) = server.send(post("/v1/outcomes", &outcome)).await;
    assert_eq!((status, &counted), (StatusCode::OK, &json!({"counted": true})));
    let (_, told) = server.send(post("/v1/decisions", &call)).await;
    assert_ne!(told["verdict"], "allow", "the budget is used up: {told}");
    let given_back = json!({"call_id": "c1", "session": "s", "not_run": true});
    for wrong in [json!({}), json!({"record": "x", "ok": 1}), json!({"record": "x", "input_tokens": -1}), given_back] {
        assert_eq!(server.send(post("/v1/outcomes", &wrong)).await.0, StatusCode::BAD_REQUEST, "{wrong}");
    }
}

#[tokio::test]
async fn whoever_answers_can_look_at_the_whole_of_a_long_call() {
    let server = Server::new(ASKING);
    let token = server.token().await;
    let ask = async |call: Value| {
        let (_, told) = server.send(post("/v1/decisions", &call)).await;
        let id = told["approval"].as_str().unwrap().to_owned();
        let list = server.questions(&token, 1).await;
        let listed = list.into_iter().find(|it| it["id"] == id.as_str()).unwrap();
        let (_, whole) = server.send(with_token(&format!("/v1/approvals/{id}"), &token)).await;
        (listed, whole)
    };

    let command = format!("echo {} && rm -rf target", "a".repeat(100_000));
    let (listed, whole) = ask(json!({"command": command, "wait": 0})).await;
    assert_eq!(
        (&whole["command"], &whole["folded"], &whole["left_out"]),
        (&json!(command), &Value::Null, &Value::Null)
    );
    assert_eq!(listed["folded"], true);
    assert!(listed["command"].as_str().unwrap().len() < 5_000);

    // More edits than a record keeps: the last one must not be hidden behind harmless ones.
    let edits: Vec<Value> = (0..200).map(|n| json!({"old_string": n.to_string(), "new_string": "x"})).collect();
    let (listed, whole) = ask(json!({"tool": "file_edit", "args": {"path": "/x", "edits": edits}, "wait": 0})).await;
    assert_eq!(whole["arguments"]["edits"][199]["old_string"], "199");
    assert_eq!((&whole["left_out"], &listed["folded"]), (&Value::Null, &json!(true)));

    let (_, whole) = ask(json!({"command": format!("echo {}", "a".repeat(200_000)), "wait": 0})).await;
    assert_eq!(whole["left_out"], true, "what cannot be looked at is said");

    let (listed, _) = ask(json!({"command": "make deploy", "wait": 0})).await;
    assert_eq!((&listed["folded"], &listed["left_out"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn a_flood_is_paged_and_no_page_shifts() {
    let server = Server::new(ASKING);
    let token = server.token().await;
    let ask = async |n: usize| {
        let context = json!({"agent": format!("agent-{}", n % 3), "session": format!("s{}", n / 20)});
        let call = json!({"tool": "web_search", "args": {"n": n}, "wait": 0, "context": context});
        let (_, told) = server.send(post("/v1/decisions", &call)).await;
        told["approval"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned()
    };
    let mut asked = Vec::new();
    for n in 0..130 {
        asked.push(ask(n).await);
    }
    let page = async |query: &str| {
        let (status, found) = server.send(with_token(&format!("/v1/approvals?{query}"), &token)).await;
        assert_eq!(status, StatusCode::OK, "{found}");
        let ids = found["approvals"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>(), found["next"].as_str().map(str::to_owned))
    };
    let all = async |query: &str| {
        let (mut ids, mut next) = page(query).await;
        while let Some(after) = next {
            // While somebody reads, one comes and one is answered.
            if after == ids[49] {
                let _ = ask(500).await;
                let no = answer(&ids[0], Some(&token), &json!({"verdict": "deny"}));
                assert_eq!(server.send(no).await.0, StatusCode::OK);
            }
            let (more, then) = page(&format!("{query}&after={after}")).await;
            assert!(!more.is_empty());
            ids.extend(more);
            next = then;
        }
        ids
    };
    assert_eq!(all("order=oldest&limit=50").await.get(..130), Some(&asked[..]), "none twice, none left out");
    // The first is answered now, and one more waits.
    let newest = all("limit=50").await;
    assert_eq!((newest.len(), &newest[129]), (130, &asked[1]));

    let (of_one, next) = page("agent=agent-1").await;
    assert_eq!((of_one.len(), next), (43, None));
    assert_eq!(page("agent=agent-1&session=s0").await.0.len(), 7);
    assert_eq!(page("limit=0").await, (Vec::new(), None));
    for query in ["after=nonsense", "order=backwards", "limit=-1", "limit=many"] {
        let (status, _) = server.send(with_token(&format!("/v1/approvals?{query}"), &token)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
    }
}
