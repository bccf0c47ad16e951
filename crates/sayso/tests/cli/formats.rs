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
