//! `sayso install` and `sayso uninstall`.

use crate::person::{Person, there};

#[test]
fn uninstall_puts_settings_back_exactly() {
    let person = Person::new();
    let settings = person.home().join(".claude/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let before = "{\n    \"model\":\"opus\",   \"hooks\": {\"Stop\": []}\n}";
    std::fs::write(&settings, before).unwrap();

    let shown = person.run(&["install", "claude-code", "--dry-run"]);
    assert!(shown.out.contains("+") && shown.out.ends_with("Nothing was written.\n"), "{}", shown.out);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);

    let installed = person.run(&["install", "claude-code"]);
    assert_eq!(installed.code, 0, "{}", installed.err);
    assert!(installed.out.contains("claude-code is guarded from its next session."), "{}", installed.out);
    assert!(installed.out.contains("held only after `sayso doctor claude-code --live`"), "{}", installed.out);
    assert!(installed.out.contains("Next:  sayso doctor claude-code --live "), "{}", installed.out);
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(text.contains("\"claude-code\"") && text.contains("\"model\":\"opus\""), "{text}");
    let again = person.run(&["install", "claude-code"]);
    assert!(again.out.starts_with("claude-code is already guarded.\n"), "{}", again.out);

    assert_eq!(person.run(&["uninstall", "claude-code"]).code, 0);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);
    assert_eq!(person.run(&["uninstall", "claude-code"]).out, "claude-code is not guarded; nothing to remove.\n");

    let log = person.run(&["log", "--kind", "happening", "--json"]).out;
    let texts: Vec<String> = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(texts.len(), 2, "{log}");
    for (text, word) in texts.iter().zip(["install", "uninstall"]) {
        assert!(text.starts_with(&format!("sayso {word} claude-code, by ")), "{text}");
        assert!(text.ends_with(": ~/.claude/settings.json"), "{text}");
    }
}

#[test]
fn settings_that_were_not_there_are_gone_afterwards() {
    let person = Person::new();
    assert_eq!(person.run(&["install", "claude-code", "--project"]).code, 0);
    let settings = person.project().join(".claude/settings.json");
    assert!(there(&settings));
    assert_eq!(person.run(&["uninstall", "claude-code", "--project"]).code, 0);
    assert!(!there(&settings));
}

#[test]
fn an_unknown_agent_is_wrong_usage() {
    let said = Person::new().run(&["install", "nonesuch"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("claude-code"), "{}", said.err);
}

#[test]
fn an_agent_without_settings_in_a_scope_says_so() {
    let said = Person::new().run(&["install", "opencode", "--managed"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("no machine-wide plugins"), "{}", said.err);
    let said = Person::new().run(&["install", "zed"]);
    assert_eq!(said.code, 2, "{}", said.err);
}

#[test]
fn without_a_name_the_agents_on_this_machine_are_listed() {
    let person = Person::new();
    let bin = person.home().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let program = bin.join("codex");
    std::fs::write(&program, "#!/bin/sh\necho codex-cli 9.8.7\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = person.sayso();
        let done = command.args(arguments).env("PATH", format!("{}:/usr/bin:/bin", bin.display())).output().unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    };
    let (_, list) = run(&["install"]);
    assert!(list.contains("Codex 9.8.7   not guarded    sayso install codex\n"), "{list}");
    // A list is an answer; a change needs a yes.
    assert!(!there(&person.home().join(".codex/hooks.json")));
    let (code, made) = run(&["install", "--yes", "--trust"]);
    assert_eq!(code, Some(0), "{made}");
    assert!(there(&person.home().join(".codex/hooks.json")), "{made}");
    let (_, list) = run(&["install"]);
    assert!(list.contains("Codex 9.8.7   guarded\n"), "{list}");
}

#[test]
fn what_is_left_to_do_is_said_instead_of_guarded() {
    let person = Person::new();
    let said = person.run(&["install", "codex"]);
    assert!(!said.out.contains("is guarded"), "{}", said.out);
    assert!(said.out.contains("codex is not guarded yet:") && said.out.contains("--trust"), "{}", said.out);
    let again = person.run(&["install", "codex"]);
    assert!(again.out.contains("codex is not guarded yet:"), "{}", again.out);
    let trusted = person.run(&["install", "codex", "--trust"]);
    assert!(trusted.out.contains("codex is guarded from its next session."), "{}", trusted.out);
    // Codex cuts this time-out by itself, and goes by what is left when it compares the hook with the one that was trusted.
    let hooks = std::fs::read_to_string(person.home().join(".codex/hooks.json")).unwrap();
    let hooks: serde_json::Value = serde_json::from_str(&hooks).unwrap();
    assert_eq!(hooks["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
}

#[test]
fn the_registered_program_is_not_changed_by_another_of_its_names() {
    let person = Person::new();
    person.policy("default = \"allow\"\n");
    let said = person.run(&["install", "claude-code"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let registered = std::fs::read_to_string(person.home().join(".local/state/sayso/registered.json")).unwrap();
    let registered: serde_json::Value = serde_json::from_str(&registered).unwrap();
    let program = std::path::PathBuf::from(registered[0]["program"].as_str().unwrap());
    // In its own folder: another may be on another disk, to which no hard link leads.
    let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let twin = folder.path().join("twin");
    std::fs::hard_link(&program, &twin).unwrap();
    for command in ["echo x > twin", "cp /bin/true twin", "truncate -s 0 twin"] {
        let folder = folder.path().to_str().unwrap();
        let said = person.run(&["check", "--cwd", folder, "--workspace", folder, command]);
        assert!(said.code == 4 && said.out.contains("sayso-itself"), "{command}: {}", said.out);
    }
}
