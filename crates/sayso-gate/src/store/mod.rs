//! What is remembered, behind small blocking traits, so that another engine can take SQLite's place.

mod memory;
mod sqlite;

pub use memory::{Answering, Approvals, Grants, GrantsWanted, Ledger, Memo, Questions, Remembered, Subject};
pub(crate) use sqlite::key_rotated;
pub use sqlite::{Checked, Condition, Keep, Pruned, Rotated, Sqlite, Transaction, Watch};

use crate::Error;
use crate::audit::{By, Chained, Event, Happening, PolicyVersion, Query, Stored};

/// Keeps the chain: decisions, and every change of anything that is remembered.
pub trait Records {
    /// Keeps these, in this order, all or none. Those whose id is known already are left out; if what is kept under
    /// that id is something else, the answer says so. With them go the texts of policies that they are about. All is
    /// synced to disk when this returns.
    ///
    /// # Errors
    /// If they could not be kept.
    fn append(&self, events: &[Event], policies: &[PolicyVersion]) -> Result<Appended, Error>;

    /// The texts of a policy that judged something.
    ///
    /// # Errors
    /// If the store refuses.
    fn policy(&self, version: &str) -> Result<Option<PolicyVersion>, Error>;

    /// The versions of all policies whose texts are kept, the oldest first, with the time at which each was first in
    /// force.
    ///
    /// # Errors
    /// If the store refuses.
    fn policies(&self) -> Result<Vec<(String, u64)>, Error>;

    /// Finds decisions.
    ///
    /// # Errors
    /// If the store refuses.
    fn query(&self, query: &Query) -> Result<Vec<Stored>, Error>;

    /// Finds what happened around calls; the query's verdict and tool are left aside.
    ///
    /// # Errors
    /// If the store refuses.
    fn happenings(&self, query: &Query) -> Result<Vec<Happening>, Error>;

    /// Finds records of any kind.
    ///
    /// # Errors
    /// If the store refuses.
    fn events(&self, query: &Query) -> Result<Vec<Chained>, Error>;

    /// Counts records by what they have in common, the most frequent first; the query's limit is left aside.
    ///
    /// # Errors
    /// If the store refuses.
    fn count_by(&self, query: &Query, by: By) -> Result<Vec<(String, u64)>, Error>;

    /// Counts records; the query's limit is left aside.
    ///
    /// # Errors
    /// If the store refuses.
    fn count(&self, query: &Query) -> Result<u64, Error>;
}

/// What became of records that were handed to the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// How many were new.
    pub new: usize,
    /// Places of those whose id is taken by something else: somebody wrote two records under one name.
    pub conflicting: Vec<usize>,
}
