//! Where git looks for its settings and hooks.

use crate::files::{Files, Kind};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The settings and hooks of the repository whose top this folder is; none if it is no top.
pub(super) fn files(folder: &Path, files: &dyn Files) -> Vec<PathBuf> {
    let own = repository(&folder.join(".git"), files).or_else(|| bare(folder, files));
    let Some(own) = own else { return Vec::new() };
    // A worktree has little of its own; the rest is the repository's that it belongs to.
    let common = line(&own.join("commondir"), files).map(|common| own.join(common)).unwrap_or_else(|| own.clone());
    let mut found = vec![
        common.join("config"),
        own.join("config.worktree"),
        folder.join(".gitmodules"),
        folder.join(".gitattributes"),
    ];
    found.push(common.join("info/attributes"));
    let hooks = common.join("hooks");
    let is_sample = |name: &OsString| name.as_encoded_bytes().ends_with(b".sample");
    let names = files.list(&hooks, 1000).unwrap_or_default();
    found.extend(names.into_iter().filter(|name| !is_sample(name)).map(|name| hooks.join(name)));
    found
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
