//! The presets, by cases: a verdict and a command a line.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

mod imaged;
mod machine;

use imaged::Both;
use machine::{Machine, command_in_app};
use sayso_policy::{Facts, Operation, Policy, PolicyText, State};

/// An empty project, and a home.
const MACHINE: Machine = Machine(&["/home/ann"]);

/// A project with a repository.
const REPOSITORY: Machine = Machine(&["/home/ann", "/app/.git", "/app/src"]);

fn check(preset: &str, cases: &str) {
    check_on(&MACHINE, preset, cases);
}

fn check_on(machine: &Machine, preset: &str, cases: &str) {
    let policy = Both::new(Policy::compile(&[PolicyText::preset(preset)]).unwrap());
    let facts = Facts { files: machine, env: machine };
    let mut failures = Vec::new();
    let mut count = 0;
    for line in cases.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let (expected, command) = line.split_once(' ').unwrap();
        let command = command.trim().replace("\\n", "\n");
        let call = command_in_app(&command);
        let operation = Operation::new(call, facts);
        let decision = policy.evaluate(&operation, &State::default(), facts);
        count += 1;
        if decision.answer.as_str() != expected {
            let why: Vec<_> = decision.reasons.iter().map(|reason| reason.code.to_string()).collect();
            failures.push(format!("{preset}: {command}: {} instead of {expected} {why:?}", decision.answer.as_str()));
        }
    }
    assert!(count > 5);
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_preset_compiles_without_a_warning() {
    for name in sayso_policy::presets::NAMES {
        match Policy::compile(&[PolicyText::preset(name)]) {
            Ok(policy) => assert!(policy.warnings().is_empty(), "{name}: {:?}", policy.warnings()),
            Err(problems) => panic!("{name}: {problems:#?}"),
        }
    }
}

#[test]
fn developer_lets_work_pass_and_asks_before_it_leaves() {
    check("developer", include_str!("cases/developer.txt"));
}

#[test]
fn developer_asks_before_a_tool_runs_or_loses_something_else() {
    check_on(&REPOSITORY, "developer", include_str!("cases/developer-runs.txt"));
}

#[test]
fn developer_asks_about_hosts_that_no_configuration_names() {
    check_on(&REPOSITORY, "developer", include_str!("cases/hosts.txt"));
}

#[test]
fn an_owners_own_allow_covers_the_hosts_that_a_call_writes_out() {
    let text = "extends = ['developer']\n[allow]\nrun = ['git ls-remote']\n[deny]\nconnect = ['*.bad.example']\n";
    let policy = PolicyText { text: text.to_owned(), ..PolicyText::preset("developer") };
    let policy = Both::new(Policy::compile(&[policy]).unwrap());
    let facts = Facts { files: &REPOSITORY, env: &REPOSITORY };
    for (command, expected) in [
        ("git ls-remote https://good.example/x", "allow"),
        ("git fetch https://good.example/x", "ask"),
        ("git ls-remote https://x.bad.example/x", "deny"),
        ("git remote add x https://x.bad.example/x", "deny"),
        ("git config url.https://x.bad.example/.insteadOf https://good.example/", "deny"),
    ] {
        let operation = Operation::new(command_in_app(command), facts);
        let decision = policy.evaluate(&operation, &State::default(), facts);
        assert_eq!(decision.answer.as_str(), expected, "{command}");
    }
}

#[test]
fn developer_finds_what_words_and_variables_hide() {
    check("developer", include_str!("cases/hidden.txt"));
}

#[test]
fn read_only_lets_looking_pass_and_nothing_else() {
    check("read-only", include_str!("cases/read-only.txt"));
}

#[test]
fn ci_denies_what_it_does_not_allow() {
    check("ci", include_str!("cases/ci.txt"));
}

#[test]
fn locked_down_reads_the_workspace_and_denies_the_rest() {
    check("locked-down", include_str!("cases/locked-down.txt"));
}

#[test]
fn full_lets_everything_pass_but_what_nothing_lifts() {
    check("full", include_str!("cases/full.txt"));
}
