//! `sayso log accept`: going on with a record that has lost its end.

use crate::failure::Outcome;
use crate::operator;
use sayso_gate::Places;
use sayso_gate::audit::Log as Record;
use sayso_policy::explain::visible;
use std::io::{Write, stdout};
use std::process::ExitCode;

/// Accept the record as it is after its newest records were lost, for example because you restored a backup.
///
/// A server notes where the record ends. If records up to there are missing when the next one starts, it allows nothing
/// until you accept that, or put the database back. Accepting is itself recorded, and needs a person at a terminal.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso log verify
  sayso log accept")]
pub(super) struct Accept {}

/// Runs it.
pub(super) fn run(places: &Places, record: &Record) -> Outcome {
    let mut out = stdout().lock();
    let Some(missing) = record.store().end_problem()? else {
        writeln!(out, "Nothing is missing at the end of the record.")?;
        return Ok(ExitCode::SUCCESS);
    };
    let asks = format!(
        "The record will be accepted without what is missing: {}. A revoked answer or a used approval may be part of it.",
        visible(&missing)
    );
    let person = operator::confirmed(places, &asks)?;
    let seq = record.store().accept_end(&person.name)?;
    writeln!(out, "Accepted. The record ends with {seq}.")?;
    Ok(ExitCode::SUCCESS)
}
