//! `sayso doctor` and `sayso reconcile`.

use crate::person::Person;
use serde_json::Value;

fn doctor(person: &Person, arguments: &[&str]) -> (i32, Value) {
    let said = person.run(&[&["doctor", "--json"], arguments].concat());
    (said.code, serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err)))
}

#[test]
fn a_guard_that_holds_is_found_to_hold() {
    let person = Person::new();
    let (code, report) = doctor(&person, &["codex"]);
    assert_eq!(code, 1, "{report}");
    assert_eq!(report["agents"][0]["guarded"], false);

    person.run(&["install", "codex", "--trust"]);
    let (code, report) = doctor(&person, &["codex"]);
    assert_eq!(code, 0, "{report:#}");
    let agent = &report["agents"][0];
    assert_eq!((&agent["guarded"], &agent["level"]), (&Value::from(true), &Value::from("tripwire")));
    assert_eq!(agent["registrations"][0]["findings"], serde_json::json!([]));
    let attacker = report["level"]["attacker"].to_string();
    assert!(attacker.contains("remove Sayso from ~/.codex/hooks.json"), "{attacker}");

    let said = person.run(&["doctor"]).out;
    assert!(said.contains("ok     user     ~/.codex/hooks.json\n"), "{said}");
    assert!(said.contains("Tripwire") && said.contains("Code that was allowed to run could still:"), "{said}");
}

#[test]
fn what_is_wrong_is_named_and_ends_badly() {
    let person = Person::new();
    person.run(&["install", "codex"]);
    let said = person.run(&["doctor", "codex"]);
    assert_eq!(said.code, 1);
    assert!(
        said.out.contains("[not-trusted]") && said.out.contains("sayso install codex --user --trust"),
        "{}",
        said.out
    );

    let person = Person::new();
    person.run(&["install", "claude-code"]);
    person.policy("[allow]\nrum = []\n");
    let (code, report) = doctor(&person, &["claude-code"]);
    assert_eq!((code, &report["policy"]["ok"]), (1, &Value::from(false)), "{report:#}");

    let person = Person::new();
    person.run(&["install", "gemini"]);
    let state = person.home().join(".local/state/sayso");
    std::fs::write(state.join("sayso.db"), "this is no database, whatever its name says").unwrap();
    let (code, report) = doctor(&person, &["gemini"]);
    assert_eq!((code, &report["record"]["ok"]), (1, &Value::from(false)), "{report:#}");
}

/// A program that says it is this Sayso, and is not.
fn impostor(path: &std::path::Path) {
    std::fs::write(path, concat!("#!/bin/sh\necho sayso ", env!("CARGO_PKG_VERSION"), "\n")).unwrap();
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

fn codes(report: &Value) -> Vec<&str> {
    let findings = report["agents"][0]["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn a_program_that_was_put_in_sayso_s_place_is_found_by_its_content() {
    let person = Person::new();
    let program = person.home().join("tools/sayso");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_sayso"), &program).unwrap();
    let install = || assert_eq!(person.run_program(&program, &["install", "claude-code"]).code, 0);
    install();
    let (code, report) = doctor(&person, &["claude-code"]);
    assert_eq!((code, codes(&report)), (0, Vec::new()), "{report:#}");

    std::fs::remove_file(&program).unwrap();
    impostor(&program);
    let (code, report) = doctor(&person, &["claude-code"]);
    assert_eq!((code, codes(&report)), (1, vec!["other-content"]), "{report:#}");
    assert!(report.to_string().contains("sayso install claude-code --user"), "{report:#}");

    // An upgrade looks the same until its owner says that it was one.
    std::fs::copy(env!("CARGO_BIN_EXE_sayso"), &program).unwrap();
    let mut longer = std::fs::OpenOptions::new().append(true).open(&program).unwrap();
    std::io::Write::write_all(&mut longer, b"another build").unwrap();
    drop(longer);
    assert_eq!(codes(&doctor(&person, &["claude-code"]).1), ["other-content"]);
    install();
    let (code, report) = doctor(&person, &["claude-code"]);
    assert_eq!((code, codes(&report)), (0, Vec::new()), "{report:#}");
}

#[test]
fn the_small_program_is_registered_where_it_lies_beside_and_compared_by_its_content() {
    let person = Person::new();
    let tools = person.home().join("tools");
    std::fs::create_dir_all(&tools).unwrap();
    let (whole, small) = (tools.join("sayso"), tools.join("sayso-hook"));
    std::fs::copy(env!("CARGO_BIN_EXE_sayso"), &whole).unwrap();
    let settings = || std::fs::read_to_string(person.home().join(".claude/settings.json")).unwrap();
    assert_eq!(person.run_program(&whole, &["install", "claude-code"]).code, 0);
    assert!(settings().contains("tools/sayso\""), "{}", settings());
    // What was registered before it came stays in force, until its owner registers the small one.
    std::fs::copy(env!("CARGO_BIN_EXE_sayso-hook"), &small).unwrap();
    let (code, report) = doctor(&person, &["claude-code"]);
    assert_eq!((code, codes(&report)), (0, Vec::new()), "{report:#}");
    assert_eq!(person.run_program(&whole, &["install", "claude-code"]).code, 0);
    assert!(settings().contains("tools/sayso-hook\"") && !settings().contains("tools/sayso\""), "{}", settings());
    let (code, report) = doctor(&person, &["claude-code"]);
    assert_eq!((code, codes(&report)), (0, Vec::new()), "{report:#}");
    std::fs::remove_file(&small).unwrap();
    impostor(&small);
    let (code, report) = doctor(&person, &["claude-code"]);
    assert_eq!((code, codes(&report)), (1, vec!["other-content"]), "{report:#}");
    assert_eq!(person.run_program(&whole, &["uninstall", "claude-code"]).code, 0);
    assert!(!person.home().join(".claude/settings.json").exists());
}

#[test]
fn a_registration_by_hand_is_told_from_one_that_is_noted() {
    let person = Person::new();
    person.run(&["install", "claude-code"]);
    let settings = person.home().join(".claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let program = person.home().join("sayso-hook");
    impostor(&program);
    std::fs::write(&settings, text.replace(env!("CARGO_BIN_EXE_sayso-hook"), program.to_str().unwrap())).unwrap();
    let (code, report) = doctor(&person, &["claude-code"]);
    assert_eq!((code, codes(&report)), (1, vec!["other-content"]), "{report:#}");
    std::fs::write(&settings, text).unwrap();
    std::fs::remove_file(person.home().join(".local/state/sayso/registered.json")).unwrap();
    let (code, report) = doctor(&person, &["claude-code"]);
    assert_eq!((code, codes(&report)), (1, vec!["not-noted"]), "{report:#}");
    person.run(&["install", "claude-code"]);
    assert_eq!(doctor(&person, &["claude-code"]).0, 0);
}

#[test]
fn no_agent_changes_the_program_that_another_agent_starts() {
    let person = Person::new();
    person.policy("default = \"allow\"\n");
    let program = person.home().join("tools/sayso");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_sayso"), &program).unwrap();
    let hook = |command: &str| {
        let event = serde_json::json!({"session_id": "s", "cwd": person.project(), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t"});
        let said = person.run_with(&["hook", "claude-code"], &event.to_string());
        serde_json::from_str::<Value>(&said.out).unwrap()["hookSpecificOutput"]["permissionDecision"].clone()
    };
    let attacks =
        ["cp /bin/true ~/tools/sayso", "mv ~/tools ~/t", "chmod -x ~/tools/sayso", "echo > ~/.gemini/settings.json"];
    assert_eq!(hook(attacks[0]), "allow");
    person.run_program(&program, &["install", "gemini"]);
    for attack in attacks {
        assert_eq!(hook(attack), "deny", "{attack}");
    }
    // The hook's own program, noted or not, and the one that lies beside each.
    assert_eq!(hook(concat!("cp /bin/true ", env!("CARGO_BIN_EXE_sayso"))), "deny");
    assert_eq!(hook(concat!("cp /bin/true ", env!("CARGO_BIN_EXE_sayso-hook"))), "deny");
    assert_eq!(hook("cp /bin/true ~/tools/sayso-hook"), "deny");
    assert_eq!(hook("~/tools/sayso --version"), "allow");
    person.run_program(&program, &["uninstall", "gemini"]);
    assert_eq!(hook(attacks[0]), "allow");
}

#[test]
fn calls_without_a_decision_are_listed() {
    let person = Person::new();
    let line = serde_json::json!({"type": "assistant", "sessionId": "s1", "timestamp": "2026-11-15T12:02:36.528Z",
        "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls \u{1b}[31m"}}]}});
    let folder = person.home().join(".claude/projects/-p");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("s1.jsonl"), format!("{line}\n")).unwrap();

    let said = person.run(&["reconcile"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("1 calls in 1 transcripts, 1 not covered"), "{}", said.out);
    assert!(said.out.contains("session s1") && said.out.contains("Bash  ls "), "{}", said.out);
    assert!(!said.out.contains('\u{1b}'), "{}", said.out);

    // The same call, asked about.
    let event = serde_json::json!({"session_id": "s1", "cwd": person.project(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"});
    person.run_with(&["hook", "claude-code"], &event.to_string());
    let said = person.run(&["reconcile", "claude-code", "--json"]);
    assert_eq!(said.code, 0, "{}", said.out);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&report["covered"], &report["uncovered"]), (&Value::from(1), &serde_json::json!([])));

    assert_eq!(person.run(&["reconcile", "cursor"]).code, 2);
}

#[test]
fn a_policy_gone_from_behind_a_link_is_wrong() {
    let person = Person::new();
    person.policy("default = \"deny\"\n");
    let (file, kept) = (person.home().join(".config/sayso/policy.toml"), person.home().join("kept.toml"));
    std::fs::rename(&file, &kept).unwrap();
    std::os::unix::fs::symlink(&kept, &file).unwrap();
    assert_eq!(person.run(&["check", "ls"]).code, 4);
    std::fs::remove_file(&kept).unwrap();
    assert_eq!(person.run(&["check", "ls"]).code, 4);
    let said = person.run(&["doctor"]);
    assert_ne!(said.code, 0, "{}", said.out);
    assert!(said.out.contains("a link to a missing file"), "{}{}", said.out, said.err);
}
