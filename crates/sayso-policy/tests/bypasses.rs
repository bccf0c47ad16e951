//! The ledger of known ways past a guard: every row of `docs/bypasses.md` is judged, and has the verdict it says.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

mod imaged;
mod machine;

use imaged::Both;
use machine::{Machine, command_in_app};
use sayso_policy::{Facts, Operation, Policy, PolicyText, State};
use std::path::Path;

/// A project with a repository in it, and a home.
const MACHINE: Machine = Machine(&["/app/.git", "/app/src", "/home/ann"]);

/// The cells of a row; `\|` is a bar of the command.
fn cells(row: &str) -> Vec<String> {
    let inner = row.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{1}");
    inner.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

/// A command as the page writes it: in backticks, a line break as a sign of its own.
fn command(cell: &str) -> String {
    let text = cell.strip_prefix("`` ").and_then(|rest| rest.strip_suffix(" ``"));
    let text = text.or_else(|| cell.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')));
    text.unwrap_or_else(|| panic!("not a command: {cell}")).replace('⏎', "\n")
}

#[test]
fn every_row_of_the_ledger_has_its_verdict() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bypasses.md");
    let page = std::fs::read_to_string(page).unwrap();
    let policy = Both::new(Policy::compile(&[PolicyText::preset("developer")]).unwrap());
    let facts = Facts { files: &MACHINE, env: &MACHINE };
    let (mut count, mut wrong) = (0, Vec::new());
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells = cells(row);
        let [written, _, expected, _] = cells.as_slice() else { panic!("four cells: {row}") };
        let command = command(written);
        let call = command_in_app(&command);
        let decision = policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
        count += 1;
        if decision.verdict.as_str() != expected {
            wrong.push(format!("{command:?}: {} instead of {expected}", decision.verdict));
        }
        assert_ne!(expected, "allow", "a way past does not belong in this ledger as allowed: {command}");
    }
    assert!(count > 100, "{count} rows");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
