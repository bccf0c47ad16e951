//! Syncing: many commits, one `fdatasync` of the write-ahead log, and nobody else is held up by it.
//!
//! A commit lives in the write-ahead log until a checkpoint has copied it to the main file and synced that. So a sync
//! of the log that begins after a commit was written makes it durable: still in the log, or checkpointed meanwhile.

use super::lock;
use super::place::Place;
use crate::Error;
use crate::store::alarm::Alarm;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A sync begins so long after the first commit that waits for one.
pub(super) const WINDOW: Duration = Duration::from_millis(25);
/// A commit that is not on disk after so long holds up those who come next until it is: what is told is never far ahead
/// of what is kept, whatever the thread that syncs is waiting for.
const LATE: Duration = Duration::from_millis(60);

/// A write-ahead log that is larger than this is copied to the main file in the background, while others write.
const LARGE_LOG: u64 = 4 * 1024 * 1024;
/// Not more often than this.
const BETWEEN_COPIES: Duration = Duration::from_secs(1);

/// What is on disk of what was committed.
pub(super) struct Durable {
    store: PathBuf,
    log: PathBuf,
    place: Place,
    alarm: Alarm,
    /// How many commits this process has made.
    committed: AtomicU64,
    /// All commits up to this one are on disk: the same as below, for those who need not wait to know.
    synced_to: AtomicU64,
    synced: Mutex<Synced>,
    /// A thread looks after commits that nobody waits for.
    looked_after: AtomicBool,
    /// The log is being copied to the main file.
    copying: AtomicBool,
    unsynced: Mutex<Unsynced>,
    changed: Condvar,
}

#[derive(Default)]
struct Synced {
    /// All commits up to this one are on disk.
    up_to: u64,
    file: Option<File>,
    /// A sync has failed: what the system says of later ones is no proof of anything.
    broken: Option<Arc<str>>,
}

#[derive(Default)]
struct Unsynced {
    /// When the first commit was made that no sync has begun for.
    since: Option<Instant>,
    /// The same of those for which one has begun.
    under_way: Option<Instant>,
    stop: bool,
}

impl Unsynced {
    fn is_late(&self) -> bool {
        self.under_way.or(self.since).is_some_and(|since| since.elapsed() > LATE)
    }
}

impl Durable {
    pub(super) fn of(store: &Path) -> Self {
        let mut log = store.as_os_str().to_owned();
        log.push("-wal");
        Self {
            store: store.to_owned(),
            log: log.into(),
            place: Place::of(store),
            alarm: Alarm::default(),
            committed: AtomicU64::new(0),
            synced_to: AtomicU64::new(0),
            synced: Mutex::default(),
            looked_after: AtomicBool::new(false),
            copying: AtomicBool::new(false),
            unsynced: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// One more commit was written. Gives its number.
    pub(super) fn committed(&self) -> u64 {
        self.committed.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// What is wrong with the chain.
    pub(super) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// Why something was not kept, where that is known better: the files are not those that were opened, or records are gone.
    pub(super) fn why_not_kept(&self) -> Result<(), Error> {
        self.place.check()?;
        self.alarm.why().map_or(Ok(()), |why| Err(Error::Altered(why)))
    }

    /// Fails if the store's files are not those that were opened.
    pub(super) fn check_place(&self) -> Result<(), Error> {
        self.place.check()
    }

    /// Fails if a sync has failed: what was said to be durable since may not be. Or if the files are not those any more.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.place.check()?;
        self.check_synced()
    }

    /// Fails if a sync has failed.
    pub(super) fn check_synced(&self) -> Result<(), Error> {
        // Whoever syncs holds this lock for long; then nothing is known to be broken yet.
        match self.synced.try_lock() {
            Ok(synced) => synced.check(),
            Err(_) => Ok(()),
        }
    }

    /// Returns once this commit is on disk.
    pub(super) fn sync(&self, commit: u64) -> Result<(), Error> {
        if self.synced_to.load(Ordering::SeqCst) >= commit {
            return Ok(());
        }
        let mut synced = lock(&self.synced);
        synced.check()?;
        // While this caller waited for the lock, another's sync may have covered its commit.
        if synced.up_to >= commit {
            return Ok(());
        }
        // INVARIANT: read before the sync begins; only what was committed by then is covered.
        let covered = self.committed.load(Ordering::SeqCst);
        match synced.sync(&self.log) {
            Ok(()) => {
                // INVARIANT: looked at behind the sync: what is on disk must be found there.
                self.place.check()?;
                synced.up_to = covered;
                self.synced_to.store(covered, Ordering::SeqCst);
                Ok(())
            }
            Err(error) => {
                self.place.check()?;
                let why = Error::io("sync", &self.log, error).to_string();
                synced.broken = Some(why.into());
                synced.check()
            }
        }
    }

    /// Syncs what any process has committed so far.
    pub(super) fn sync_log(&self) -> Result<(), Error> {
        let synced = File::open(&self.log).and_then(|log| log.sync_data());
        match synced {
            // What was in it is in the main file, which was synced before.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            synced => synced.map_err(|error| Error::io("sync", &self.log, error)),
        }
    }

    /// Has what is committed synced within the window, by a thread that is started for it once.
    pub(super) fn sync_soon(this: &Arc<Self>) -> Result<(), Error> {
        let mut unsynced = lock(&this.unsynced);
        if unsynced.since.is_none() {
            unsynced.since = Some(Instant::now());
            this.changed.notify_one();
        }
        let late = unsynced.is_late();
        drop(unsynced);
        if late {
            return this.sync(this.committed.load(Ordering::SeqCst));
        }
        if this.looked_after.load(Ordering::SeqCst) || this.looked_after.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let durable = Arc::clone(this);
        let thread = std::thread::Builder::new().name("sayso-sync".to_owned()).stack_size(512 * 1024);
        match thread.spawn(move || durable.look_after()) {
            Ok(_) => Ok(()),
            Err(_) => {
                // Nobody looks after it, so this caller does.
                this.looked_after.store(false, Ordering::SeqCst);
                this.sync(this.committed.load(Ordering::SeqCst))
            }
        }
    }

    fn look_after(self: &Arc<Self>) {
        let mut copied = Instant::now();
        loop {
            let mut unsynced = lock(&self.unsynced);
            while unsynced.since.is_none() && !unsynced.stop {
                unsynced = self.changed.wait(unsynced).unwrap_or_else(PoisonError::into_inner);
            }
            let waited = unsynced.since.map_or(WINDOW, |since| since.elapsed());
            if let (false, Some(rest)) = (unsynced.stop, WINDOW.checked_sub(waited)) {
                let waited = self.changed.wait_timeout_while(unsynced, rest, |unsynced| !unsynced.stop);
                unsynced = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            unsynced.under_way = unsynced.since.take();
            let stop = unsynced.stop;
            drop(unsynced);
            // A failure is kept, and refuses whatever is to be kept next.
            let _ = self.sync(self.committed.load(Ordering::SeqCst));
            lock(&self.unsynced).under_way = None;
            if stop {
                return;
            }
            if copied.elapsed() > BETWEEN_COPIES && size_of(&self.log) > LARGE_LOG {
                self.copy_aside();
                copied = Instant::now();
            }
        }
    }

    /// Has the log copied to the main file by a thread of its own: that takes as long as the disk likes, and no sync waits
    /// for it. Writers go on meanwhile; if it fails, a commit does it later.
    fn copy_aside(self: &Arc<Self>) {
        if self.copying.swap(true, Ordering::SeqCst) {
            return;
        }
        let durable = Arc::clone(self);
        let thread = std::thread::Builder::new().name("sayso-copy".to_owned()).stack_size(512 * 1024);
        let spawned = thread.spawn(move || {
            if let Ok(connection) = super::connection::to_read(&durable.store) {
                let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            }
            durable.copying.store(false, Ordering::SeqCst);
        });
        if spawned.is_err() {
            self.copying.store(false, Ordering::SeqCst);
        }
    }

    /// Syncs what is left, and lets the thread end.
    pub(super) fn stop(&self) {
        lock(&self.unsynced).stop = true;
        self.changed.notify_all();
        let _ = self.sync(self.committed.load(Ordering::SeqCst));
    }
}

impl Synced {
    fn check(&self) -> Result<(), Error> {
        match &self.broken {
            Some(why) => Err(Error::NotKept(Arc::clone(why))),
            None => Ok(()),
        }
    }

    fn sync(&mut self, log: &Path) -> std::io::Result<()> {
        let named = std::fs::symlink_metadata(log)?;
        let same = |file: &File| file.metadata().is_ok_and(|m| m.ino() == named.ino() && m.dev() == named.dev());
        let file = match self.file.take().filter(same) {
            Some(file) => file,
            None => File::open(log)?,
        };
        file.sync_data()?;
        self.file = Some(file);
        Ok(())
    }
}

fn size_of(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |meta| meta.len())
}
