//! `explain`, `schema`, `completions`, `man`, `--help`: what people look things up in.

use crate::person::{Person, first};
use sayso_policy::REASON_CODES;

#[test]
fn every_code_is_listed_and_explained() {
    let person = Person::new();
    let listed = person.run(&["explain"]);
    assert_eq!(listed.out.lines().count(), REASON_CODES.len());
    for info in REASON_CODES {
        let said = person.run(&["explain", &format!("[{}]", info.code)]);
        assert_eq!((said.code, first(&said.out)), (0, info.code));
        assert!(said.out.contains(info.title) && said.out.contains(info.advice), "{}", said.out);
    }
    let said = person.run(&["explain", "my-rule\u{1b}[2J"]);
    assert_eq!((said.code, first(&said.err)), (2, "error: my-rule\\x1b[2J is not one of Sayso's own codes"));
}

#[test]
fn the_schema_is_json() {
    let said = Person::new().run(&["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert!(schema["properties"]["deny"].is_object(), "{schema}");
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let person = Person::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(person.run(&["completions", shell]).out.contains("uninstall"), "{shell}");
    }
    assert!(person.run(&["man"]).out.contains("sayso\\-check"));
    assert!(person.run(&["man", "check"]).out.contains("\\-\\-jsonl"));
    assert_eq!(person.run(&["man", "nonsense"]).code, 2);
}

#[test]
fn help_teaches_by_example() {
    let person = Person::new();
    for command in ["check", "why", "init", "lint", "trust", "log", "install", "uninstall", "serve", "explain", "run"] {
        let said = person.run(&[command, "--help"]);
        assert!(said.code == 0 && said.out.contains(&format!("  sayso {command}")), "{command}: {}", said.out);
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let person = Person::new();
    let script = format!("{} completions bash | head -c 1; exit ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_sayso"));
    let done = std::process::Command::new("bash").arg("-c").arg(script).current_dir(person.project()).output().unwrap();
    assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(0), ""));
}
