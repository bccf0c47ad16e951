//! Whoever is asked, and by whichever way in: the mode in force and what becomes of a call are the same.

use crate::person::Person;
use crate::served::serve;
use sayso_gate::mode::{Switch, switch};
use sayso_gate::{Home, Memory, Places};
use sayso_policy::Person as Operator;
use sayso_policy::text::Mode;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the policy denies, and so says which mode decides.
const COMMAND: &str = "git push --force origin main";
/// What it allows.
const HARMLESS: &str = "ls";

fn switched(person: &Person, mode: Mode) {
    let places = Places::find(Home::At(&person.home())).unwrap();
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let until_ms = Some(now + u64::try_from(Duration::from_secs(3600).as_millis()).unwrap());
    let wanted = Switch { mode, by: Operator::named("ann"), why: "a fire".to_owned(), since_ms: now, until_ms };
    switch(&Memory::of(&places), &wanted, false).unwrap();
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What every way in says of a command: its name, the verdict, and the mode if it names one.
fn said_of(
    person: &Person,
    server: &crate::served::Served,
    token: &str,
    command: &str,
) -> Vec<(String, String, Option<String>)> {
    let mut said = Vec::new();
    let mut add = |way: &str, verdict: &str, mode: Option<&str>| {
        said.push((way.to_owned(), verdict.to_owned(), mode.map(str::to_owned)));
    };
    let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();

    let check = person.run(&["check", command]);
    let word = check.out.split_whitespace().next().unwrap().to_owned();
    add("check", &word, named_in(&check.out));
    let check = json_of(&person.run(&["check", "--json", command]).out);
    add("check --json", &text(&check["verdict"]), check["mode"].as_str());
    let line = json!({"id": 1, "command": command, "cwd": person.project(), "workspace": person.project()}).to_string();
    let lines = json_of(&person.run_with(&["check", "--jsonl"], &line).out);
    add("check --jsonl", &text(&lines["verdict"]), Some(lines["mode"].as_str().unwrap_or("enforce")));
    let why = person.run(&["why", command]);
    add("why", &why.out.split_whitespace().next().unwrap().to_lowercase(), named_in(&why.out));
    let why = json_of(&person.run(&["why", "--json", command]).out);
    add("why --json", &text(&why["verdict"]), why["mode"].as_str());

    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(),
        "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t"});
    let hook = person.run_with(&["hook", "claude-code"], &event.to_string());
    let answer = json_of(&hook.out);
    add("hook", &text(&answer["hookSpecificOutput"]["permissionDecision"]), None);

    let call = json!({"command": command, "cwd": person.project(), "workspace": person.project()}).to_string();
    let kind = "Content-Type: application/json";
    let told = server.send("POST", "/v1/decisions", &[kind], &call).body;
    add("POST /v1/decisions", &text(&told["verdict"]), None);
    let bearer = format!("Authorization: Bearer {token}");
    let tried = server.send("POST", "/v1/try", &[kind, &bearer], &call).body;
    add("POST /v1/try", &text(&tried["verdict"]), tried["mode"].as_str());
    said
}

/// The mode that a text names on its line about it.
fn named_in(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("mode "));
    Some(line.map_or("enforce", |line| line.trim_start().split(':').next().unwrap()))
}

#[test]
fn the_mode_and_the_verdict_are_the_same_on_every_way_in_and_in_every_view() {
    let person = Person::new();
    person.policy("extends = [\"developer\"]\n");
    let server = serve(&person);
    let kind = "Content-Type: application/json";
    let signed = server.send("POST", "/v1/session", &[kind], &json!({"key": server.key()}).to_string());
    let token = signed.body["token"].as_str().unwrap().to_owned();
    let bearer = format!("Authorization: Bearer {token}");

    // In each mode: what becomes of what the policy denies, and of what it allows.
    let cases = [
        (None, "deny", "allow"),
        (Some(Mode::DryRun), "dry-run", "dry-run"),
        (Some(Mode::Shadow), "allow", "allow"),
        (Some(Mode::Off), "allow", "allow"),
        (Some(Mode::Halt), "deny", "deny"),
    ];
    for (mode, of_denied, of_allowed) in cases {
        if let Some(mode) = mode {
            switched(&person, mode);
        }
        let word = mode.map_or("enforce", Mode::as_str);
        for (command, wanted) in [(COMMAND, of_denied), (HARMLESS, of_allowed)] {
            for (way, verdict, named) in said_of(&person, &server, &token, command) {
                // An agent has no word for a stub: it is told not to run, and why.
                let expected = if way == "hook" && wanted == "dry-run" { "deny" } else { wanted };
                assert_eq!(verdict, expected, "{way} of `{command}` in mode {word}");
                assert!(named.is_none_or(|named| named == word), "{way} names another mode than {word}");
            }
        }

        // Every view names it.
        let shown = json_of(&person.run(&["mode", "--json"]).out);
        assert_eq!(shown["switch"]["mode"].as_str().unwrap_or("enforce"), word);
        assert_eq!(shown["mode"]["run"], word, "{shown}");
        let doctor = json_of(&person.run(&["doctor", "--json"]).out);
        assert!(doctor["mode"]["text"].as_str().unwrap().starts_with(word), "{}", doctor["mode"]);
        let status = server.send("GET", "/v1/status", &[&bearer], "").body;
        assert_eq!(status["mode"]["run"], word, "{status}");
        let says_enforcing = status["enforcing"].as_str().unwrap().starts_with("enforcing");
        assert_eq!(says_enforcing, word == "enforce", "{}", status["enforcing"]);
        let mode = server.send("GET", "/v1/mode", &[&bearer], "").body;
        assert_eq!(mode, status["mode"]);
        let by = mode["by"].as_str().unwrap_or("nobody");
        assert_eq!(by, if word == "enforce" { "nobody" } else { "ann" });
    }
}

#[test]
fn policies_that_are_named_look_past_the_mode_and_say_so() {
    let person = Person::new();
    switched(&person, Mode::Halt);
    let said = person.run(&["check", "--policy", "preset:developer", "ls"]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(
        said.out.contains("--policy looks past the mode in force here. halt: every call is denied"),
        "{}",
        said.out
    );
    let said = json_of(&person.run(&["check", "--json", "--policy", "preset:developer", "ls"]).out);
    assert_eq!(
        (&said["verdict"], &said["mode"], &said["looks_past"]),
        (&json!("allow"), &json!("enforce"), &json!("halt"))
    );
    // A mode of the file itself counts.
    let file = person.file("halted.toml", "extends = [\"developer\"]\n[mode]\nrun = \"halt\"\n");
    let said = json_of(&person.run(&["check", "--json", "--policy", file.to_str().unwrap(), "ls"]).out);
    assert_eq!((&said["verdict"], &said["mode"]), (&json!("deny"), &json!("halt")));
}

#[test]
fn a_rule_can_be_added_during_a_halt() {
    let person = Person::new();
    person.policy("default = \"ask\"\n");
    switched(&person, Mode::Halt);
    // It is about what the policy says once the halt is over.
    let said = person.run(&["allow", "terraform plan"]);
    assert!(!said.out.contains("halt") && !said.err.contains("halt"), "{said:?}");
}

#[test]
fn a_server_halts_for_whoever_answers_and_goes_on_for_the_owner_alone() {
    let person = Person::new();
    let mut server = serve(&person);
    let kind = "Content-Type: application/json";
    let halt = json!({"run": "halt", "because": "a fire"}).to_string();
    assert_eq!(server.send("POST", "/v1/mode", &[kind], &halt).status, 401);
    let signed = server.send("POST", "/v1/session", &[kind], &json!({"key": server.key()}).to_string());
    let bearer = format!("Authorization: Bearer {}", signed.body["token"].as_str().unwrap());
    let told = server.send("POST", "/v1/mode", &[kind, &bearer], &halt);
    assert_eq!((told.status, told.body["run"].as_str()), (200, Some("halt")), "{}", told.body);
    assert_eq!(person.run(&["check", "ls"]).code, 4);
    for loosens in ["off", "shadow", "dry-run"] {
        let told = server.send("POST", "/v1/mode", &[kind, &bearer], &json!({"run": loosens}).to_string());
        assert_eq!(told.status, 400, "{}", told.body);
    }
    assert_eq!(person.run(&["check", "ls"]).code, 4);
    let told = server.send("POST", "/v1/mode", &[kind, &bearer], &json!({"run": "enforce"}).to_string());
    assert_eq!(told.body["run"], "enforce", "{}", told.body);
    assert_eq!(person.run(&["check", "ls"]).code, 0);
    // Whoever signed out is nobody.
    assert_eq!(server.send("DELETE", "/v1/session", &[&bearer], "").body, json!({"signed_out": true}));
    assert_eq!(server.send("GET", "/v1/mode", &[&bearer], "").status, 401);
    drop(server.next_key());
}
