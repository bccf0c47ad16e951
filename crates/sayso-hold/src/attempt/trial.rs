//! The folder for what tried runs change, until it is committed or thrown away.
//!
//! Every run has a folder of its own below it, which it locks. What a run that was killed left behind is removed by the
//! next.

use crate::attempt::commit::TEMPORARY;
use crate::error::Error;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, ResolveFlags, chmodat, flock, openat, openat2, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;
use sayso_shell::bounds::Bounds;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The name of a temporary file that a commit has put into the workspace, where it could not do without.
const JOURNAL: &str = "journal";
const LOCK: &str = "lock";

/// A folder for one run.
pub(crate) struct Trial {
    store: PathBuf,
    name: OsString,
    lock: File,
}

impl Trial {
    /// Removes what earlier runs left behind, and makes a folder for this one.
    pub(crate) fn begin(store: &Path, bounds: &Bounds) -> Result<Self, Error> {
        DirBuilder::new().recursive(true).mode(0o700).create(store)?;
        let store = fs::canonicalize(store)?;
        for folder in bounds.write.iter().filter_map(|folder| fs::canonicalize(folder).ok()) {
            if store.starts_with(&folder) || folder.starts_with(&store) {
                let why = "the folder for tried changes must not be in a writable folder, nor around one".to_owned();
                return Err(Error::Bounds { path: store, why });
            }
        }
        let one_at_a_time = File::options().create(true).append(true).mode(0o600).open(store.join(LOCK))?;
        flock(&one_at_a_time, FlockOperation::LockExclusive).map_err(io::Error::from)?;
        for entry in fs::read_dir(&store)?.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_left_behind(&entry.path()) {
                clean(&store, &entry.file_name());
            }
        }
        for number in 0..10_000_u32 {
            let name = OsString::from(format!("try-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(store.join(&name)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error.into()),
            }
            let lock = File::options().create_new(true).append(true).open(store.join(&name).join(LOCK))?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from)?;
            DirBuilder::new().mode(0o700).create(store.join(&name).join("staged"))?;
            return Ok(Self { store, name, lock });
        }
        Err(Error::Bounds { path: store, why: "too many tried runs at a time".to_owned() })
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.store.join(&self.name)
    }

    /// The two folders of an overlay.
    pub(crate) fn layer(&self, number: usize) -> io::Result<(PathBuf, PathBuf)> {
        let folder = self.folder().join(number.to_string());
        let (upper, work) = (folder.join("changes"), folder.join("work"));
        fs::create_dir_all(&upper)?;
        fs::create_dir_all(&work)?;
        Ok((upper, work))
    }

    pub(crate) fn lock(&self) -> io::Result<File> {
        self.lock.try_clone()
    }

    /// Where files are put together before they get their name.
    pub(crate) fn staged(&self) -> io::Result<OwnedFd> {
        Ok(openat(CWD, self.folder().join("staged"), folder_flags(), Mode::empty())?)
    }

    /// Writes down the name of a temporary file before it is made.
    pub(crate) fn write_down(&self, path: &Path) -> io::Result<()> {
        fs::write(self.folder().join(JOURNAL), path.as_os_str().as_bytes())
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        clean(&self.store, &self.name);
    }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Nobody uses it: neither whoever made it, nor anything that still runs inside its hold.
fn is_left_behind(folder: &Path) -> bool {
    match File::options().append(true).open(folder.join(LOCK)) {
        Ok(lock) => flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Removes the folder of a run, and the temporary file that it may have left in a workspace.
fn clean(store: &Path, name: &OsStr) {
    if let Ok(path) = fs::read(store.join(name).join(JOURNAL)) {
        remove_temporary(Path::new(OsStr::from_bytes(&path)));
    }
    if let Ok(store) = openat(CWD, store, folder_flags(), Mode::empty()) {
        let _ = remove_tree(&store, name);
    }
}

fn remove_temporary(path: &Path) {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
    if !name.as_bytes().starts_with(TEMPORARY.as_bytes()) {
        return;
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(parent) = openat2(CWD, parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        let _ = unlinkat(&parent, name, AtFlags::empty());
    }
}

/// Removes a folder with all that is in it, however deep, whatever its permissions: folders inside are brought up before
/// their turn comes, so neither names nor descriptors grow with the depth.
fn remove_tree(around: &OwnedFd, outer: &OsStr) -> Result<(), Errno> {
    let mut pending = vec![outer.to_os_string()];
    let mut moved = 0_u64;
    while let Some(name) = pending.last().cloned() {
        chmodat(around, &name, Mode::RWXU, AtFlags::empty())?;
        let folder = openat(around, &name, folder_flags(), Mode::empty())?;
        let mut deeper = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let inner = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            if inner == "." || inner == ".." {
                continue;
            }
            let data = statat(&folder, &inner, AtFlags::SYMLINK_NOFOLLOW)?;
            if !FileType::from_raw_mode(data.st_mode).is_dir() {
                unlinkat(&folder, &inner, AtFlags::empty())?;
            } else if unlinkat(&folder, &inner, AtFlags::REMOVEDIR).is_err() {
                // A folder that is moved must be writable itself.
                chmodat(&folder, &inner, Mode::RWXU, AtFlags::empty())?;
                let mut fresh = outer.to_os_string();
                fresh.push(format!("-{moved}"));
                moved += 1;
                renameat(&folder, &inner, around, &fresh)?;
                deeper.push(fresh);
            }
        }
        unlinkat(around, &name, AtFlags::REMOVEDIR)?;
        pending.retain(|it| *it != name);
        pending.extend(deeper);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn folders_that_are_deep_or_closed_are_removed_too() {
        let room = tempfile::tempdir().unwrap();
        let store = openat(CWD, room.path(), folder_flags(), Mode::empty()).unwrap();
        let name = "n".repeat(200);
        rustix::fs::mkdirat(&store, "deep", Mode::RWXU).unwrap();
        let mut at = openat(&store, "deep", folder_flags(), Mode::empty()).unwrap();
        for _ in 0..200 {
            rustix::fs::mkdirat(&at, &name, Mode::RWXU).unwrap();
            at = openat(&at, &name, folder_flags(), Mode::empty()).unwrap();
        }
        drop(openat(&at, "file", OFlags::CREATE | OFlags::WRONLY, Mode::empty()).unwrap());
        let closed = room.path().join("deep/closed");
        fs::create_dir_all(closed.join("in")).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        remove_tree(&store, OsStr::new("deep")).unwrap();
        assert_eq!(fs::read_dir(room.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_what_is_in_use_is_not() {
        let room = tempfile::tempdir().unwrap();
        let (store, work) = (room.path().join("store"), room.path().canonicalize().unwrap().join("work"));
        fs::create_dir(&work).unwrap();
        let used = Trial::begin(&store, &Bounds::default()).unwrap();
        let killed = Trial::begin(&store, &Bounds::default()).unwrap();
        let (temporary, other) = (work.join(format!("{TEMPORARY}1")), work.join("mine"));
        fs::write(&temporary, "half").unwrap();
        fs::write(&other, "whole").unwrap();
        killed.write_down(&temporary).unwrap();
        let left = killed.folder();
        drop(killed.lock().unwrap());
        // As `kill -9` would: the lock is gone, nothing is cleaned.
        let Trial { lock, .. } = &*std::mem::ManuallyDrop::new(killed);
        flock(lock, FlockOperation::Unlock).unwrap();
        drop(Trial::begin(&store, &Bounds::default()).unwrap());
        assert!(!left.exists() && used.folder().exists());
        assert!(!temporary.exists() && other.exists());
    }

    #[test]
    fn the_folder_is_never_where_a_run_could_write() {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap();
        let bounds = Bounds { write: vec![root.clone()], ..Bounds::default() };
        assert!(Trial::begin(&root.join("store"), &bounds).is_err());
    }
}
