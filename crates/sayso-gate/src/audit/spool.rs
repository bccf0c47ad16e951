//! The spool: a hook appends its record as one line, and the next reader folds the lines into the store.
//!
//! A hook lives for a millisecond and must not open a database. It appends with one write. To lose nothing, a
//! writer holds a shared lock while it writes and looks, under the lock, whether the file is still the one of that
//! name; a reader first renames the file, then waits for an exclusive lock on it. To double nothing, records are
//! known by their id, and a file is removed only after the store has committed.

use crate::audit::mark::{self, Marks};
use crate::audit::{
    Event, Happening, Kind, PolicyVersion, Record, Recorder, decision_line, fresh_id, happening_line, loaded, policies,
};
use crate::store::Records;
use crate::{Error, Places};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat};
use sayso_policy::PolicyText;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const CURRENT: &str = "current.jsonl";
const FOLDING: &str = ".folding";
/// How many lines go into the store at once.
const BATCH: usize = 4096;
const DAMAGED: &str = ".damaged";
/// The longest line that is read: far beyond any that a hook writes.
const LONGEST_LINE: u64 = 4 * 1024 * 1024;

/// The spool of one user.
#[derive(Clone, Debug)]
pub struct Spool {
    folder: PathBuf,
    places: Places,
}

/// What folding did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// New records.
    pub records: usize,
    /// Lines that are no record of a hook, and records whose id is taken by another one: kept beside the spool, in a file
    /// whose name ends in `.damaged`.
    pub damaged: usize,
}

impl Spool {
    /// The spool of this user.
    ///
    /// # Errors
    /// If its folder cannot be used.
    pub fn open(places: &Places) -> Result<Self, Error> {
        Ok(Self { folder: places.own_folder("spool")?, places: places.clone() })
    }

    /// Takes down what happened around calls.
    ///
    /// # Errors
    /// If it could not be kept.
    pub fn note(&self, happening: &Happening) -> Result<(), Error> {
        self.append(&happening_line(&happening.fit())?)
    }

    fn append(&self, line: &str) -> Result<(), Error> {
        // Without its key a process still says what it saw: then its lines have no mark.
        let line = self.marks().map_or_else(|_| line.to_owned(), |marks| marks.put_on(line));
        let line = line.as_bytes();
        let path = self.folder.join(CURRENT);
        let mut file = self.lock_for_append(&path)?;
        // A full disk may have left half a line behind: an empty line in front keeps it from spoiling this one.
        let mut whole = Vec::with_capacity(line.len() + 2);
        whole.push(b'\n');
        whole.extend_from_slice(line);
        whole.push(b'\n');
        let written = file.write(&whole).map_err(|e| Error::io("write", &path, e))?;
        if written == whole.len() {
            return Ok(());
        }
        Err(Error::io("write", &path, std::io::Error::from(std::io::ErrorKind::WriteZero)))
    }

    fn marks(&self) -> Result<Marks, Error> {
        Marks::of(self.key_folder())
    }

    /// Sayso's own folder, in which the spool is one.
    fn key_folder(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    /// The current file, locked, and still current.
    fn lock_for_append(&self, path: &Path) -> Result<File, Error> {
        // Each failed turn means that a reader has just taken the file away; it does so at most a few times a second.
        for _ in 0..1000 {
            let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file = rustix::fs::open(path, flags | OFlags::NONBLOCK, Mode::RUSR | Mode::WUSR)
                .map_err(|e| Error::io("open", path, e))?;
            if flock(&file, FlockOperation::NonBlockingLockShared).is_err() {
                continue;
            }
            let opened = fstat(&file).map_err(|e| Error::io("look at", path, e))?;
            let named = std::fs::symlink_metadata(path);
            if named.is_ok_and(|named| named.ino() == opened.st_ino && named.dev() == opened.st_dev) {
                return Ok(File::from(file));
            }
        }
        Err(Error::io("lock", path, std::io::Error::from(std::io::ErrorKind::WouldBlock)))
    }

    /// Folds everything written so far into a store.
    ///
    /// # Errors
    /// If the store refuses. Nothing is lost then: the files stay for the next reader.
    pub fn fold(&self, store: &dyn Records) -> Result<Folded, Error> {
        let current = self.folder.join(CURRENT);
        if std::fs::symlink_metadata(&current).is_ok_and(|meta| meta.len() > 0) {
            // The name sorts by time, so that files are folded in order.
            let aside = self.folder.join(format!("{}{FOLDING}", fresh_id()));
            match std::fs::rename(&current, &aside) {
                Ok(()) => {}
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {} // another reader was faster
                Err(e) => return Err(Error::io("rename", &current, e)),
            }
        }
        let mut folded = Folded::default();
        for path in self.put_aside()? {
            let one = self.fold_file(&path, store)?;
            folded.records += one.records;
            folded.damaged += one.damaged;
        }
        Ok(folded)
    }

    fn put_aside(&self) -> Result<Vec<PathBuf>, Error> {
        self.named(FOLDING)
    }

    /// Files with what stood in the spool and was no record of a hook, whoever put it aside and when.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn damaged(&self) -> Result<Vec<PathBuf>, Error> {
        self.named(DAMAGED)
    }

    /// Files whose names end like this, the oldest first.
    fn named(&self, end: &str) -> Result<Vec<PathBuf>, Error> {
        let listing = std::fs::read_dir(&self.folder).map_err(|e| Error::io("list", &self.folder, e))?;
        let mut paths: Vec<PathBuf> = listing
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.to_string_lossy().ends_with(end))
            .collect();
        paths.sort();
        Ok(paths)
    }

    fn fold_file(&self, path: &Path, store: &dyn Records) -> Result<Folded, Error> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Folded::default()), // folded by another
            Err(e) => return Err(Error::io("open", path, e)),
        };
        // A writer that had opened it before it was renamed is still writing, or another reader folds it: their turn
        // is short. If one of them has stopped, the file waits for the next reader.
        if !wait_for(&file) || std::fs::symlink_metadata(path).is_err() {
            return Ok(Folded::default());
        }
        let mut folded = Folded::default();
        let mut damaged = Vec::new();
        let mut lines = Lines { reader: BufReader::new(file), marks: Marks::known(self.key_folder()) };
        loop {
            let batch = lines.next_batch(&mut damaged).map_err(|e| Error::io("read", path, e))?;
            let Some(batch) = batch else { break };
            let appended = store.append(&batch, &self.policies(&batch))?;
            folded.records += appended.new;
            let conflicting = appended.conflicting.iter().filter_map(|place| batch.get(*place));
            damaged.extend(conflicting.filter_map(|event| event.to_line().ok()).map(String::into_bytes));
        }
        folded.damaged = damaged.len();
        self.keep_damaged(path, &damaged)?;
        std::fs::remove_file(path).map_err(|e| Error::io("remove", path, e))?;
        Ok(folded)
    }

    /// Texts that hooks have left, of the policies that these records are about.
    fn policies(&self, events: &[Event]) -> Vec<PolicyVersion> {
        let loaded = events.iter().filter_map(|event| match event {
            Event::Change(change) if change.kind == Kind::Policy => change.about.as_deref(),
            _ => None,
        });
        let folder = self.places.state.join(policies::FOLDER);
        loaded.filter_map(|version| policies::left(&folder, version)).collect()
    }

    /// What is no record is kept under the name of the file it stood in: written whole, so that a crash before the
    /// file is removed doubles nothing.
    fn keep_damaged(&self, of: &Path, lines: &[Vec<u8>]) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut text = lines.join(&b'\n');
        text.push(b'\n');
        crate::places::write_own(&of.with_extension(DAMAGED.trim_start_matches('.')), &text)
    }
}

/// The lines of a file.
struct Lines {
    reader: BufReader<File>,
    marks: Option<Marks>,
}

impl Lines {
    /// The next records; `None` at the end. What is no record goes to `damaged`.
    fn next_batch(&mut self, damaged: &mut Vec<Vec<u8>>) -> std::io::Result<Option<Vec<Event>>> {
        let mut batch = Vec::new();
        while batch.len() < BATCH {
            let mut line = Vec::new();
            if self.reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
                return Ok(Some(batch).filter(|batch| !batch.is_empty()));
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            let event = std::str::from_utf8(&line).ok().and_then(|line| self.read(line));
            match event.filter(is_a_hooks) {
                Some(event) => batch.push(event),
                None if line.is_empty() => {}
                None => damaged.push(line),
            }
        }
        Ok(Some(batch))
    }
}

impl Lines {
    /// The event of a line, which says of itself whether Sayso wrote it: what the line says of that does not count.
    fn read(&self, line: &str) -> Option<Event> {
        let (line, good) = mark::taken_off(line, self.marks.as_ref());
        let mut event = Event::from_line(&line).ok()?;
        event.set_unverified(!good);
        Some(event)
    }
}

/// Whether this is what hooks write here. The spool is a file that any program of the user can append to: a grant or an
/// answer taken from it would be chained as if Sayso had seen it given. Records that something else hangs on have names
/// with a word after an id, and nothing from here may take such a name before its owner does.
fn is_a_hooks(event: &Event) -> bool {
    let plain = event.id().bytes().filter(|byte| *byte == b'-').count() <= 1;
    plain
        && match event {
            Event::Decision(_) | Event::Happening(_) => true,
            Event::Change(change) => change.kind == Kind::Policy && change.what == "loaded",
        }
}

fn wait_for(file: &File) -> bool {
    (0..100).any(|_| {
        let locked = flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !locked {
            std::thread::sleep(Duration::from_millis(5));
        }
        locked
    })
}

impl Recorder for Spool {
    fn record(&self, record: &Record) -> Result<(), Error> {
        self.append(&decision_line(record)?)
    }

    fn keep_policy(&self, version: &str, files: &[PolicyText]) -> Result<(), Error> {
        if policies::leave(&self.places, version, files)? {
            self.append(&Event::from(loaded(version, files)).to_line()?)?;
        }
        Ok(())
    }
}
