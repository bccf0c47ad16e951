//! Files of other systems: judged by as they are, and imported.

use crate::person::Person;
use crate::served::{JSON, serve_with};

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
    assert!(imported.err.contains("differs: the group `*`"), "{}", imported.err);
    person.file("policy.toml", &imported.out);
    assert_eq!(person.run(&["check", "--policy", "policy.toml", "--tool", "file_delete"]).code, 4);
    assert_eq!(person.run(&["check", "--policy", "policy.toml", "--tool", "anything"]).code, 0);
    assert_eq!(person.run(&["import", "wundr", "none.json"]).code, 2);
}

/// Behaviours of a format, by the file that they are about.
fn behaviours(format: &str) -> Vec<(serde_json::Value, Vec<serde_json::Value>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../sayso-formats/tests/vectors");
    let text = std::fs::read_to_string(folder.join(format!("{format}.jsonl"))).unwrap();
    let mut found: Vec<(serde_json::Value, Vec<serde_json::Value>)> = Vec::new();
    for line in text.lines() {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        let (config, input) = (line["config"].take(), line["input"].take());
        match found.iter_mut().find(|(known, _)| *known == config) {
            Some((_, inputs)) => inputs.push(input),
            None => found.push((config, vec![input])),
        }
    }
    // Those that most is said of.
    found.sort_by_key(|(_, inputs)| std::cmp::Reverse(inputs.len()));
    found.truncate(3);
    found
}

#[test]
fn a_server_judges_by_another_systems_file_as_check_does_and_shows_it() {
    for format in ["wundr", "exec-approvals", "ferrumdeck", "policy-engine", "toolcap"] {
        for (config, inputs) in behaviours(format) {
            let person = Person::new();
            let text = serde_json::to_string_pretty(&config).unwrap();
            person.file("theirs.json", &text);
            let policy = ["--policy", "theirs.json", "--policy-format", format];
            let lines: String = inputs.iter().map(|input| format!("{input}\n")).collect();
            let checked = person.run_with(&[&["check", "--jsonl", "--integrity"], &policy[..]].concat(), &lines);
            assert_eq!(checked.code, 0, "{}", checked.err);

            let served = serve_with(&person, person.sayso(), &policy);
            let token = served.signed_in(&served.key());
            let bearer = format!("Authorization: Bearer {token}");
            for (input, line) in inputs.iter().zip(checked.out.lines()) {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                let told = served.send("POST", "/v1/decisions", &[JSON], &input.to_string());
                assert_eq!(told.body["verdict"], line["verdict"], "{format} {config} {input}: {} {line}", told.body);
                let code = |told: &serde_json::Value| told["reasons"][0]["code"].clone();
                assert_eq!(code(&told.body), code(&line), "{format} {config} {input}");
                let tried = served.send("POST", "/v1/try", &[JSON, &bearer], &input.to_string());
                assert_eq!(tried.body["verdict"], line["verdict"], "{format} {config} {input}: {}", tried.body);
            }
            let shown = served.get(&token, "/v1/policy").body;
            assert_eq!((&shown["fixed"], &shown["notices"]), (&true.into(), &serde_json::json!([])), "{shown}");
            let file = &shown["files"][0];
            assert_eq!(file["name"], format!("{format}:theirs.json"));
            assert_eq!(file["text"], text, "as it is");
            assert_eq!(file["problems"], serde_json::json!([]), "it is not taken for a file of Sayso's own");
            let body = "{\"text\":\"default = \\\"allow\\\"\"}";
            let told = served.send("POST", "/v1/policy/activate", &[JSON, &bearer], body);
            assert_eq!((told.status, &told.body["error"]["code"]), (409, &"policy-fixed".into()));
        }
    }
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
    assert!(exported.err.contains("differs: an allow is written for the exact command alone"), "{}", exported.err);
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
