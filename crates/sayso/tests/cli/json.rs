//! What commands print with `--json` is what `sayso schema COMMAND` says, and docs/json.md lists.

use crate::person::Person;
use crate::served::serve;
use serde_json::{Value, json};

const OUTPUTS: &str = include_str!("../../src/command/schema.json");

/// How each is run so that it prints something.
const RUNS: &[(&str, &[&str])] = &[
    ("check", &["check", "--json", "git push --force; terraform plan"]),
    ("check --jsonl", &["check", "--jsonl"]),
    ("why", &["why", "--json", "terraform plan"]),
    ("explain", &["explain", "--json", "secrets"]),
    ("lint", &["lint", "--json"]),
    ("test", &["test", "--json"]),
    ("trust", &["trust", "--show", "--json"]),
    ("presets", &["presets", "--json"]),
    ("policy show", &["policy", "show", "--json"]),
    ("policy versions", &["policy", "versions", "--json"]),
    ("mode", &["mode", "--json"]),
    ("doctor", &["doctor", "--json"]),
    ("approvals list", &["approvals", "list", "--all", "--json"]),
    ("grants list", &["grants", "list", "--json"]),
    ("limits", &["limits", "--json"]),
    ("log", &["log", "--json"]),
    ("session list", &["session", "list", "--json"]),
    ("token list", &["token", "list", "--json"]),
    ("route", &["route", "--agent", "coder", "--json"]),
    ("store check", &["store", "check", "--json"]),
];

/// These print nothing without people who answered or made something; their fields are checked where they do.
const MAY_BE_EMPTY: [&str; 3] = ["grants list", "session list", "token list"];

#[test]
fn commands_print_what_their_schema_says() {
    let outputs: Value = serde_json::from_str(OUTPUTS).unwrap();
    let person = Person::new();
    person.policy("extends = [\"developer\"]\n[deny]\ntool = [\"file_wirte\"]\n[limits.session]\ncalls = 100\n[[test]]\ncommand = \"ls\"\nexpect = \"deny\"\n");
    let server = serve(&person);
    // Something that is on record and something that waits.
    for command in ["ls", "terraform plan"] {
        let call = json!({"command": command, "cwd": person.project(), "wait": 0, "context": {"session": "s1"}});
        server.send("POST", "/v1/decisions", &["Content-Type: application/json"], &call.to_string());
    }
    for (name, output) in outputs.as_object().unwrap() {
        let Some((_, arguments)) = RUNS.iter().find(|(run, _)| run == name) else { panic!("nothing runs `{name}`") };
        let lines = format!("{}\nno json\n", json!({"id": 1, "command": "ls", "cwd": person.project()}));
        let said = person.run_with(arguments, &lines);
        let validator = jsonschema::validator_for(&output["schema"]).unwrap();
        let values: Vec<Value> = match output["prints"].as_str().unwrap() {
            "object" => {
                vec![serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{name}: {error}: {said:?}"))]
            }
            _ => said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        };
        assert!(!values.is_empty() || MAY_BE_EMPTY.contains(&name.as_str()), "{name}: {said:?}");
        for value in values {
            let wrong: Vec<String> =
                validator.iter_errors(&value).map(|error| format!("{error} at {}", error.instance_path())).collect();
            assert!(wrong.is_empty(), "{name}: {wrong:?} in {value}");
        }
        let words: Vec<&str> = ["schema"].into_iter().chain(name.split(' ')).collect();
        let words: Vec<&str> = if name.contains("--") { vec!["schema", "--", "check", "--jsonl"] } else { words };
        assert_eq!(serde_json::from_str::<Value>(&person.run(&words).out).unwrap(), output["schema"], "{name}");
    }
    assert_eq!(person.run(&["schema", "nonsense"]).code, 2);
}

#[test]
fn the_document_lists_every_command_with_a_schema() {
    let outputs: Value = serde_json::from_str(OUTPUTS).unwrap();
    let document = include_str!("../../../../docs/json.md");
    for (name, output) in outputs.as_object().unwrap() {
        let option = if name.contains("--") { "" } else { " --json" };
        let prints = if output["prints"] == "object" { "one object" } else { "an object per line" };
        let row = format!("| `sayso {name}{option}` | {prints} | {} |", output["description"].as_str().unwrap());
        assert!(document.contains(&row), "docs/json.md lacks: {row}");
    }
}
