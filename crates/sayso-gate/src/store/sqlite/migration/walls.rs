//! Version 5: whose a record is, and of which run, as columns. A tenant is a wall, and a wall that is applied to what a
//! limit has left over shows holes; runs could not be found at all.

/// Most records have neither, and cost nothing in the indexes.
pub(super) const COLUMNS: &str = "
    ALTER TABLE event ADD COLUMN tenant TEXT;
    ALTER TABLE event ADD COLUMN run TEXT;
    UPDATE event SET tenant = body ->> '$.actor.tenant', run = body ->> '$.actor.run'
    WHERE json_valid(body) AND (body ->> '$.actor.tenant' IS NOT NULL OR body ->> '$.actor.run' IS NOT NULL);
    CREATE INDEX event_tenant ON event (tenant, seq) WHERE tenant IS NOT NULL;
    CREATE INDEX event_run ON event (run, seq) WHERE run IS NOT NULL;
";
