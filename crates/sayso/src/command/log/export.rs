//! `sayso log export`: everything, for other programs.

use super::filter::Filter;
use crate::failure::{Failure, Outcome};
use sayso_gate::audit::export as line;
use sayso_gate::audit::{Log as Record, Order, Query};
use std::fs::OpenOptions;
use std::io::{BufWriter, Write, stdout};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Records read at a time.
const PAGE: usize = 1000;

/// Export matching records, oldest first, as JSON Lines or CSV, or the whole chain in a form that can be verified.
///
/// CSV cells that a spreadsheet would read as a formula are marked as text, because agents write what is in the record.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso log export --since 7d > week.jsonl
  sayso log export --format chain --output chain.jsonl && sayso log verify chain.jsonl
  sayso log export --format csv --verdict deny --output denied.csv")]
pub(super) struct Export {
    /// jsonl, csv, or chain (all records with their links and heads, for `sayso log verify FILE`)
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", value_parser = ["jsonl", "csv", "chain"])]
    format: String,
    /// Write to this new file, readable only by you, instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    filter: Filter,
}

/// Runs it.
pub(super) fn run(export: &Export, record: &Record) -> Outcome {
    record.fold()?;
    match &export.output {
        None => write(export, record, &mut BufWriter::new(stdout().lock()))?,
        Some(path) => {
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
            let file = file.map_err(|e| Failure::wrong(format!("error: cannot create {}: {e}", path.display())))?;
            let mut out = BufWriter::new(file);
            write(export, record, &mut out)?;
            out.get_ref().sync_all()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write(export: &Export, record: &Record, mut out: &mut impl Write) -> Result<(), Failure> {
    let csv = export.format == "csv";
    if export.format == "chain" {
        if export.filter.query() != Filter::default().query() {
            return Err(Failure::wrong("error: `--format chain` exports all records: part of a chain proves nothing"));
        }
        record.store().export_links(&mut out)?;
        return Ok(out.flush()?);
    }
    if csv {
        out.write_all(line::CSV_HEADER.as_bytes())?;
    }
    let mut query = Query { limit: Some(PAGE), order: Order::OldestFirst, after: Some(0), ..export.filter.query() };
    loop {
        let page = record.store().events(&query)?;
        let Some(last) = page.last() else { break };
        query.after = Some(last.seq);
        for chained in &page {
            let line = if csv { line::csv(chained) } else { line::json(chained)? };
            out.write_all(line.as_bytes())?;
        }
    }
    out.flush()?;
    Ok(())
}
