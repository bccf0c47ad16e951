//! `explain`, `schema`, `completions`, `man`, `--help`: what people look things up in.

use crate::person::{Person, first};
use sayso_policy::REASON_CODES;

#[test]
fn every_code_is_listed_and_explained() {
    let person = Person::new();
    let listed = person.run(&["explain"]);
    assert_eq!(listed.out.lines().skip(1).take_while(|line| !line.is_empty()).count(), REASON_CODES.len());
    for info in REASON_CODES {
        let said = person.run(&["explain", &format!("[{}]", info.code)]);
        assert_eq!((said.code, first(&said.out)), (0, info.code));
        assert!(said.out.contains(info.title) && said.out.contains(info.advice), "{}", said.out);
    }
    let said = person.run(&["explain", "my-rule\u{1b}[2J"]);
    assert_eq!(
        (said.code, first(&said.err)),
        (2, "error: my-rule\\x1b[2J is neither one of Sayso's own codes nor a rule of the policy in force here")
    );
}

#[test]
fn the_schema_is_json() {
    let said = Person::new().run(&["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert!(schema["properties"]["deny"].is_object(), "{schema}");
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let person = Person::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(person.run(&["completions", shell]).out.contains("uninstall"), "{shell}");
    }
    assert!(person.run(&["man"]).out.contains("sayso\\-check"));
    assert!(person.run(&["man", "check"]).out.contains("\\-\\-jsonl"));
    assert_eq!(person.run(&["man", "nonsense"]).code, 2);
}

#[test]
fn help_teaches_by_example() {
    let person = Person::new();
    for command in ["check", "why", "init", "lint", "trust", "log", "install", "uninstall", "serve", "explain", "run"] {
        let said = person.run(&[command, "--help"]);
        assert!(said.code == 0 && said.out.contains(&format!("  sayso {command}")), "{command}: {}", said.out);
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let person = Person::new();
    let script = format!("{} completions bash | head -c 1; exit ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_sayso"));
    let done = std::process::Command::new("bash").arg("-c").arg(script).current_dir(person.project()).output().unwrap();
    assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_rule_of_the_policy_is_explained_with_its_place_and_its_text() {
    let person = Person::new();
    person.policy("extends = [\"developer\"]\n[deny]\nrun = [\"terraform apply\"]\n\n[[rule]]\nid = \"prod\"\nask = { run = \"make deploy\" }\nbecause = \"People wait for it.\"\n");
    let said = person.run(&["explain", "prod"]);
    assert!(said.out.contains("A rule that says ask, at ") && said.out.contains("policy.toml:6:6"), "{}", said.out);
    assert!(
        said.out.contains("People wait for it.") && said.out.contains("ask = { run = \"make deploy\" }"),
        "{}",
        said.out
    );
    // A pattern in a list has a code too.
    let check = person.run(&["check", "terraform apply"]);
    assert!(check.out.contains("[terraform-apply]"), "{}", check.out);
    let said = person.run(&["explain", "terraform-apply"]);
    assert!(said.out.contains("[deny]") && said.out.contains("policy.toml:3:"), "{}", said.out);
    // Of presets, those in force.
    assert_eq!(person.run(&["explain", "secrets"]).out.matches("preset:").count(), 1);
    let json: serde_json::Value = serde_json::from_str(&person.run(&["explain", "--json", "prod"]).out).unwrap();
    assert_eq!(json["rules"][0]["verdict"], "ask");
    assert!(person.run(&["explain", "no-force-psh"]).err.contains("lists all"));
    assert!(person.run(&["explain", "unanswerd"]).err.contains("Did you mean `unanswered`?"));
}

#[test]
fn presets_are_listed_and_shown() {
    let person = Person::new();
    let listed = person.run(&["presets"]);
    assert_eq!(listed.out.lines().count(), sayso_policy::presets::NAMES.len());
    for name in sayso_policy::presets::NAMES {
        let text = sayso_policy::presets::text(name).unwrap();
        assert_eq!(person.run(&["presets", name]).out, text);
        assert_eq!(person.run(&["policy", "show", &format!("preset:{name}")]).out, text);
    }
    let said = person.run(&["presets", "develper"]);
    assert_eq!(
        (said.code, first(&said.err)),
        (2, "error: there is no preset named `develper`. Did you mean `developer`?")
    );
}

#[test]
fn a_slip_is_answered_with_what_was_meant() {
    let person = Person::new();
    for command in ["doctor", "install", "uninstall", "history", "hook"] {
        let said = person.run(&[command, "claud-code"]);
        assert!(said.code == 2 && said.err.contains("did you mean \"claude-code\"?"), "{command}: {}", said.err);
    }
    assert_eq!(person.run(&["check", "git", "status"]).code, person.run(&["check", "git status"]).code);
    let said = person.run(&["check", "git", "push", "--force"]);
    assert!(said.code == 2 && said.err.contains("sayso check 'git push --force'"), "{}", said.err);
    assert_eq!(person.run(&["check", "--", "git", "push", "--force"]).code, 4);
    let said = person.run(&["check", "--cwd", "/nowhere", "ls"]);
    assert!(said.err.contains("--cwd /nowhere is not a directory here"), "{}", said.err);
    let said = person.run_with(&["check", "--jsonl"], "{\"id\":1,\"command\":\"ls\"}\n{\"id\":2,\"command\":\"ls\"}\n");
    assert!(said.code == 0 && said.err.matches("has no `cwd`").count() == 1, "{}", said.err);
    let said = person.run(&["mcp", "--", "/nowhere/server"]);
    assert!(said.code == 2 && said.err.contains("there is no program /nowhere/server"), "{}", said.err);
}

#[test]
fn colours_come_when_they_are_asked_for() {
    let person = Person::new();
    let coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut sayso = person.sayso();
        let done = sayso.args(arguments).envs(variables.iter().copied()).output().unwrap();
        String::from_utf8(done.stdout).unwrap().contains('\u{1b}')
    };
    assert!(!coloured(&["check", "ls"], &[]));
    assert!(coloured(&["check", "ls", "--color", "always"], &[("NO_COLOR", "1")]));
    assert!(coloured(&["check", "ls"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&["--color=never", "check", "ls"], &[("CLICOLOR_FORCE", "1")]));
    assert_eq!(person.run(&["check", "ls", "--color", "sometimes"]).code, 2);
}

#[test]
fn completions_know_agents_presets_formats_and_codes_and_pages_know_subcommands() {
    let person = Person::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = person.run(&["completions", shell]).out;
        // Fish gets the values of options; those of plain arguments it is not told.
        let codes = if shell == "fish" { "exec-approvals" } else { "denied-by-person" };
        for word in ["claude-code", "developer", "exec-approvals", codes] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    assert!(person.run(&["man", "policy", "diff"]).out.contains("no\\-looser"));
    let folder = person.project().join("man");
    let said = person.run(&["man", "--dir", folder.to_str().unwrap()]);
    assert!(said.out.contains("pages written"), "{said:?}");
    for page in ["sayso.1", "sayso-check.1", "sayso-policy-diff.1", "sayso-approvals-watch.1"] {
        assert!(crate::person::there(&folder.join(page)), "{page}");
    }
}
