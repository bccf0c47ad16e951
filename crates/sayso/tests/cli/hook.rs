//! `sayso hook claude-code`: the process as the agent starts it.

use crate::person::Person;
use serde_json::{Value, json};

fn event(person: &Person, tool: &str, input: &Value) -> String {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(), "permission_mode": "default",
        "tool_name": tool, "tool_input": input, "tool_use_id": "t"})
    .to_string()
}

fn decision(out: &str) -> String {
    let answer: Value = serde_json::from_str(out).unwrap_or_else(|_| panic!("{out:?}"));
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
}

#[test]
fn a_call_is_answered_in_the_agents_words_and_recorded() {
    let person = Person::new();
    person.policy("default = \"ask\"\n[allow]\ntool = [\"file_read\"]\n[deny]\nread = [\"@secrets\"]\n");
    person.file(".env", "TOKEN=1\n");
    person.file("README.md", "x\n");
    let home = person.home();
    let hook = |path: &str| {
        let event = event(&person, "Read", &json!({"file_path": person.project().join(path)}));
        person.run_with(&["hook", "claude-code", "--home", home.to_str().unwrap()], &event)
    };
    assert_eq!(decision(&hook("README.md").out), "allow");
    assert_eq!(decision(&hook(".env").out), "deny");
    let log = person.run(&["log", "--json"]);
    let verdicts: Vec<Value> =
        log.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"].clone()).collect();
    assert_eq!(verdicts, [json!("allow"), json!("deny")]);
}

#[test]
fn whatever_goes_wrong_the_call_does_not_run() {
    let person = Person::new();
    let blocked = |arguments: &[&str], input: &str| {
        let said = person.run_with(arguments, input);
        (said.code == 2 && !said.err.is_empty()) || (said.code == 0 && decision(&said.out) == "deny")
    };
    assert!(blocked(&["hook", "claude-code"], "nonsense"));
    assert!(blocked(&["hook", "claude-code"], ""));
    assert!(blocked(&["hook", "nonesuch"], "{}"));
    assert!(blocked(
        &["hook", "claude-code", "--policy", "none.toml"],
        &event(&person, "Read", &json!({"file_path": "/x"}))
    ));
    assert!(blocked(&["hook"], "{}"));
}

#[test]
fn named_policies_replace_all_others_and_the_record_is_kept() {
    let person = Person::new();
    person.policy("default = \"allow\"\n");
    person.file("p.toml", "default = \"deny\"\n");
    let said = person
        .run_with(&["hook", "claude-code", "--policy", "p.toml"], &event(&person, "WebSearch", &json!({"query": "x"})));
    assert_eq!(decision(&said.out), "deny");
    assert_eq!(person.run(&["log", "--json"]).out.lines().count(), 1);
}
