//! `sayso import`: another system's file as a policy of Sayso's own.

use crate::choice::{format, read};
use crate::failure::{Failure, Outcome};
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Convert another system's file to a Sayso policy, on standard output.
///
/// Each rule carries its origin as a comment. What the policy language cannot express is made stricter, never looser,
/// and listed on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso import wundr wundr.json > policy.toml
  sayso check --policy policy.toml --tool file_delete")]
pub(crate) struct Import {
    /// Format of the file: wundr, exec-approvals, ferrumdeck, policy-engine, toolcap, claude-code, codex, gemini,
    /// copilot, opencode, cursor, zed
    #[arg(value_name = "FORMAT", value_parser = crate::completing::Completes::formats(), hide_possible_values = true)]
    format: String,
    /// The file
    #[arg(value_name = "FILE")]
    file: String,
}

/// Runs it.
pub(crate) fn run(import: &Import) -> Outcome {
    let format = format(&import.format)?;
    let imported = sayso_formats::import(Some(format), &import.file, &read(&import.file)?)
        .map_err(|error| Failure::wrong(format!("error: {error}\n\n  Nothing was imported.")))?;
    stdout().write_all(imported.policy.as_bytes())?;
    for loss in &imported.losses {
        eprintln!("differs: {}", loss.replace(char::is_control, " "));
    }
    Ok(ExitCode::SUCCESS)
}
