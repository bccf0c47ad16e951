//! Which files a run opens for writing though it may not.
//!
//! To look decides nothing: the call is made afterwards, and mounts and Landlock refuse it; the program could have changed
//! the name meanwhile. Where somebody is asked and says yes, the call is not made: the file that was shown is opened here
//! and handed over.

use crate::broker::resolve;
use crate::plan::{Cover, What};
use crate::sys::Notification;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fcntl_setfl, fstat, ftruncate, openat2};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The longest path that there is.
const LONGEST: usize = 4096;

/// What may be done to a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Written,
    Fixed,
    /// Hidden, or a secret: not even somebody who is asked opens it.
    Closed,
}

/// Knows what may be written.
pub(crate) struct Writes {
    covers: BTreeMap<PathBuf, Access>,
}

/// A file outside the bounds that is opened for writing.
pub(crate) struct Outside {
    pub(crate) path: PathBuf,
    pub(crate) can_be_asked: bool,
}

impl Writes {
    pub(crate) fn new(covers: &[Cover]) -> Self {
        // A pin is as writable as what is around it.
        let said = covers.iter().filter(|cover| cover.what != What::Pin);
        let access = |what: &What| match what {
            it if it.is_written() => Access::Written,
            What::ReadOnly | What::Show => Access::Fixed,
            _ => Access::Closed,
        };
        Self { covers: said.map(|cover| (cover.path.clone(), access(&cover.what))).collect() }
    }

    /// What is opened for writing, if it is outside the bounds.
    pub(crate) fn outside(&self, asked: &Notification) -> Option<Outside> {
        let path = asked_for(asked)?;
        // Devices and processes are not what anybody wants to hear of.
        if ["/dev", "/proc"].iter().any(|own| path.starts_with(own)) {
            return None;
        }
        let access = path.ancestors().find_map(|part| self.covers.get(part)).copied().unwrap_or(Access::Fixed);
        (access != Access::Written).then_some(Outside { path, can_be_asked: access == Access::Fixed })
    }
}

/// How a file is to be opened.
#[derive(Clone, Copy)]
pub(crate) struct How {
    flags: OFlags,
    mode: u32,
}

impl How {
    pub(crate) fn of(asked: &Notification) -> Self {
        let [_, second, third, fourth, ..] = asked.arguments;
        let (flags, mode) = if asked.call == libc::SYS_openat { (third, fourth) } else { (second, third) };
        let low = |number: u64| u32::try_from(number & 0xFFFF_FFFF).unwrap_or(0);
        Self { flags: OFlags::from_bits_retain(low(flags)), mode: low(mode) & 0o777 }
    }

    pub(crate) fn closes_on_exec(self) -> bool {
        self.flags.contains(OFlags::CLOEXEC)
    }

    /// Opens exactly this file: through no link, and nothing but a file.
    pub(crate) fn open(self, path: &Path) -> Result<OwnedFd, Errno> {
        if self.flags.intersects(OFlags::PATH | OFlags::DIRECTORY) || self.flags.contains(OFlags::TMPFILE) {
            return Err(Errno::ACCESS);
        }
        let kept = self.flags
            & (OFlags::WRONLY | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::APPEND | OFlags::NONBLOCK);
        let mode = if kept.contains(OFlags::CREATE) { self.mode } else { 0 };
        // Not truncated before it was looked at, and nothing is waited for.
        let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat2(CWD, path, kept | careful, Mode::from_raw_mode(mode), ResolveFlags::NO_SYMLINKS)?;
        if !FileType::from_raw_mode(fstat(&file)?.st_mode).is_file() {
            return Err(Errno::ACCESS);
        }
        fcntl_setfl(&file, kept & (OFlags::APPEND | OFlags::NONBLOCK))?;
        if self.flags.contains(OFlags::TRUNC) {
            ftruncate(&file, 0)?;
        }
        Ok(file)
    }
}

/// The file that is meant, as the program sees it, without links.
fn asked_for(asked: &Notification) -> Option<PathBuf> {
    let thread = asked.thread;
    let [first, second, ..] = asked.arguments;
    let (folder, place) = if asked.call == libc::SYS_openat { (Some(first), second) } else { (None, first) };
    let name = text(thread, place)?;
    let folder = folder.and_then(|it| u32::try_from(it & 0xFFFF_FFFF).ok()).map(u32::cast_signed);
    let folder = match folder.filter(|it| *it != libc::AT_FDCWD) {
        Some(number) => fs::read_link(format!("/proc/{thread}/fd/{number}")),
        None => fs::read_link(format!("/proc/{thread}/cwd")),
    };
    let path = folder.ok()?.join(name);
    if let Ok(file) = resolve(thread, &path) {
        return path_of(&file);
    }
    let parent = resolve(thread, path.parent()?).ok()?;
    Some(path_of(&parent)?.join(path.file_name()?))
}

fn path_of(file: &OwnedFd) -> Option<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

/// A text in the program's memory, up to its end.
fn text(thread: u32, place: u64) -> Option<PathBuf> {
    const PIECE: usize = 256;
    let memory = File::open(format!("/proc/{thread}/mem")).ok()?;
    let mut bytes = Vec::new();
    while bytes.len() < LONGEST {
        let mut piece = [0; PIECE];
        let at = place.checked_add(u64::try_from(bytes.len()).ok()?)?;
        // Not beyond a page that may be the last.
        let left = PIECE - usize::try_from(at % u64::try_from(PIECE).ok()?).ok()?;
        let count = memory.read_at(piece.get_mut(..left)?, at).ok().filter(|count| *count > 0)?;
        let piece = piece.get(..count)?;
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            bytes.extend_from_slice(piece.get(..end)?);
            return Some(PathBuf::from(OsStr::from_bytes(&bytes)));
        }
        bytes.extend_from_slice(piece);
    }
    None
}
