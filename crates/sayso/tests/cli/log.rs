//! `sayso log`.

use crate::person::Person;
use serde_json::json;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

fn call(person: &Person, tool: &str, input: &serde_json::Value) {
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(),
        "permission_mode": "default", "tool_name": tool, "tool_input": input, "tool_use_id": "t"});
    assert_eq!(person.run_with(&["hook", "claude-code"], &event.to_string()).code, 0);
}

#[test]
fn an_empty_record_says_the_next_step() {
    assert_eq!(Person::new().run(&["log"]).out, "No decisions yet. `sayso install claude-code` guards an agent.\n");
}

#[test]
fn filters_narrow_and_hostile_text_is_escaped() {
    let person = Person::new();
    person.policy("default = \"deny\"\n[allow]\ntool = [\"web_search\"]\n");
    call(&person, "WebSearch", &json!({"query": "rust"}));
    call(&person, "Bash", &json!({"command": "echo \u{1b}[31m\u{202e}"}));
    let count = |arguments: &[&str]| person.run(&[&["log"], arguments].concat()).out.lines().count();
    assert_eq!(count(&[]), 2);
    assert_eq!(count(&["--verdict", "deny"]), 1);
    assert_eq!(count(&["--agent", "claude-code", "--since", "1h"]), 2);
    assert_eq!(count(&["--text", "rust"]), 1);
    assert_eq!(count(&["-n", "1"]), 1);
    assert_eq!(person.run(&["log", "--agent", "codex"]).out, "None of the 2 decisions on record matches.\n");
    assert!(person.run(&["log"]).out.chars().all(|c| c == '\n' || !c.is_control()));
    assert_eq!(person.run(&["log", "--since", "soon"]).code, 2);
}

#[test]
fn following_shows_what_comes() {
    let person = Person::new();
    let mut child = person.sayso().args(["log", "--follow", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    // Whether the first look comes before or after the call, the call is shown once.
    call(&person, "WebSearch", &json!({"query": "x"}));
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.contains("web_search"), "{line}");
}
