//! A decision's record, written out.

use crate::Error;
use crate::audit::{Record, decision_line};
use sayso_policy::{Actor, Verdict};

/// A decision's record, written out: what it is found by, and the line that is kept.
///
/// A record is a hundred small pieces of memory, and many of them wait together until they are kept. As a line each is
/// one, and the rest is given back by the thread that took it.
#[derive(Debug)]
pub struct Written {
    pub(crate) id: String,
    pub(crate) time_ms: u64,
    pub(crate) actor: Actor,
    pub(crate) tool: String,
    pub(crate) verdict: Verdict,
    pub(crate) rule: Option<String>,
    pub(crate) line: String,
}

impl Written {
    /// Writes a record out.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn of(record: Record) -> Result<Self, Error> {
        let line = decision_line(&record)?;
        let Record { id, time_ms, actor, tool, verdict, reasons, .. } = record;
        let rule = reasons.into_iter().next().map(|reason| reason.code);
        Ok(Self { id, time_ms, actor, tool, verdict, rule, line })
    }

    /// The same, without taking the record away from its owner.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn copy(record: &Record) -> Result<Self, Error> {
        Ok(Self {
            id: record.id.clone(),
            time_ms: record.time_ms,
            actor: record.actor.clone(),
            tool: record.tool.clone(),
            verdict: record.verdict,
            rule: record.reasons.first().map(|reason| reason.code.clone()),
            line: decision_line(record)?,
        })
    }

    /// The record, read again.
    ///
    /// # Errors
    /// If the line is none.
    pub fn record(&self) -> Result<Record, Error> {
        Ok(serde_json::from_str(&self.line)?)
    }
}
