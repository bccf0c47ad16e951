//! A program that was allowed to run tries everything at once: the command, the socket, HTTP, the server's process and
//! terminal, and every file. `child.py` is that program, and the person beside it.

use super::ASKING;
use super::memory::{given_away, unprivileged};
use crate::person::Person;
use serde_json::{Value, json};
use std::process::Command;

#[test]
fn a_child_of_the_same_user_does_not_say_yes_to_itself() {
    let person = Person::new();
    person.policy(ASKING);
    given_away(&person);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/attacks/child.py");
    let mut python = Command::new("python3");
    python.args([script, "owner"]).arg(person.sayso().get_program()).arg(person.home());
    let output = unprivileged(&person, &python).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));

    assert_eq!((&result["standing"], &result["verdict"]), (&json!("pending"), &json!("ask")), "{result}");
    assert_eq!((&result["looked through"], &result["key found"]), (&json!(true), &json!(false)), "{result}");
    assert_eq!(result["owner"], "approved", "the person is not kept out: {result}");
    let got = &result["got"];
    for (what, came_to) in [
        ("command", json!(2)),
        ("command at a terminal of its own", json!(2)),
        ("command with a guessed key", json!(2)),
        ("mode off", json!(2)),
        ("token of its own", json!(2)),
        ("socket", json!(401)),
        ("HTTP", json!(401)),
        ("HTTP as the page", json!(401)),
        ("HTTP by a GET", json!(405)),
        ("guessed key", json!(403)),
        ("guessed link", json!(410)),
        ("asked as its approver", json!(401)),
        ("hash of a token as the token", json!(401)),
        ("debugger", json!("Operation not permitted")),
        ("its memory", json!("Operation not permitted")),
        ("its descriptors", json!("Operation not permitted")),
        // What remains, as SECURITY.md says: whatever is typed there from now on can be read.
        ("the server's terminal", json!("opened")),
    ] {
        assert_eq!(got[what], came_to, "{what}: {result}");
    }
    for name in ["environ", "maps", "mem", "auxv", "stack", "syscall", "io", "fd"] {
        let what = format!("proc {name}");
        assert!(
            ["Permission denied", "Operation not permitted"].contains(&got[&what].as_str().unwrap()),
            "{what}: {got}"
        );
    }
}
