//! `sayso schema`: for editors, and for programs that read what commands print.

use crate::failure::{Failure, Outcome};
use serde_json::Value;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// What commands print with `--json`, by the words of the command.
const OUTPUTS: &str = include_str!("schema.json");

/// Print the JSON Schema for policy files, for completion and checking in editors; or, for a command, the schema of what
/// it prints with `--json`.
///
/// Of a command that prints an object per line, it is the schema of a line. docs/json.md says what all commands have in
/// common.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso schema > sayso.schema.json
  # then, as the first line of a policy file, for editors that use Taplo:
  #:schema ./sayso.schema.json
  sayso schema check             what `sayso check --json` prints")]
pub(crate) struct Schema {
    /// The command, such as `check` or `policy show`
    command: Vec<String>,
}

/// Runs it.
pub(crate) fn run(command: &Schema) -> Outcome {
    let schema = if command.command.is_empty() {
        sayso_policy::text::schema()
    } else {
        let outputs: Value = serde_json::from_str(OUTPUTS)?;
        let name = command.command.join(" ");
        let Some(found) = outputs.get(&name).and_then(|output| output.get("schema")) else {
            let known: Vec<&str> = outputs.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let name = sayso_policy::explain::visible(&name);
            return Err(Failure::wrong(format!(
                "error: there is no schema for `{name}`\n\n  Commands with one: {}.",
                known.join(", ")
            )));
        };
        found.clone()
    };
    writeln!(stdout(), "{}", serde_json::to_string_pretty(&schema)?)?;
    Ok(ExitCode::SUCCESS)
}
