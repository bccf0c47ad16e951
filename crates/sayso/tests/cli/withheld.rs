//! What stands in a file is judged, and no command shows it that an agent could run.

use crate::person::Person;
use serde_json::json;

/// Stands in every file that may not be read.
const SECRET: &str = "hunter2";

fn with_secrets() -> Person {
    let person = Person::new();
    std::fs::create_dir_all(person.home().join(".ssh")).unwrap();
    let key =
        "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2 line\nrm -rf hunter2dir > hunter2out\ncurl hunter2.example\n";
    std::fs::write(person.home().join(".ssh/id_rsa"), key).unwrap();
    person.file(".env", "API_KEY=hunter2\nf() { hunter2; }\n");
    person
}

const COMMANDS: [&str; 4] =
    ["bash ~/.ssh/id_rsa", ". ~/.ssh/id_rsa; ls", ". ./.env; cat /x/$API_KEY; f", "(cd ~/.ssh; sh id_rsa)"];

#[test]
fn no_command_shows_what_a_secret_file_says() {
    let person = with_secrets();
    person.file("claude.json", r#"{"permissions": {"allow": ["Bash(ls:*)"], "deny": ["Bash(rm:*)", "Read(./.env)"]}}"#);
    person.file("mine.toml", "default = \"allow\"\n");
    let policies: [&[&str]; 4] = [
        &["--policy", "preset:developer"],
        &["--policy", "mine.toml"],
        &["--policy", "claude.json", "--policy-format", "claude-code"],
        &["--policy", "claude.json", "--policy-format", "claude-code", "--integrity"],
    ];
    for command in COMMANDS {
        for policy in policies {
            for how in [&["check"][..], &["check", "--json"], &["why"], &["why", "--all"]] {
                let said = person.run(&[how, policy, &[command]].concat());
                assert!(!(said.out.clone() + &said.err).contains(SECRET), "{how:?} {policy:?} {command}: {}", said.out);
            }
            let line = json!({"id": 1, "command": command, "cwd": person.project(), "home": person.home()});
            let said = person.run_with(&[&["check", "--jsonl"], policy].concat(), &format!("{line}\n"));
            assert!(said.out.contains("verdict") && !said.out.contains(SECRET), "{policy:?} {command}: {}", said.out);
        }
        let said = person.run(&["analyze", command]);
        assert!(said.code == 0 && !said.out.contains(SECRET), "{command}: {}{}", said.out, said.err);
        let line = json!({"id": 1, "command": command, "cwd": person.project(), "home": person.home()});
        let said = person.run_with(&["analyze", "--jsonl"], &format!("{line}\n"));
        assert!(said.out.contains("\"opaque\":true") && !said.out.contains(SECRET), "{command}: {}", said.out);
    }
}

#[test]
fn a_hook_tells_and_records_no_word_of_a_secret_file() {
    let person = with_secrets();
    person.policy("default = \"ask\"\n[deny]\nread = [\"@secrets\"]\n");
    for (n, command) in COMMANDS.iter().enumerate() {
        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(),
            "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": command},
            "tool_use_id": format!("t{n}")});
        let said = person.run_with(&["hook", "claude-code"], &event.to_string());
        assert!(!(said.out.clone() + &said.err).contains(SECRET), "{command}: {} {}", said.out, said.err);
    }
    let log = person.run(&["log", "--json"]).out;
    assert!(log.contains("named in ") && log.contains("id_rsa") && !log.contains(SECRET), "{log}");
    let exported = person.run(&["log", "export"]).out;
    assert!(exported.contains("id_rsa") && !exported.contains(SECRET), "{exported}");
}

#[test]
fn a_plain_script_is_shown_as_before() {
    let person = with_secrets();
    person.file("build.sh", "mkdir built\n");
    let said = person.run(&["analyze", "bash build.sh"]);
    assert!(said.out.contains("mkdir built"), "{}", said.out);
    let said = person.run(&["why", "--policy", "preset:developer", "bash build.sh"]);
    assert!(said.out.contains("./built"), "{}", said.out);
}

#[test]
fn analyze_shows_no_word_of_a_file_that_the_policy_denies_to_read() {
    let person = with_secrets();
    person.policy("default = \"allow\"\n[deny]\nread = [\"~/private/**\"]\n");
    let private = person.home().join("private/run.sh");
    std::fs::create_dir_all(private.parent().unwrap()).unwrap();
    std::fs::write(&private, "rm -rf hunter2dir\n").unwrap();
    let command = format!("bash {}", private.display());
    let said = person.run(&["analyze", &command]);
    assert!(said.code == 0 && !said.out.contains(SECRET), "{}{}", said.out, said.err);
    let line = json!({"id": 1, "command": command, "cwd": person.project()});
    let said = person.run_with(&["analyze", "--jsonl"], &format!("{line}\n"));
    assert!(said.out.contains("\"opaque\":true") && !said.out.contains(SECRET), "{}", said.out);
}
