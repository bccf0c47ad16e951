//! The record: what was asked, what was said, and why. Written before the answer is given.

pub mod chain;
mod event;
mod happening;
mod log;
mod query;
mod record;
mod redact;
mod spool;

pub use event::{Change, Event, Kind};
pub(crate) use event::{decision_line, happening_line};
pub use happening::{Ended, Happening, What};
pub use log::Log;
pub use query::{Chained, Order, Query, Stored};
pub use record::{EffectRecord, ReasonRecord, Record};
pub(crate) use record::{Seen, fresh_id, fresh_id_at, now_ms};
pub use redact::{arguments as redact_arguments, text as redact_text};
pub use spool::{Folded, Spool};

use crate::Error;

/// Takes records. A call whose record is not taken does not run.
pub trait Recorder {
    /// Takes one record.
    ///
    /// # Errors
    /// If it could not be kept.
    fn record(&self, record: &Record) -> Result<(), Error>;
}

/// Keeps nothing: for `check` and the like, whose answers nobody acts on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unrecorded;

impl Recorder for Unrecorded {
    fn record(&self, _: &Record) -> Result<(), Error> {
        Ok(())
    }
}
