//! Marks that hook processes leave for each other: empty or nearly empty files in Sayso's own folder, named by a hash,
//! forgotten after a minute.

use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Where they are.
pub(crate) const FOLDER: &str = "told";
/// How long after one hook another of the same call may come.
const SAME_CALL: Duration = Duration::from_secs(60);

/// A name of these parts. Each goes in with its length, so that no two read alike.
pub(crate) fn name(parts: &[String]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The mark, if nobody has made it yet.
pub(crate) fn make(path: &Path) -> Option<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let made = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).ok().map(File::from);
    if made.is_some() {
        forget_old(path);
    }
    made
}

/// Whether it is there, made a moment ago.
pub(crate) fn is_fresh(path: &Path) -> bool {
    length(path).is_some()
}

/// How long a fresh one is.
pub(crate) fn length(path: &Path) -> Option<u64> {
    let meta = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let age = SystemTime::now().duration_since(meta.modified().ok()?).unwrap_or_default();
    (age <= SAME_CALL).then_some(meta.len())
}

/// Now and then, by chance of the mark's name, the old ones are removed.
fn forget_old(mark: &Path) {
    if !mark.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"0")) {
        return;
    }
    let Some(Ok(listing)) = mark.parent().map(std::fs::read_dir) else { return };
    for entry in listing.flatten() {
        if length(&entry.path()).is_none() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
