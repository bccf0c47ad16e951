//! What a tried run changed, as plain data.

use std::path::PathBuf;

/// A difference between a workspace and what a tried run made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The absolute path, as the run saw it. Names are bytes: there may be line breaks and escape codes in them.
    pub path: PathBuf,
    /// The writable folder that it is in.
    pub root: PathBuf,
    /// What is there now; `None`: nothing.
    pub before: Option<Node>,
    /// What the run left there; `None`: nothing.
    pub after: Option<Node>,
    /// The file had this path before. Committing the change removes it there.
    pub from: Option<PathBuf>,
    /// The name is one that the bounds want to be absent, or leads to one.
    pub guarded: bool,
    /// The file was changed from outside since the run began: it is not committed.
    pub conflict: bool,
    /// The contents, as far as they can be shown.
    pub diff: Diff,
    pub(crate) proof: Proof,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A file.
    File {
        /// Its size.
        bytes: u64,
        /// Its permissions. Bits beyond `0o777` are never committed.
        mode: u32,
    },
    /// A symlink.
    Link {
        /// Where it leads. It may lead out of the workspace.
        target: PathBuf,
    },
    /// A folder.
    Folder {
        /// Its permissions.
        mode: u32,
    },
    /// A pipe, socket or device. It is never committed.
    Special {
        /// What it is.
        what: &'static str,
    },
}

/// What sort of change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// There was nothing.
    Added,
    /// A file has other contents, or a link another target.
    Changed,
    /// There is nothing any more.
    Removed,
    /// A file with the same contents was removed elsewhere: [`Change::from`].
    Renamed,
    /// Only the permissions are others.
    Mode,
    /// It was a file and is a folder, or the like.
    Type,
}

impl ChangeKind {
    /// In one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
            Self::Mode => "mode",
            Self::Type => "type",
        }
    }
}

/// Contents, as far as they can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diff {
    /// There are none, or they are the same.
    None,
    /// Text, before and after; `None`: there was, or is, no file.
    Text {
        /// What is there now.
        before: Option<String>,
        /// What the run left there.
        after: Option<String>,
    },
    /// Not text.
    Binary,
    /// Too much to show.
    Large,
}

/// What a commit checks again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proof {
    /// The file that the run found.
    pub(crate) seen: Option<Seen>,
    /// The file that it was renamed from.
    pub(crate) from: Option<Seen>,
    /// The hash of what was shown.
    pub(crate) hash: Option<[u8; 32]>,
}

/// A file, at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: i64,
    pub(crate) modified: (i64, i64),
    pub(crate) changed: (i64, i64),
}

impl Seen {
    pub(crate) fn of(data: &rustix::fs::Stat) -> Self {
        let part = |nanoseconds: u64| i64::try_from(nanoseconds).unwrap_or(0);
        Self {
            device: data.st_dev,
            inode: data.st_ino,
            size: data.st_size,
            modified: (data.st_mtime, part(data.st_mtime_nsec)),
            changed: (data.st_ctime, part(data.st_ctime_nsec)),
        }
    }

    /// The same file with the same contents, though it may have been renamed meanwhile.
    pub(crate) fn is_moved(&self, other: &Self) -> bool {
        (self.device, self.inode, self.size, self.modified) == (other.device, other.inode, other.size, other.modified)
    }
}

impl Change {
    /// What sort of change it is.
    #[must_use]
    pub fn kind(&self) -> ChangeKind {
        use Node::{File, Folder, Link, Special};
        if self.from.is_some() {
            return ChangeKind::Renamed;
        }
        match (&self.before, &self.after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Removed,
            (Some(File { .. }), Some(File { .. })) if self.proof.hash.is_none() => ChangeKind::Mode,
            (Some(Folder { .. }), Some(Folder { .. })) => ChangeKind::Mode,
            (Some(File { .. }), Some(File { .. }))
            | (Some(Link { .. }), Some(Link { .. }))
            | (Some(Special { .. }), Some(Special { .. })) => ChangeKind::Changed,
            _ => ChangeKind::Type,
        }
    }

    /// The hash of the contents that a commit would make; `None`: it makes none.
    #[must_use]
    pub const fn contents_hash(&self) -> Option<[u8; 32]> {
        self.proof.hash
    }

    /// Whether a commit can take it at all.
    #[must_use]
    pub const fn can_be_committed(&self) -> bool {
        !self.conflict && !matches!(self.after, Some(Node::Special { .. }))
    }
}
