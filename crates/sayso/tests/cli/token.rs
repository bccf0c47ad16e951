//! `sayso token`.

use crate::person::{Person, first};

#[test]
fn tokens_are_made_by_a_person_at_a_terminal() {
    let person = Person::new();
    assert!(person.run(&["token", "list"]).out.starts_with("No tokens in force."));
    for arguments in [&["token", "create", "worker", "--role", "admin"][..], &["token", "revoke", "worker"]] {
        let said = person.run_with(arguments, "1234\n");
        assert_eq!(said.code, 2, "{arguments:?}: {}", said.out);
        assert!(first(&said.err).starts_with("error: this command needs an interactive terminal"), "{}", said.err);
    }
    assert_eq!(person.run(&["token", "list", "--all", "--json"]).out, "");
    assert_eq!(person.run(&["token", "create", "x", "--role", "king"]).code, 2);
}

#[test]
fn an_agent_may_not_make_a_token() {
    let person = Person::new();
    let said = person.run(&["check", "sayso token create worker --role admin"]);
    assert_eq!(said.code, 4, "{}", said.out);
}
