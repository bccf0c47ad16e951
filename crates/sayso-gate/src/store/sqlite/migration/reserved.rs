//! Version 8: one row for what is reserved for a call, whatever budgets it is taken from.

/// Most calls come without an id of their caller's, and cost nothing in its index.
pub(super) const TABLES: &str = "
    ALTER TABLE reservation RENAME TO reservation_of_before;
    CREATE TABLE reservation (
        id         TEXT PRIMARY KEY,
        call_id    TEXT,
        session    TEXT,
        expires_ms INTEGER NOT NULL,
        keys       TEXT NOT NULL,
        body       TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO reservation (id, call_id, session, expires_ms, keys, body)
        SELECT id, call_id, session, expires_ms, json_group_array(json_array(scope, key)), body
        FROM reservation_of_before GROUP BY id;
    DROP TABLE reservation_of_before;
    CREATE INDEX reservation_expires ON reservation (expires_ms);
    CREATE INDEX reservation_call ON reservation (call_id, session) WHERE call_id IS NOT NULL;
";
