//! What is remembered, behind small blocking traits, so that another engine can take SQLite's place.

mod sqlite;

pub use sqlite::SqliteStore;

use crate::Error;
use crate::audit::{Happening, Query, Record, Stored};

/// Keeps records.
pub trait Records {
    /// Keeps these, in this order, all or none; those whose id is known already are left out. Tells how many were
    /// new. They are durable when this returns.
    ///
    /// # Errors
    /// If they could not be kept.
    fn append(&self, records: &[Record]) -> Result<usize, Error>;

    /// Keeps what happened around calls, all or none; those whose id is known already are left out.
    ///
    /// # Errors
    /// If they could not be kept.
    fn append_happenings(&self, happenings: &[Happening]) -> Result<(), Error>;

    /// Finds what happened around calls; the query's verdict and tool are left aside.
    ///
    /// # Errors
    /// If the store refuses.
    fn happenings(&self, query: &Query) -> Result<Vec<Happening>, Error>;

    /// Finds records.
    ///
    /// # Errors
    /// If the store refuses.
    fn query(&self, query: &Query) -> Result<Vec<Stored>, Error>;

    /// Counts records; the query's limit is left aside.
    ///
    /// # Errors
    /// If the store refuses.
    fn count(&self, query: &Query) -> Result<u64, Error>;
}
