//! `sayso export`: the policy in another system's words.

use crate::choice::{PolicyChoice, compile, format};
use crate::failure::{Failure, Outcome};
use crate::judge::files_or_in_force;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Convert the policy in force to another system's format, on standard output.
///
/// The result never allows what the policy does not. What the format cannot express is made stricter and listed on
/// standard error; where even that is impossible, nothing is written. The result does not replace Sayso: keep the hook.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso export claude-code --policy policy.toml > settings.json
  sayso export gemini > ~/.gemini/policies/sayso.toml")]
pub(crate) struct Export {
    /// Format to write: wundr, exec-approvals, ferrumdeck, toolcap, claude-code, codex, gemini, copilot, opencode,
    /// cursor, zed
    #[arg(value_name = "FORMAT", value_parser = crate::completing::Completes::formats(), hide_possible_values = true)]
    format: String,
    #[command(flatten)]
    policy: PolicyChoice,
}

/// Runs it.
pub(crate) fn run(export: &Export) -> Outcome {
    let format = format(&export.format)?;
    let named = export.policy.texts()?;
    let files = if named.is_empty() { files_or_in_force(None)? } else { named };
    if let Some(file) = files.iter().find(|file| sayso_formats::foreign_name(&file.name).is_some()) {
        return Err(Failure::wrong(format!(
            "error: {} is another system's file\n\n  Try: sayso import FORMAT FILE > policy.toml, then export that",
            file.name
        )));
    }
    let policy = compile(&files)?;
    let exported = sayso_formats::export(format, &policy, &files)
        .map_err(|error| Failure::wrong(format!("error: {error}\n\n  Nothing was written.")))?;
    stdout().write_all(exported.text.as_bytes())?;
    for loss in &exported.losses {
        eprintln!("differs: {}", loss.replace(char::is_control, " "));
    }
    Ok(ExitCode::SUCCESS)
}
