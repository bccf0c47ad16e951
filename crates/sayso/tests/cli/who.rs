//! Who asks: what agents report of themselves, and what the owner states.

use crate::person::Person;
use serde_json::{Value, json};

fn hook(person: &Person, agent: &str, more: &[&str], extra: &Value) -> (String, String) {
    let home = person.home();
    let mut event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(),
        "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
    for (key, value) in extra.as_object().unwrap() {
        event[key] = value.clone();
    }
    let mut words = vec!["hook", agent, "--home", home.to_str().unwrap()];
    words.extend_from_slice(more);
    let said = person.run_with(&words, &event.to_string());
    let answer: Value = serde_json::from_str(&said.out).unwrap_or(Value::Null);
    let verdict = answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("allow").to_owned();
    (verdict, format!("{}{}", said.out, said.err))
}

fn last_layer(person: &Person) -> String {
    let log = person.run(&["log", "--json"]);
    let last = log.out.lines().last().unwrap().to_owned();
    serde_json::from_str::<Value>(&last).unwrap()["reasons"][0]["layer"].as_str().unwrap().to_owned()
}

#[test]
fn the_type_and_the_model_that_an_agent_reports_bring_their_layers() {
    let person = Person::new();
    person.policy(
        "default = \"allow\"\n[tools.for.\"agent:explore\"]\nonly = [\"file_read\"]\n\
         [tools.for.\"provider:openai/gpt-5.4\"]\nhide = [\"@runtime\"]\n",
    );
    let plain = json!({});
    assert_eq!(hook(&person, "claude-code", &[], &plain).0, "allow");
    let explore = json!({"agent_id": "a1", "agent_type": "explore"});
    assert_eq!(hook(&person, "claude-code", &[], &explore).0, "deny");
    assert_eq!(last_layer(&person), "tools agent:explore");
    assert_eq!(hook(&person, "codex", &[], &json!({"model": "gpt-5.4"})).0, "deny");
    assert_eq!(last_layer(&person), "tools provider:openai/gpt-5.4");
    assert_eq!(hook(&person, "codex", &[], &json!({"model": "gpt-5.5"})).0, "allow");
}

#[test]
fn what_is_reported_satisfies_no_allow_and_replaces_no_layer() {
    let person = Person::new();
    person.policy(
        "default = \"ask\"\n[[rule]]\nallow = { run = \"ls\" }\nwhen = { for = \"agent:deployer\" }\n\
         [tools.for.\"agent:claude-code\"]\nhide = [\"web_fetch\"]\n",
    );
    let claims = json!({"agent_id": "a1", "agent_type": "deployer"});
    assert_eq!(hook(&person, "claude-code", &[], &claims).0, "ask", "a claim allows nothing");
    assert_eq!(hook(&person, "claude-code", &["--as", "agent:deployer"], &json!({})).0, "allow", "its owner says so");
    let fetch = json!({"tool_name": "WebFetch", "tool_input": {"url": "https://example.org", "prompt": "x"}});
    assert_eq!(
        hook(&person, "claude-code", &["--as", "agent:deployer"], &fetch).0,
        "deny",
        "the product's layer stays"
    );
    let wrong = person.run_with(&["hook", "claude-code", "--as", "role:x"], "{}");
    assert_eq!(wrong.code, 2, "{}", wrong.err);
}

#[test]
fn a_team_and_a_tenant_are_stated() {
    let person = Person::new();
    person.policy("default = \"allow\"\n[tools.for.\"team:a/alice\"]\nhide = [\"@runtime\"]\n");
    assert_eq!(hook(&person, "claude-code", &[], &json!({})).0, "allow");
    assert_eq!(hook(&person, "claude-code", &["--as", "team:a/alice,tenant:t"], &json!({})).0, "deny");
}

#[test]
fn the_layers_of_a_parent_are_the_ceiling_in_lines() {
    let person = Person::new();
    person.file("p.toml", "default = \"allow\"\n[tools.for.\"agent:lead\"]\nhide = [\"@runtime\"]\n");
    let line = |context: &Value| json!({"id": 1, "command": "ls", "cwd": "/", "context": context}).to_string();
    let check = |context: &Value| person.run_with(&["check", "--jsonl", "--policy", "p.toml"], &line(context)).out;
    assert!(check(&json!({"agent": "worker"})).contains("\"allow\""));
    let said = check(&json!({"agent": "worker", "parent": {"agent": "helper", "parent": {"agent": "lead"}}}));
    assert!(said.contains("\"deny\"") && said.contains("agent:lead"), "{said}");
    let mut deep = json!({"agent": "x"});
    for _ in 0..9 {
        deep = json!({"agent": "x", "parent": deep});
    }
    assert!(check(&deep).contains("more than 8 deep"), "{}", check(&deep));
}
