//! Programs that an owner teaches: found beside the policy, judged by, linted, tested, analysed, trusted.

use crate::person::Person;
use crate::pty::{agent_above, at_terminal, the_number};

const SHIP: &str = "\
# Our deployment tool.
program ship = shp
  style exact
  -n --dry-run, -v --verbose
  --plan FILE : reads
  sub status logs
  sub release : publishes
    -f --force : changes-service
    operands text read*

cases
  ship status               => run ship
  ship release prod notes   => run ship, publishes, read notes
  shp release -f prod       => run shp, publishes, changes-service
";

fn teach(person: &Person, name: &str, text: &str) {
    let folder = person.home().join(".config/sayso/programs");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn a_taught_program_is_judged_by_what_its_text_says() {
    let person = Person::new();
    person.policy("default = \"ask\"\n[allow]\nrun = [\"ship\"]\n[deny]\nrun = [\"ship release -f\"]\n");
    let verdict = |command: &str| person.run(&["check", command]).code;
    teach(&person, "ship.prog", SHIP);
    assert_eq!(verdict("ship status"), 0);
    assert_eq!(verdict("ship release prod"), 3, "it publishes, which an allow of the program does not cover");
    assert_eq!(verdict("ship release --force prod"), 4, "the text says that -f is --force");
    assert_eq!(verdict("ship --surprise status"), 3, "an option that the text does not hold");
    let analysed = person.run(&["analyze", "shp release prod notes"]).out;
    assert!(analysed.contains("notes"), "{analysed}");

    // Its version is part of the policy's.
    let version = || person.run(&["why", "ship status"]).out.lines().next().unwrap_or_default().to_owned();
    let before = version();
    teach(&person, "ship.prog", &SHIP.replace("sub status logs", "sub status"));
    assert_ne!(version().split(" · ").next(), before.split(" · ").next());
    assert_eq!(verdict("ship logs"), 3);
}

#[test]
fn lint_points_at_mistakes_and_test_runs_the_cases() {
    let person = Person::new();
    person.policy("default = \"ask\"\n");
    teach(&person, "ship.prog", SHIP);
    let said = person.run(&["lint"]);
    assert_eq!((said.code, said.out.contains("ship.prog")), (0, true), "{}{}", said.out, said.err);
    let said = person.run(&["test"]);
    assert_eq!((said.code, said.out.as_str()), (0, "3 passed, 0 failed\n"), "{}", said.err);

    let file = person.file("broken.prog", &SHIP.replace(": publishes", ": publshes"));
    let said = person.run(&["lint", file.to_str().unwrap()]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.contains("broken.prog:7:17") && said.err.contains("^^^^^^^^"), "{}", said.err);

    let file = person.file("wrong.prog", &SHIP.replace("=> run ship\n", "=> run ship, publishes\n"));
    let said = person.run(&["test", file.to_str().unwrap()]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(
        said.out.contains("wrong.prog:12: ship status: expected run ship, publishes; got run ship"),
        "{}",
        said.out
    );
    assert!(said.out.ends_with("2 passed, 1 failed\n"), "{}", said.out);
}

#[test]
fn a_program_that_sayso_knows_is_made_stricter_only() {
    let person = Person::new();
    teach(&person, "git.prog", "program git\n  sub log\n    --oneline : shows-secrets\n");
    assert_eq!(person.run(&["check", "git log --oneline"]).code, 3);
    assert_eq!(person.run(&["check", "git log"]).code, 0);

    teach(&person, "git.prog", "program git\n  sub push\n    --force\n");
    let said = person.run(&["check", "git status"]);
    // The last good version stays in force, and that is said.
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("last good version"), "{}", said.err);
    assert_eq!(person.run(&["check", "git log --oneline"]).code, 3);
}

#[test]
fn a_broken_text_without_a_good_version_asks_for_everything() {
    let person = Person::new();
    teach(&person, "x.prog", "program\n");
    let said = person.run(&["check", "ls"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
}

#[test]
fn hooks_judge_by_taught_programs_from_their_compiled_copy() {
    let person = Person::new();
    person.policy("default = \"ask\"\n[allow]\nrun = [\"ship\"]\n");
    teach(&person, "ship.prog", SHIP);
    let event = |command: &str| {
        serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(), "tool_name": "Bash",
            "tool_input": {"command": command}, "permission_mode": "default", "tool_use_id": "t",
        })
        .to_string()
    };
    std::thread::sleep(std::time::Duration::from_millis(2100)); // until then no copy is kept
    for _ in 0..3 {
        let said = person.run_with(&["hook", "claude-code"], &event("ship status"));
        assert!(said.out.contains("\"allow\""), "{}{}", said.out, said.err);
        let said = person.run_with(&["hook", "claude-code"], &event("ship release prod"));
        assert!(said.out.contains("\"ask\""), "{}{}", said.out, said.err);
    }
    assert!(person.home().join(".local/state/sayso/compiled").is_dir());
    teach(&person, "more.prog", "program ship\n");
    let said = person.run_with(&["hook", "claude-code"], &event("ship status"));
    assert!(!said.out.contains("\"allow\""), "two texts describe one program: {}", said.out);
}

#[test]
fn a_projects_programs_count_once_their_folder_is_trusted() {
    let person = Person::new();
    person.policy("default = \"ask\"\n[allow]\nrun = [\"ship\", \"@filters\"]\n");
    person.file(".sayso/programs/ship.prog", &format!("{SHIP}\nprogram sieve\n  facets filter\n"));
    let verdict = |command: &str| person.run(&["check", command]).code;
    let untrusted = verdict("ship release prod");
    let said = person.run(&["trust", "--show"]);
    assert!(said.out.contains(".sayso/programs is not trusted"), "{}", said.out);
    let (ended, shown) = at_terminal(&person, &["trust"], &mut the_number());
    if agent_above(&shown) {
        return;
    }
    assert_eq!(ended, 0, "{shown}");
    assert!(person.run(&["trust", "--show"]).out.contains("is trusted as it is: its programs count"));
    assert_eq!(verdict("ship release prod"), 3);
    assert!(untrusted <= 3);
    // A project cannot make its own program a filter, which the owner's rule allows.
    assert_eq!(verdict("sieve"), 3);

    // A text that is added is not trusted, and the trusted ones stay.
    person.file(".sayso/programs/more.prog", "program other\n");
    assert!(person.run(&["trust", "--show"]).out.contains("changed since it was trusted"));
    assert_eq!(verdict("ship release prod"), 3);
    assert_eq!(person.run(&["trust", "--revoke"]).code, 0);
    assert!(person.run(&["trust", "--show"]).out.contains("is not trusted"));
}
