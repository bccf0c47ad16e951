//! `sayso grants`: remembered answers.

use crate::command::log::time::{now_ms, shown as time, span};
use crate::failure::{Failure, Outcome};
use crate::operator;
use crate::show::paint::Paint;
use crate::show::table::Table;
use sayso_gate::audit::export::json_line;
use sayso_gate::grant::Kept;
use sayso_gate::store::Store;
use sayso_gate::{Home, Memory, Places};
use sayso_policy::GrantSelector;
use sayso_policy::explain::visible;
use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::Duration;

/// List, revoke and expire saved answers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso grants list
  sayso grants uses 01a2b3c4d5e6-0123456789abcdef
  sayso grants revoke 01a2b3c4d5e6-0123456789abcdef
  sayso grants expire 01a2b3c4d5e6-0123456789abcdef --in 8h")]
pub(crate) struct Grants {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List saved answers, newest first
    List {
        /// Include those that are used up, expired or revoked
        #[arg(long)]
        all: bool,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Show when a saved answer was used, and for which command, program or path
    Uses {
        /// Its id, or the start of it
        id: String,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Revoke a saved answer, including a permanent one
    Revoke {
        /// Its id, or the start of it
        id: String,
    },
    /// Set when a saved answer expires
    Expire {
        /// Its id, or the start of it
        id: String,
        /// Time from now: 90s, 15m, 8h, 7d
        #[arg(long = "in", value_name = "TIME", value_parser = span)]
        after: Duration,
    },
}

/// Runs it.
pub(crate) fn run(command: &Grants) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let memory = Memory::of(&places);
    let store = memory.store()?.as_ref();
    let mut out = stdout().lock();
    match &command.action {
        Action::List { all, json } => list(&store.grants(!all, now_ms())?, *json, *all)?,
        Action::Uses { id, json } => {
            let kept = find(store, id)?;
            for one in store.uses(&kept.grant.id, 1000)? {
                if *json {
                    write!(out, "{}", json_line(&one)?)?;
                } else {
                    writeln!(out, "{}  {}  {}", time(one.time_ms), visible(&one.target), visible(&one.command))?;
                }
            }
        }
        Action::Revoke { id } => {
            let kept = find(store, id)?;
            let person = operator::confirmed(&places, &format!("This answer will be revoked: {}", described(&kept)))?;
            store.revoke(&kept.grant.id, &person.name, now_ms())?;
            writeln!(out, "Revoked. The next such call will ask again.")?;
        }
        Action::Expire { id, after } => {
            let kept = find(store, id)?;
            let at = now_ms().saturating_add(u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
            let person = operator::confirmed(&places, &format!("Ends at {}: {}", time(at), described(&kept)))?;
            store.expire(&kept.grant.id, at, &person.name, now_ms())?;
            writeln!(out, "It expires at {}.", time(at))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find(store: &dyn Store, id: &str) -> Result<Kept, Failure> {
    let mut found = store.grants(false, now_ms())?;
    found.retain(|kept| kept.grant.id.starts_with(id));
    match found.len() {
        1 => found.pop().ok_or_else(|| Failure::wrong("error: not found")),
        0 => Err(Failure::wrong(format!(
            "error: there is no saved answer {id}\n\n  List them with `sayso grants list --all`."
        ))),
        many => Err(Failure::wrong(format!("error: {many} saved answers start with {id}; type more of the id"))),
    }
}

fn described(kept: &Kept) -> String {
    let givers: Vec<String> = kept.grant.givers.iter().map(ToString::to_string).collect();
    let text = format!("{} {} ({}), given by {}", kept.verdict(), kept.selector(), kept.words, givers.join(" and "));
    visible(&text).into_owned()
}

/// What it answers: the verb and the very words, path or host; and for one exact call, which.
fn answers(kept: &Kept) -> String {
    match (&kept.grant.selector, kept.words.is_empty()) {
        (GrantSelector::Pattern { .. }, _) | (_, true) => kept.selector(),
        (GrantSelector::Digest(_), false) => kept.words.clone(),
    }
}

fn list(found: &[Kept], json: bool, all: bool) -> Result<(), Failure> {
    let mut out = stdout().lock();
    if json {
        for kept in found {
            write!(out, "{}", json_line(kept)?)?;
        }
        return Ok(());
    }
    if found.is_empty() {
        writeln!(out, "No saved answers{}.", if all { "" } else { " in force" })?;
        return Ok(());
    }
    let paint = Paint::for_stdout();
    let mut table = Table::new(["id", "answer", "to", "where", "by", "since", "used", "ends"]);
    for kept in found {
        let grant = &kept.grant;
        let place = grant.workspace.as_deref().unwrap_or("anywhere");
        let place = grant.session.as_ref().map_or(place.to_owned(), |session| format!("{place}, session {session}"));
        let givers: Vec<String> = grant.givers.iter().map(ToString::to_string).collect();
        let ends = match (kept.revoked_ms, grant.expires_ms, grant.uses_left) {
            (Some(at), ..) => format!("revoked {}", time(at)),
            (None, Some(at), _) => time(at),
            (None, None, Some(left)) => format!("after {left} more"),
            _ => "when revoked".to_owned(),
        };
        table.row([
            grant.id.clone(),
            paint.verdict(grant.verdict, grant.verdict.as_str()),
            visible(&answers(kept)).into_owned(),
            visible(&place).into_owned(),
            visible(&givers.join(", ")).into_owned(),
            time(kept.given_ms),
            kept.used.to_string(),
            ends,
        ]);
    }
    write!(out, "{}", table.draw(paint))?;
    Ok(())
}
