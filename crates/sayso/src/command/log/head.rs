//! `sayso log head`: how far the record is, signed.

use crate::failure::{Failure, Outcome};
use sayso_gate::audit::Log as Record;
use std::fs::OpenOptions;
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

/// Sign the current end of the record and print it.
///
/// Keep it where nobody who can write files on this machine can change it: another machine, an email to yourself, a
/// printout. Later, `sayso log verify --head FILE` uses it to prove that every record up to this point is unchanged.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso log head --export head.json && scp head.json elsewhere:")]
pub(super) struct Head {
    /// Write it to this new file
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

/// Runs it.
pub(super) fn run(head: &Head, record: &Record) -> Outcome {
    record.fold()?;
    let signed = record.store().sign_head()?;
    let text = serde_json::to_string(&signed)?;
    match &head.export {
        None => writeln!(stdout(), "{text}")?,
        Some(path) => {
            let file = OpenOptions::new().write(true).create_new(true).open(path);
            let mut file = file.map_err(|e| Failure::wrong(format!("error: cannot create {}: {e}", path.display())))?;
            writeln!(file, "{text}")?;
            file.sync_all()?;
            let path = path.display();
            writeln!(
                stdout(),
                "Head of record {} written to {path}. Keep it on another machine. To check against it later:\n\n  sayso log verify --head {path}",
                signed.seq
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
