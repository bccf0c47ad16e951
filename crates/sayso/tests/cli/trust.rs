//! `sayso trust`.

use crate::person::{Person, first};
use crate::pty::{agent_above, at_terminal, the_number};

#[test]
fn an_untrusted_project_only_tightens_and_trust_is_bound_to_content() {
    let person = Person::new();
    person.policy("default = \"ask\"\n");
    let said = person.run(&["trust"]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.ends_with("`sayso init --project` writes one.\n"), "{}", said.err);

    person.file(".sayso.toml", "[allow]\ntool = [\"web_search\"]\n[deny]\ntool = [\"web_fetch\"]\n");
    let code = |tool: &str| person.run(&["check", "--tool", tool]).code;
    assert_eq!((code("web_search"), code("web_fetch")), (3, 4));
    assert!(person.run(&["trust", "--show"]).out.contains("is not trusted"));
    let noted = person.run(&["check", "--tool", "web_search"]).err;
    assert!(noted.starts_with("note: ") && noted.contains("`sayso trust`"), "{noted}");

    // A program that pipes something in is nobody.
    let said = person.run_with(&["trust"], "y\n1234\n");
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(first(&said.err).starts_with("error: this command needs an interactive terminal"), "{}", said.err);
    assert_eq!(code("web_search"), 3);
    let (ended, shown) = at_terminal(&person, &["trust"], &mut the_number());
    if agent_above(&shown) {
        return;
    }
    assert_eq!(ended, 0, "{shown}");
    assert_eq!((code("web_search"), code("web_fetch")), (0, 4));

    person.file(".sayso.toml", "[allow]\ntool = [\"web_search\", \"web_fetch\"]\n");
    assert_eq!((code("web_search"), code("web_fetch")), (0, 4));
    assert!(person.run(&["trust", "--show"]).out.contains("changed since it was trusted"));

    assert_eq!(person.run(&["trust", "--revoke"]).code, 0);
    assert_eq!(code("web_search"), 3);

    // Who let the file loosen something, and what stood in it, is in the record.
    let log = person.run(&["log", "--kind", "policy", "--json"]).out;
    let of = |what: &str| log.lines().find(|line| line.contains(&format!("\"what\":\"{what}\""))).unwrap().to_owned();
    assert!(of("trusted").contains("\"hash\":\"") && of("trusted").contains(".sayso.toml"), "{log}");
    assert!(of("distrusted").contains("\"by\":\""), "{log}");
}
