//! The record: what was asked, what was said, and why. Written before the answer is given.

pub mod bundle;
pub mod chain;
mod event;
pub mod export;
mod happening;
mod head;
mod log;
mod mark;
mod policies;
mod query;
mod record;
mod redact;
mod replay;
mod session_history;
mod spool;
mod verify;
mod written;

pub use event::{Change, Event, Kind};
pub(crate) use event::{decision_line, happening_line};
pub use happening::{Ended, Happening, Held, HeldBackRecord, What};
pub use head::{Head, HeadKey};
pub(crate) use head::{RECORDS_BETWEEN_HEADS, is_signed};
pub use log::Log;
pub(crate) use mark::{Marks, seal, taken_off as mark_taken_off};
pub use policies::PolicyVersion;
pub(crate) use policies::{are_left, left_beside, loaded};
pub(crate) use query::as_written;
pub use query::{By, Chained, Order, Query, Stored};
pub use record::{CalledAs, EffectRecord, OpinionRecord, PastRecord, Peer, ReasonRecord, Record};
pub(crate) use record::{Seen, fresh_id, fresh_id_at, now_ms, shortened};
pub(crate) use redact::is_secret_name;
pub(crate) use redact::said_of;
pub(crate) use redact::shown;
pub use redact::{arguments as redact_arguments, keys as redact_keys, may_hold_keys, text as redact_text};
pub use replay::{Replayed, replay};
pub use session_history::{DecisionCounts, HistoryOf, SessionHistory};
pub use spool::{Folded, Spool};
pub use verify::{Begin, Problem, Row, Verified, Verifier};
pub use written::Written;

use crate::Error;
use sayso_policy::PolicyText;
use std::sync::Arc;

/// Takes records. A call whose record is not taken does not run.
pub trait Recorder {
    /// Takes one record.
    ///
    /// # Errors
    /// If it could not be kept.
    fn record(&self, record: &Record) -> Result<(), Error>;

    /// Takes several, each or not, and says so in their order. Cheaper than one after the other where they share what
    /// a write costs.
    fn record_all(&self, records: Vec<Written>) -> Vec<Result<(), Error>> {
        records.iter().map(|written| self.record(&written.record()?)).collect()
    }

    /// Takes the texts of the policy that judges from here on, so that records can be judged again by it. Asked once
    /// for each gate; costs nothing if the version is known.
    ///
    /// # Errors
    /// If they could not be kept.
    fn keep_policy(&self, version: &str, files: &[PolicyText]) -> Result<(), Error> {
        let _ = (version, files);
        Ok(())
    }
}

impl<T: Recorder + ?Sized> Recorder for Arc<T> {
    fn record(&self, record: &Record) -> Result<(), Error> {
        (**self).record(record)
    }

    fn record_all(&self, records: Vec<Written>) -> Vec<Result<(), Error>> {
        (**self).record_all(records)
    }

    fn keep_policy(&self, version: &str, files: &[PolicyText]) -> Result<(), Error> {
        (**self).keep_policy(version, files)
    }
}

/// Keeps nothing: for `check` and the like, whose answers nobody acts on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unrecorded;

impl Recorder for Unrecorded {
    fn record(&self, _: &Record) -> Result<(), Error> {
        Ok(())
    }
}
