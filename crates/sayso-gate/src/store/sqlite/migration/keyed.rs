//! Version 6: remembered answers are looked up by what they name, and old budgets by their age.

use crate::Error;
use crate::grant::Kept;
use rusqlite::{Connection, params};

/// A row that somebody else adds has no name that it could be found by, and is always looked at.
pub(super) const TABLES: &str = "
    CREATE TABLE remembered_key (
        remembered TEXT PRIMARY KEY,
        selects    TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX remembered_selects ON remembered_key (selects);
    INSERT INTO remembered_key (remembered, selects) SELECT id, '' FROM remembered;
    CREATE TRIGGER remembered_added AFTER INSERT ON remembered BEGIN
        INSERT OR REPLACE INTO remembered_key (remembered, selects) VALUES (NEW.id, '');
    END;
    CREATE TRIGGER remembered_gone AFTER DELETE ON remembered BEGIN
        DELETE FROM remembered_key WHERE remembered = OLD.id;
    END;
    CREATE INDEX usage_last ON usage (last_ms);
";

/// Gives those that are kept their keys. One that cannot be read answers nothing, with or without a key.
pub(super) fn give_keys(connection: &Connection) -> Result<(), Error> {
    let mut all = connection.prepare("SELECT id, body FROM remembered")?;
    let rows = all.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    for (id, body) in rows.collect::<rusqlite::Result<Vec<_>>>()? {
        if let Ok(kept) = serde_json::from_str::<Kept>(&body) {
            let key = kept.grant.selector.key(kept.grant.verdict);
            connection.execute("UPDATE remembered_key SET selects = ?2 WHERE remembered = ?1", params![id, key])?;
        }
    }
    Ok(())
}
