//! Tokens: what each role may, walls between tenants, and tokens that somebody wrote into the file.

use super::{ASKING, asked, still_waits};
use crate::person::Person;
use crate::served::{JSON, Served, serve_with};
use sayso_gate::Places;
use sayso_server::{Role, Tokens};
use serde_json::json;
use std::path::Path;

fn trusting(policy: &str) -> (Person, Served, Tokens) {
    let person = Person::new();
    person.policy(policy);
    let tokens = Tokens::of(&Places::below(&person.home(), Path::new("/"))).unwrap();
    let served = serve_with(&person, person.sayso(), &["--trust-store-tokens"]);
    (person, served, tokens)
}

fn made(tokens: &Tokens, name: &str, role: Role, tenant: Option<&str>) -> String {
    tokens.create(name, role, tenant.map(str::to_owned), Vec::new(), u64::MAX).unwrap()
}

#[test]
fn a_token_that_somebody_wrote_into_the_file_answers_nothing() {
    let (person, served, id) = asked();
    let secret = format!("sayso_{}", "ab".repeat(32));
    let hash = blake3::hash(secret.as_bytes()).to_hex().to_string();
    let forged = json!([{"name": "root", "role": "admin", "hash": hash, "created_ms": 0, "expires_ms": u64::MAX >> 1}]);
    std::fs::write(person.home().join(".local/state/sayso/tokens.json"), forged.to_string()).unwrap();
    assert_eq!(served.says_yes(&secret, &id).status, 403);
    for path in ["/v1/approvals", "/v1/audit", "/v1/status"] {
        assert_eq!(served.get(&secret, path).status, 403, "{path}");
    }
    // It is a token all the same: it may ask, as anybody may.
    let bearer = format!("Authorization: Bearer {secret}");
    assert_eq!(served.send("POST", "/v1/decisions", &[JSON, &bearer], "{\"tool\":\"x\"}").status, 200);
    still_waits(&person, &served, &id);
}

#[test]
fn an_agents_token_opens_no_address_of_people() {
    let (person, served, tokens) = trusting(ASKING);
    let bot = made(&tokens, "bot", Role::Agent, None);
    let id = served.question(Some(&bot), &super::call(&person));
    assert_eq!(served.says_yes(&bot, &id).status, 403);
    for path in ["/v1/approvals", "/v1/audit", "/v1/status", "/v1/stream?attend=true"] {
        assert_eq!(served.get(&bot, path).status, 403, "{path}");
    }
    assert_eq!(served.get(&bot, &format!("/v1/approvals/{id}/preview?width=exact")).status, 403);
    let brief = served.get(&bot, &format!("/v1/approvals/{id}"));
    assert_eq!((brief.status, brief.body.as_object().unwrap().len()), (200, 3), "how it stands, and no more");
}

#[test]
fn who_asked_never_answers_whatever_the_body_says() {
    let (_person, served, tokens) = trusting(ASKING);
    let admin = made(&tokens, "root-bot", Role::Admin, None);
    let call = json!({"tool": "web_search", "wait": 0, "context": {"agent": "somebody-else"}});
    let id = served.question(Some(&admin), &call);
    let told = served.says_yes(&admin, &id);
    assert_eq!((told.status, &told.body["error"]["code"]), (403, &json!("not-yours")), "{}", told.body);
    // Another admin may, and the record says by which token.
    let other = made(&tokens, "alice", Role::Approver, None);
    let told = served.says_yes(&other, &id);
    assert_eq!(told.status, 200, "{}", told.body);
    assert_eq!(told.body["answers"][0]["via"], "token alice");
}

#[test]
fn an_approver_answers_what_is_addressed_to_it_and_sees_nothing_else() {
    let policy = "default = \"ask\"\n[[rule]]\nid = \"r\"\nask = { tool = \"web_search\" }\napprover = \"leads\"\n\
                  [approvals.leads]\nmembers = [\"alice\"]\n";
    let (person, served, tokens) = trusting(policy);
    let (alice, mallory) =
        (made(&tokens, "alice", Role::Approver, None), made(&tokens, "mallory", Role::Approver, None));
    let id = served.question(None, &super::call(&person));
    assert_eq!(served.says_yes(&mallory, &id).status, 404);
    assert_eq!(served.get(&mallory, "/v1/approvals").body, json!({"approvals": [], "next": null}));
    assert_eq!(served.get(&mallory, &format!("/v1/approvals/{id}")).status, 404);
    assert_eq!(served.get(&alice, "/v1/audit").status, 403);
    assert_eq!(served.says_yes(&alice, &id).status, 200);
}

#[test]
fn a_tenant_is_a_wall_for_approvers_and_admins() {
    let (_person, served, tokens) = trusting(ASKING);
    let bot = made(&tokens, "bot-b", Role::Agent, Some("b"));
    // It says that it belongs to another tenant, and does not.
    let call = json!({"tool": "web_search", "wait": 0, "context": {"tenant": "a"}});
    let id = served.question(Some(&bot), &call);
    for (name, role) in [("approver-a", Role::Approver), ("admin-a", Role::Admin)] {
        let theirs = made(&tokens, name, role, Some("a"));
        assert_eq!(served.says_yes(&theirs, &id).status, 404, "{name}");
        assert_eq!(served.get(&theirs, &format!("/v1/approvals/{id}")).status, 404, "{name}");
        assert_eq!(served.get(&theirs, "/v1/approvals").body, json!({"approvals": [], "next": null}), "{name}");
    }
    let own = made(&tokens, "approver-b", Role::Approver, Some("b"));
    assert_eq!(served.says_yes(&own, &id).status, 200);
}

#[test]
fn a_token_that_was_taken_back_or_has_ended_opens_nothing() {
    let (person, served, tokens) = trusting(ASKING);
    let id = served.question(None, &super::call(&person));
    let (back, over) = (made(&tokens, "back", Role::Admin, None), tokens.create("over", Role::Admin, None, vec![], 1));
    tokens.revoke("back").unwrap();
    assert_eq!(served.says_yes(&back, &id).status, 401);
    assert_eq!(served.says_yes(&over.unwrap(), &id).status, 401);
    still_waits(&person, &served, &id);
}
