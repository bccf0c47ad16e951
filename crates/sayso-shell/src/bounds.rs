//! What a held run may do: plain data, made from a policy and kept by the kernel.
//!
//! Nothing here looks at a file. Paths are absolute and have no symlink in them when they are handed to a hold; it
//! refuses to start where they do not hold up.

use std::ffi::OsString;
use std::path::PathBuf;

/// The bounds of a run.
///
/// What no field speaks of stays as it is on a machine that may only be read: every file that the user may read can be
/// read, nothing can be written, no host can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Folders that may be written, with everything below.
    pub write: Vec<PathBuf>,
    /// Files and folders inside [`write`](Self::write) that stay as they are. They cannot be renamed away, and neither
    /// can a folder above them.
    pub read_only: Vec<PathBuf>,
    /// Names inside [`write`](Self::write) that do not exist and must not come into being. Whatever appears there is
    /// moved aside and reported.
    pub absent: Vec<PathBuf>,
    /// Where to move such things; without it they stay beside their name, under another one.
    pub aside: Option<PathBuf>,
    /// Folders that look empty.
    pub hide: Vec<PathBuf>,
    /// What can be read inside hidden folders all the same.
    pub read: Vec<PathBuf>,
    /// Files that read as a sentence instead of what they hold.
    pub decoys: Vec<Decoy>,
    /// Files that read as a text instead, such as settings without the secrets in them. Who opens them is not told.
    pub texts: Vec<Decoy>,
    /// Files that cannot be opened.
    pub refuse: Vec<PathBuf>,
    /// Of [`write`](Self::write), folders that other programs use too.
    pub shared: Vec<Shared>,
    /// Hosts that can be reached.
    pub hosts: Vec<Host>,
    /// Unix sockets outside that can be reached.
    pub sockets: Vec<PathBuf>,
    /// Folders of caches, and what a run sees of them.
    pub caches: Vec<Cache>,
    /// Variables of the environment that the run does not get.
    pub withhold: Vec<OsString>,
    /// Variables that the run gets with another value, such as an address without the password in it.
    pub replace: Vec<(OsString, OsString)>,
    /// How much of this the machine must be able to keep.
    pub need: Need,
    /// What becomes of processes that the run leaves behind.
    pub leave: Leave,
}

/// A secret, and what is read in its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decoy {
    /// The file.
    pub path: PathBuf,
    /// What it seems to hold.
    pub text: String,
}

/// A folder for temporary files, which everybody uses.
///
/// What others have in it is not the run's: sockets, what belongs to another user, and what is older than this and nobody
/// else may read can neither be read nor changed. What is older and can be read by everybody cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shared {
    /// The folder.
    pub path: PathBuf,
    /// What came into being later counts as the run's own, in seconds since 1970.
    pub since: u64,
}

/// A host by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    /// `example.org`, `*.example.org` (any name below it), or an IPv4 address.
    pub name: String,
    /// Its ports; none: 80 and 443.
    pub ports: Vec<u16>,
}

/// A folder that tools keep for all their runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cache {
    /// Where tools look for it.
    pub path: PathBuf,
    /// What the run sees there.
    pub seen: CacheView,
}

/// What a run sees of a cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CacheView {
    /// What is in it; changes go to this folder, which is kept for later runs.
    Copy(PathBuf),
    /// This folder instead.
    Private(PathBuf),
    /// An empty folder, forgotten at the end.
    Empty,
}

/// How much a machine must be able to keep for a run to start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// Files only: some of the bounds are not kept.
    Files,
    /// All of it.
    #[default]
    Whole,
}

/// What becomes of processes that a run leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Leave {
    /// They end with it.
    #[default]
    End,
    /// They live on in the session's hold, where later runs meet them.
    Session,
}
