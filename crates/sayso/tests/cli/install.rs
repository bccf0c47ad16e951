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
    assert!(shown.out.contains("+") && shown.out.ends_with("Nothing is written.\n"), "{}", shown.out);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);

    let installed = person.run(&["install", "claude-code"]);
    assert_eq!(installed.code, 0, "{}", installed.err);
    assert!(installed.out.contains("claude-code is guarded from its next session on."), "{}", installed.out);
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(text.contains("\"claude-code\"") && text.contains("\"model\":\"opus\""), "{text}");
    assert_eq!(person.run(&["install", "claude-code"]).out, "claude-code is guarded already.\n");

    assert_eq!(person.run(&["uninstall", "claude-code"]).code, 0);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);
    assert_eq!(person.run(&["uninstall", "claude-code"]).out, "claude-code is not guarded; nothing to take out.\n");
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
