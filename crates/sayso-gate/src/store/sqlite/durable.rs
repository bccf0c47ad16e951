//! Syncing: many commits, one `fdatasync` of the write-ahead log, and nobody else is held up by it.
//!
//! A commit lives in the write-ahead log until a checkpoint has copied it to the main file and synced that. So a sync
//! of the log that begins after a commit was written makes it durable: still in the log, or checkpointed meanwhile.

use super::lock;
use crate::Error;
use rusqlite::Connection;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A decision is on disk this long after it was acknowledged, plus the time of one sync.
pub(super) const WINDOW: Duration = Duration::from_millis(50);

/// A write-ahead log that is larger than this is copied to the main file in the background, while others write.
const LARGE_LOG: u64 = 4 * 1024 * 1024;
/// Not more often than this.
const BETWEEN_COPIES: Duration = Duration::from_secs(1);

/// What is on disk of what was committed.
pub(super) struct Durable {
    store: PathBuf,
    log: PathBuf,
    /// How many commits this process has made.
    committed: AtomicU64,
    synced: Mutex<Synced>,
    /// A thread looks after commits that nobody waits for.
    looked_after: AtomicBool,
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
    any: bool,
    stop: bool,
}

impl Durable {
    pub(super) fn of(store: &Path) -> Self {
        let mut log = store.as_os_str().to_owned();
        log.push("-wal");
        Self {
            store: store.to_owned(),
            log: log.into(),
            committed: AtomicU64::new(0),
            synced: Mutex::default(),
            looked_after: AtomicBool::new(false),
            unsynced: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// One more commit was written. Gives its number.
    pub(super) fn committed(&self) -> u64 {
        self.committed.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Fails if a sync has failed: what was said to be durable since may not be.
    pub(super) fn check(&self) -> Result<(), Error> {
        // Whoever syncs holds this lock for long; then nothing is known to be broken yet.
        match self.synced.try_lock() {
            Ok(synced) => synced.check(),
            Err(_) => Ok(()),
        }
    }

    /// Returns once this commit is on disk.
    pub(super) fn sync(&self, commit: u64) -> Result<(), Error> {
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
                synced.up_to = covered;
                Ok(())
            }
            Err(error) => {
                let why = Error::io("sync", &self.log, error).to_string();
                synced.broken = Some(why.into());
                synced.check()
            }
        }
    }

    /// Has what is committed synced within the window, by a thread that is started for it once.
    pub(super) fn sync_soon(this: &Arc<Self>) -> Result<(), Error> {
        let mut unsynced = lock(&this.unsynced);
        if !unsynced.any {
            unsynced.any = true;
            this.changed.notify_one();
        }
        drop(unsynced);
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

    fn look_after(&self) {
        let (mut copier, mut copied) = (None, Instant::now());
        loop {
            let mut unsynced = lock(&self.unsynced);
            while !unsynced.any && !unsynced.stop {
                unsynced = self.changed.wait(unsynced).unwrap_or_else(PoisonError::into_inner);
            }
            if !unsynced.stop {
                let waited = self.changed.wait_timeout_while(unsynced, WINDOW, |unsynced| !unsynced.stop);
                unsynced = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            unsynced.any = false;
            let stop = unsynced.stop;
            drop(unsynced);
            // A failure is kept, and refuses whatever is to be kept next.
            let _ = self.sync(self.committed.load(Ordering::SeqCst));
            if stop {
                return;
            }
            let large = || std::fs::metadata(&self.log).is_ok_and(|log| log.len() > LARGE_LOG);
            if copied.elapsed() > BETWEEN_COPIES && large() {
                self.copy(&mut copier);
                copied = Instant::now();
            }
        }
    }

    /// Copies the log to the main file. Writers go on meanwhile; if it fails, a commit does it later.
    fn copy(&self, copier: &mut Option<Connection>) {
        if copier.is_none() {
            *copier = super::connection::to_read(&self.store).ok();
        }
        if let Some(connection) = copier {
            let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
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
