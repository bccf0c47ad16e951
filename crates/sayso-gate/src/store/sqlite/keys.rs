//! The key that signs heads, changed for another: the chain says so, and the old key signs that.

use super::Sqlite;
use super::chain::name;
use super::records::to_hash;
use crate::Error;
use crate::audit::chain::link;
use crate::audit::{Change, Event, HeadKey, Kind, is_signed};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How the names of records begin that say so. The number of the record follows.
const NAMES: &str = "key--";
/// Keys that are followed back.
const MOST: usize = 1000;

/// A key that took the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotated {
    /// The public key that counted before.
    pub old: String,
    /// The one that counts from now on.
    pub new: String,
    /// The record that says so.
    pub seq: u64,
    /// The file with the new key.
    pub place: PathBuf,
}

impl Sqlite {
    /// Signs from now on with a new key, in a file elsewhere if one is named. What the old one has signed stays proved: the
    /// chain says which key followed, signed with the old one.
    ///
    /// # Errors
    /// If a key cannot be read or written, or the store refuses.
    pub fn rotate_key(&self, elsewhere: Option<&Path>, by: &str) -> Result<Rotated, Error> {
        let folder = self.folder().to_owned();
        let before = HeadKey::place(&folder);
        // A key that was put elsewhere stays there.
        let elsewhere = elsewhere.map(Path::to_owned).or_else(|| (before.parent() != Some(&folder)).then_some(before));
        let (old, new) = (HeadKey::beside(&folder)?, HeadKey::fresh()?);
        // Everything up to here is the old one's.
        self.sign_head()?;
        let seq = self.write(|tx| {
            let seq = tx.end().seq.saturating_add(1);
            let said = said(&name(tx.connection())?, seq, &old.public(), &new.public());
            let mut change = Change::now(Kind::Chain, "key-rotated");
            change.id = format!("{NAMES}{seq:016x}");
            change.by = Some(by.to_owned());
            change.detail = json!({"old": old.public(), "new": new.public(), "signature": old.sign_text(&said)});
            tx.append(&Event::from(change))
        })?;
        // INVARIANT: behind the record: a crash in between leaves the old key, which still counts.
        new.put(&folder, elsewhere.as_deref())?;
        self.sign_head()?;
        let place = HeadKey::place(&folder);
        Ok(Rotated { old: old.public(), new: new.public(), seq, place })
    }

    /// The public key that signs heads, and its file.
    ///
    /// # Errors
    /// If it cannot be read or made.
    pub fn key(&self) -> Result<(String, PathBuf), Error> {
        Ok((HeadKey::beside(self.folder())?.public(), HeadKey::place(self.folder())))
    }
}

fn said(chain: &str, seq: u64, old: &str, new: &str) -> String {
    format!("sayso key 1\n{chain}\n{seq}\n{old}\n{new}\n")
}

/// The keys that counted before this one, each with the last record for which it does: as far as each has signed which one
/// followed it.
pub(super) fn earlier(connection: &Connection, chain: &str, key: &str) -> Result<Vec<(String, u64)>, Error> {
    let sql = "SELECT seq, prev, hash, body FROM event WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([NAMES])?;
    let (mut found, mut current) = (Vec::new(), key.to_owned());
    while let Some(row) = rows.next()? {
        let seq = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
        let (previous, own) = (to_hash(&row.get::<_, Vec<u8>>(1)?)?, to_hash(&row.get::<_, Vec<u8>>(2)?)?);
        let body: String = row.get(3)?;
        if link(seq, &previous, &body) == own
            && let Some((old, new)) = rotated(chain, seq, &body)
            && new == current
        {
            found.push((old.clone(), seq));
            current = old;
        }
        if found.len() >= MOST {
            break;
        }
    }
    Ok(found)
}

/// The keys that a record says to have changed, if the old one has signed that.
pub(crate) fn rotated(chain: &str, seq: u64, body: &str) -> Option<(String, String)> {
    let Ok(Event::Change(change)) = Event::from_line(body) else { return None };
    if change.kind != Kind::Chain || change.what != "key-rotated" {
        return None;
    }
    let text = |key: &str| change.detail.get(key).and_then(Value::as_str).map(str::to_owned);
    let (old, new, signature) = (text("old")?, text("new")?, text("signature")?);
    is_signed(&old, &said(chain, seq, &old, &new), &signature).then_some((old, new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Problem;

    fn grow(store: &Sqlite) {
        store.write(|tx| tx.append(&Event::from(Change::now(Kind::Mode, "x"))).map(|_| ())).unwrap();
        store.sign_head().unwrap();
    }

    #[test]
    fn what_earlier_keys_signed_stays_proved_and_a_key_may_lie_elsewhere() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        grow(&store);
        let first = store.rotate_key(None, "ann").unwrap();
        grow(&store);
        let place = elsewhere.path().join("key");
        let second = store.rotate_key(Some(&place), "ann").unwrap();
        assert_eq!((second.old, second.place.as_path()), (first.new.clone(), place.as_path()));
        grow(&store);
        let third = store.rotate_key(None, "ann").unwrap();
        assert_eq!(third.place, place, "it stays where it was put");
        grow(&store);
        let beside = std::fs::read_to_string(dir.path().join("audit.key")).unwrap();
        assert!(beside.contains("at ") && !std::fs::read_to_string(&place).unwrap().contains("at "), "{beside}");
        let found = store.verify(None).unwrap();
        assert_eq!((found.problems, found.signed), (vec![], found.last));
        // Another process reads it there.
        let again = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        assert_eq!(again.key().unwrap().0, third.new);
        // Without the key that follows, those before prove nothing any more.
        std::fs::remove_file(&place).unwrap();
        assert!(again.sign_head().is_err());
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
