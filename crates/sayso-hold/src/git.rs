//! What steers git, inside a repository's own folder.
//!
//! A held run may commit, so `.git` stays writable. But git runs what some files in it say, so those stay as they are.

use sayso_shell::git_store;
use std::fs;
use std::path::{Path, PathBuf};

/// What must stay as it is in a git folder, whether it exists or not. For
/// [`Bounds::read_only`](sayso_shell::bounds::Bounds::read_only), which tells one from the other.
#[must_use]
pub fn steering(git_folder: &Path) -> Vec<PathBuf> {
    let worktrees = fs::read_dir(git_folder.join("worktrees")).into_iter().flatten().flatten();
    let all = git_store::steering(git_folder, worktrees.map(|entry| entry.file_name().into())).into_iter();
    // Git writes the lines of a rebase while it works. Who makes bounds looks at what is left of one.
    all.filter(|path| !path.ends_with("git-rebase-todo") || fs::symlink_metadata(path).is_ok()).collect()
}
