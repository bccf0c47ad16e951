//! Version 7: what would grow with the record costs the same at any size: counts by the hour, sketches of the texts, and a
//! signed mark of how far nothing was missing.

/// Hour -1 stands for all time. Triggers count, so that nobody who writes a record can forget to.
pub(super) const TABLES: &str = "
    CREATE TABLE tally (
        hour    INTEGER NOT NULL,
        kind    TEXT NOT NULL,
        verdict TEXT NOT NULL,
        agent   TEXT NOT NULL,
        tool    TEXT NOT NULL,
        rule    TEXT NOT NULL,
        tenant  TEXT NOT NULL,
        count   INTEGER NOT NULL,
        PRIMARY KEY (hour, kind, verdict, agent, tool, rule, tenant)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO tally (hour, kind, verdict, agent, tool, rule, tenant, count)
        SELECT time_ms / 3600000, kind, coalesce(verdict, ''), coalesce(agent, ''), coalesce(tool, ''),
            coalesce(rule, ''), coalesce(tenant, ''), count(*) FROM event GROUP BY 1, 2, 3, 4, 5, 6, 7;
    INSERT INTO tally (hour, kind, verdict, agent, tool, rule, tenant, count)
        SELECT -1, kind, verdict, '', '', '', tenant, sum(count) FROM tally GROUP BY 2, 3, 7;
    CREATE TRIGGER event_counted AFTER INSERT ON event BEGIN
        INSERT INTO tally (hour, kind, verdict, agent, tool, rule, tenant, count)
            VALUES (NEW.time_ms / 3600000, NEW.kind, coalesce(NEW.verdict, ''), coalesce(NEW.agent, ''),
                coalesce(NEW.tool, ''), coalesce(NEW.rule, ''), coalesce(NEW.tenant, ''), 1)
            ON CONFLICT DO UPDATE SET count = count + 1;
        INSERT INTO tally (hour, kind, verdict, agent, tool, rule, tenant, count)
            VALUES (-1, NEW.kind, coalesce(NEW.verdict, ''), '', '', '', coalesce(NEW.tenant, ''), 1)
            ON CONFLICT DO UPDATE SET count = count + 1;
    END;
    CREATE TRIGGER event_uncounted AFTER DELETE ON event BEGIN
        UPDATE tally SET count = count - 1 WHERE hour = OLD.time_ms / 3600000 AND kind = OLD.kind
            AND verdict = coalesce(OLD.verdict, '') AND agent = coalesce(OLD.agent, '')
            AND tool = coalesce(OLD.tool, '') AND rule = coalesce(OLD.rule, '')
            AND tenant = coalesce(OLD.tenant, '');
        UPDATE tally SET count = count - 1 WHERE hour = -1 AND kind = OLD.kind
            AND verdict = coalesce(OLD.verdict, '') AND agent = '' AND tool = '' AND rule = ''
            AND tenant = coalesce(OLD.tenant, '');
    END;
    CREATE TABLE sketch (
        block INTEGER PRIMARY KEY,
        bits  BLOB NOT NULL
    ) STRICT;
    CREATE TABLE whole (
        one       INTEGER PRIMARY KEY CHECK (one = 1),
        first     INTEGER NOT NULL,
        seq       INTEGER NOT NULL,
        hash      BLOB NOT NULL,
        named     INTEGER NOT NULL,
        signature TEXT NOT NULL
    ) STRICT;
    CREATE INDEX event_named ON event (seq) WHERE kind IN ('grant', 'approval') AND id GLOB '*-*-*';
";
