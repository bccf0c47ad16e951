//! The record as a reader sees it: the store, with every spool folded in.

use crate::audit::{Chained, Folded, Happening, Kind, Query, Spool, Stored};
use crate::store::{self, Store};
use crate::{Error, Places};
use std::path::PathBuf;
use std::sync::Arc;

/// The record as a reader sees it.
pub struct Log {
    spool: Spool,
    store: Arc<dyn Store>,
}

impl Log {
    /// Opens the record of this user.
    ///
    /// # Errors
    /// If Sayso's folder or the store cannot be used.
    pub fn open(places: &Places) -> Result<Self, Error> {
        Ok(Self { store: store::open(places)?, spool: Spool::open(places)? })
    }

    /// Folds in what hooks have written since.
    ///
    /// # Errors
    /// If the store refuses. Nothing is lost then: the spool stays.
    pub fn fold(&self) -> Result<Folded, Error> {
        self.spool.fold(&*self.store)
    }

    /// Files with what stood in the spool and was no record of a hook.
    ///
    /// # Errors
    /// If the folder of the spool cannot be read.
    pub fn damaged(&self) -> Result<Vec<PathBuf>, Error> {
        self.spool.damaged()
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

    /// Records of every kind.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn events(&self, query: &Query) -> Result<Vec<Chained>, Error> {
        self.fold()?;
        self.store.events(query)
    }

    /// How many decisions answer a query, its limit left aside; of the kinds it names, if it names any.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn count(&self, query: &Query) -> Result<u64, Error> {
        self.fold()?;
        let decisions = || Query { kinds: vec![Kind::Decision], ..query.clone() };
        if query.kinds.is_empty() { self.store.count(&decisions()) } else { self.store.count(query) }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }
}
