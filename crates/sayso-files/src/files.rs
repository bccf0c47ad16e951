//! The real file system and environment, behind the traits that keep analysis and policy pure.

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use sayso_shell::{Environment, Files, Kind, Mark, Stands, Visit};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The real file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFiles;

impl Files for RealFiles {
    fn kind(&self, path: &Path) -> Kind {
        let stat = match rustix::fs::lstat(path) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) => return Kind::Missing,
            Err(_) => return Kind::Unknown,
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => std::fs::read_link(path).map_or(Kind::Unknown, Kind::Link),
            FileType::Directory => Kind::Folder { world_writable: stat.st_mode & 0o002 != 0 },
            FileType::RegularFile => Kind::File { executable: stat.st_mode & 0o111 != 0 },
            _ => Kind::Other,
        }
    }

    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).ok()? {
            if names.len() == limit {
                return None;
            }
            names.push(entry.ok()?.file_name());
        }
        Some(names)
    }

    fn entries(&self, folder: &Path, limit: usize) -> Option<Vec<(OsString, Stands)>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).ok()? {
            if names.len() == limit {
                return None;
            }
            let entry = entry.ok()?;
            // The file system says what an entry is when it lists it, most of them.
            let kind = entry.file_type().ok()?;
            let stands = match kind {
                kind if kind.is_dir() => Stands::Folder,
                kind if kind.is_symlink() => Stands::Link,
                _ => Stands::File,
            };
            names.push((entry.file_name(), stands));
        }
        Some(names)
    }

    fn visit(&self, folder: &Path, limit: usize, each: &mut dyn FnMut(&[u8], Stands)) -> Visit {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = match rustix::fs::open(folder, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Visit::NoFolder,
            // A link at the end says the same as a file.
            Err(Errno::NOTDIR) if !matches!(self.kind(folder), Kind::Link(_)) => return Visit::NoFolder,
            Err(_) => return Visit::Unknown,
        };
        let mut buffer = Vec::with_capacity(LISTED_AT_ONCE);
        let mut names = rustix::fs::RawDir::new(&opened, buffer.spare_capacity_mut());
        let mut count = 0;
        while let Some(entry) = names.next() {
            let Ok(entry) = entry else { return Visit::Unknown };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            count += 1;
            if count > limit {
                return Visit::TooMany;
            }
            let kind = match entry.file_type() {
                // Not every file system says it when it lists.
                FileType::Unknown => rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            let stands = match kind {
                FileType::Directory => Stands::Folder,
                FileType::Symlink => Stands::Link,
                FileType::Unknown => return Visit::Unknown,
                _ => Stands::File,
            };
            each(name.to_bytes(), stands);
        }
        Visit::Whole
    }

    fn mark(&self, folder: &Path) -> Option<Mark> {
        let stat = rustix::fs::lstat(folder).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return None;
        }
        let changed = (stat.st_ctime, u32::try_from(stat.st_ctime_nsec).ok()?);
        // Two changes within a tick of the clock look like one. A time in the future says nothing.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let settled = i64::try_from(now.as_secs()).ok()?.saturating_sub(SETTLED);
        (changed.0 < settled).then_some(Mark { device: stat.st_dev, inode: stat.st_ino, changed })
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        read_regular(path, limit, OFlags::empty()).ok().map(|(content, _)| content)
    }

    fn head(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        let (file, _) = open_regular(path, usize::MAX, OFlags::empty()).ok()?;
        let mut content = Vec::new();
        file.take(u64::try_from(limit).unwrap_or(u64::MAX)).read_to_end(&mut content).ok()?;
        Some(content)
    }

    fn read_through(&self, path: &Path, limit: usize, each: &mut dyn FnMut(&[u8])) -> bool {
        let mut read = || -> std::io::Result<()> {
            let (mut file, _) = open_regular(path, limit, OFlags::empty())?;
            let (mut piece, mut read) = (vec![0; PIECE], 0_usize);
            loop {
                let got = match file.read(&mut piece) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    got => got?,
                };
                read = read.saturating_add(got);
                match piece.get(..got) {
                    Some(content) if got > 0 && read <= limit => each(content),
                    _ if got == 0 => return Ok(()),
                    _ => return Err(too_large(limit)),
                }
            }
        };
        read().is_ok()
    }

    fn stamp(&self, path: &Path) -> Option<String> {
        stamp(path).ok()
    }

    fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
    }

    fn changed_ms(&self, path: &Path) -> Option<u64> {
        let meta = std::fs::metadata(path).ok()?;
        let millis = u64::try_from(meta.ctime_nsec()).ok()? / 1_000_000;
        Some(u64::try_from(meta.ctime()).ok()?.saturating_mul(1000).saturating_add(millis))
    }

    fn changeable(&self, path: &Path) -> bool {
        // A link can lead anywhere: what counts is where it leads, and every folder on the way there.
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(_) => return true,
        };
        real.ancestors().chain(path.ancestors().skip(1)).any(may_change)
    }

    fn owned(&self, path: &Path) -> bool {
        rustix::fs::lstat(path).is_ok_and(|stat| stat.st_uid == rustix::process::geteuid().as_raw())
    }
}

/// Whether this process's user may write here, or own it and so give itself that right.
fn may_change(path: &Path) -> bool {
    let access = rustix::fs::accessat(rustix::fs::CWD, path, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS);
    let owned = || std::fs::metadata(path).map_or(true, |meta| meta.uid() == rustix::process::geteuid().as_raw());
    !matches!(access, Err(Errno::ACCESS | Errno::ROFS | Errno::PERM)) || owned()
}

/// Bytes of names that are listed at once.
const LISTED_AT_ONCE: usize = 32 * 1024;

/// Seconds after which a change of a folder cannot be taken for the one before.
const SETTLED: i64 = 2;

/// How much of a file is held in memory where it is read piece by piece.
const PIECE: usize = 64 * 1024;

/// How much of a file's head, and of its tail, a stamp covers.
const STAMPED: u64 = 32 * 1024;

/// Which file it is, how long, when it and what is known of it last changed, and what stands at its head and its tail.
/// Who writes to a file can set the first of these times back, but not the second.
fn stamp(path: &Path) -> std::io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let meta = file.metadata()?;
    let mut hasher = blake3::Hasher::new();
    let mut part = Vec::new();
    if meta.is_file() {
        file.by_ref().take(STAMPED).read_to_end(&mut part)?;
        hasher.update(&part);
        file.seek(SeekFrom::Start(meta.len().saturating_sub(STAMPED)))?;
        part.clear();
        file.take(STAMPED).read_to_end(&mut part)?;
        hasher.update(&part);
    }
    let times = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
    Ok(format!("{} {} {} {times:?} {}", meta.dev(), meta.ino(), meta.len(), hasher.finalize().to_hex()))
}

/// Looks at each path once: what a judgement sees of a path it sees throughout, and every path above a file is asked
/// about many times.
///
/// INVARIANT: what was seen counts only for calls that had arrived before it was looked at, and no longer once somebody
/// was waited for: it is forgotten then. So a call is judged by facts that are younger than the call.
pub struct Once<'a> {
    files: &'a dyn Files,
    /// By the bytes of the path.
    seen: RefCell<HashMap<Box<[u8]>, Kind>>,
    /// Files of Sayso's own that are not there.
    missing: RefCell<Vec<PathBuf>>,
}

/// So many paths are kept in mind; a call can make its judgement look at many more.
const MOST_SEEN: usize = 512;

impl<'a> Once<'a> {
    /// Nothing is seen yet.
    #[must_use]
    pub fn over(files: &'a dyn Files) -> Self {
        Self { files, seen: RefCell::new(HashMap::with_capacity(28)), missing: RefCell::default() }
    }

    /// What is seen from now on is looked at anew.
    pub fn forget(&self) {
        self.seen.borrow_mut().clear();
        self.missing.borrow_mut().clear();
    }

    /// Whether a file of Sayso's own is not there: on the real file system, whatever the files of the call are.
    #[must_use]
    pub fn is_missing(&self, path: &Path) -> bool {
        let bytes = path.as_os_str().as_bytes();
        if self.missing.borrow().iter().any(|known| known.as_os_str().as_bytes() == bytes) {
            return true;
        }
        let missing = RealFiles.kind(path) == Kind::Missing;
        if missing {
            self.missing.borrow_mut().push(path.to_owned());
        }
        missing
    }
}

impl Files for Once<'_> {
    fn kind(&self, path: &Path) -> Kind {
        let bytes = path.as_os_str().as_bytes();
        if let Some(kind) = self.seen.borrow().get(bytes) {
            return kind.clone();
        }
        let kind = self.files.kind(path);
        let mut seen = self.seen.borrow_mut();
        if seen.len() < MOST_SEEN {
            seen.insert(bytes.into(), kind.clone());
        }
        kind
    }

    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        self.files.list(folder, limit)
    }

    fn entries(&self, folder: &Path, limit: usize) -> Option<Vec<(OsString, Stands)>> {
        self.files.entries(folder, limit)
    }

    fn visit(&self, folder: &Path, limit: usize, each: &mut dyn FnMut(&[u8], Stands)) -> Visit {
        self.files.visit(folder, limit, each)
    }

    fn mark(&self, folder: &Path) -> Option<Mark> {
        self.files.mark(folder)
    }

    fn kept(&self, label: &[u8]) -> Option<Vec<u8>> {
        self.files.kept(label)
    }

    fn keep(&self, label: &[u8], bytes: &[u8]) {
        self.files.keep(label, bytes);
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        self.files.read(path, limit)
    }

    fn head(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        self.files.head(path, limit)
    }

    fn read_through(&self, path: &Path, limit: usize, each: &mut dyn FnMut(&[u8])) -> bool {
        self.files.read_through(path, limit, each)
    }

    fn stamp(&self, path: &Path) -> Option<String> {
        self.files.stamp(path)
    }

    fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        self.files.identity(path)
    }

    fn changed_ms(&self, path: &Path) -> Option<u64> {
        self.files.changed_ms(path)
    }

    fn changeable(&self, path: &Path) -> bool {
        self.files.changeable(path)
    }

    fn owned(&self, path: &Path) -> bool {
        self.files.owned(path)
    }
}

/// Reads a regular file of at most `limit` bytes, with what `fstat` says of the file that was really opened.
pub fn read_regular(path: &Path, limit: usize, flags: OFlags) -> std::io::Result<(Vec<u8>, std::fs::Metadata)> {
    let (file, meta) = open_regular(path, limit, flags)?;
    let mut content = Vec::new();
    file.take(u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1)).read_to_end(&mut content)?;
    if content.len() > limit {
        return Err(too_large(limit));
    }
    Ok((content, meta))
}

/// Opens a regular file that has at most `limit` bytes now.
///
/// An attacker would put a pipe or a device there, so that a plain `open` waits for ever: hence `NONBLOCK`, and the
/// look at the open file and not at the name.
fn open_regular(path: &Path, limit: usize, flags: OFlags) -> std::io::Result<(std::fs::File, std::fs::Metadata)> {
    let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    if meta.len() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(too_large(limit));
    }
    Ok((file, meta))
}

fn too_large(limit: usize) -> std::io::Error {
    std::io::Error::new(ErrorKind::FileTooLarge, format!("larger than {limit} bytes"))
}

/// The environment of this process. A hook inherits it from the agent, and so do the agent's tools: what a command
/// would see.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn get(&self, name: &str) -> Option<String> {
        // A name with `=` or NUL makes the standard library panic.
        if name.is_empty() || name.contains(['=', '\0']) {
            return None;
        }
        std::env::var(name).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn kinds_are_told_apart_without_following_the_last_link() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("plain"), "x").unwrap();
        std::fs::write(at("script"), "x").unwrap();
        std::fs::set_permissions(at("script"), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(at("open")).unwrap();
        std::fs::set_permissions(at("open"), std::fs::Permissions::from_mode(0o1777)).unwrap();
        std::os::unix::fs::symlink("plain", at("link")).unwrap();
        let files = RealFiles;
        assert_eq!(files.kind(&at("plain")), Kind::File { executable: false });
        assert_eq!(files.kind(&at("script")), Kind::File { executable: true });
        assert_eq!(files.kind(&at("open")), Kind::Folder { world_writable: true });
        assert_eq!(files.kind(&at("link")), Kind::Link("plain".into()));
        assert_eq!(files.kind(&at("none")), Kind::Missing);
        assert_eq!(files.kind(&at("plain/below")), Kind::Missing);
        assert_eq!(files.kind(Path::new("/dev/null")), Kind::Other);
        assert_eq!(files.kind(Path::new("a\0b")), Kind::Unknown);
    }

    #[test]
    fn reading_is_bounded_and_never_waits_on_a_pipe_or_a_device() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        std::fs::write(dir.path().join("five"), "12345").unwrap();
        let files = RealFiles;
        assert_eq!(files.read(&pipe, 10), None);
        assert_eq!(files.read(Path::new("/dev/zero"), 10), None);
        assert_eq!(files.read(dir.path(), 10), None);
        assert_eq!(files.read(&dir.path().join("five"), 5).unwrap(), b"12345");
        assert_eq!(files.read(&dir.path().join("five"), 4), None);
        let through = |path: &Path, limit| {
            let mut content = Vec::new();
            files.read_through(path, limit, &mut |piece| content.extend_from_slice(piece)).then_some(content)
        };
        assert_eq!(through(&pipe, 10), None);
        assert_eq!(through(Path::new("/dev/zero"), 10), None);
        assert_eq!(through(&dir.path().join("five"), 5).unwrap(), b"12345");
        assert_eq!(through(&dir.path().join("five"), 4), None);
        let long = vec![7; 3 * PIECE + 1];
        std::fs::write(dir.path().join("long"), &long).unwrap();
        assert_eq!(through(&dir.path().join("long"), long.len()).unwrap(), long);
        std::fs::remove_file(dir.path().join("long")).unwrap();
        assert_eq!(files.list(dir.path(), 2).unwrap().len(), 2);
        assert_eq!(files.list(dir.path(), 1), None);
        assert_eq!(files.list(&pipe, 1), None);
    }

    #[test]
    fn a_judgement_sees_a_path_once_and_anew_after_it_has_waited() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let once = Once::over(&RealFiles);
        assert_eq!(once.kind(&path), Kind::Missing);
        assert!(once.is_missing(&path));
        std::fs::write(&path, "x").unwrap();
        assert_eq!(once.kind(&path), Kind::Missing);
        assert!(once.is_missing(&path));
        once.forget();
        assert!(!once.is_missing(&path));
        assert!(!Once::over(&sayso_shell::MemoryFiles::new()).is_missing(&path), "whatever the files of the call are");
        assert_eq!(once.kind(&path), Kind::File { executable: false });
        // What files hold is read each time.
        assert_eq!(once.read(&path, 9).unwrap(), b"x");
        assert_eq!(once.stamp(&path), RealFiles.stamp(&path));
        assert!(once.stamp(&path).is_some());
        assert_eq!(once.list(dir.path(), 9).unwrap(), ["x"]);
    }

    #[test]
    fn odd_names_of_variables_are_unset() {
        for name in ["", "A=B", "A\0"] {
            assert_eq!(ProcessEnvironment.get(name), None);
        }
    }
}
