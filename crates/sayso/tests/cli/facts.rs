//! What sessions did before: sources and secrets of all kinds, judged call after call, and what that costs in questions.

use crate::person::Person;
use serde_json::{Value, json};

const FILES: &[(&str, &str)] = &[
    ("Makefile", "include rules.mk\nall:\n\t./gen.sh\n"),
    ("rules.mk", "x:\n\ttrue\n"),
    ("other.mk", "all:\n\ttrue\n"),
    ("gen.sh", "#!/bin/sh\nsh lib.sh\n"),
    ("lib.sh", "echo\n"),
    ("run.sh", "echo\n"),
    ("pre.sh", "echo\n"),
    ("package.json", r#"{"scripts":{"test":"sh run.sh","build":"node scripts/build.js","pretest":"sh pre.sh"}}"#),
    ("scripts/build.js", "1\n"),
    ("Cargo.toml", "[package]\nname=\"x\"\nversion=\"0.1.0\"\nbuild=\"build.rs\"\n"),
    ("build.rs", "fn main(){}\n"),
    ("src/main.rs", "fn main(){}\n"),
    ("conftest.py", "\n"),
    ("setup.cfg", "[x]\n"),
    ("tox.ini", "[tox]\n"),
    ("pyproject.toml", "[tool.pytest.ini_options]\n"),
    ("CMakeLists.txt", "project(x)\n"),
    ("jest.config.js", "module.exports={}\n"),
    ("justfile", "all:\n  echo\n"),
    ("meson.build", "project()\n"),
    ("build.gradle", "x\n"),
    ("Rakefile", "x\n"),
    ("Taskfile.yml", "x\n"),
    ("deno.json", "{}\n"),
    ("tests/test_x.py", "\n"),
    ("d/Makefile", "all:\n"),
    ("x.txt", "x\n"),
    (".env", "KEY=1\n"),
    ("README.md", "hello\n"),
];

fn project() -> Person {
    let person = Person::new();
    for (name, text) in FILES {
        person.file(name, text);
    }
    person
}

/// A line of a file as a call in a session.
fn call(person: &Person, session: &str, text: &str) -> Value {
    let project = person.project();
    let mut line = json!({"id": session, "cwd": project, "workspace": project, "home": person.home(),
        "context": {"agent": "claude-code", "session": session}});
    let path = |name: &str| project.join(name);
    let text = text.replace("PROJECT", project.to_str().unwrap());
    // In JSON it stands for itself.
    let text = if text.starts_with('{') { text } else { text.replace("\\n", "\n") };
    match text.split_once(' ') {
        Some(("Edit", name)) => {
            line["tool"] = json!("Edit");
            line["args"] = json!({"file_path": path(name), "old_string": "a", "new_string": "b"});
        }
        Some(("Write", name)) => {
            line["tool"] = json!("Write");
            line["args"] = json!({"file_path": path(name), "content": "x"});
        }
        _ => match serde_json::from_str::<Value>(&text) {
            Ok(tool) if tool.is_object() => {
                line["tool"] = tool["tool"].clone();
                line["args"] = tool["args"].clone();
            }
            _ => line["command"] = json!(text),
        },
    }
    line
}

fn judged(person: &Person, policy: &str, calls: &[Value]) -> Vec<Value> {
    let lines: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let said = person.run_with(&["check", "--jsonl", "--policy", policy], &lines);
    let answers: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), calls.len(), "{}", said.err);
    answers
}

fn has(answer: &Value, code: &str) -> bool {
    answer["reasons"].as_array().is_some_and(|reasons| reasons.iter().any(|reason| reason["code"] == code))
}

#[test]
fn a_tool_whose_own_file_the_session_wrote_asks_however_it_was_written() {
    let person = project();
    let cases: Vec<(bool, &str, &str)> = include_str!("facts/written.txt")
        .lines()
        .map(|line| {
            let (expected, rest) = line.split_once(' ').unwrap();
            let (first, then) = rest.rsplit_once(" => ").unwrap();
            (expected == "asks", first.trim(), then)
        })
        .collect();
    assert!(cases.len() > 70);
    let mut calls = Vec::new();
    for (at, (_, first, then)) in cases.iter().enumerate() {
        calls.push(call(&person, &format!("two{at}"), first));
        calls.push(call(&person, &format!("two{at}"), then));
        // The same within one call, where it is a command and ends on its own line.
        let one = if first.starts_with('{') || first.contains("\\n") {
            "true".to_owned()
        } else {
            format!("{first} && {then}")
        };
        calls.push(call(&person, &format!("one{at}"), &one));
    }
    let answers = judged(&person, "preset:developer", &calls);
    let mut wrong = Vec::new();
    for ((asks, first, then), said) in cases.iter().zip(answers.chunks(3)) {
        let one = calls.iter().any(|call| call["command"] == format!("{first} && {then}"));
        if has(&said[1], "own-build") != *asks || *asks && said[1]["verdict"] == "allow" {
            wrong.push(format!("{first} => {then}: {}", said[1]));
        }
        if one && *asks && said[2]["verdict"] == "allow" {
            wrong.push(format!("{first} && {then}: {}", said[2]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn what_may_have_read_secrets_asks_before_it_connects() {
    let person = project();
    person.file(
        "p.toml",
        "extends = [\"developer\"]\ndisable = [\"secrets\", \"secrets-stay-here\"]\n[allow]\nread = [\"/**\"]\nrun = [\"*\"]\nconnect = [\"example.org\"]\n\
         [[rule]]\nid = \"stay\"\nask = { connect = [\"*\", \"!@loopback\"] }\nwhen = { after.read = \"@secrets\" }\n",
    );
    let cases: Vec<(bool, &str)> = include_str!("facts/secrets.txt")
        .lines()
        .map(|line| line.split_once(' ').map(|(expected, command)| (expected == "asks", command.trim())).unwrap())
        .collect();
    assert!(cases.len() > 35);
    let of = |(at, (_, command)): (usize, &(bool, &str))| {
        let session = format!("s{at}");
        [call(&person, &session, command), call(&person, &session, "curl https://example.org")]
    };
    let calls: Vec<Value> = cases.iter().enumerate().flat_map(of).collect();
    let answers = judged(&person, "p.toml", &calls);
    let wrong: Vec<String> = cases
        .iter()
        .zip(answers.chunks(2))
        .filter(|((asks, _), said)| has(&said[1], "stay") != *asks)
        .map(|((_, command), said)| format!("{command}: {}", said[1]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Everyday work: both rules together may add less than one question in a thousand calls.
#[test]
fn everyday_sessions_are_asked_nothing_more() {
    let person = project();
    person.file("off.toml", "extends = [\"developer\"]\ndisable = [\"own-build\", \"secrets-stay-here\"]\n");
    let sessions: Vec<&str> = include_str!("facts/sessions.txt").split("\n\n").collect();
    let mut calls = Vec::new();
    for (at, session) in sessions.iter().enumerate() {
        for line in session.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            calls.push(call(&person, &format!("s{at}"), line));
        }
    }
    let (with, without) = (judged(&person, "preset:developer", &calls), judged(&person, "off.toml", &calls));
    let more: Vec<String> = with
        .iter()
        .zip(&without)
        .zip(&calls)
        .filter(|((with, without), _)| with["verdict"] != without["verdict"])
        .map(|((with, _), call)| format!("{call}: {with}"))
        .collect();
    assert!(calls.len() > 100, "{}", calls.len());
    assert!(more.len() * 1000 < calls.len(), "{} of {}:\n{}", more.len(), calls.len(), more.join("\n"));
}
