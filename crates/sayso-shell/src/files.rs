//! The few facts about files that the analysis and the policy ask for, behind a trait so that both stay pure.

use std::path::{Path, PathBuf};

/// What stands at a path, its last link not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Missing,
    /// A regular file.
    File {
        /// Somebody may execute it.
        executable: bool,
    },
    /// A folder.
    Folder {
        /// Anybody may write to it.
        world_writable: bool,
    },
    /// A symbolic link to this.
    Link(PathBuf),
    /// A device, socket or pipe.
    Other,
    /// It could not be found out (no permission, no file system).
    Unknown,
}

/// Facts about files. Implementations must not panic and must not follow the last link in `kind`.
pub trait Files {
    /// What stands at this absolute path.
    fn kind(&self, path: &Path) -> Kind;

    /// The names in a folder, at most `limit` of them; `None` if it cannot be read or holds more.
    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<std::ffi::OsString>>;

    /// The content of a regular file of at most `limit` bytes.
    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>>;
}

/// No facts at all: everything is [`Kind::Unknown`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn kind(&self, _: &Path) -> Kind {
        Kind::Unknown
    }
    fn list(&self, _: &Path, _: usize) -> Option<Vec<std::ffi::OsString>> {
        None
    }
    fn read(&self, _: &Path, _: usize) -> Option<Vec<u8>> {
        None
    }
}
