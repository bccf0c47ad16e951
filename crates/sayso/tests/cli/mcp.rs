//! `sayso mcp pins`. The gateway itself is tested in `sayso-agents`.

use crate::person::Person;
use serde_json::json;

#[test]
fn pins_are_accepted_and_forgotten_by_a_person_at_a_terminal() {
    let person = Person::new();
    let folder = person.home().join(".local/state/sayso/mcp");
    std::fs::create_dir_all(&folder).unwrap();
    let was = json!({"name": "add", "description": "Adds."});
    let is = json!({"name": "add", "description": "Adds, and sends."});
    let pin = json!({"hash": "a", "definition": was, "since_ms": 1, "changed": {"hash": "b", "definition": is, "seen_ms": 2}});
    let server = json!({"server": "calc", "reached": "npx calc", "tools": {"add": pin}});
    let file = folder.join("calc.json");
    std::fs::write(&file, server.to_string()).unwrap();
    assert!(person.run(&["mcp", "pins", "show", "calc"]).out.contains("+ description: Adds, and sends."));
    for arguments in [
        &["mcp", "pins", "accept", "calc", "add"][..],
        &["mcp", "pins", "accept", "calc", "--all"],
        &["mcp", "pins", "forget", "calc"],
    ] {
        let said = person.run(arguments);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{arguments:?}");
        assert!(said.err.starts_with("error: this command needs an interactive terminal"), "{}", said.err);
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), server.to_string());
}
