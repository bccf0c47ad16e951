//! What is remembered, behind small blocking traits that together are a [`Store`].
//!
//! Everybody holds an `Arc<dyn Store>`, and [`open`] alone knows which engine is behind it: SQLite, in one file that hooks,
//! commands and a server share. A second one keeps everything in this process ([`open_in_memory`]); the same tests hold both
//! to what the traits promise. What an answer means, what a call takes from its budgets and what the chain says of
//! either stands here, once for all engines.

mod alarm;
mod answering;
mod budget;
mod chain;
mod in_memory;
mod memory;
mod naming;
mod rotation;
mod sqlite;
mod upkeep;
mod watch;

pub use chain::{Chain, Checked, Keep, Pass, Pruned, Rotated};
pub use memory::{Answering, Approvals, Grants, GrantsWanted, Ledger, Memo, Questions, Remembered, Subject};
pub(crate) use rotation::rotated as key_rotated;
pub use upkeep::{Condition, Upkeep};
pub use watch::Watch;

use crate::audit::{By, Chained, Event, Happening, HistoryOf, PolicyVersion, Query, Recorder, SessionHistory, Stored};
use crate::{Error, Places};
use std::sync::Arc;

/// Everything that is remembered. Threads share one; so may processes, where the engine lets them.
pub trait Store: Records + Recorder + Ledger + Approvals + Grants + Chain + Upkeep + Send + Sync {}

impl<T: Records + Recorder + Ledger + Approvals + Grants + Chain + Upkeep + Send + Sync> Store for T {}

impl std::fmt::Debug for dyn Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}

/// Opens this user's store, makes it if it is missing, and brings it up to date.
///
/// # Errors
/// If it cannot be opened, is no store, or was written by a newer Sayso.
pub fn open(places: &Places) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(sqlite::Sqlite::open(places)?))
}

/// Whether this user has a store. Where there is none nothing is remembered, and nobody waits for questions.
#[must_use]
pub fn is_there(places: &Places) -> bool {
    sqlite::Sqlite::is_there(places)
}

/// A store that is gone when nobody holds it any more. Only the key that signs its heads is a file, where it always is.
///
/// # Errors
/// If Sayso's folder cannot be used.
pub fn open_in_memory(places: &Places) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(in_memory::InMemory::beside(&places.own_folder("")?)))
}

/// Looks at this user's store without bringing it up to date.
///
/// # Errors
/// If it cannot be opened.
pub fn look(places: &Places) -> Result<Condition, Error> {
    sqlite::Sqlite::look(places)
}

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

    /// Counts records by what they have in common and by stretches of time of this length: when each begins, what, and
    /// how many. The query's limit is left aside.
    ///
    /// # Errors
    /// If the store refuses.
    fn over_time(&self, query: &Query, by: By, step_ms: u64) -> Result<Vec<(u64, String, u64)>, Error>;

    /// Sessions or runs with records that answer a query, the one with the latest record first. The query's limit
    /// counts ids, its `before` and `after` are about their last records, and its order is left aside.
    ///
    /// # Errors
    /// If the store refuses.
    fn session_histories(&self, of: HistoryOf, query: &Query) -> Result<Vec<SessionHistory>, Error>;
}

/// What became of records that were handed to the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// How many were new.
    pub new: usize,
    /// Places of those whose id is taken by something else: somebody wrote two records under one name.
    pub conflicting: Vec<usize>,
}
