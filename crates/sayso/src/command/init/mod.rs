//! `sayso init`: a first policy file.

use crate::failure::{Failure, Outcome};
use sayso_gate::{Home, Places};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _, stdout};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::ExitCode;

/// What `init` writes. Tests compile it.
pub(crate) const FIRST_POLICY: &str = include_str!("policy.toml");
/// What `init --project` writes.
pub(crate) const FIRST_PROJECT_POLICY: &str = include_str!("project.toml");

/// Create a commented starter policy in ~/.config/sayso/policy.toml. An existing file is never overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso init
  sayso init --project      write .sayso.toml here, for everyone who works on this repository")]
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
                "{shown} already exists and was left unchanged.\n\n  Check it with `sayso lint`."
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
        "Its denies and asks apply immediately. Run `sayso trust` to let its allows apply too."
    } else {
        "It applies from the next call. Try it: sayso check 'git push'"
    };
    writeln!(stdout(), "Wrote {}\n{next}", places.shown(&path))?;
    Ok(ExitCode::SUCCESS)
}
