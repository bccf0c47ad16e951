//! What is behind another tenant's wall cannot be told from what is not there: at no address, by no word of an answer.

use crate::client::{Answer, Served};
use sayso_server::Role;
use serde_json::{Value, json};

const POLICY: &str = "default = \"ask\"\n[allow]\ntool = [\"web_search\"]\n[limits.tenant]\ncalls = 1000\n[limits.session]\ncalls = 1000\n";
/// Stands in every name that the other tenant uses, and nowhere else.
const MARK: &str = "qqzz";

/// Ids of what the other tenant has.
struct Theirs {
    approval: String,
    grant: String,
    record: String,
}

fn of_others(served: &Served) -> Theirs {
    let bot = served.token(&format!("bot-{MARK}"), Role::Agent, Some(&format!("tenant-{MARK}")));
    let context =
        json!({"session": format!("session-{MARK}"), "run": format!("run-{MARK}"), "member": format!("m-{MARK}")});
    let ask = |call: Value| served.decide(Some(&bot), &call);
    let tool = format!("tool_{MARK}");
    let call =
        json!({"tool": tool, "args": {"x": MARK}, "wait": 0, "call_id": format!("c-{MARK}"), "context": context});
    served.say_yes(&ask(call), "session", "exact");
    let waits = ask(json!({"tool": tool, "args": {"x": "more"}, "wait": 0, "context": context}));
    let said = ask(json!({"tool": "web_search", "args": {"query": MARK}, "context": context}));
    let (_, grants) = served.get(&served.owner, "/v1/grants");
    Theirs {
        approval: waits["approval"].as_str().unwrap().to_owned(),
        grant: grants["grants"][0]["id"].as_str().unwrap().to_owned(),
        record: said["record"].as_str().unwrap().to_owned(),
    }
}

/// The same letters in another order are an id of the same kind that nobody has.
fn nobodys(id: &str) -> String {
    id.chars().rev().collect()
}

/// Everything that is told but the time.
fn told(answer: &Answer) -> (u16, String, String) {
    let head: Vec<&str> = answer.head.lines().filter(|line| !line.starts_with("date:")).collect();
    (answer.status, head.join("\n"), answer.body.clone())
}

#[test]
fn an_id_of_others_is_told_from_one_that_is_nobodys_by_nothing() {
    let served = Served::with(POLICY);
    let theirs = of_others(&served);
    let session = format!("session-{MARK}");
    let mine = [
        served.token("my-bot", Role::Agent, Some("mine")),
        served.token("my-approver", Role::Approver, Some("mine")),
        served.token("my-admin", Role::Admin, Some("mine")),
    ];
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let counts = format!("/v1/audit/counts?since={}&until={}&session={{id}}", now - 3_600_000, now + 3_600_000);
    for token in &mine {
        for (method, path, id, body) in [
            ("GET", "/v1/approvals/{id}", &theirs.approval, None),
            ("GET", "/v1/approvals/{id}/preview?width=exact", &theirs.approval, None),
            ("GET", "/v1/approvals/{id}/preview?width=folder", &theirs.approval, None),
            ("POST", "/v1/approvals/{id}/answer", &theirs.approval, Some(r#"{"verdict":"allow"}"#)),
            ("POST", "/v1/approvals/{id}/answer", &theirs.approval, Some(r#"{"verdict":"deny","remember":"always"}"#)),
            ("DELETE", "/v1/grants/{id}", &theirs.grant, None),
            ("GET", "/v1/sessions/{id}", &session, None),
            ("GET", "/v1/runs/{id}", &format!("run-{MARK}"), None),
            ("GET", "/v1/approvals?session={id}", &session, None),
            ("GET", "/v1/audit?kind=all&session={id}", &session, None),
            ("GET", "/v1/audit?kind=all&agent={id}", &format!("bot-{MARK}"), None),
            ("GET", &counts, &session, None),
            ("GET", "/v1/audit?tenant={id}", &format!("tenant-{MARK}"), None),
            ("GET", "/v1/grants?tenant={id}", &format!("tenant-{MARK}"), None),
            ("GET", "/v1/limits?tenant={id}", &format!("tenant-{MARK}"), None),
            ("GET", "/v1/sessions?tenant={id}", &format!("tenant-{MARK}"), None),
        ] {
            let ask = |id: &str| served.send(method, Some(token), &path.replace("{id}", id), body);
            let (other, none) = (told(&ask(id)), told(&ask(&nobodys(id))));
            assert_eq!(other, none, "{method} {path}");
        }
        let outcome = |id: &str| served.post(Some(token), "/v1/outcomes", &json!({"record": id, "not_run": true}));
        assert_eq!(outcome(&theirs.record), outcome(&nobodys(&theirs.record)));
    }
    // And it is all still there.
    assert_eq!(served.get(&served.owner, &format!("/v1/approvals/{}", theirs.approval)).1["standing"], "pending");
    assert_eq!(served.get(&served.owner, "/v1/grants").1["grants"][0]["in_force"], true);
}

#[test]
fn no_answer_at_any_address_holds_a_word_of_others() {
    let served = Served::with(POLICY);
    let theirs = of_others(&served);
    let (_, described) = served.get(&served.owner, "/v1/openapi.json");
    let gets: Vec<&String> =
        described["paths"].as_object().unwrap().iter().filter(|(_, it)| it["get"].is_object()).map(|it| it.0).collect();
    assert!(gets.len() > 15, "{gets:?}");
    for (name, role) in [("my-approver", Role::Approver), ("my-admin", Role::Admin), ("my-bot", Role::Agent)] {
        let token = served.token(name, role, Some("mine"));
        for path in &gets {
            // The stream is read in a test of its own.
            if *path == "/v1/stream" {
                continue;
            }
            for id in [&theirs.approval, &theirs.grant, &format!("session-{MARK}"), &format!("run-{MARK}")] {
                let path = path.replace("{id}", id).replace("{version}", id);
                for query in ["", "?all=true", "?kind=all", "?format=csv&kind=all", "?savings=true", "?width=exact"] {
                    let answer = served.send("GET", Some(&token), &format!("{path}{query}"), None);
                    assert!(!answer.body.contains(MARK), "{name} {path}{query}: {}", answer.body);
                    assert!(!answer.body.contains(&theirs.record), "{name} {path}{query}: {}", answer.body);
                }
            }
        }
    }
    // The owner sees them, so there was something to be seen.
    for path in ["/v1/approvals", "/v1/grants", "/v1/sessions", "/v1/runs", "/v1/audit", "/v1/limits"] {
        let answer = served.send("GET", Some(&served.owner), path, None);
        assert!(answer.body.contains(MARK), "{path}: {}", answer.body);
    }
}
