//! Where things are: the policy files, and Sayso's own folder.

use crate::Error;
use rustix::fs::{Mode, OFlags};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Whose home folder counts.
#[derive(Clone, Copy, Debug)]
pub enum Home<'a> {
    /// `HOME`, as for every program that a person starts; the user database where it is unset.
    Environment,
    /// The user database, whatever the environment says.
    Database,
    /// This folder; `~` for the one in the user database. `install` writes it into the registration of a hook, because an agent's settings may change
    /// the environment of its hooks: a repository must not be able to move its reader to another policy.
    At(&'a Path),
}

/// Where the policy files and Sayso's own folder are.
///
/// `XDG_CONFIG_HOME` and `XDG_STATE_HOME` are not looked at: they could point into the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The home folder.
    pub home: PathBuf,
    /// The managed policy.
    pub managed: PathBuf,
    /// Who must own it: root.
    pub managed_owner: u32,
    /// The user's policy.
    pub user: PathBuf,
    /// What is Sayso's: the record, trust, last good policies.
    pub state: PathBuf,
}

impl Places {
    /// The places of this user.
    ///
    /// # Errors
    /// If there is no home folder.
    pub fn find(home: Home<'_>) -> Result<Self, Error> {
        let home = match home {
            Home::At(home) if home != Path::new("~") => Some(home.to_owned()),
            Home::At(_) | Home::Database => home_in_database(),
            Home::Environment => {
                std::env::var_os("HOME").map(PathBuf::from).filter(|h| h.is_absolute()).or_else(home_in_database)
            }
        };
        let home = home.filter(|h| h.is_absolute()).ok_or(Error::NoHome)?;
        Ok(Self::below(&home, Path::new("/")))
    }

    /// The places for this home folder in this root.  In another root than `/`, what root would own is this user's.
    #[must_use]
    pub fn below(home: &Path, root: &Path) -> Self {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        Self {
            managed: root.join("etc/sayso/policy.toml"),
            managed_owner: if root == Path::new("/") { 0 } else { rustix::process::geteuid().as_raw() },
            user: home.join(".config/sayso/policy.toml"),
            state: home.join(".local/state/sayso"),
            home,
        }
    }

    /// A path as shown to people: `~` for the home folder.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) if self.home.parent().is_some() => format!("~/{}", rest.display()),
            _ => path.display().to_string(),
        }
    }

    /// A folder of Sayso's own, made if it is missing, for nobody else to read.
    ///
    /// # Errors
    /// If it cannot be made, or belongs to somebody else.
    pub fn own_folder(&self, name: &str) -> Result<PathBuf, Error> {
        let folder = if name.is_empty() { self.state.clone() } else { self.state.join(name) };
        match std::fs::symlink_metadata(&folder) {
            Ok(meta) => check_own(&folder, &meta)?,
            Err(_) => {
                std::fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(&folder)
                    .map_err(|e| Error::io("create", &folder, e))?;
            }
        }
        if !name.is_empty() {
            // An attacker would own the outer folder and swap the inner one.
            let meta = std::fs::symlink_metadata(&self.state).map_err(|e| Error::io("look at", &self.state, e))?;
            check_own(&self.state, &meta)?;
        }
        Ok(folder)
    }
}

fn check_own(folder: &Path, meta: &std::fs::Metadata) -> Result<(), Error> {
    let not_safe = |why: &str| Error::Unsafe { path: folder.to_owned(), why: why.to_owned() };
    if !meta.is_dir() {
        return Err(not_safe("it is not a folder"));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(not_safe("it belongs to another user"));
    }
    if meta.mode() & 0o077 != 0 {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
            .map_err(|e| Error::io("close", folder, e))?;
    }
    Ok(())
}

/// Writes a whole file of Sayso's own: readers see the old content or the new, never a part.
pub(crate) fn write_own(path: &Path, content: &[u8]) -> Result<(), Error> {
    use std::io::Write;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", crate::audit::fresh_id()));
    let temporary = PathBuf::from(name);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let written =
        rustix::fs::open(&temporary, flags, Mode::RUSR | Mode::WUSR).map_err(std::io::Error::from).and_then(|file| {
            let mut file = std::fs::File::from(file);
            file.write_all(content)?;
            file.sync_data()?;
            std::fs::rename(&temporary, path)
        });
    written.map_err(|e| {
        let _ = std::fs::remove_file(&temporary);
        Error::io("write", path, e)
    })
}

/// The home folder of the effective user by `/etc/passwd`; for users that only a network directory knows, what the
/// standard library finds.
pub(crate) fn home_in_database() -> Option<PathBuf> {
    let uid = rustix::process::geteuid().as_raw().to_string();
    let database = std::fs::read("/etc/passwd").unwrap_or_default();
    let database = String::from_utf8_lossy(&database);
    home_of(&uid, &database).or_else(std::env::home_dir)
}

/// The shell that the effective user uses, by `/etc/passwd`: no variable changes it. `None` for users that only a network
/// directory knows.
#[must_use]
pub fn login_shell() -> Option<String> {
    let uid = rustix::process::geteuid().as_raw().to_string();
    let database = std::fs::read("/etc/passwd").ok()?;
    shell_of(&uid, &String::from_utf8_lossy(&database))
}

fn shell_of(uid: &str, database: &str) -> Option<String> {
    database.lines().find_map(|line| {
        let mut fields = line.split(':');
        let shell = (fields.nth(2)? == uid).then(|| fields.nth(3))??;
        shell.starts_with('/').then(|| shell.to_owned())
    })
}

fn home_of(uid: &str, database: &str) -> Option<PathBuf> {
    database.lines().find_map(|line| {
        let mut fields = line.split(':');
        let home = (fields.nth(2)? == uid).then(|| fields.nth(2))??;
        home.starts_with('/').then(|| PathBuf::from(home))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_comes_from_the_line_of_this_user() {
        let database = "root:x:0:0:root:/root:/bin/bash\nbad line\nann:x:1000:1000:Ann:/home/ann:/bin/sh\n";
        assert_eq!(home_of("1000", database), Some("/home/ann".into()));
        assert_eq!(home_of("0", database), Some("/root".into()));
        assert_eq!(home_of("7", database), None);
        assert_eq!(shell_of("1000", database).as_deref(), Some("/bin/sh"));
        assert_eq!(shell_of("7", database), None);
    }

    #[test]
    fn own_folders_are_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        let folder = places.own_folder("trust").unwrap();
        assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        places.own_folder("trust").unwrap();
        assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_link_in_place_of_an_own_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        places.own_folder("").unwrap();
        std::os::unix::fs::symlink("/tmp", places.state.join("trust")).unwrap();
        assert!(matches!(places.own_folder("trust"), Err(Error::Unsafe { .. })));
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        write_own(&path, b"one").unwrap();
        write_own(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
