//! Where git looks for its settings and hooks.

use crate::files::{Files, Kind};
use crate::git_store;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What git goes by in a repository.
#[derive(Debug, Default)]
pub(super) struct Repository {
    /// Its settings, and what they take in.
    settings: Vec<PathBuf>,
    /// Started by commands that change something.
    pub(super) hooks: Vec<PathBuf>,
    /// What its settings name in the work tree: programs, and more settings.
    pub(super) named: Vec<PathBuf>,
}

/// The settings and hooks of the repository whose top this folder is; none if it is no top.
pub(super) fn files(folder: &Path, files: &dyn Files) -> Vec<PathBuf> {
    let Some(Repository { settings, hooks, named }) = of(folder, files) else { return Vec::new() };
    settings.into_iter().chain(hooks).chain(named).collect()
}

/// The repository whose top this folder is.
pub(super) fn of(folder: &Path, files: &dyn Files) -> Option<Repository> {
    let own = repository(&folder.join(".git"), files).or_else(|| bare(folder, files))?;
    // A worktree has little of its own; the rest is the repository's that it belongs to.
    let common = line(&own.join("commondir"), files).map(|common| own.join(common)).unwrap_or_else(|| own.clone());
    let mut found = Repository::default();
    let mut folders = vec![common.join("hooks")];
    for settings in [common.join("config"), own.join("config.worktree")] {
        for named in git_store::named(folder, &settings, files) {
            match crate::canonical(files, &named).kind {
                Kind::Folder { .. } => folders.push(named),
                Kind::File { .. } => found.named.push(named),
                _ => {}
            }
        }
        found.settings.push(settings);
    }
    found.settings.extend([folder.join(".gitmodules"), folder.join(".gitattributes"), common.join("info/attributes")]);
    let is_sample = |name: &OsString| name.as_encoded_bytes().ends_with(b".sample");
    for hooks in folders {
        let names = files.list(&hooks, 1000).unwrap_or_default();
        found.hooks.extend(names.into_iter().filter(|name| !is_sample(name)).map(|name| hooks.join(name)));
    }
    Some(found)
}

/// A repository without a work tree, or one that `--git-dir` names.
fn bare(folder: &Path, files: &dyn Files) -> Option<PathBuf> {
    let is_file = |name: &str| matches!(files.kind(&folder.join(name)), Kind::File { .. });
    (is_file("HEAD") && is_file("config")).then(|| folder.to_path_buf())
}

/// `.git`, or what a `.git` file leads to.
fn repository(dot: &Path, files: &dyn Files) -> Option<PathBuf> {
    match crate::canonical(files, dot).kind {
        Kind::Folder { .. } => Some(dot.to_path_buf()),
        Kind::File { .. } => {
            let leads = line(dot, files)?;
            Some(dot.parent()?.join(leads.strip_prefix("gitdir:")?.trim()))
        }
        _ => None,
    }
}

fn line(path: &Path, files: &dyn Files) -> Option<String> {
    let content = files.read(path, 4096)?;
    String::from_utf8(content).ok()?.lines().next().map(|line| line.trim().to_owned())
}
