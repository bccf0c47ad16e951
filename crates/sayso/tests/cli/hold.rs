//! `check --hold`, `"can_hold"` and `why --hold`.

use crate::person::Person;
use serde_json::{Value, json};

#[test]
fn a_held_allow_is_an_ask_unless_the_caller_holds() {
    let person = Person::new();
    let check = |more: &[&str]| person.run(&[&["check", "--policy", "preset:developer"], more].concat());
    let asked = check(&["python3 train.py"]);
    assert_eq!(asked.code, 3, "{}", asked.out);
    assert!(asked.out.contains("held whole, this would be allowed"), "{}", asked.out);
    let held = check(&["--hold", "python3 train.py"]);
    assert_eq!(held.code, 0, "{}", held.out);
    assert!(held.out.contains("[held]") && held.out.contains("allowed only held whole"), "{}", held.out);
    for never in ["sudo python3 train.py", "git push"] {
        assert_eq!(check(&["--hold", never]).code, 3, "{never}");
    }
    assert_eq!(check(&["--hold", "python3 x.py && git push --force"]).code, 4);
    let trace: Value = serde_json::from_str(&check(&["--json", "python3 train.py"]).out).unwrap();
    assert_eq!((&trace["verdict"], &trace["held"]), (&json!("ask"), &json!("whole")));
    let trace: Value = serde_json::from_str(&check(&["--json", "make test"]).out).unwrap();
    assert_eq!(
        (&trace["verdict"], &trace["held"], &trace["hold"]),
        (&json!("allow"), &Value::Null, &json!("wanted-whole"))
    );
}

#[test]
fn lines_say_who_holds() {
    let person = Person::new();
    let lines = concat!(
        r#"{"id":1,"command":"python3 x.py","cwd":"/app"}"#,
        "\n",
        r#"{"id":2,"command":"python3 x.py","cwd":"/app","can_hold":true}"#,
        "\n",
        r#"{"id":3,"command":"python3 x.py","cwd":"/app","can_hold":"yes"}"#,
        "\n",
        r#"{"id":4,"command":"ls","cwd":"/app","can_hold":true}"#,
    );
    let told = |more: &[&str]| -> Vec<Value> {
        let said = person.run_with(&[&["check", "--jsonl", "--policy", "preset:developer"], more].concat(), lines);
        assert_eq!(said.code, 0, "{}", said.err);
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let plain = told(&[]);
    assert_eq!((&plain[0]["verdict"], &plain[0]["held"]), (&json!("ask"), &json!("whole")));
    assert_eq!((&plain[1]["verdict"], &plain[1]["held"]), (&json!("allow"), &json!("whole")));
    assert_eq!(plain[2]["error"], json!("`can_hold` must be true or false."));
    assert_eq!((&plain[3]["verdict"], &plain[3]["held"]), (&json!("allow"), &Value::Null));
    assert_eq!(told(&["--hold"])[0]["verdict"], json!("allow"));
}

#[test]
fn why_shows_the_bounds_and_what_they_cannot_say() {
    let person = Person::new();
    person.file(".env", "A=1");
    person.file(
        "p.toml",
        "extends = ['developer']\n[allow]\nwrite = ['./*.log']\n[hold]\nconnect = ['*.corp.example', 're:x']\n",
    );
    let why = person.run(&["why", "--hold", "--policy", "p.toml", "python3 train.py"]);
    assert_eq!(why.code, 0, "{}{}", why.out, why.err);
    for expected in [
        "hold: allowed only held whole",
        "bounds: held whole",
        "writes      .",
        "*.corp.example",
        "p.toml:3:10  This pattern is not a folder",
        "p.toml:5:30  Only a host's name",
    ] {
        assert!(why.out.contains(expected), "{expected}\n{}", why.out);
    }
    // Beside it stand secrets that other programs keep in folders for everybody.
    let decoys = why.out.lines().find_map(|line| line.trim().strip_prefix("decoys")).unwrap_or_default();
    assert!(decoys.split_whitespace().any(|path| path == "./.env"), "{}", why.out);
    let plain = person.run(&["why", "--policy", "p.toml", "python3 train.py"]);
    assert_eq!(plain.code, 3);
    assert!(!plain.out.contains("bounds:"), "{}", plain.out);
}
