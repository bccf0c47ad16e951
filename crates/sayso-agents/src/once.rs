//! One call, one record, though two hooks are told of it.
//!
//! Copilot and Cursor also run the hooks of Claude Code's settings, and Cursor has been seen to run one hook twice for
//! one call. Both processes judge; what they must not do is record one call as two. So whoever records a call leaves a
//! mark with the call's id and a digest of its content and of what was said, and whoever finds that mark leaves the
//! record to the other.
//!
//! INVARIANT: a mark never changes what is said of a call. It holds the answer too, so that a second judgement that
//! comes out otherwise is recorded; and it only counts once the record is written, so that nothing runs unrecorded. A
//! call without an id of its own is always recorded.

use crate::event::{Call, Event};
use rustix::fs::{Mode, OFlags};
use sayso_gate::audit::Spool;
use sayso_gate::{Error, Places, Record, Recorder};
use sayso_policy::PolicyText;
use sayso_policy::normalise::pattern_name;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long after the first another one may come.
const SAME_CALL: Duration = Duration::from_secs(60);
/// How long the second waits for the first to have written its record.
const PATIENCE: Duration = Duration::from_millis(60);

/// A spool that takes the record of one call once.
pub(crate) struct Once {
    spool: Spool,
    folder: PathBuf,
    /// What the call is, without what was said of it.
    call: blake3::Hasher,
}

impl Once {
    /// The spool for this call: as it is, if the call has no id by which two hooks could mean the same one.
    pub(crate) fn recorder(
        spool: Spool,
        places: &Places,
        event: &Event,
        call: &Call,
    ) -> Result<Box<dyn Recorder + Send + Sync>, Error> {
        let Some(id) = call.id.as_deref().filter(|id| !id.is_empty()) else { return Ok(Box::new(spool)) };
        let mut hasher = blake3::Hasher::new();
        let cwd = event.cwd.as_deref().map(|cwd| cwd.to_string_lossy().into_owned()).unwrap_or_default();
        let parts = [
            id.to_owned(),
            event.session.clone().unwrap_or_default(),
            event.subagents.join("\0"),
            pattern_name(&call.tool),
            call.server.clone().unwrap_or_default(),
            call.input.to_string(),
            cwd,
        ];
        for part in &parts {
            add(&mut hasher, part);
        }
        Ok(Box::new(Self { spool, folder: places.own_folder("told")?, call: hasher }))
    }

    fn mark(&self, record: &Record) -> PathBuf {
        let mut hasher = self.call.clone();
        for part in [record.verdict.as_str(), record.answer.as_str(), &record.policy] {
            add(&mut hasher, part);
        }
        self.folder.join(hasher.finalize().to_hex().as_str())
    }
}

/// With its length, so that no two calls read alike.
fn add(hasher: &mut blake3::Hasher, part: &str) {
    hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
    hasher.update(part.as_bytes());
}

impl Recorder for Once {
    fn record(&self, record: &Record) -> Result<(), Error> {
        let path = self.mark(record);
        let mut mark = match make(&path) {
            Some(mark) => mark,
            None if is_recorded(&path) => return Ok(()),
            // Old, or its maker did not come to its end: this call is recorded whatever the mark says.
            None => {
                let _ = std::fs::remove_file(&path);
                return self.spool.record(record);
            }
        };
        let recorded = self.spool.record(record);
        let counts = recorded.is_ok() && mark.write_all(b"1").is_ok();
        if !counts {
            let _ = std::fs::remove_file(&path);
        }
        forget_old(&self.folder, &path);
        recorded
    }

    fn keep_policy(&self, version: &str, files: &[PolicyText]) -> Result<(), Error> {
        self.spool.keep_policy(version, files)
    }
}

/// The mark, if nobody has made it yet. A folder that cannot be written to costs a record twice, never none.
fn make(path: &Path) -> Option<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).ok().map(File::from)
}

/// Whether whoever made the mark has written the record, a moment ago.
fn is_recorded(path: &Path) -> bool {
    let step = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    loop {
        let Ok(meta) = std::fs::symlink_metadata(path) else { return false };
        let age = meta.modified().ok().and_then(|made| SystemTime::now().duration_since(made).ok());
        if !meta.is_file() || age.is_some_and(|age| age > SAME_CALL) {
            return false;
        }
        if meta.len() > 0 {
            return true;
        }
        if waited >= PATIENCE {
            return false;
        }
        std::thread::sleep(step);
        waited += step;
    }
}

/// Now and then, by chance of the mark's name, the old ones are removed.
fn forget_old(folder: &Path, mark: &Path) {
    if !mark.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"0")) {
        return;
    }
    let Ok(listing) = std::fs::read_dir(folder) else { return };
    for entry in listing.flatten() {
        let made = entry.metadata().and_then(|meta| meta.modified());
        if made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > SAME_CALL)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
