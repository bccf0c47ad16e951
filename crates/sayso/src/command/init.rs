//! `sayso init`: a first policy file.

use crate::failure::{Failure, Outcome};
use sayso_gate::{Home, Places};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _, stdout};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::ExitCode;

/// What `init` writes. Tests compile it.
pub(crate) const FIRST_POLICY: &str = include_str!("init/policy.toml");
/// What `init --project` writes.
pub(crate) const FIRST_PROJECT_POLICY: &str = include_str!("init/project.toml");

/// Writes a first policy file with comments, ~/.config/sayso/policy.toml. It never overwrites one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso init
  sayso init --project      writes .sayso.toml here, for everybody who works on this repository")]
pub(crate) struct Init {
    /// Write .sayso.toml in this folder instead
    #[arg(long)]
    project: bool,
}

/// Runs it.
pub(crate) fn run(init: &Init) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let (path, text) = if init.project {
        (std::env::current_dir()?.join(".sayso.toml"), FIRST_PROJECT_POLICY)
    } else {
        (places.user.clone(), FIRST_POLICY)
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mode = if init.project { 0o644 } else { 0o600 };
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(mode).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let shown = places.shown(&path);
            return Err(Failure::wrong(format!(
                "{shown} is there already, and stays as it is.\n\n  `sayso lint` checks it."
            )));
        }
        Err(error) => {
            return Err(Failure::Internal(
                anyhow::Error::new(error).context(format!("cannot write {}", path.display())),
            ));
        }
    };
    file.write_all(text.as_bytes())?;
    let next = if init.project {
        "Its denies and asks count at once; `sayso trust` lets its allows count too."
    } else {
        "It counts from the next call on. `sayso check 'git push'` shows what it says."
    };
    writeln!(stdout(), "Wrote {}\n{next}", places.shown(&path))?;
    Ok(ExitCode::SUCCESS)
}
