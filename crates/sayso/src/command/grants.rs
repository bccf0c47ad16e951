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
use sayso_policy::explain::visible;
use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::Duration;

/// Lists, revokes and ends remembered answers.
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
    /// Shows remembered answers, the latest first
    List {
        /// Those that are used up, ended or revoked too
        #[arg(long)]
        all: bool,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Shows when one was used, for which command and which program or path
    Uses {
        /// Its id, or the beginning of it
        id: String,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Takes one back; takes an answer for good out of force
    Revoke {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Lets one end later
    Expire {
        /// Its id, or the beginning of it
        id: String,
        /// From now: 90s, 15m, 8h, 7d
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
            let person = operator::confirmed(&places, &format!("Taken back: {}", described(&kept)))?;
            store.revoke(&kept.grant.id, &person.name, now_ms())?;
            writeln!(out, "Taken back. The next such call is asked about again.")?;
        }
        Action::Expire { id, after } => {
            let kept = find(store, id)?;
            let at = now_ms().saturating_add(u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
            let person = operator::confirmed(&places, &format!("Ends at {}: {}", time(at), described(&kept)))?;
            store.expire(&kept.grant.id, at, &person.name, now_ms())?;
            writeln!(out, "It ends at {}.", time(at))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find(store: &dyn Store, id: &str) -> Result<Kept, Failure> {
    let mut found = store.grants(false, now_ms())?;
    found.retain(|kept| kept.grant.id.starts_with(id));
    match found.len() {
        1 => found.pop().ok_or_else(|| Failure::wrong("error: nothing was found")),
        0 => Err(Failure::wrong(format!(
            "error: no remembered answer is called {id}\n\n  `sayso grants list --all` lists them."
        ))),
        many => Err(Failure::wrong(format!("error: {many} remembered answers begin with {id}: write more of it"))),
    }
}

fn described(kept: &Kept) -> String {
    let givers: Vec<String> = kept.grant.givers.iter().map(ToString::to_string).collect();
    let text = format!("{} {} ({}), given by {}", kept.verdict(), kept.selector(), kept.words, givers.join(" and "));
    visible(&text).into_owned()
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
        writeln!(out, "No answer is remembered{}.", if all { "" } else { " and in force" })?;
        return Ok(());
    }
    let paint = Paint::for_stdout();
    let mut table = Table::new(["id", "answer", "to", "where", "by", "used", "ends"]);
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
        let to = if kept.words.is_empty() { kept.selector() } else { kept.words.clone() };
        table.row([
            grant.id.clone(),
            paint.verdict(grant.verdict, grant.verdict.as_str()),
            visible(&to).into_owned(),
            visible(&place).into_owned(),
            visible(&givers.join(", ")).into_owned(),
            kept.used.to_string(),
            ends,
        ]);
    }
    write!(out, "{}", table.draw(paint))?;
    Ok(())
}
