//! `sayso log replay`: the same calls, by the policies of their time.

use super::filter::Filter;
use crate::failure::{Failure, Outcome};
use sayso_gate::audit::{Log as Record, Order, PolicyVersion, Query, Replayed, Stored, replay};
use sayso_gate::{Places, ProcessEnvironment, RealFiles};
use sayso_policy::Facts;
use sayso_policy::explain::visible;
use serde::Serialize;
use std::collections::HashMap;
use std::io::{Write, stdout};
use std::process::ExitCode;

const PAGE: usize = 1000;

/// Judge recorded decisions again, by the policy in force at the time, and report those that come out differently.
///
/// These are skipped: calls with redacted secrets, truncated calls, calls that involved limits or saved answers, and
/// calls whose programs have moved. Files are read as they are today, so a verdict may differ because a file was added
/// or removed.
///
/// Exit code: 0 no differences, 4 some differ.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso log replay --since 1d
  sayso log replay --json | jq 'select(.replayed != \"same\")'")]
pub(super) struct Replay {
    /// Print one JSON object per decision
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    filter: Filter,
}

/// How judging again went.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Tally {
    same: u64,
    pub(super) differs: u64,
    cannot: u64,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} unchanged, {} different, {} skipped", self.same, self.differs, self.cannot)
    }
}

/// Runs it.
pub(super) fn run(asked: &Replay, places: &Places, record: &Record) -> Outcome {
    let mut out = stdout().lock();
    let tally = judge_all(places, record, &asked.filter.query(), |stored, replayed| {
        if asked.json {
            let mut value = serde_json::to_value(replayed)?;
            if let Some(members) = value.as_object_mut() {
                members.insert("seq".to_owned(), stored.seq.into());
            }
            writeln!(out, "{value}")?;
            return Ok(());
        }
        match replayed {
            Replayed::Same => {}
            Replayed::Differs { effect, was, now } => {
                writeln!(out, "record {} differs: {} was {was}, is {now}", stored.seq, visible(effect))?;
            }
            Replayed::Cannot { why } => writeln!(out, "record {} skipped: {why}", stored.seq)?,
        }
        Ok(())
    })?;
    if !asked.json {
        writeln!(out, "{tally}")?;
    }
    Ok(if tally.differs == 0 { ExitCode::SUCCESS } else { ExitCode::from(4) })
}

/// Judges all decisions that answer a query again.
pub(super) fn judge_all(
    places: &Places,
    record: &Record,
    query: &Query,
    mut tell: impl FnMut(&Stored, &Replayed) -> Result<(), Failure>,
) -> Result<Tally, Failure> {
    record.fold()?;
    let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
    let mut versions: HashMap<String, Option<PolicyVersion>> = HashMap::new();
    let mut tally = Tally::default();
    let mut query = Query { limit: Some(PAGE), order: Order::OldestFirst, after: Some(0), ..query.clone() };
    loop {
        let page = record.store().query(&query)?;
        let Some(last) = page.last() else { break };
        query.after = Some(last.seq);
        for stored in &page {
            let name = &stored.record.policy;
            if !versions.contains_key(name) {
                versions.insert(name.clone(), record.store().policy(name)?);
            }
            let replayed = replay(&stored.record, versions.get(name).and_then(Option::as_ref), places, facts);
            match replayed {
                Replayed::Same => tally.same += 1,
                Replayed::Differs { .. } => tally.differs += 1,
                Replayed::Cannot { .. } => tally.cannot += 1,
            }
            tell(stored, &replayed)?;
        }
    }
    Ok(tally)
}
