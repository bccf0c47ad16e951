//! Moves a file out of the way, where a held run may have done its best to keep it there.

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, ResolveFlags, chmod, fstat, openat2, renameat_with};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// Moves what is at this path into a folder, or, where that is on another disk, to a name beside it that means nothing. Returns
/// where it is now; `None`: it stays where it is.
///
/// INVARIANT: no symlink is followed. A run could have put one there that leads to the user's own files.
pub(super) fn move_aside(path: &Path, folder: Option<&Path>) -> Option<PathBuf> {
    let (parent, name) = (open(path.parent()?)?, path.file_name()?);
    let aside = folder.and_then(|folder| Some((folder, open(folder)?)));
    for opened in [false, true] {
        if opened {
            // The run may have taken away the rights that this needs. They are its owner's to give.
            make_accessible(&parent);
            if let Ok(folder) = openat2(&parent, name, flags(), Mode::empty(), ResolveFlags::NO_SYMLINKS) {
                make_accessible(&folder);
            }
        }
        if let Some((folder, to)) = &aside {
            let fresh = fresh(name);
            if renameat_with(&parent, name, to, &fresh, RenameFlags::NOREPLACE).is_ok() {
                return Some(folder.join(fresh));
            }
        }
        let fresh = fresh(name);
        match renameat_with(&parent, name, &parent, &fresh, RenameFlags::NOREPLACE) {
            Ok(()) if aside.is_none() || opened => return path.parent().map(|parent| parent.join(fresh)),
            // Back, for a second try with all rights.
            Ok(()) => drop(renameat_with(&parent, &fresh, &parent, name, RenameFlags::NOREPLACE)),
            Err(Errno::NOENT) => return None,
            Err(_) => {}
        }
    }
    None
}

fn fresh(name: &OsStr) -> OsString {
    let mut fresh = OsString::from(format!("held-back-{}-", crate::audit::fresh_id()));
    fresh.push(name);
    let mut bytes = fresh.into_vec();
    bytes.truncate(255);
    OsString::from_vec(bytes)
}

fn flags() -> OFlags {
    OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC
}

fn open(folder: &Path) -> Option<OwnedFd> {
    openat2(CWD, folder, flags(), Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()
}

fn make_accessible(folder: &OwnedFd) {
    if let Ok(data) = fstat(folder) {
        let mode = Mode::from_raw_mode(data.st_mode & 0o7777 | 0o700);
        let _ = chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), mode);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn permissions_keep_nothing_and_links_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let aside = root.join("aside");
        fs::create_dir_all(&aside).unwrap();
        fs::create_dir_all(root.join("ws/sub/.husky")).unwrap();
        fs::write(root.join("ws/sub/.husky/x"), "evil").unwrap();
        for name in ["ws/sub/.husky", "ws/sub"] {
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o555)).unwrap();
        }
        let to = move_aside(&root.join("ws/sub/.husky"), Some(&aside)).unwrap();
        assert!(to.starts_with(&aside) && to.join("x").exists() && !root.join("ws/sub/.husky").exists());
        fs::create_dir(root.join("home")).unwrap();
        fs::write(root.join("home/.npmrc"), "the user's").unwrap();
        symlink(root.join("home"), root.join("ws/link")).unwrap();
        assert_eq!(move_aside(&root.join("ws/link/.npmrc"), Some(&aside)), None);
        assert!(root.join("home/.npmrc").exists());
        assert!(move_aside(&root.join("ws/link"), Some(&aside)).is_some());
        assert_eq!(move_aside(&root.join("ws/none"), Some(&aside)), None);
    }
}
