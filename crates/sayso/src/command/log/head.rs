//! `sayso log head`: how far the record is, signed.

use crate::failure::{Failure, Outcome};
use sayso_gate::audit::Log as Record;
use std::fs::OpenOptions;
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

/// Signs how far the record is now, and shows it.
///
/// Kept where nobody who can write this machine's files can change it (another machine, a mail to yourself, a printed
/// page), it proves later that every record up to it is still what it was: `sayso log verify --head FILE`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso log head --export head.json && scp head.json elsewhere:")]
pub(super) struct Head {
    /// A new file for it
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
                "Head of record {} written to {path}. Keep it on another machine; later:\n\n  sayso log verify --head {path}",
                signed.seq
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
