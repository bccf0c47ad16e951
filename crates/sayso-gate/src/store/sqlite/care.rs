//! Looking after the file: is it whole, what version has it, and a copy of it.

use super::{FILE, Sqlite, connection, migration, sketch, whole};
use crate::store::{Condition, Upkeep};
use crate::{Error, Places};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Pages that are given back in one transaction.
const PAGES_IN_A_STEP: u32 = 1000;
/// A file with more pages in use is not written anew: that would take longer than a hook waits.
const MOST_PAGES_ANEW: i64 = 64 * 1024;

impl Upkeep for Sqlite {
    fn writable(&self) -> Result<(), Error> {
        self.write(|_| Ok(()))
    }

    fn in_place(&self) -> Result<(), Error> {
        self.durable.check_place()
    }

    fn back_up(&self, to: &Path) -> Result<(), Error> {
        // Made here, so that it is closed to others from its first moment, and so that nothing is overwritten.
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        drop(rustix::fs::open(to, flags, Mode::RUSR | Mode::WUSR).map_err(|e| Error::io("create", to, e))?);
        let copied = connection::to_read(&self.path).and_then(|connection| {
            connection.pragma_update(None, "query_only", false)?;
            connection.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
            File::open(to).and_then(|file| file.sync_all()).map_err(|e| Error::io("sync", to, e))
        });
        copied.inspect_err(|_| drop(std::fs::remove_file(to)))
    }

    fn move_mark(&self) -> Result<(), Error> {
        whole::move_mark(self)
    }

    fn sketch(&self, most: usize) -> Result<usize, Error> {
        sketch::make(self, most)
    }
}

impl Sqlite {
    /// Gives the room of what was removed back to the system. Files of before version 7 cannot do so bit by bit: those are
    /// written anew, unless what is left is so much that others would wait for it.
    pub(super) fn shrink(&self) -> Result<(), Error> {
        let connection = connection::to_read(&self.path)?;
        self.durable.check_place()?;
        connection.pragma_update(None, "query_only", false)?;
        let number = |what: &str| connection.pragma_query_value(None, what, |row| row.get::<_, i64>(0));
        if number("auto_vacuum")? == 2 {
            // In steps, so that nobody waits for long.
            while number("freelist_count")? > 0 {
                let before = number("freelist_count")?;
                let mut step = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES_IN_A_STEP})"))?;
                let mut rows = step.query([])?;
                while rows.next()?.is_some() {}
                if number("freelist_count")? >= before {
                    break;
                }
            }
        } else if number("freelist_count")? * 4 > number("page_count")?
            && number("page_count")? - number("freelist_count")? < MOST_PAGES_ANEW
        {
            connection.pragma_update(None, "auto_vacuum", 2)?;
            // Somebody who reads or writes is in the way: the next time, then.
            let _ = connection.execute_batch("VACUUM");
        }
        // The file itself becomes shorter when the log is copied to it.
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        Ok(())
    }

    /// Looks at this user's store without bringing it up to date.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(in crate::store) fn look(places: &Places) -> Result<Condition, Error> {
        Self::look_at(&places.own_folder("")?.join(FILE))
    }

    /// The same at another place.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn look_at(path: &Path) -> Result<Condition, Error> {
        let mut found =
            Condition { path: path.to_owned(), version: None, known: migration::known(), bytes: 0, damage: Vec::new() };
        if !path.try_exists().map_err(|e| Error::io("look at", path, e))? {
            return Ok(found);
        }
        let connection = connection::to_read(path)?;
        found.bytes = size(path) + size(&PathBuf::from(format!("{}-wal", path.display())));
        found.version = Some(migration::version(&connection)?);
        let mut check = connection.prepare("PRAGMA integrity_check(20)")?;
        let mut rows = check.query([])?;
        while let Some(row) = rows.next()? {
            let line: String = row.get(0)?;
            if line != "ok" {
                found.damage.push(line);
            }
        }
        Ok(found)
    }
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map(|meta| meta.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Change, Event, Kind, Query};
    use crate::store::{Chain as _, Keep, Records as _};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_copy_is_whole_closed_to_others_and_overwrites_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        store.write(|tx| tx.append(&Event::from(Change::now(Kind::Grant, "given")))).unwrap();
        let copy = dir.path().join("copy.db");
        store.back_up(&copy).unwrap();
        assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(store.back_up(&copy).is_err());
        let verified = Sqlite::open_at(&copy).unwrap().verify(None).unwrap();
        assert_eq!((verified.records, verified.problems), (1, vec![]));
    }

    /// The size of a store before and after most of it was pruned, while another process has it open.
    fn pruned(path: &Path) -> (u64, u64) {
        let store = Sqlite::open_at(path).unwrap();
        let other = Sqlite::open_at(path).unwrap();
        for _ in 0..6 {
            let some = |tx: &mut crate::store::sqlite::Transaction<'_>| {
                (0..1000).try_for_each(|_| tx.append(&Event::from(Change::now(Kind::Grant, "given"))).map(|_| ()))
            };
            store.write(some).unwrap();
        }
        assert_eq!(other.count(&Query::default()).unwrap(), 6000);
        store.shrink().unwrap();
        let before = size(path);
        assert_eq!(store.prune(Keep::Last(100), "ann").unwrap().records, 5900);
        assert_eq!(other.verify(None).unwrap().problems, []);
        assert_eq!(other.count(&Query::default()).unwrap(), 101);
        (before, size(path))
    }

    #[test]
    fn pruning_gives_the_room_back() {
        let dir = tempfile::tempdir().unwrap();
        let (before, after) = pruned(&dir.path().join("s.db"));
        assert!(before > 1024 * 1024 && after < before / 5, "{before} {after}");
    }

    #[test]
    fn pruning_gives_the_room_of_an_older_file_back_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        let old = rusqlite::Connection::open(&path).unwrap();
        old.execute_batch(
            "PRAGMA auto_vacuum = NONE; CREATE TABLE migration_of_before (x); DROP TABLE migration_of_before",
        )
        .unwrap();
        drop(old);
        let (before, after) = pruned(&path);
        assert!(before > 1024 * 1024 && after < before / 5, "{before} {after}");
    }

    #[test]
    fn looking_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        assert_eq!(Sqlite::look_at(&path).unwrap().version, None);
        assert!(!path.exists());
        Sqlite::open_at(&path).unwrap();
        let found = Sqlite::look_at(&path).unwrap();
        assert_eq!((found.version, found.damage), (Some(found.known), vec![]));
    }

    #[test]
    fn damage_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        let store = Sqlite::open_at(&path).unwrap();
        for _ in 0..200 {
            store.write(|tx| tx.append(&Event::from(Change::now(Kind::Grant, "given")))).unwrap();
        }
        drop(store);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4096].fill(0xAA);
        std::fs::write(&path, bytes).unwrap();
        let told = Sqlite::look_at(&path).map_or(true, |found| !found.damage.is_empty());
        assert!(told);
    }
}
