//! Version 9: the mark of how far nothing was missing says so of names, part by part, and not of their number.

use crate::Error;
use crate::store::sqlite::whole;
use rusqlite::Connection;
use std::path::Path;

pub(super) const TABLES: &str = "
    DROP TABLE whole;
    CREATE TABLE whole (
        one       INTEGER PRIMARY KEY CHECK (one = 1),
        \"from\"    INTEGER NOT NULL,
        seq       INTEGER NOT NULL,
        hash      BLOB NOT NULL,
        parts     TEXT NOT NULL,
        signature TEXT NOT NULL
    ) STRICT;
    DROP INDEX event_named;
    CREATE INDEX event_named ON event (substr(id, 14, 2), seq, id) WHERE id GLOB '*-*-*' AND id NOT GLOB 'usage-*';
";

/// Looks at every record once, so that no hook has to.
pub(super) fn mark(connection: &Connection) -> Result<(), Error> {
    let folder = connection.path().map(Path::new).and_then(Path::parent);
    folder.filter(|folder| folder.is_absolute()).map_or(Ok(()), |folder| whole::mark_all(connection, folder))
}
