//! What SQLite refuses, as the rest of Sayso knows it.

use crate::Error;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(Box::new(error))
    }
}
