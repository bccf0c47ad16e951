//! Names that must stay as they are, and what is done about those that no mount can protect.
//!
//! A file that exists is covered by a mount. A name that does not exist cannot be, and neither can a symlink. Such names
//! are looked after from outside: what appears there is moved aside, while the run goes on and once more at its end.

use crate::error::Error;
use crate::prepare::real;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, chmod, fstat, openat2, readlinkat, renameat_with, statat,
    symlinkat,
};
use rustix::io::Errno;
use sayso_shell::bounds::Bounds;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many folders are watched while a run goes on; all are looked at in the end.
const MOST_WATCHED: usize = 512;

/// What a run must not change, sorted by how that is kept.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    /// Exists: a mount covers it.
    pub(crate) read_only: Vec<PathBuf>,
    /// Does not exist.
    absent: Vec<Name>,
    /// Symlinks on the way to something protected, and where they lead.
    links: Vec<(Name, OsString)>,
    aside: Option<PathBuf>,
    /// How many things were moved aside.
    moved: AtomicU64,
}

/// A name below a writable folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    folder: PathBuf,
    below: PathBuf,
}

impl Name {
    fn path(&self) -> PathBuf {
        self.folder.join(&self.below)
    }
}

impl Guards {
    /// Looks at what there is.
    pub(crate) fn find(bounds: &Bounds) -> Result<Self, Error> {
        let folders: Vec<PathBuf> = bounds.write.iter().filter_map(|folder| real(folder)).collect();
        let mut guards = Self { aside: bounds.aside.clone(), ..Self::default() };
        // Most names stand in the same few folders: each is looked at once.
        let mut places = Places::default();
        for path in bounds.read_only.iter().chain(&bounds.absent) {
            guards.links_on_the_way(path, &folders, &mut places);
            // What is not there by any name has no other one.
            match fs::symlink_metadata(path).ok().and_then(|_| real(path)) {
                Some(path) => guards.read_only.push(path),
                None => guards.absent.extend(within(&places.settled(path), &folders)),
            }
        }
        if let Some(aside) = &bounds.aside {
            fs::create_dir_all(aside)?;
        }
        Ok(guards)
    }

    /// Looks after nothing any more. Returns the names that would have been.
    pub(crate) fn give_up(&mut self) -> Vec<PathBuf> {
        let links = self.links.drain(..).map(|(name, _)| name.path());
        self.absent.drain(..).map(|name| name.path()).chain(links).collect()
    }

    fn links_on_the_way(&mut self, path: &Path, folders: &[PathBuf], places: &mut Places) {
        for part in path.ancestors() {
            if !places.looked_at.insert(part.to_path_buf()) {
                // So were those above.
                return;
            }
            if let Ok(target) = fs::read_link(part)
                && let (Some(parent), Some(name)) = (part.parent().and_then(real), part.file_name())
                && let Some(name) = within(&parent.join(name), folders)
            {
                self.links.push((name, target.into_os_string()));
            }
        }
    }

    /// The folders in which something could appear, and the names to look for there.
    pub(crate) fn watched(&self) -> (Vec<PathBuf>, HashSet<OsString>) {
        let names = self.absent.iter().chain(self.links.iter().map(|(name, _)| name));
        let mut folders: Vec<PathBuf> = names.clone().filter_map(|name| first_existing(&name.path())).collect();
        folders.sort_unstable();
        folders.dedup();
        folders.truncate(MOST_WATCHED);
        let parts = names.flat_map(|name| name.below.iter().map(OsStr::to_os_string)).collect();
        (folders, parts)
    }

    /// Moves aside what has appeared. Returns what it was, and where it is now.
    pub(crate) fn sweep(&self) -> Vec<(PathBuf, Option<PathBuf>)> {
        let mut moved = Vec::new();
        for (name, target) in &self.links {
            if let Some(was) = self.restore(name, target) {
                moved.push(was);
            }
        }
        for name in &self.absent {
            if let Some(was) = self.remove(name) {
                moved.push(was);
            }
        }
        moved
    }

    /// Follows a name part by part, through no link: one that was not there before is moved aside itself.
    fn remove(&self, name: &Name) -> Option<(PathBuf, Option<PathBuf>)> {
        let mut parent = open_folder(&name.folder)?;
        let mut at = name.folder.clone();
        let mut parts = name.below.iter().peekable();
        while let Some(part) = parts.next() {
            at.push(part);
            let look = || statat(&parent, part, AtFlags::SYMLINK_NOFOLLOW);
            let data = match look() {
                Err(Errno::ACCESS) => {
                    make_accessible(&parent);
                    look().ok()?
                }
                other => other.ok()?,
            };
            let is_folder = rustix::fs::FileType::from_raw_mode(data.st_mode).is_dir();
            if parts.peek().is_none() || rustix::fs::FileType::from_raw_mode(data.st_mode).is_symlink() {
                return Some((at, self.move_aside(&parent, part)));
            }
            if !is_folder {
                return None;
            }
            parent = openat2(&parent, part, folder_flags(), Mode::empty(), no_links()).ok()?;
        }
        None
    }

    /// Puts a symlink back that was replaced.
    fn restore(&self, name: &Name, target: &OsStr) -> Option<(PathBuf, Option<PathBuf>)> {
        let path = name.path();
        let parent = open_folder(path.parent()?)?;
        let part = path.file_name()?;
        match readlinkat(&parent, part, Vec::new()) {
            Ok(now) if now.to_bytes() == target.as_bytes() => return None,
            Err(Errno::NOENT) => {
                let _ = symlinkat(target, &parent, part);
                return Some((path.clone(), None));
            }
            _ => {}
        }
        let moved = self.move_aside(&parent, part);
        let _ = symlinkat(target, &parent, part);
        Some((path.clone(), moved))
    }

    /// Renames into the folder for such things, or, where that cannot be, to a name beside it that means nothing.
    ///
    /// The run may have taken away the permissions that this needs. They are its own to give, and so they are ours.
    fn move_aside(&self, parent: &OwnedFd, part: &OsStr) -> Option<PathBuf> {
        let aside = self.aside.as_ref().and_then(|folder| Some((folder, open_folder(folder)?)));
        let mut opened = false;
        // Names are never looked for twice, so a run that makes a name again and again does not use them up.
        for _ in 0..1_000 {
            let number = self.moved.fetch_add(1, Ordering::Relaxed);
            let mut fresh = OsString::from(format!("held-back-{}-{number}-", std::process::id()));
            fresh.push(part);
            let mut bytes = fresh.into_vec();
            bytes.truncate(255);
            let fresh = OsString::from_vec(bytes);
            let mut refused = None;
            if let Some((folder, to)) = &aside {
                match renameat_with(parent, part, to, &fresh, RenameFlags::NOREPLACE) {
                    Ok(()) => return Some(folder.join(fresh)),
                    Err(Errno::EXIST) => continue,
                    Err(error) => refused = Some(error),
                }
            }
            if refused == Some(Errno::ACCESS) && !opened {
                opened = true;
                make_accessible(parent);
                if let Ok(folder) = openat2(parent, part, folder_flags(), Mode::empty(), no_links()) {
                    make_accessible(&folder);
                }
                continue;
            }
            match renameat_with(parent, part, parent, &fresh, RenameFlags::NOREPLACE) {
                Ok(()) => return Some(PathBuf::from(fresh)),
                Err(Errno::EXIST) => {}
                Err(Errno::ACCESS) if !opened => {
                    opened = true;
                    make_accessible(parent);
                }
                Err(_) => return None,
            }
        }
        None
    }
}

/// Gives the owner of a folder all rights to it.
fn make_accessible(folder: &OwnedFd) {
    if let Ok(data) = fstat(folder) {
        let mode = Mode::from_raw_mode(data.st_mode & 0o7777 | 0o700);
        let _ = chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), mode);
    }
}

/// The part of a path below a writable folder; nothing appears elsewhere.
fn within(path: &Path, folders: &[PathBuf]) -> Option<Name> {
    folders.iter().filter(|folder| path.starts_with(folder)).max_by_key(|folder| folder.as_os_str().len()).and_then(
        |folder| {
            let below = path.strip_prefix(folder).ok()?.to_path_buf();
            (!below.as_os_str().is_empty()).then(|| Name { folder: folder.clone(), below })
        },
    )
}

/// Folders that were looked at.
#[derive(Default)]
struct Places {
    looked_at: HashSet<PathBuf>,
    /// Where each really is; `None`: nowhere.
    real: HashMap<PathBuf, Option<PathBuf>>,
}

impl Places {
    /// A path that does not exist, with the part of it that does freed from symlinks.
    fn settled(&mut self, path: &Path) -> PathBuf {
        for part in path.ancestors().skip(1) {
            let found = match self.real.get(part) {
                Some(found) => found.clone(),
                None => {
                    let found = real(part);
                    self.real.insert(part.to_path_buf(), found.clone());
                    found
                }
            };
            if let (Some(found), Ok(rest)) = (found, path.strip_prefix(part)) {
                return found.join(rest);
            }
        }
        path.to_path_buf()
    }
}

fn first_existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_path_buf)
}

fn folder_flags() -> OFlags {
    OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC
}

const fn no_links() -> ResolveFlags {
    ResolveFlags::NO_SYMLINKS
}

/// INVARIANT: names inside a writable folder are only followed through real folders. The run could have put a link there
/// that leads to the user's own files, which must not be moved.
fn open_folder(path: &Path) -> Option<OwnedFd> {
    openat2(CWD, path, folder_flags(), Mode::empty(), no_links()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn guards(folder: &Path, absent: &[&str], read_only: &[&str], aside: &Path) -> Guards {
        let bounds = Bounds {
            write: vec![folder.to_path_buf()],
            absent: absent.iter().map(|name| folder.join(name)).collect(),
            read_only: read_only.iter().map(|name| folder.join(name)).collect(),
            aside: Some(aside.to_path_buf()),
            ..Bounds::default()
        };
        Guards::find(&bounds).unwrap()
    }

    fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (work, aside) = (base.join("work"), base.join("aside"));
        fs::create_dir(&work).unwrap();
        (root, work, aside)
    }

    #[test]
    fn a_guarded_name_that_appears_is_moved_aside_and_nothing_else_is() {
        let (_root, work, aside) = folders();
        let guards = guards(&work, &[".envrc", ".vscode/settings.json"], &[], &aside);
        assert!(guards.sweep().is_empty());
        fs::write(work.join(".envrc"), "evil").unwrap();
        fs::create_dir(work.join(".vscode")).unwrap();
        fs::write(work.join(".vscode/settings.json"), "evil").unwrap();
        fs::write(work.join(".vscode/other"), "fine").unwrap();
        let moved = guards.sweep();
        assert_eq!(moved.len(), 2);
        assert!(moved.iter().all(|(_, to)| to.as_ref().is_some_and(|to| to.starts_with(&aside) && to.exists())));
        assert!(!work.join(".envrc").exists() && !work.join(".vscode/settings.json").exists());
        assert!(work.join(".vscode/other").exists());
    }

    #[test]
    fn permissions_and_repetition_keep_nothing_in_place() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_root, work, aside) = folders();
        let guards = guards(&work, &[".envrc", ".vscode/settings.json"], &[], &aside);
        for _ in 0..1_200 {
            fs::write(work.join(".envrc"), "evil").unwrap();
            assert_eq!(guards.sweep().len(), 1);
        }
        assert!(!work.join(".envrc").exists());
        for mode in [0o000, 0o111, 0o555] {
            fs::create_dir_all(work.join(".vscode")).unwrap();
            fs::write(work.join(".vscode/settings.json"), "evil").unwrap();
            fs::set_permissions(work.join(".vscode"), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(guards.sweep().len(), 1, "{mode:o}");
            assert!(!work.join(".vscode/settings.json").exists());
        }
    }

    #[test]
    fn a_link_made_on_the_way_is_moved_and_what_it_leads_to_is_not() {
        let (root, work, aside) = folders();
        let home = root.path().join("home");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("settings.json"), "the user's").unwrap();
        let guards = guards(&work, &[".vscode/settings.json"], &[], &aside);
        symlink(&home, work.join(".vscode")).unwrap();
        assert_eq!(guards.sweep().len(), 1);
        assert!(fs::symlink_metadata(work.join(".vscode")).is_err());
        assert_eq!(fs::read_to_string(home.join("settings.json")).unwrap(), "the user's");
    }

    #[test]
    fn a_protected_symlink_that_was_replaced_is_put_back() {
        let (_root, work, aside) = folders();
        fs::write(work.join("real"), "real").unwrap();
        symlink("real", work.join(".envrc")).unwrap();
        let guards = guards(&work, &[], &[".envrc"], &aside);
        assert_eq!(guards.read_only, [work.join("real")]);
        fs::remove_file(work.join(".envrc")).unwrap();
        fs::write(work.join(".envrc"), "evil").unwrap();
        assert_eq!(guards.sweep().len(), 1);
        assert_eq!(fs::read_to_string(work.join(".envrc")).unwrap(), "real");
        assert!(guards.sweep().is_empty());
    }
}
