//! `sayso trust`: lets the allows of a project's file count.

use crate::failure::{Failure, Outcome};
use crate::judge::refused;
use crate::operator;
use sayso_gate::policy::{Standing, distrust, programs_standing, standing, trust};
use sayso_gate::{Home, Places};
use sayso_policy::explain::visible;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
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
    /// Print one JSON object: how the project's file and what it says of programs stand
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub(crate) fn run(command: &Trust) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let here = std::env::current_dir()?.canonicalize()?;
    let text = if command.show {
        both(&places, &standing(&places, &here)?, &programs_standing(&places, &here)?)
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
        if [standing(&places, &here)?, programs_standing(&places, &here)?] == [Standing::Nothing, Standing::Nothing] {
            return Err(nothing(sayso_gate::Error::NoProjectFile(here)));
        }
        let asks =
            format!("The project's file in {} will apply in full, as it is now.", visible(&here.to_string_lossy()));
        let person = operator::confirmed(&places, &asks)?;
        let standing = trust(&places, &here, &person.name).map_err(nothing)?;
        both(&places, &standing, &programs_standing(&places, &here)?)
    };
    if command.json {
        let as_json = |standing: &Standing| {
            let (word, file) = word(standing);
            serde_json::json!({"standing": word, "path": file})
        };
        let object = serde_json::json!({
            "file": as_json(&standing(&places, &here)?),
            "programs": as_json(&programs_standing(&places, &here)?),
            "text": text,
        });
        writeln!(stdout(), "{object:#}")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(stdout(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}

const fn word(standing: &Standing) -> (&'static str, Option<&PathBuf>) {
    match standing {
        Standing::Nothing => ("none", None),
        Standing::Trusted(path) => ("trusted", Some(path)),
        Standing::Untrusted(path) => ("untrusted", Some(path)),
        Standing::Changed(path) => ("changed", Some(path)),
        Standing::Gone(path) => ("gone", Some(path)),
    }
}

/// How the file stands, and how what the project says of programs does.
fn both(places: &Places, file: &Standing, programs: &Standing) -> String {
    match (file, of_programs(places, programs)) {
        (_, None) => said(places, file),
        (Standing::Nothing, Some(programs)) => programs,
        (_, Some(programs)) => format!("{}\n{programs}", said(places, file)),
    }
}

fn of_programs(places: &Places, standing: &Standing) -> Option<String> {
    Some(match standing {
        Standing::Nothing => return None,
        Standing::Trusted(folder) => format!("{} is trusted as it is: its programs count.", places.shown(folder)),
        Standing::Untrusted(folder) => {
            format!("{} is not trusted: its programs do not count. `sayso trust` trusts it.", places.shown(folder))
        }
        Standing::Changed(folder) => format!(
            "{} changed since it was trusted: the trusted version stays in force. `sayso trust` trusts the new one.",
            places.shown(folder)
        ),
        Standing::Gone(folder) => {
            format!("{} is gone, and stays in force as it was trusted. `sayso trust` drops it.", places.shown(folder))
        }
    })
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
