//! The few facts about files that the analysis and the policy ask for, behind a trait so that both stay pure.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::hash::{BuildHasherDefault, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

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

/// What stands behind a name in a folder, as far as the folder says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// A file, a device, or what cannot be found out.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
}

/// Tells one state of a folder from another: who adds a name to a folder, takes one away or puts another thing in its
/// place cannot leave all of this as it was. The time is that of the last change, which only the system sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The file system it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// When it last changed: seconds since 1970, and nanoseconds.
    pub changed: (i64, u32),
}

/// How a visit to a folder ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Every name was told.
    Whole,
    /// There is no folder.
    NoFolder,
    /// It holds more names than were wanted.
    TooMany,
    /// It cannot be read, or not to its end.
    Unknown,
}

/// Facts about files. Implementations must not panic and must not follow the last link in `kind`.
pub trait Files {
    /// What stands at this absolute path.
    fn kind(&self, path: &Path) -> Kind;

    /// The names in a folder, at most `limit` of them; `None` if it cannot be read or holds more.
    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<std::ffi::OsString>>;

    /// The names in a folder with what each is, as [`Files::list`]. A file system says this without a look at each.
    fn entries(&self, folder: &Path, limit: usize) -> Option<Vec<(std::ffi::OsString, Stands)>> {
        let names = self.list(folder, limit)?;
        let stands = |name: &std::ffi::OsString| match self.kind(&folder.join(name)) {
            Kind::Folder { .. } => Stands::Folder,
            Kind::Link(_) => Stands::Link,
            Kind::Missing | Kind::File { .. } | Kind::Other | Kind::Unknown => Stands::File,
        };
        let with_kind = |name: std::ffi::OsString| {
            let stands = stands(&name);
            (name, stands)
        };
        Some(names.into_iter().map(with_kind).collect())
    }

    /// Calls `each` with every name in a folder that is reached without a link at its end, at most `limit` of them, and
    /// with what it is.
    fn visit(&self, folder: &Path, limit: usize, each: &mut dyn FnMut(&[u8], Stands)) -> Visit {
        match self.kind(folder) {
            Kind::Folder { .. } => {}
            Kind::Missing | Kind::File { .. } | Kind::Other => return Visit::NoFolder,
            Kind::Link(_) | Kind::Unknown => return Visit::Unknown,
        }
        let Some(names) = self.entries(folder, limit) else {
            // Too many, or unreadable: either way it is not known.
            return if limit < usize::MAX && self.list(folder, usize::MAX).is_some() {
                Visit::TooMany
            } else {
                Visit::Unknown
            };
        };
        names.iter().for_each(|(name, stands)| each(name.as_bytes(), *stands));
        Visit::Whole
    }

    /// What tells whether a folder's names are still those that they were; `None`: that cannot be told, or it changed so
    /// lately that another change might look the same.
    fn mark(&self, _folder: &Path) -> Option<Mark> {
        None
    }

    /// What was kept under this label. Only who may change a policy can have written it.
    fn kept(&self, _label: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Keeps something under a label for later decisions, or not.
    fn keep(&self, _label: &[u8], _bytes: &[u8]) {}

    /// The first bytes of a regular file of any size, at most `limit`.
    fn head(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        let mut content = self.read(path, usize::MAX)?;
        content.truncate(limit);
        Some(content)
    }

    /// The content of a regular file of at most `limit` bytes.
    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>>;

    /// The same, handed out piece by piece, for files that are too large to be held in memory. `false`: it could not be
    /// read, or holds more than `limit` bytes; what was handed out counts for nothing then.
    fn read_through(&self, path: &Path, limit: usize, each: &mut dyn FnMut(&[u8])) -> bool {
        self.read(path, limit).is_some_and(|content| {
            each(&content);
            true
        })
    }

    /// What changes when a file changes, without reading all of it; `None`: that cannot be told.
    fn stamp(&self, path: &Path) -> Option<String>;

    /// What a file is to its file system, whichever of its names leads there: device and number. `None`: nobody can tell.
    /// There is no default: files behind others that do not hand this on would have only one name each.
    fn identity(&self, path: &Path) -> Option<(u64, u64)>;

    /// When the file that a path leads to, or what is known of it, last changed, in milliseconds since 1970: a time that only
    /// the system sets. `None`: nobody can tell.
    fn changed_ms(&self, _: &Path) -> Option<u64> {
        None
    }

    /// Whether the user under whom calls run could change this file, or put another in its place: by itself, or by one
    /// of the folders above it. `true` where that cannot be told.
    fn changeable(&self, path: &Path) -> bool;

    /// Whether the user under whom calls run owns this, links not followed. `false` where that cannot be told.
    fn owned(&self, _: &Path) -> bool {
        false
    }
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
    fn stamp(&self, _: &Path) -> Option<String> {
        None
    }
    fn identity(&self, _: &Path) -> Option<(u64, u64)> {
        None
    }
    fn changeable(&self, _: &Path) -> bool {
        true
    }
}

/// Files that exist only in memory: for tests, benchmarks and worked examples.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    entries: HashMap<Box<[u8]>, Entry, BuildHasherDefault<Quick>>,
    /// The names in each folder that holds any: to list one does not take a look at all files.
    names: HashMap<Box<[u8]>, BTreeSet<OsString>, BuildHasherDefault<Quick>>,
    links: usize,
}

/// What stands at a path, and its content.
type Entry = (Kind, Vec<u8>);

/// A hash without a secret: nobody attacks a table that a test fills.
#[derive(Clone, Copy, Debug, Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut add = |word: u64| self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| add(u64::from_be_bytes(*word)));
        if !rest.is_empty() {
            add(rest.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte)));
        }
    }
}

impl MemoryFiles {
    /// A root folder with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        let mut files = Self::default();
        files.folder("/");
        files
    }

    /// Adds a file that nobody may execute, and its folders.
    pub fn file(&mut self, path: impl AsRef<Path>, content: &[u8]) -> &mut Self {
        self.put(path.as_ref(), Kind::File { executable: false }, content)
    }

    /// Adds a program.
    pub fn program(&mut self, path: impl AsRef<Path>, content: &[u8]) -> &mut Self {
        self.put(path.as_ref(), Kind::File { executable: true }, content)
    }

    /// Adds a folder.
    pub fn folder(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.put(path.as_ref(), Kind::Folder { world_writable: false }, b"")
    }

    /// Adds a folder that anybody may write to.
    pub fn open_folder(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.put(path.as_ref(), Kind::Folder { world_writable: true }, b"")
    }

    /// Adds a symbolic link.
    pub fn link(&mut self, path: impl AsRef<Path>, target: impl Into<PathBuf>) -> &mut Self {
        self.links += 1;
        self.put(path.as_ref(), Kind::Link(target.into()), b"")
    }

    fn put(&mut self, path: &Path, kind: Kind, content: &[u8]) -> &mut Self {
        for folder in path.ancestors().skip(1) {
            self.entries.entry(key(folder)).or_insert_with(|| (Kind::Folder { world_writable: false }, Vec::new()));
        }
        self.entries.insert(key(path), (kind, content.to_vec()));
        for path in path.ancestors() {
            if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                self.names.entry(key(folder)).or_default().insert(name.to_owned());
            }
        }
        self
    }

    /// What stands under this very name.
    fn entry(&self, path: &Path) -> Option<&Entry> {
        let bytes = path.as_os_str().as_bytes();
        match self.entries.get(bytes) {
            None if is_roundabout(bytes) => self.entries.get(&key(path)),
            found => found,
        }
    }

    /// The path with the links of its folders followed, as the kernel would on the way to the last component.
    fn reach(&self, path: &Path) -> PathBuf {
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => crate::canonical::canonical(self, parent).path.join(name),
            _ => path.to_path_buf(),
        }
    }
}

/// Whether a path has more in it than names: `.` and doubled slashes.
fn is_roundabout(path: &[u8]) -> bool {
    let mut before = [b' ', b' '];
    let mut slashes = false;
    for &byte in path {
        // `//`, and `/.` before another slash.
        if byte == b'/' && (before[1] == b'/' || before == *b"/.") {
            return true;
        }
        slashes |= byte == b'/';
        before = [before[1], byte];
    }
    slashes && (before[1] == b'/' || before == *b"/.")
}

/// A path as the table holds it: without `.` and doubled slashes.
fn key(path: &Path) -> Box<[u8]> {
    let plain: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    plain.as_os_str().as_bytes().into()
}

impl Files for MemoryFiles {
    fn kind(&self, path: &Path) -> Kind {
        if let Some((kind, _)) = self.entry(path) {
            return kind.clone();
        }
        // A path below a link is not in the table under its own name.
        let linked = self.links > 0
            && path.ancestors().skip(1).any(|folder| matches!(self.entry(folder), Some((Kind::Link(_), _))));
        if !linked {
            return Kind::Missing;
        }
        self.entry(&self.reach(path)).map_or(Kind::Missing, |(kind, _)| kind.clone())
    }

    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        // Without links a path that is in the table leads where it says.
        let plain = self.links == 0 && self.entries.contains_key(folder.as_os_str().as_bytes());
        let folder = match plain {
            true => Cow::Borrowed(folder),
            false => Cow::Owned(crate::canonical::canonical(self, folder).path),
        };
        if !matches!(self.entry(&folder), Some((Kind::Folder { .. }, _))) {
            return None;
        }
        let names = self.names.get(folder.as_os_str().as_bytes());
        let names: Vec<OsString> = names.into_iter().flatten().cloned().collect();
        (names.len() <= limit).then_some(names)
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        let path = crate::canonical::canonical(self, path).path;
        match self.entry(&path) {
            Some((Kind::File { .. }, content)) if content.len() <= limit => Some(content.clone()),
            _ => None,
        }
    }

    fn stamp(&self, path: &Path) -> Option<String> {
        let path = crate::canonical::canonical(self, path).path;
        let (kind, content) = self.entry(&path)?;
        let mut hasher = Quick::default();
        hasher.write(content);
        Some(format!("{kind:?} {} {:x}", content.len(), hasher.finish()))
    }

    /// What lies in `/usr`, `/bin` and the like is the system's, all else its user's.
    fn changeable(&self, path: &Path) -> bool {
        let path = crate::canonical::canonical(self, path).path;
        !["/bin", "/sbin", "/usr", "/lib", "/etc"].iter().any(|folder| path.starts_with(folder))
    }

    fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        let path = crate::canonical::canonical(self, path).path;
        let mut hasher = Quick::default();
        hasher.write(path.as_os_str().as_bytes());
        self.entry(&path).map(|_| (0, hasher.finish()))
    }

    fn owned(&self, path: &Path) -> bool {
        self.changeable(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_a_link_are_found_and_listed() {
        let mut files = MemoryFiles::new();
        files.program("/usr/bin/git", b"").link("/bin", "usr/bin").open_folder("/tmp");
        assert_eq!(files.kind(Path::new("/bin/git")), Kind::File { executable: true });
        assert_eq!(files.kind(Path::new("/bin")), Kind::Link("usr/bin".into()));
        assert_eq!(files.kind(Path::new("/bin/hg")), Kind::Missing);
        assert_eq!(files.list(Path::new("/bin"), 9), Some(vec!["git".into()]));
        assert_eq!(files.list(Path::new("/bin"), 0), None);
        assert_eq!(files.list(Path::new("/bin/git"), 9), None);
        assert_eq!(files.list(Path::new("/tmp"), 9), Some(Vec::new()));
        assert_eq!(files.list(Path::new("/./usr//"), 9), Some(vec!["bin".into()]));
        assert_eq!(files.list(Path::new("/"), 9), Some(vec!["bin".into(), "tmp".into(), "usr".into()]));
        let mut plain = MemoryFiles::new();
        plain.file("/a/c", b"").file("/a//./b", b"").file("/a/b", b"x");
        assert_eq!(plain.list(Path::new("/a"), 9), Some(vec!["b".into(), "c".into()]));
        assert_eq!(plain.list(Path::new("/a/../a"), 9), Some(vec!["b".into(), "c".into()]));
        assert_eq!(files.kind(Path::new("/tmp")), Kind::Folder { world_writable: true });
    }
}
