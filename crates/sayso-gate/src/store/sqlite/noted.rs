//! Where the chain ended, noted beside the store while a server runs.
//!
//! The newest records hang on nothing that would miss them: whoever deletes them while nobody has the store open leaves a
//! chain that is whole. So a server notes each second where it ends, in a file of its own, signed like a head, and whoever
//! opens the store compares. That a note is kept is itself a record, so that to remove the note tells too.
//!
//! INVARIANT: a note is never ahead of what is on disk: else a power cut would look like somebody's deed.
//!
//! What remains: whoever can read the key can sign another note, and what came after the last one has none.

use super::Sqlite;
use super::chain::name;
use super::keys;
use super::records::{end, to_hash};
use crate::Error;
use crate::audit::{Change, Event, Head, HeadKey, Kind};
use crate::files::read_regular;
use crate::places::write_own;
use crate::store::Records as _;
use rusqlite::{Connection, OptionalExtension};
use rustix::fs::OFlags;
use std::path::PathBuf;

/// The file's name, in Sayso's own folder.
const FILE: &str = "end.json";
/// The record that says that there is a note.
const KEPT: &str = "end-noted";
const LONGEST: usize = 4096;

/// Notes where the chain ends, unless that is where it ended at the last note. Gives that.
pub(super) fn note(store: &Sqlite, after: u64) -> Result<u64, Error> {
    if after == 0 && !store.read(is_kept)? {
        let mut change = Change::now(Kind::Chain, "end-noted");
        change.id = KEPT.to_owned();
        change.by = Some("sayso".to_owned());
        store.append(&[Event::from(change)], &[])?;
    }
    let (chain, end) = store.read(|connection| Ok((name(connection)?, end(connection)?)))?;
    // One that is shorter than it was is no news, but somebody's deed.
    if end.seq <= after {
        return Ok(after);
    }
    // Where there is a key, the store is expected to hold heads: the first note of a process leaves one there.
    let head = if after == 0 { store.sign()? } else { HeadKey::beside(store.folder())?.sign(&chain, &end) };
    store.durable.sync_log()?;
    let file = place(store);
    let text = serde_json::to_vec(&head)?;
    write_own(&file, &text)?;
    Ok(head.seq)
}

/// What is not as the last note says.
pub(super) fn problem(store: &Sqlite) -> Result<Option<String>, Error> {
    let path = place(store);
    let head: Head = match read_regular(&path, LONGEST, OFlags::NOFOLLOW) {
        Ok((text, _)) => match serde_json::from_slice(&text) {
            Ok(head) => head,
            Err(_) => return Ok(Some(format!("{} is not what Sayso wrote", path.display()))),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let gone = format!("{}, where a server notes its end, is missing", path.display());
            return Ok(store.read(is_kept)?.then_some(gone));
        }
        Err(error) => return Err(Error::io("read", &path, error)),
    };
    let key = HeadKey::made(store.folder()).map(|(key, _)| key);
    store.read(|connection| compare(connection, &head, key.as_deref()))
}

fn compare(connection: &Connection, head: &Head, key: Option<&str>) -> Result<Option<String>, Error> {
    let chain = name(connection)?;
    if head.chain != chain {
        return Ok(Some("another database stands where one with more records was".to_owned()));
    }
    if let Some(key) = key {
        let earlier = keys::earlier(connection, &chain, key)?;
        let counts = head.key == key || earlier.iter().any(|(old, up_to)| *old == head.key && head.seq <= *up_to);
        if !(counts && head.is_signed()) {
            return Ok(Some("the note of where it ended is not signed with the key of this store".to_owned()));
        }
    }
    let last = end(connection)?.seq;
    if last < head.seq {
        return Ok(Some(format!("records {} to {} are missing at the end", last + 1, head.seq)));
    }
    let number = |sql| -> Result<u64, Error> {
        let found: Option<i64> = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
        Ok(found.map_or(0, |found| u64::try_from(found).unwrap_or_default()))
    };
    if head.seq <= number("SELECT max(seq) FROM anchor")? {
        return Ok(None);
    }
    let sql = "SELECT hash FROM event WHERE seq = ?1";
    let seq = i64::try_from(head.seq).unwrap_or(i64::MAX);
    let found: Option<Vec<u8>> = connection.prepare_cached(sql)?.query_row([seq], |row| row.get(0)).optional()?;
    let same = found.and_then(|hash| to_hash(&hash).ok()).is_some_and(|hash| hash.to_hex().as_str() == head.hash);
    let other = || format!("record {} is not the one that was there: the newest records were removed", head.seq);
    Ok((!same).then(other))
}

/// Takes the chain as it is, though something is missing at its end: from now on that is where it ended.
pub(super) fn accept(store: &Sqlite, by: &str) -> Result<u64, Error> {
    let wrong = problem(store)?;
    let mut change = Change::now(Kind::Chain, "end-accepted");
    change.by = Some(by.to_owned());
    change.detail = serde_json::json!({ "missing": wrong });
    store.append(&[Event::from(change)], &[])?;
    note(store, 0)
}

fn is_kept(connection: &Connection) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM event WHERE id = ?1)";
    Ok(connection.prepare_cached(sql)?.query_row([KEPT], |row| row.get(0))?)
}

fn place(store: &Sqlite) -> PathBuf {
    store.folder().join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Chain as _, Keep};

    fn grow(store: &Sqlite, by: usize) {
        let add = |_| store.write(|tx| tx.append(&Event::from(Change::now(Kind::Mode, "x"))).map(|_| ()));
        (0..by).try_for_each(add).unwrap();
    }

    /// What is found wrong once somebody has done this to a store that nobody has open.
    fn after(done: impl FnOnce(&std::path::Path)) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        let store = Sqlite::open_at(&path).unwrap();
        grow(&store, 20);
        store.note_end(0).unwrap();
        assert_eq!(store.end_problem().unwrap(), None);
        assert_eq!(store.verify(None).unwrap().problems, []);
        drop(store);
        done(&path);
        let store = Sqlite::open_at(&path).unwrap();
        grow(&store, 1);
        store.end_problem().unwrap()
    }

    fn forge(path: &std::path::Path, sql: &str) {
        rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
    }

    #[test]
    fn newest_records_that_were_deleted_while_nobody_looked_are_missed() {
        assert_eq!(after(|_| {}), None);
        for count in [1, 2, 5, 20] {
            let sql = format!("DELETE FROM event WHERE seq > (SELECT max(seq) - {count} FROM event); DELETE FROM head");
            assert!(after(|path| forge(path, &sql)).is_some(), "{count}");
        }
        let missing = after(|path| std::fs::remove_file(path.with_file_name(FILE)).unwrap());
        assert!(missing.is_some_and(|why| why.contains("is missing")));
        assert!(after(|path| std::fs::write(path.with_file_name(FILE), "{}").unwrap()).is_some());
        let replaced = after(|path| {
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{end}", path.display()));
            }
        });
        assert!(replaced.is_some_and(|why| why.contains("another database")));
        let signed = after(|path| {
            forge(path, "DELETE FROM event WHERE seq > 10");
            let file = path.with_file_name(FILE);
            let mut head: Head = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            head.seq = 3;
            std::fs::write(&file, serde_json::to_vec(&head).unwrap()).unwrap();
        });
        assert!(signed.is_some_and(|why| why.contains("not signed")));
    }

    #[test]
    fn pruning_and_another_key_are_nobodys_deed_and_the_owner_can_accept_what_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        grow(&store, 20);
        let noted = store.note_end(0).unwrap();
        store.rotate_key(None, "ann").unwrap();
        assert_eq!(store.end_problem().unwrap(), None);
        store.prune(Keep::Last(2), "ann").unwrap();
        assert_eq!(store.end_problem().unwrap(), None);
        grow(&store, 5);
        assert!(store.note_end(noted).unwrap() > noted);
        forge(store.path(), "DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)");
        assert!(store.end_problem().unwrap().is_some());
        let store = Sqlite::open_at(store.path()).unwrap();
        store.accept_end("ann").unwrap();
        assert_eq!(store.end_problem().unwrap(), None);
    }
}
