//! Which files a run opens for writing though it may not.
//!
//! This informs and decides nothing: the call is made afterwards, and mounts and Landlock refuse it. The program could
//! have changed the name meanwhile.

use crate::broker::resolve;
use crate::held_back::HeldBack;
use crate::plan::{Cover, What};
use crate::sys::Notification;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The longest path that there is.
const LONGEST: usize = 4096;

/// Knows what may be written.
pub(crate) struct Writes {
    covers: BTreeMap<PathBuf, bool>,
}

impl Writes {
    pub(crate) fn new(covers: &[Cover]) -> Self {
        // A pin is as writable as what is around it.
        let said = covers.iter().filter(|cover| cover.what != What::Pin);
        Self { covers: said.map(|cover| (cover.path.clone(), cover.what.is_written())).collect() }
    }

    /// What is opened for writing, if it is outside the bounds.
    pub(crate) fn outside(&self, asked: &Notification) -> Option<HeldBack> {
        let path = asked_for(asked)?;
        (!self.is_allowed(&path)).then_some(HeldBack::WriteOutside(path))
    }

    fn is_allowed(&self, path: &Path) -> bool {
        // Devices and processes are not what anybody wants to hear of.
        ["/dev", "/proc"].iter().any(|own| path.starts_with(own))
            || path.ancestors().find_map(|part| self.covers.get(part)).copied().unwrap_or(false)
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
