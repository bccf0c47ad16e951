//! Files of other systems: judged by as they are, and imported.

use crate::person::Person;

#[test]
fn another_systems_file_answers_in_its_own_way() {
    let person = Person::new();
    person.file("wundr.json", r#"{"tools": {"deny": ["file_delete"]}}"#);
    person.file("deck.yaml", "tool_allowlist:\n  allowed: [read_file]\n");
    for (arguments, code) in [
        (&["check", "--policy", "wundr.json", "--policy-format", "wundr", "--tool", "file_delete"][..], 4),
        (&["check", "--policy", "wundr.json", "--policy-format", "wundr", "--tool", "anything"], 0),
        (&["check", "--policy", "wundr.json", "--tool", "file_delete"], 4),
        (&["check", "--policy", "deck.yaml", "--tool", "read_file"], 0),
        (&["check", "--policy", "deck.yaml", "--policy", "wundr.json", "--tool", "anything"], 4),
        (&["check", "--policy", "wundr.json", "rm -rf /"], 0),
        (&["check", "--policy", "wundr.json", "--integrity", "rm -rf /"], 4),
    ] {
        let said = person.run(arguments);
        assert_eq!(said.code, code, "{arguments:?}: {}{}", said.out, said.err);
    }
}

#[test]
fn an_import_is_a_policy_that_says_no_less() {
    let person = Person::new();
    person.file("wundr.json", r#"{"tools": {"deny": ["file_delete"]}, "groups": {"*": {"deny": ["deploy"]}}}"#);
    let imported = person.run(&["import", "wundr", "wundr.json"]);
    assert_eq!(imported.code, 0, "{}", imported.err);
    assert!(imported.err.contains("not the same: the group `*`"), "{}", imported.err);
    person.file("policy.toml", &imported.out);
    assert_eq!(person.run(&["check", "--policy", "policy.toml", "--tool", "file_delete"]).code, 4);
    assert_eq!(person.run(&["check", "--policy", "policy.toml", "--tool", "anything"]).code, 0);
    assert_eq!(person.run(&["import", "wundr", "none.json"]).code, 2);
}

#[test]
fn a_hook_judges_by_another_systems_file_and_still_guards_sayso() {
    let person = Person::new();
    person.file("wundr.json", r#"{"tools": {"deny": ["web_search"]}}"#);
    person.file("deck.toml", "default_action = \"allow\"\n[tool_allowlist]\ndenied = [\"WebFetch\"]\n");
    person.file("limits.json", r#"{"budget": {"max_tool_calls": 1}}"#);
    let event = |tool: &str, input: serde_json::Value| {
        serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(),
            "permission_mode": "default", "tool_name": tool, "tool_input": input, "tool_use_id": "t"})
        .to_string()
    };
    let said = |arguments: &[&str], event: &str| {
        let said = person.run_with(&[&["hook", "claude-code"], arguments].concat(), event);
        let answer: serde_json::Value = serde_json::from_str(&said.out).unwrap_or_default();
        let decision = answer["hookSpecificOutput"]["permissionDecision"].as_str().map(str::to_owned);
        decision.unwrap_or_else(|| format!("{} {}", said.code, said.err))
    };
    let wundr = ["--policy", "wundr.json"];
    assert_eq!(said(&wundr, &event("WebSearch", serde_json::json!({"query": "x"}))), "deny");
    assert_eq!(said(&wundr, &event("Bash", serde_json::json!({"command": "ls"}))), "allow");
    assert_eq!(said(&wundr, &event("Bash", serde_json::json!({"command": "rm -rf /"}))), "deny");
    let deck = ["--policy", "deck.toml", "--policy-format", "ferrumdeck"];
    assert_eq!(said(&deck, &event("WebFetch", serde_json::json!({"url": "https://x.example"}))), "deny");
    assert_eq!(said(&deck, &event("Bash", serde_json::json!({"command": "ls"}))), "allow");
    // Over the most is denied; at the most is not, as that system has it.
    let limited = || said(&["--policy", "limits.json"], &event("Bash", serde_json::json!({"command": "ls"})));
    assert_eq!([limited(), limited(), limited()], ["allow", "allow", "deny"]);
    let broken = ["--policy", "wundr.json", "--policy-format", "toolcap"];
    assert_ne!(said(&broken, &event("Bash", serde_json::json!({"command": "ls"}))), "allow");
}

#[test]
fn an_export_allows_no_more_than_the_policy() {
    let person = Person::new();
    person.file("p.toml", "[allow]\nrun = [\"git {status,log}\"]\n[deny]\nrun = [\"sudo\"]\n");
    let exported = person.run(&["export", "claude-code", "--policy", "p.toml"]);
    assert_eq!(exported.code, 0, "{}", exported.err);
    assert!(exported.err.contains("not the same: an allow is written for the exact command alone"), "{}", exported.err);
    person.file("settings.json", &exported.out);
    for (command, code) in [("git log", 0), ("git log --output=x", 3), ("sudo ls", 4), ("make", 3)] {
        assert_eq!(person.run(&["check", "--policy", "settings.json", command]).code, code, "{command}");
    }
    let refused = person.run(&["export", "policy-engine", "--policy", "p.toml"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
    assert_eq!(person.run(&["export", "claude-code", "--policy", "settings.json"]).code, 2);
    assert_eq!(person.run(&["export", "openclaw"]).code, 2);
    assert_eq!(person.run(&["export", "gemini"]).code, 0);
}
