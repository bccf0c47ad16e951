//! Looking after it: there is no file that could be full, locked, replaced or copied.

use super::InMemory;
use crate::Error;
use crate::store::Upkeep;
use std::path::Path;

impl Upkeep for InMemory {
    fn writable(&self) -> Result<(), Error> {
        Ok(())
    }

    fn in_place(&self) -> Result<(), Error> {
        Ok(())
    }

    fn back_up(&self, to: &Path) -> Result<(), Error> {
        let why = "this store is kept in memory and has no file; use `sayso log export --links`";
        Err(Error::io("copy the store to", to, std::io::Error::other(why)))
    }
}
