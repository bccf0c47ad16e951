//! `sayso log verify`: whether the record is what was written.

use super::replay::{Tally, judge_all};
use crate::failure::{Failure, Outcome};
use crate::show::paint::Paint;
use sayso_gate::Places;
use sayso_gate::audit::bundle;
use sayso_gate::audit::{Head, Log as Record, Problem, Query, Verified};
use sayso_policy::explain::visible;
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit code where something was changed: not 1, which means that it could not be found out.
const BROKEN: u8 = 4;

/// Verify the whole record: report anything changed, removed or inserted, and how strong the proof is.
///
/// Exit code: 0 intact as far as can be determined, 4 something is wrong, 1 it could not be checked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What it proves:
  hashes alone     someone who can write the database could have recomputed all of them
  signed heads     someone who can write the database but not read Sayso's key could not
  --head FILE      nobody could, up to that head, if the file was kept elsewhere (`sayso log head --export FILE`,
                   `sayso serve --anchor FILE`)

Examples:
  sayso log verify
  sayso log verify --head /media/stick/head.json
  sayso log verify chain.jsonl --key 3b6a27bc...     an export (`sayso log export --format chain`), without the store
  sayso log verify --replay")]
pub(super) struct Verify {
    /// Verify an export of the chain instead of this machine's record
    #[arg(value_name = "FILE")]
    export: Option<PathBuf>,
    /// The public key the export must be signed with (`sayso log key` shows it)
    #[arg(long, value_name = "KEY", requires = "export")]
    key: Option<String>,
    /// A head exported earlier, or a file with one per line
    #[arg(long, value_name = "FILE")]
    head: Option<PathBuf>,
    /// Judge every decision again, by the policy in force at the time
    #[arg(long, conflicts_with = "export")]
    replay: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub(super) fn run(verify: &Verify, places: &Places, record: &Record) -> Outcome {
    record.fold()?;
    let damaged = record.damaged()?;
    let heads = verify.head.as_ref().map(read_heads).transpose()?.unwrap_or_default();
    let found = record.store().verify_with(heads)?;
    let cut = record.store().end_problem()?;
    let replayed = verify.replay.then(|| judge_all(places, record, &Query::default(), |_, _| Ok(()))).transpose()?;
    let mut out = stdout().lock();
    if verify.json {
        let mut value = serde_json::to_value(&found)?;
        if let Some(members) = value.as_object_mut() {
            members.insert("whole".to_owned(), (found.problems.is_empty() && cut.is_none()).into());
            members.insert("cut".to_owned(), cut.clone().into());
            members.insert("replayed".to_owned(), serde_json::to_value(replayed)?);
            members.insert("damaged".to_owned(), damaged.iter().map(|path| path.to_string_lossy()).collect());
        }
        writeln!(out, "{value}")?;
    } else {
        if let Some(cut) = &cut {
            let paint = Paint::for_stdout();
            writeln!(
                out,
                "{}\n  {}, compared with what a server noted last.\n  Restore a copy of the database, or accept what is left \
                 with `sayso log accept`.",
                paint.bold("Records have been removed."),
                visible(cut)
            )?;
        }
        write!(out, "{}", text(&found, verify.head.is_some(), replayed.as_ref()))?;
        if let [first, more @ ..] = damaged.as_slice() {
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            writeln!(
                out,
                "  spool      lines that are not hook records are not in the record: {}{more}\n             Calls may be \
                 missing that stood there. Look at it, then move it away.",
                visible(&places.shown(first))
            )?;
        }
    }
    let whole = found.problems.is_empty() && cut.is_none() && replayed.is_none_or(|tally| tally.differs == 0);
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) })
}

/// Checks an export, if one was named.
pub(super) fn without_store(verify: &Verify) -> Option<Outcome> {
    verify.export.as_ref().map(|path| check_export(verify, path))
}

fn check_export(verify: &Verify, path: &PathBuf) -> Outcome {
    let file = std::fs::File::open(path);
    let file = file.map_err(|e| Failure::wrong(format!("error: cannot read {}: {e}", path.display())))?;
    let heads = verify.head.as_ref().map(read_heads).transpose()?.unwrap_or_default();
    let proved = bundle::check(std::io::BufReader::new(file), heads).map_err(|error| {
        Failure::wrong(format!(
            "error: {}: {error}\n\n  Create one with `sayso log export --format chain`.",
            path.display()
        ))
    })?;
    let found = &proved.verified;
    let followed = verify.key.as_ref().is_some_and(|key| proved.earlier.contains(key));
    let known = followed || verify.key.as_ref().is_none_or(|key| proved.key.as_ref() == Some(key));
    let mut out = stdout().lock();
    if verify.json {
        let mut value = serde_json::to_value(found)?;
        if let Some(members) = value.as_object_mut() {
            members.insert("whole".to_owned(), found.problems.is_empty().into());
            members.insert("key".to_owned(), proved.key.clone().into());
            members.insert("known_key".to_owned(), (verify.key.is_some() && known).into());
        }
        writeln!(out, "{value}")?;
    } else {
        write!(out, "{}", text(found, verify.head.is_some(), None))?;
        let key = proved.key.as_deref().unwrap_or("none");
        let says = match (&verify.key, known) {
            (None, _) => "compare it with the owner's key: run `sayso log key` there, and pass `--key KEY` here",
            (Some(_), true) if followed => "which followed the one you gave, signed with that",
            (Some(_), true) => "the one you gave",
            (Some(_), false) => "NOT the one you gave: someone else may have made this export",
        };
        writeln!(out, "  key        {}, {says}", visible(key))?;
    }
    Ok(if found.problems.is_empty() && known { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) })
}

/// One head, or one a line.
fn read_heads(path: &PathBuf) -> Result<Vec<Head>, Failure> {
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::wrong(format!(
            "error: {} is not a Sayso head: {why}\n\n  Create one with `sayso log head --export FILE`.",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|e| wrong(&e))?;
    if let Ok(one) = serde_json::from_str(&text) {
        return Ok(vec![one]);
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let heads = lines.map(|line| serde_json::from_str(line).map_err(|e| wrong(&e))).collect::<Result<Vec<_>, _>>()?;
    if heads.is_empty() { Err(wrong(&"it is empty")) } else { Ok(heads) }
}

fn text(found: &Verified, given: bool, replayed: Option<&Tally>) -> String {
    let paint = Paint::for_stdout();
    let mut out = String::new();
    if !found.problems.is_empty() {
        out.push_str(&format!("{}\n", paint.bold("The record has been altered.")));
        for problem in &found.problems {
            out.push_str(&format!("  {}\n", in_words(problem)));
        }
        if found.more_problems > 0 {
            out.push_str(&format!("  and {} more\n", found.more_problems));
        }
    } else if found.records == 0 {
        out.push_str("The record is empty.\n");
    } else {
        out.push_str(&format!("The record is intact: {} records, {} to {}.\n", found.records, found.first, found.last));
    }
    if found.pruned > 0 {
        out.push_str(&format!("  pruned     up to {}\n", found.pruned));
    }
    let signed = match found.signed {
        0 => "no head has been signed yet; `sayso log head` signs one".to_owned(),
        seq => format!("up to {seq}, against anyone who cannot read Sayso's key"),
    };
    out.push_str(&format!("  signed     {signed}\n"));
    let exported = match (found.exported, given) {
        (Some(seq), _) => format!("up to {seq}, against anyone who could not change that file"),
        (None, true) => "the head you gave proves nothing".to_owned(),
        (None, false) => "nothing; `sayso log head --export FILE` creates a head to keep elsewhere".to_owned(),
    };
    out.push_str(&format!("  exported   {exported}\n"));
    if let Some(tally) = replayed {
        out.push_str(&format!("  replayed   {tally}\n"));
    }
    out
}

fn in_words(problem: &Problem) -> String {
    match problem {
        Problem::Changed { seq, what } => format!("record {seq} was changed: {}", visible(what)),
        Problem::Removed { seq, count: 0 } => {
            format!("record {seq} does not link to the one before it: something was removed there")
        }
        Problem::Removed { seq, count: 1 } => format!("record {seq} was removed"),
        Problem::Removed { seq, count } => format!("records {seq} to {} were removed", seq + count - 1),
        Problem::Inserted { seq, count: 1 } => format!("record {seq} was inserted"),
        Problem::Inserted { seq, count } => format!("records {seq} to {} were inserted", seq + count - 1),
        Problem::CutOff { last, head } => format!("records {} to {head} are missing at the end", last + 1),
        Problem::Rewritten { after, head } => {
            format!("the records between {after} and {head} were rewritten: a signed head shows what record {head} was")
        }
        Problem::NotSigned { seq } => format!("the head of record {seq} is not signed with the key of this store"),
        Problem::HeadsRemoved { after, last } => format!(
            "no signed head stands for records {} to {last}, and one was signed: heads were removed. Compare with one that was \
             exported (`--head FILE`); then `sayso log head` signs anew",
            after + 1
        ),
        Problem::WrongHead { why } => format!("the head you gave: {why}"),
    }
}
