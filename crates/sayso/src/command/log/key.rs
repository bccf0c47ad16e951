//! `sayso log key`: the key that signs heads of the record.

use crate::failure::{Failure, Outcome};
use sayso_gate::audit::Log as Record;
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the public key that signs heads of the record, or replace the key.
///
/// Anyone who can read the private key can sign other heads. Keep it away from the record, on a device or mount that
/// agents cannot read, and replace it when people leave.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso log key
  sayso log key rotate
  sayso log key rotate --to /media/keys/sayso.key     keep the key there from now on")]
pub(super) struct Key {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Sign with a new key from now on; signatures by earlier keys stay valid
    Rotate {
        /// The file for the new key; an existing file is replaced [default: where the old key is]
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
}

/// Runs it.
pub(super) fn run(key: &Key, record: &Record) -> Outcome {
    let mut out = stdout().lock();
    let Some(Action::Rotate { to }) = &key.action else {
        let (public, place) = record.store().key()?;
        writeln!(out, "{public}  {}", place.display())?;
        return Ok(ExitCode::SUCCESS);
    };
    record.fold()?;
    let to = match to {
        Some(path) => {
            Some(std::path::absolute(path).map_err(|e| Failure::wrong(format!("error: {}: {e}", path.display())))?)
        }
        None => None,
    };
    let uid = rustix::process::geteuid().as_raw();
    let rotated = record.store().rotate_key(to.as_deref(), &format!("uid {uid}"))?;
    writeln!(
        out,
        "{}  {}\nSigns records from {} on. The previous key was {}.",
        rotated.new,
        rotated.place.display(),
        rotated.seq + 1,
        rotated.old
    )?;
    Ok(ExitCode::SUCCESS)
}
