//! The folders of permits, and their files.

use crate::Error;
use rustix::fs::{Mode, OFlags};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Where a permit is.
#[derive(Clone, Copy)]
pub(super) enum State {
    /// Nobody has come for it.
    Open,
    /// It was redeemed.
    Spent,
    /// Those of a call, by names.
    Calls,
}

impl State {
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Open => "hold/permits/open",
            Self::Spent => "hold/permits/spent",
            Self::Calls => "hold/permits/calls",
        }
    }
}

/// Writes a file that is not there yet. It need not survive a crash of the machine, and half of one has no seal.
pub(super) fn write_new(path: &Path, content: &[u8]) -> Result<(), Error> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let written = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)
        .map_err(std::io::Error::from)
        .and_then(|file| std::fs::File::from(file).write_all(content));
    written.map_err(|error| Error::io("write", path, error))
}

pub(super) fn names(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let listing = std::fs::read_dir(folder).map_err(|error| Error::io("list", folder, error))?;
    Ok(listing.filter_map(|entry| Some(entry.ok()?.path())).collect())
}

/// Whether a file was made longer ago; `None`: it is not there. One of the future counts as old.
pub(super) fn is_older(path: &Path, age: Duration) -> Option<bool> {
    let made = std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok()?;
    Some(SystemTime::now().duration_since(made).map_or(true, |ago| ago >= age))
}
