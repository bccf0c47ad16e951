//! `sayso init`.

use crate::person::Person;

#[test]
fn the_first_policy_is_in_order_and_its_cases_hold() {
    let person = Person::new();
    let said = person.run(&["init"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "Wrote ~/.config/sayso/policy.toml\nIt applies from the next call. Try it: sayso check 'git push'\n")
    );
    assert_eq!(person.run(&["lint"]).out, "~/.config/sayso/policy.toml: valid\n");
    let tested = person.run(&["test"]);
    assert_eq!((tested.code, tested.out.as_str()), (0, "2 passed, 0 failed\n"), "{}", tested.err);
}

#[test]
fn a_policy_that_is_there_stays() {
    let person = Person::new();
    person.policy("default = \"deny\"\n");
    let said = person.run(&["init"]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (2, "~/.config/sayso/policy.toml already exists and was left unchanged.\n\n  Check it with `sayso lint`.\n")
    );
    let text = std::fs::read_to_string(person.home().join(".config/sayso/policy.toml")).unwrap();
    assert_eq!(text, "default = \"deny\"\n");
}

#[test]
fn a_project_gets_a_file_of_its_own() {
    let person = Person::new();
    assert_eq!(person.run(&["init", "--project"]).code, 0);
    let said = person.run(&["test", ".sayso.toml"]);
    assert_eq!((said.code, said.out.as_str()), (0, "1 passed, 0 failed\n"), "{}", said.err);
}

#[test]
fn kinds_of_agents_get_the_presets_of_their_names() {
    let person = Person::new();
    let said = person.run(&["init", "--for", "reviewer", "--for", "deployer", "--for", "reviewer"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("sayso install AGENT --as agent:reviewer"), "{}", said.out);
    assert_eq!(person.run(&["lint"]).out, "~/.config/sayso/policy.toml: valid\n");
    assert_eq!(person.run(&["check", "--agent", "reviewer", "touch x"]).code, 4);
    assert_eq!(person.run(&["check", "--agent", "deployer", "npm publish"]).code, 3);
    assert_eq!(person.run(&["check", "touch x"]).code, 0);
    let wrong = person.run(&["init", "--for", "reviwer"]);
    assert!(wrong.code == 2 && wrong.err.contains("reviewer"), "{}", wrong.err);
}
