//! What steers git, inside a repository's own folder.
//!
//! A held run may commit, so `.git` stays writable. But git runs what some files in it say, so those stay as they are.

use std::path::{Path, PathBuf};

/// Files of a git folder by which something else runs or is read, later and unheld.
pub const STEERS: [&str; 10] = [
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "hooks",
    "info/attributes",
    "info/sparse-checkout",
    "objects/info/alternates",
    "modules",
    // Its lines are commands to whoever goes on with a rebase.
    "rebase-merge/git-rebase-todo",
];

/// The same of the folder of one work tree.
pub const STEERS_WORKTREE: [&str; 4] = ["commondir", "gitdir", "config.worktree", "rebase-merge/git-rebase-todo"];

/// What must stay as it is in a git folder, whether it exists or not. `worktrees` are the names in its folder of that
/// name: those that exist, for new ones may be added.
#[must_use]
pub fn steering(git_folder: &Path, worktrees: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = STEERS.iter().map(|name| git_folder.join(name)).collect();
    for worktree in worktrees {
        let folder = git_folder.join("worktrees").join(worktree);
        paths.extend(STEERS_WORKTREE.iter().map(|name| folder.join(name)));
    }
    paths
}
