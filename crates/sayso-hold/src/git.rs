//! What steers git, inside a repository's own folder.
//!
//! A held run may commit, so `.git` stays writable. But git runs what some files in it say, so those stay as they are.

use std::fs;
use std::path::{Path, PathBuf};

/// Files of a git folder by which something else runs or is read, later and unheld.
const STEERS: [&str; 9] = [
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "hooks",
    "info/attributes",
    "info/sparse-checkout",
    "objects/info/alternates",
    "modules",
];

/// What must stay as it is in a git folder, whether it exists or not. For
/// [`Bounds::read_only`](sayso_shell::bounds::Bounds::read_only), which tells one from the other.
#[must_use]
pub fn steering(git_folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = STEERS.iter().map(|name| git_folder.join(name)).collect();
    // Worktrees that exist; new ones may be added.
    for entry in fs::read_dir(git_folder.join("worktrees")).into_iter().flatten().flatten() {
        paths.extend(["commondir", "gitdir", "config.worktree"].map(|name| entry.path().join(name)));
    }
    paths
}
