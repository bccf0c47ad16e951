//! The record as a reader sees it: the store, with every spool folded in.

use crate::audit::{Folded, Happening, Query, Spool, Stored};
use crate::store::{Records, SqliteStore};
use crate::{Error, Places};

/// The record as a reader sees it.
pub struct Log {
    spool: Spool,
    store: SqliteStore,
}

impl Log {
    /// Opens the record of this user.
    ///
    /// # Errors
    /// If Sayso's folder or the store cannot be used.
    pub fn open(places: &Places) -> Result<Self, Error> {
        let state = places.own_folder("")?;
        Ok(Self { spool: Spool::open(places)?, store: SqliteStore::open(&state.join("sayso.db"))? })
    }

    /// Folds in what hooks have written since.
    ///
    /// # Errors
    /// If the store refuses. Nothing is lost then: the spool stays.
    pub fn fold(&self) -> Result<Folded, Error> {
        self.spool.fold(&self.store)
    }

    /// What was recorded, hooks' latest included.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn query(&self, query: &Query) -> Result<Vec<Stored>, Error> {
        self.fold()?;
        self.store.query(query)
    }

    /// What happened around calls, hooks' latest included; the query's verdict and tool are left aside.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn happenings(&self, query: &Query) -> Result<Vec<Happening>, Error> {
        self.fold()?;
        self.store.happenings(query)
    }

    /// How many records answer a query, its limit left aside.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn count(&self, query: &Query) -> Result<u64, Error> {
        self.fold()?;
        self.store.count(query)
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &SqliteStore {
        &self.store
    }
}
