//! Version 4: questions and answers, remembered answers, and what was used.

pub(super) const TABLES: &str = "
    CREATE TABLE approval (
        id         TEXT PRIMARY KEY,
        digest     TEXT NOT NULL,
        standing   TEXT NOT NULL,
        session    TEXT,
        asked_ms   INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL,
        decided_ms INTEGER,
        used_ms    INTEGER,
        why        TEXT,
        body       TEXT NOT NULL
    ) STRICT;
    CREATE INDEX approval_digest ON approval (digest, asked_ms);
    CREATE INDEX approval_standing ON approval (standing, expires_ms);
    CREATE TABLE answer (
        approval TEXT NOT NULL REFERENCES approval,
        person   TEXT NOT NULL,
        time_ms  INTEGER NOT NULL,
        seq      INTEGER NOT NULL,
        body     TEXT NOT NULL,
        PRIMARY KEY (approval, person)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE presence (
        id      TEXT PRIMARY KEY,
        seen_ms INTEGER NOT NULL,
        body    TEXT NOT NULL
    ) STRICT;
    CREATE TABLE remembered (
        id           TEXT PRIMARY KEY,
        site         TEXT,
        session      TEXT,
        given_ms     INTEGER NOT NULL,
        expires_ms   INTEGER,
        uses_left    INTEGER,
        revoked_ms   INTEGER,
        used         INTEGER NOT NULL,
        last_used_ms INTEGER,
        body         TEXT NOT NULL
    ) STRICT;
    CREATE INDEX remembered_site ON remembered (site, session);
    CREATE TABLE remembered_use (
        seq        INTEGER PRIMARY KEY,
        remembered TEXT NOT NULL REFERENCES remembered,
        body       TEXT NOT NULL
    ) STRICT;
    CREATE INDEX remembered_use_of ON remembered_use (remembered, seq);
    CREATE TABLE usage (
        scope         TEXT NOT NULL,
        key           TEXT NOT NULL,
        began_ms      INTEGER NOT NULL,
        last_ms       INTEGER NOT NULL,
        calls         INTEGER NOT NULL DEFAULT 0,
        input_tokens  INTEGER NOT NULL DEFAULT 0,
        output_tokens INTEGER NOT NULL DEFAULT 0,
        cost_micros   INTEGER NOT NULL DEFAULT 0,
        blocked       INTEGER NOT NULL DEFAULT 0,
        deletes       INTEGER NOT NULL DEFAULT 0,
        bytes_written INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (scope, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE usage_seen (
        scope TEXT NOT NULL,
        key   TEXT NOT NULL,
        kind  TEXT NOT NULL,
        value TEXT NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (scope, key, kind, value)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE usage_call (
        scope   TEXT NOT NULL,
        key     TEXT NOT NULL,
        time_ms INTEGER NOT NULL,
        id      TEXT NOT NULL,
        tool    TEXT NOT NULL,
        PRIMARY KEY (scope, key, time_ms, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE reservation (
        id         TEXT NOT NULL,
        scope      TEXT NOT NULL,
        key        TEXT NOT NULL,
        call_id    TEXT,
        session    TEXT,
        time_ms    INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL,
        body       TEXT NOT NULL,
        PRIMARY KEY (id, scope, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX reservation_expires ON reservation (expires_ms);
    CREATE INDEX reservation_call ON reservation (call_id, session);
";
