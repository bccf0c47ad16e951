//! `sayso log prune`: letting old records go.

use super::time::{moment, shown};
use crate::failure::{Failure, Outcome};
use sayso_gate::audit::{Log as Record, Order, Query};
use sayso_gate::store::Keep;
use std::io::{Write, stdout};
use std::process::ExitCode;

/// Delete the oldest records. The rest stays verifiable, and the deletion is itself recorded.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["before", "keep"]))]
#[command(after_help = "\
Examples:
  sayso log export --until 90d --output old.jsonl && sayso log prune --before 90d --yes
  sayso log prune --keep 100000")]
pub(super) struct Prune {
    /// Delete records older than this: 90d, 2026-11-15
    #[arg(long, value_name = "TIME", value_parser = moment)]
    before: Option<u64>,
    /// Delete all but the newest N records of any kind
    #[arg(long, value_name = "N")]
    keep: Option<u64>,
    /// Actually delete; without this, only show what would be deleted
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub(super) fn run(prune: &Prune, record: &Record) -> Outcome {
    record.fold()?;
    let keep = match (prune.before, prune.keep) {
        (Some(time), _) => Keep::Since(time),
        (None, Some(count)) => Keep::Last(count),
        (None, None) => return Err(Failure::wrong("error: say --before TIME or --keep N")),
    };
    let mut out = stdout().lock();
    if !prune.yes {
        let up_to = record.store().prunable(keep)?;
        let oldest = record.store().events(&Query { limit: Some(1), order: Order::OldestFirst, ..Query::default() })?;
        let first = oldest.first().map_or(0, |it| it.seq);
        let from = oldest.first().map(|it| shown(it.event.time_ms())).unwrap_or_default();
        let text = match up_to.checked_sub(first) {
            Some(more) if first > 0 => format!(
                "{} records would be deleted: {first} (of {from}) to {up_to}. Use `--yes` to delete them; `sayso log export` keeps a copy.",
                more + 1
            ),
            _ => "Nothing would be deleted.".to_owned(),
        };
        writeln!(out, "{text}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let uid = rustix::process::geteuid().as_raw();
    let by = format!("uid {uid}");
    let pruned = record.store().prune(keep, &by)?;
    if prune.json {
        writeln!(out, "{}", serde_json::to_string(&pruned)?)?;
    } else if pruned.records == 0 {
        writeln!(out, "Nothing to delete.")?;
    } else {
        writeln!(
            out,
            "{} records deleted, up to {}. Its signed hash still anchors the rest.",
            pruned.records, pruned.up_to
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
