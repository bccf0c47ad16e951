//! `sayso store`: looking after the file in which everything is remembered.

use crate::failure::{Failure, Outcome};
use sayso_gate::audit::Log;
use sayso_gate::store::{self, Condition};
use sayso_gate::{Home, Places};
use sayso_policy::explain::visible;
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

/// Check, back up and migrate Sayso's database.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Store {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Check the database for damage, without changing it
    ///
    /// Exit code: 0 intact, 4 damaged, 2 written by a newer Sayso. `sayso log verify` checks the records themselves.
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a copy, even while others are writing
    ///
    /// The copy is a complete database: put it in place of `sayso.db`, with no Sayso running, to use it. It does not
    /// include `audit.key`, the key next to the database.
    Backup {
        /// A new file
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Update the database to this version of Sayso, and take in the records hooks have left
    ///
    /// Every command that needs the database does this automatically; this one reports what it did.
    Migrate {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs it.
pub(crate) fn run(store: &Store) -> Outcome {
    let places = Places::find(Home::Environment)?;
    match &store.action {
        Action::Check { json } => check(&places, *json),
        Action::Backup { file, json } => backup(&places, file, *json),
        Action::Migrate { json } => migrate(&places, *json),
    }
}

fn check(places: &Places, json: bool) -> Outcome {
    let found = store::look(places)?;
    let mut out = stdout().lock();
    if json {
        let mut value = serde_json::to_value(&found)?;
        if let Some(members) = value.as_object_mut() {
            members.insert("whole".to_owned(), found.damage.is_empty().into());
        }
        writeln!(out, "{value}")?;
    } else {
        write!(out, "{}", in_words(places, &found))?;
    }
    Ok(match found.version {
        Some(version) if version > found.known => ExitCode::from(2),
        _ if !found.damage.is_empty() => ExitCode::from(4),
        _ => ExitCode::SUCCESS,
    })
}

fn in_words(places: &Places, found: &Condition) -> String {
    let path = places.shown(&found.path);
    let Some(version) = found.version else {
        return format!("There is no database yet; the first record creates {path}.\n");
    };
    let state = match (found.damage.is_empty(), version) {
        (false, _) => "damaged".to_owned(),
        (true, version) if version > found.known => {
            format!("written by a newer Sayso (this one supports version {})", found.known)
        }
        (true, version) if version < found.known => {
            format!("intact, from an older Sayso (`sayso store migrate` updates it to {})", found.known)
        }
        (true, _) => "whole".to_owned(),
    };
    let mut text = format!("{path}  version {version}, {} KiB, {state}\n", found.bytes.div_ceil(1024));
    for line in &found.damage {
        text.push_str(&format!("  {}\n", visible(line)));
    }
    if !found.damage.is_empty() {
        text.push_str("\nUntil it is repaired, calls that need it are denied. Restore a copy made by `sayso store backup`, or move\nthe file away to start a new one; hooks' records wait in the spool until then.\n");
    }
    text
}

fn backup(places: &Places, file: &PathBuf, json: bool) -> Outcome {
    let log = Log::open(places)?;
    log.fold()?;
    log.store().back_up(file).map_err(|e| Failure::wrong(format!("error: {e}")))?;
    let bytes = std::fs::metadata(file)?.len();
    if json {
        writeln!(stdout(), "{}", serde_json::json!({"file": file, "bytes": bytes}))?;
    } else {
        writeln!(
            stdout(),
            "Copied to {}, {} KiB. The key for signed heads is not included.",
            file.display(),
            bytes.div_ceil(1024)
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn migrate(places: &Places, json: bool) -> Outcome {
    let before = store::look(places)?.version.unwrap_or(0);
    let folded = Log::open(places)?.fold()?;
    let after = store::look(places)?.version.unwrap_or(0);
    if json {
        let told =
            serde_json::json!({"from": before, "to": after, "folded": folded.records, "damaged": folded.damaged});
        writeln!(stdout(), "{told}")?;
    } else if before == after {
        writeln!(stdout(), "The database is at version {after}, the latest; {} records taken in.", folded.records)?;
    } else {
        writeln!(
            stdout(),
            "The database was updated from version {before} to {after}; {} records taken in.",
            folded.records
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
