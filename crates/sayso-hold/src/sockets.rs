//! Unix sockets of the machine.
//!
//! A read-only mount does not keep anybody from connecting to a socket on it. Those that exist are covered; `/run` is
//! empty anyway.

use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// The sockets that the user could connect to, but for those that are allowed.
pub(crate) fn outside(allowed: &[PathBuf]) -> BTreeSet<PathBuf> {
    let listening = fs::read("/proc/net/unix").unwrap_or_default();
    let mounted = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let bound = lines(&listening).filter_map(|line| path_at(line, 7));
    // A socket of another machine or container, mounted into this one, is in no list but that of mounts.
    let passed_in = lines(&mounted).filter_map(|line| path_at(line, 4));
    bound.chain(passed_in).filter_map(|path| reachable(&path, allowed)).collect()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

/// The field of this number, if it is a path.
fn path_at(line: &[u8], field: usize) -> Option<PathBuf> {
    let field = line.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty()).nth(field)?;
    field.starts_with(b"/").then(|| PathBuf::from(std::ffi::OsStr::from_bytes(field)))
}

fn reachable(path: &Path, allowed: &[PathBuf]) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    let is_socket = fs::symlink_metadata(&path).ok()?.file_type().is_socket();
    let writable = accessat(CWD, &path, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    (is_socket && writable && !allowed.contains(&path)).then_some(path)
}
