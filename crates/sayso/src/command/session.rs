//! `sayso session`: what sessions have done so far, as far as rules ask.

use crate::command::log::time::shown as time;
use crate::failure::{Failure, Outcome};
use crate::operator;
use crate::show::paint::Paint;
use crate::show::table::Table;
use sayso_gate::audit::export::json_line;
use sayso_gate::fact::{self, Fact, FactSet};
use sayso_gate::{Home, Places};
use sayso_policy::explain::visible;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Show and forget what sessions did that rules ask about
///
/// Rules with `when.after` or `when.self_written` ask what a session did before. Where the policy has such rules, Sayso keeps
/// for each session which files it wrote and which of these conditions it fulfilled.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso session list
  sayso session show 7f3c2a
  sayso session forget 7f3c2a")]
pub(crate) struct Session {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List sessions of which something is remembered, latest first
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Show what is remembered of a session, oldest first
    Show {
        /// Its id, or the start of it
        session: String,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Forget what a session did: rules no longer ask because of it
    Forget {
        /// Its id, or the start of it
        session: String,
    },
}

/// Runs it.
pub(crate) fn run(command: &Session) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let mut out = stdout().lock();
    match &command.action {
        Action::List { json } => {
            let sets: Vec<FactSet> = sessions(&places)?;
            if *json {
                for set in &sets {
                    let last = set.facts.last().map(|fact| fact.time_ms);
                    let line = serde_json::json!({
                        "session": set.session, "workspace": set.workspace, "facts": set.facts.len(), "last_ms": last,
                    });
                    write!(out, "{}", json_line(&line)?)?;
                }
                return Ok(ExitCode::SUCCESS);
            }
            if sets.is_empty() {
                writeln!(out, "Nothing is remembered of any session.")?;
                return Ok(ExitCode::SUCCESS);
            }
            let mut table = Table::new(["session", "last call", "facts", "workspace"]);
            for set in &sets {
                let last = set.facts.last().map(|fact| time(fact.time_ms)).unwrap_or_default();
                let workspace = set.workspace.as_deref().map(visible).unwrap_or_default();
                let session = visible(set.session.as_deref().unwrap_or_default());
                table.row([session.to_string(), last, set.facts.len().to_string(), workspace.to_string()]);
            }
            write!(out, "{}", table.draw(Paint::for_stdout()))?;
        }
        Action::Show { session, json } => {
            for fact in &find(&places, session)?.facts {
                if *json {
                    write!(out, "{}", json_line(fact)?)?;
                } else {
                    writeln!(out, "{}  {}", time(fact.time_ms), visible(&told(fact)))?;
                }
            }
        }
        Action::Forget { session } => {
            let set = find(&places, session)?;
            let id = set.session.unwrap_or_default();
            operator::confirmed(&places, &format!("What session {} did will be forgotten.", visible(&id)))?;
            let dropped = fact::forget(&places, &id)?;
            writeln!(out, "Forgot {dropped} facts of session {}.", visible(&id))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn sessions(places: &Places) -> Result<Vec<FactSet>, Failure> {
    let mut sets = fact::sets(places)?;
    sets.retain(|set| set.session.is_some());
    Ok(sets)
}

fn find(places: &Places, session: &str) -> Result<FactSet, Failure> {
    let mut found: Vec<FactSet> = sessions(places)?;
    found.retain(|set| set.session.as_deref().is_some_and(|id| id.starts_with(session)));
    let exact = found.iter().position(|set| set.session.as_deref() == Some(session));
    match (exact, found.len()) {
        (Some(at), _) => Ok(found.swap_remove(at)),
        (None, 1) => Ok(found.swap_remove(0)),
        (None, 0) => Err(Failure::wrong(format!("error: nothing is remembered of a session `{session}`"))),
        (None, _) => {
            Err(Failure::wrong(format!("error: several sessions begin with `{session}`; type more of the id")))
        }
    }
}

/// A fact in words.
fn told(fact: &Fact) -> String {
    let mut parts = Vec::new();
    if !fact.written.is_empty() {
        parts.push(format!("wrote {}", fact.written.join(", ")));
    }
    for area in &fact.areas {
        parts.push(format!("may have written more in {}", area.folder.display()));
    }
    for (key, certain) in &fact.after {
        parts.push(format!("{} condition {key}", if *certain { "fulfilled" } else { "may have fulfilled" }));
    }
    if !fact.yes.is_empty() {
        parts.push(format!("approved: {} contents", fact.yes.len()));
    }
    if let Some(back) = &fact.back {
        parts.push(format!("taken back: {back}"));
    }
    format!("{}  {}", parts.join("; "), fact.command)
}
