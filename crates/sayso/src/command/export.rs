//! `sayso export`: the policy in another system's words.

use crate::choice::{PolicyChoice, compile, format};
use crate::failure::{Failure, Outcome};
use crate::judge::files_or_in_force;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Writes the policy in force in the words of another system, on standard output.
///
/// The file never allows what the policy does not. What the format cannot say is left stricter and listed on standard
/// error; where even that is not possible nothing is written. It is no replacement for Sayso: keep the hook.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso export claude-code --policy policy.toml > settings.json
  sayso export gemini > ~/.gemini/policies/sayso.toml")]
pub(crate) struct Export {
    /// Whose file to write: wundr, exec-approvals, ferrumdeck, toolcap, claude-code, codex, gemini, copilot, opencode,
    /// cursor, zed
    #[arg(value_name = "FORMAT")]
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
            "error: {} is another system's file\n\n  Try: sayso import FORMAT FILE > policy.toml, and export that",
            file.name
        )));
    }
    let policy = compile(&files)?;
    let exported = sayso_formats::export(format, &policy, &files)
        .map_err(|error| Failure::wrong(format!("error: {error}\n\n  Nothing was written.")))?;
    stdout().write_all(exported.text.as_bytes())?;
    for loss in &exported.losses {
        eprintln!("not the same: {}", loss.replace(char::is_control, " "));
    }
    Ok(ExitCode::SUCCESS)
}
