//! `sayso trust`: lets the allows of a project's file count.

use crate::failure::{Failure, Outcome};
use crate::judge::refused;
use crate::operator;
use sayso_gate::policy::{Standing, distrust, standing, trust};
use sayso_gate::{Home, Places};
use sayso_policy::explain::visible;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Trust the project's .sayso.toml as it is now, so that its allows apply too.
///
/// A project's file came with the repository: until you trust it, only its asks and denies apply. Trust is tied to its
/// content: after a change, the version you trusted stays in force until you trust the new one. Worktrees of one
/// repository share trust. This command needs an interactive terminal, where you type the number shown or, if a server
/// is running, its key.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso trust --show       whether this folder's file is trusted
  sayso trust              trust it as it is now
  sayso trust --revoke     withdraw trust")]
pub(crate) struct Trust {
    /// Only show whether the file is trusted
    #[arg(long, conflicts_with = "revoke")]
    show: bool,
    /// Withdraw trust
    #[arg(long)]
    revoke: bool,
}

/// Runs it.
pub(crate) fn run(command: &Trust) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let here = std::env::current_dir()?.canonicalize()?;
    let text = if command.show {
        said(&places, &standing(&places, &here)?)
    } else if command.revoke {
        match distrust(&places, &here, &operator::user_name())? {
            true => "Trust withdrawn: only the asks and denies of the project's file apply now.".to_owned(),
            false => "Nothing here was trusted.".to_owned(),
        }
    } else {
        let nothing = |error| match error {
            sayso_gate::Error::NoProjectFile(_) => {
                Failure::wrong(format!("{error}\n\n  `sayso init --project` writes one."))
            }
            error => refused(error),
        };
        if standing(&places, &here)? == Standing::Nothing {
            return Err(nothing(sayso_gate::Error::NoProjectFile(here)));
        }
        let asks =
            format!("The project's file in {} will apply in full, as it is now.", visible(&here.to_string_lossy()));
        let person = operator::confirmed(&places, &asks)?;
        let standing = trust(&places, &here, &person.name).map_err(nothing)?;
        said(&places, &standing)
    };
    writeln!(stdout(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}

fn said(places: &Places, standing: &Standing) -> String {
    match standing {
        Standing::Nothing => "There is no project file here, and none is trusted.".to_owned(),
        Standing::Trusted(file) => format!("{} is trusted as it is: all its rules apply.", places.shown(file)),
        Standing::Untrusted(file) => {
            format!(
                "{} is not trusted: only its asks and denies apply. Run `sayso trust` to trust it.",
                places.shown(file)
            )
        }
        Standing::Changed(file) => format!(
            "{} has changed since it was trusted: the trusted version stays in force, and the asks and denies of the new one apply too. Run `sayso trust` to trust the new one.",
            places.shown(file)
        ),
        Standing::Gone(file) => {
            format!(
                "{} is missing, and the trusted version stays in force. Run `sayso trust` to drop it.",
                places.shown(file)
            )
        }
    }
}
