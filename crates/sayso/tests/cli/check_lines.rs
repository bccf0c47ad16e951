//! `sayso check --jsonl`: the contract that outside tools rely on.

use crate::person::Person;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

const POLICY: &str = r#"
default = "ask"
[allow]
tool = ["file_read"]
[deny]
tool = ["file_delete"]
[[rule]]
id = "no-team-b"
deny = { tool = "file_read" }
when = { for = ["team:b"] }
because = "Team b reads nothing."
"#;

fn answers(person: &Person, lines: &str) -> Vec<Value> {
    person.file("p.toml", POLICY);
    let said = person.run_with(&["check", "--jsonl", "--policy", "p.toml"], lines);
    // One note for all lines that say no directory, and nothing else.
    assert!(
        said.err.is_empty() || (said.err.starts_with("note: a line has no `cwd`") && said.err.lines().count() == 1)
    );
    assert_eq!(said.code, 0, "{}", said.out);
    said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_line_is_answered_in_order_and_bad_ones_with_an_error() {
    let person = Person::new();
    let got = answers(
        &person,
        concat!(
            r#"{"id":1,"tool":"file_delete","args":{"path":"/x"}}"#,
            "\n",
            r#"{"id":"two","tool":"Read","args":{"file_path":"README.md"},"cwd":"/nowhere"}"#,
            "\n",
            "\n",
            r#"{"id":3}"#,
            "\n",
            "nonsense\n",
            r#"{"id":5,"command":"ls","tool":"x"}"#,
            "\n",
            r#"{"id":6,"tool":"file_read","args":{"path":"/nowhere/a"},"cwd":"/nowhere","context":{"group":"b"}}"#,
        ),
    );
    let verdicts: Vec<(Value, Value)> = got.iter().map(|a| (a["id"].clone(), a["verdict"].clone())).collect();
    assert_eq!(
        verdicts,
        [
            (json!(1), json!("deny")),
            (json!("two"), json!("allow")),
            (json!(3), Value::Null),
            (Value::Null, Value::Null),
            (json!(5), Value::Null),
            (json!(6), json!("deny")),
        ]
    );
    assert_eq!(got[2], json!({"id": 3, "error": "Neither `command` nor `tool` is given."}));
    assert_eq!(got[4], json!({"id": 5, "error": "Give `command` or `tool`, not both."}));
    assert!(got[3]["error"].as_str().unwrap().starts_with("This is not a valid JSON object"));
    assert_eq!(
        got[5]["reasons"][0],
        json!({"code": "no-team-b", "text": "Team b reads nothing.", "layer": "given", "source": "p.toml:9:17"})
    );
}

#[test]
fn a_driver_may_keep_the_pipe_open_and_wait_for_each_answer() {
    let person = Person::new();
    person.file("p.toml", POLICY);
    let mut child = person
        .sayso()
        .args(["check", "--jsonl", "--policy", "p.toml"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for id in 0..3 {
        writeln!(input, "{}", json!({"id": id, "tool": "file_delete"})).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&answer["id"], &answer["verdict"]), (&json!(id), &json!("deny")));
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn raw_bytes_and_nul_are_judged_and_never_break_the_stream() {
    let person = Person::new();
    let got = answers(
        &person,
        concat!(
            r#"{"id":1,"command":"cat caf\udce9"}"#,
            "\n",
            r#"{"id":2,"command":"ls\u0000 -l"}"#,
            "\n",
            r#"{"id":3,"tool":"file_read","args":{"path":"/nowhere/\udcff"}}"#,
            "\n",
            r#"{"id":4,"command":"\ud800"}"#,
            "\n",
        ),
    );
    for answer in &got {
        assert_ne!(answer["verdict"], "allow", "{answer}");
        assert!(answer.get("error").is_none(), "{answer}");
    }
    assert_eq!(got.len(), 4);
}

#[test]
fn a_bad_policy_is_wrong_usage() {
    let person = Person::new();
    let said = person.run_with(&["check", "--jsonl", "--policy", "preset:nonesuch"], "{}\n");
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    let said = person.run_with(&["check", "--jsonl", "--policy", "missing.toml"], "{}\n");
    assert_eq!((said.code, said.out.as_str()), (2, ""));
}

#[test]
fn nothing_is_read_or_written_at_home_when_policies_are_named() {
    let person = Person::new();
    person.policy("this is not TOML");
    assert_eq!(answers(&person, r#"{"id":1,"tool":"file_delete"}"#)[0]["verdict"], "deny");
    assert!(!person.home().join(".local").exists());
}
