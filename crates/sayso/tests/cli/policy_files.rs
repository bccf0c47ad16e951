//! `sayso lint` and `sayso test`.

use crate::person::Person;

#[test]
fn an_error_has_a_place_a_caret_and_a_way_out() {
    let person = Person::new();
    person.file("p.toml", "default = \"ask\"\n\n[alow]\nrun = [\"ls\"]\n");
    let said = person.run(&["lint", "p.toml"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("p.toml:3:2"), "{}", said.err);
    assert!(said.err.contains("^^^^"), "{}", said.err);
    assert!(said.err.contains("allow"), "{}", said.err);
}

#[test]
fn a_warning_does_not_refuse_the_file() {
    let person = Person::new();
    person.file("p.toml", "[set]\nunused = [\"ls\"]\n[deny]\nrun = [\"sudo\"]\n");
    let said = person.run(&["lint", "p.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.ends_with("\np.toml: valid, with a warning\n"), "{}", said.out);
}

#[test]
fn a_case_that_does_not_hold_is_named_with_what_was_said_instead() {
    let person = Person::new();
    person.file(
        "p.toml",
        "default = \"ask\"\n\n[deny]\ntool = [\"file_delete\"]\n\n[[test]]\ntool = \"file_delete\"\nexpect = \"allow\"\n\n[[test]]\ntool = \"file_delete\"\nexpect = \"deny\"\ncode = \"other\"\n\n[[test]]\ntool = \"file_delete\"\nexpect = \"deny\"\n",
    );
    let said = person.run(&["test", "p.toml"]);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(lines[0].starts_with("p.toml:6:1: file_delete: expected allow, got deny: "), "{}", lines[0]);
    assert!(
        lines[1].starts_with("p.toml:10:1: file_delete: deny as expected, but without the reason other; got: "),
        "{}",
        lines[1]
    );
    assert_eq!(lines[2..], ["1 passed, 2 failed"]);
}

#[test]
fn an_example_that_its_rule_does_not_satisfy_refuses_the_file() {
    let person = Person::new();
    person.file(
        "p.toml",
        "[[rule]]\nid = \"x\"\ndeny = { tool = \"file_*\" }\nwhen = { arg.path = \"/prod/**\" }\nhits = [{ path = \"/dev/x\" }]\n",
    );
    let said = person.run(&["test", "p.toml"]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.contains("p.toml:5"), "{}", said.err);
}
