//! Which repository a folder belongs to, so that the worktrees of one repository share trust.

use crate::files::read_regular;
use rustix::fs::OFlags;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The repository of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The folder that holds `.git`; the workspace itself where there is none.
    pub root: PathBuf,
    /// What trust is bound to: the common folder of all worktrees, or the root where there is no repository.
    pub identity: PathBuf,
}

impl Repository {
    /// The repository of a folder, which should be canonical.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        for root in folder.ancestors() {
            let git = root.join(".git");
            let Ok(meta) = std::fs::symlink_metadata(&git) else { continue };
            let identity = if meta.is_dir() { git.canonicalize().ok() } else { common_folder(&git) };
            return Self { root: root.to_owned(), identity: identity.unwrap_or_else(|| root.to_owned()) };
        }
        Self { root: folder.to_owned(), identity: folder.to_owned() }
    }

    /// The folders from the workspace up to the root, the workspace first.
    pub(super) fn chain<'a>(&'a self, workspace: &'a Path) -> impl Iterator<Item = &'a Path> {
        workspace.ancestors().take_while(|folder| folder.starts_with(&self.root))
    }
}

/// The common folder of the worktree whose `.git` file this is, checked in both directions.
///
/// An attacker would unpack an archive whose `.git` file points into a repository that is trusted. Only a folder that
/// the repository itself names as its worktree shares its trust.
pub(crate) fn common_folder(git_file: &Path) -> Option<PathBuf> {
    let root = git_file.parent()?;
    let own = root.join(line(git_file, "gitdir: ")?).canonicalize().ok()?;
    let common = own.join(line(&own.join("commondir"), "")?).canonicalize().ok()?;
    let in_common = own.parent()? == common.join("worktrees");
    let back = line(&own.join("gitdir"), "")?;
    let points_back = own.join(back).canonicalize().ok()? == git_file.canonicalize().ok()?;
    (in_common && points_back && !git_file.is_symlink()).then_some(common)
}

/// The only line of a small file, after a prefix.
pub(crate) fn line(path: &Path, prefix: &str) -> Option<PathBuf> {
    let (content, _) = read_regular(path, 8192, OFlags::NOFOLLOW).ok()?;
    let text = content.strip_suffix(b"\n").unwrap_or(&content).strip_prefix(prefix.as_bytes())?;
    let one_line = !text.is_empty() && !text.contains(&b'\n') && !text.contains(&0);
    one_line.then(|| PathBuf::from(std::ffi::OsStr::from_bytes(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
            .args(arguments)
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn worktrees_of_one_repository_are_one_and_a_forged_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let main = base.join("main");
        std::fs::create_dir(&main).unwrap();
        git(&main, &["init", "-q"]);
        git(&main, &["commit", "-q", "--allow-empty", "-m", "x"]);
        git(&main, &["worktree", "add", "-q", "../tree"]);
        std::fs::create_dir_all(base.join("tree/a/b")).unwrap();
        let of_main = Repository::of(&main);
        let of_tree = Repository::of(&base.join("tree/a/b"));
        assert_eq!(of_main.identity, main.join(".git"));
        assert_eq!(of_tree.identity, of_main.identity);
        assert_eq!(of_tree.root, base.join("tree"));

        let forged = base.join("forged");
        std::fs::create_dir(&forged).unwrap();
        std::fs::copy(base.join("tree/.git"), forged.join(".git")).unwrap();
        assert_eq!(Repository::of(&forged).identity, forged);

        // A whole forged administrative folder of its own, whose commondir points at the trusted repository.
        let admin = forged.join("admin");
        std::fs::create_dir(&admin).unwrap();
        std::fs::write(forged.join(".git"), "gitdir: admin\n").unwrap();
        std::fs::write(admin.join("commondir"), main.join(".git").to_str().unwrap()).unwrap();
        std::fs::write(admin.join("gitdir"), forged.join(".git").to_str().unwrap()).unwrap();
        assert_eq!(Repository::of(&forged).identity, forged);
    }

    #[test]
    fn without_a_repository_the_folder_stands_for_itself() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().canonicalize().unwrap().join("x");
        std::fs::create_dir(&folder).unwrap();
        let of = Repository::of(&folder);
        assert_eq!((of.root.as_path(), of.identity.as_path()), (folder.as_path(), folder.as_path()));
        assert_eq!(of.chain(&folder).count(), 1);
    }
}
