//! Changing the key that signs heads: the record first, then the file.

use super::Sqlite;
use super::chain::name;
use super::records::to_hash;
use crate::Error;
use crate::audit::chain::link;
use crate::audit::{Event, HeadKey};
use crate::store::Rotated;
use crate::store::rotation::{self, Followed, NAMES};
use rusqlite::Connection;
use std::path::Path;

/// Signs from now on with a new key, in a file elsewhere if one is named.
pub(super) fn rotate(store: &Sqlite, elsewhere: Option<&Path>, by: &str) -> Result<Rotated, Error> {
    let folder = store.folder().to_owned();
    let before = HeadKey::place(&folder);
    // A key that was put elsewhere stays there.
    let elsewhere = elsewhere.map(Path::to_owned).or_else(|| (before.parent() != Some(&folder)).then_some(before));
    let (old, new) = (HeadKey::beside(&folder)?, HeadKey::fresh()?);
    // Everything up to here is the old one's.
    store.sign()?;
    let seq = store.write(|tx| {
        let seq = tx.end().seq.saturating_add(1);
        let record = rotation::record(&name(tx.connection())?, seq, (&old, &new), by);
        tx.append(&Event::from(record))
    })?;
    // INVARIANT: behind the record: a crash in between leaves the old key, which still counts.
    new.put(&folder, elsewhere.as_deref())?;
    store.sign()?;
    let place = HeadKey::place(&folder);
    Ok(Rotated { old: old.public(), new: new.public(), seq, place })
}

/// The keys that counted before this one, each with the last record for which it does: as far as each has signed which one
/// followed it.
pub(super) fn earlier(connection: &Connection, chain: &str, key: &str) -> Result<Vec<(String, u64)>, Error> {
    let sql = "SELECT seq, prev, hash, body FROM event WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([NAMES])?;
    let mut followed = Followed::from(key);
    while let Some(row) = rows.next()? {
        let seq = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
        let (previous, own) = (to_hash(&row.get::<_, Vec<u8>>(1)?)?, to_hash(&row.get::<_, Vec<u8>>(2)?)?);
        let body: String = row.get(3)?;
        if link(seq, &previous, &body) == own && !followed.look_at(chain, seq, &body) {
            break;
        }
    }
    Ok(followed.earlier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Change, Kind, Problem};
    use crate::store::Chain as _;
    use serde_json::json;

    fn grow(store: &Sqlite) {
        store.write(|tx| tx.append(&Event::from(Change::now(Kind::Mode, "x"))).map(|_| ())).unwrap();
        store.sign_head().unwrap();
    }

    #[test]
    fn a_key_comes_back_to_its_first_place_when_that_is_named() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        let beside = dir.path().join("audit.key");
        for place in [&beside, &elsewhere.path().join("key"), &dir.path().join("./audit.key")] {
            let rotated = store.rotate_key(Some(place), "ann").unwrap();
            assert_eq!(rotated.place.file_name(), place.file_name());
            grow(&store);
            assert_eq!(store.key().unwrap().0, rotated.new, "{place:?}");
        }
        assert!(!std::fs::read_to_string(beside).unwrap().contains("at "));
        assert_eq!(store.verify(None).unwrap().problems, []);
    }

    #[test]
    fn a_key_that_the_old_one_did_not_sign_for_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        grow(&store);
        // Somebody without the old key puts another in its place, and chains a record about it.
        let (old, other) = (HeadKey::beside(dir.path()).unwrap(), HeadKey::fresh().unwrap());
        let mut change = Change::now(Kind::Chain, "key-rotated");
        change.id = format!("{NAMES}{:016x}", 2);
        let signature = other.sign_text("anything");
        change.detail = json!({"old": old.public(), "new": other.public(), "signature": signature});
        store.write(|tx| tx.append(&Event::from(change)).map(|_| ())).unwrap();
        other.put(dir.path(), None).unwrap();
        grow(&store);
        let problems = store.verify(None).unwrap().problems;
        assert!(problems.iter().any(|problem| matches!(problem, Problem::NotSigned { .. })), "{problems:?}");
    }
}
