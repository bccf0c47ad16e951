//! `sayso schema`: for editors.

use crate::failure::Outcome;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Print the JSON Schema for policy files, for completion and checking in editors.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso schema > sayso.schema.json
  # then, as the first line of a policy file, for editors that use Taplo:
  #:schema ./sayso.schema.json")]
pub(crate) struct Schema {}

/// Runs it.
pub(crate) fn run(_: &Schema) -> Outcome {
    let schema = serde_json::to_string_pretty(&sayso_policy::text::schema())?;
    writeln!(stdout(), "{schema}")?;
    Ok(ExitCode::SUCCESS)
}
