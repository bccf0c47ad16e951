//! `sayso policy try`: what a policy file would change, before it is put in force.

use super::diff::flips_shown;
use crate::command::log::time::moment;
use crate::command::past;
use crate::failure::{Failure, Outcome};
use crate::judge;
use crate::show::paint::Paint;
use sayso_gate::history::{Flips, tried};
use sayso_gate::{Home, InForce, KeptFiles, Places, ProcessEnvironment};
use sayso_policy::{Facts, Verdict};
use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// How far back is looked where nothing is said.
const DAYS: u64 = 30;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Show what a policy file would change over the calls of the last days, before you put it in force.
///
/// The file is tried in the place of your own policy file; managed and project files stay as they are. Every call is judged
/// by both, in its own workspace. Nothing is changed or recorded.
///
/// Exit code: 0 nothing would be judged less strictly, 4 something would.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso policy try new.toml
  sayso policy try new.toml --since 7d
  sayso policy try new.toml --on transcripts --json")]
pub(super) struct Try {
    /// The policy file, or preset:NAME
    file: String,
    /// Only calls since then: 15m, 8h or 7d ago, or a date such as 2026-11-15 [default: 30d]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<u64>,
    /// The calls: the record, the agents' transcripts, or a file with one JSON object per line [default: the record, or
    /// transcripts while it is empty]
    #[arg(long, value_name = "record|transcripts|FILE")]
    on: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub(super) fn run(wanted: &Try) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let text = crate::choice::text(&wanted.file)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let since = wanted.since.unwrap_or_else(|| u64::try_from(now).unwrap_or(u64::MAX).saturating_sub(DAYS * DAY_MS));
    let (from, calls) = match &wanted.on {
        Some(on) => (on.as_str(), past::calls(&places, on, Some(since))?),
        None => match past::calls(&places, "record", Some(since))? {
            none if none.is_empty() => ("transcripts", past::calls(&places, "transcripts", Some(since))?),
            calls => ("record", calls),
        },
    };
    let files = KeptFiles::here();
    let facts = Facts { files: &files, env: &ProcessEnvironment };
    let in_force = |workspace: Option<&std::path::Path>| InForce::load(&places, workspace).map(Arc::new);
    let found = tried(&places, &text.text, &calls, in_force, facts).map_err(|error| match error {
        sayso_gate::Error::Policy(problems) => {
            let shown = sayso_policy::PolicyText { name: places.shown(&places.user), ..text.clone() };
            Failure::wrong(judge::rendered(&problems, &[shown]))
        }
        error => judge::refused(error),
    })?;
    if wanted.json {
        let mut shown = serde_json::to_value(&found)?;
        if let Some(object) = shown.as_object_mut() {
            object.insert("from".to_owned(), from.into());
            object.insert("since_ms".to_owned(), since.into());
        }
        writeln!(stdout(), "{shown:#}")?;
    } else {
        stdout().write_all(shown(from, &found).as_bytes())?;
    }
    Ok(if found.is_looser() { ExitCode::from(4) } else { ExitCode::SUCCESS })
}

fn shown(from: &str, found: &Flips) -> String {
    let paint = Paint::for_stdout();
    if found.calls == 0 {
        return format!("No calls to judge in {}.\n", source(from));
    }
    let mut out = format!("Judged {} calls of {}.\n", found.calls, source(from));
    out.push_str(&format!("Prompts: {} now, {} with this file.\n", found.asked_before, found.asked_after));
    out.push_str(&flips_shown(paint, false, found));
    if found.is_looser() && found.to(Verdict::Allow) > 0 {
        out.push_str("\nNext:  sayso policy diff POLICY FILE     the smallest call that it would also allow\n");
    }
    out
}

fn source(from: &str) -> &str {
    match from {
        "record" => "the record",
        "transcripts" => "your agents' transcripts",
        file => file,
    }
}
