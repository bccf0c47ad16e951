//! What steers git, inside a repository's own folder.
//!
//! A held run may commit, so `.git` stays writable. But git runs what some files in it say, so those stay as they are.

use crate::files::{Files, Kind};
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

/// The longest settings that are read, and how deep they may include others.
const LONGEST: usize = 256 * 1024;
const DEEPEST: usize = 5;

/// Settings that say what there is, and name no program. All others may.
const SAYS_ONLY: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "symlinks",
            "worktree",
            "autocrlf",
        ],
    ),
    ("remote", &["url", "pushurl", "fetch", "push", "tagopt", "prune"]),
    ("branch", &["remote", "merge", "rebase", "description", "pushremote"]),
    ("submodule", &["path", "url", "branch", "active"]),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
];

/// What settings of git name in a work tree: files that git starts or reads later, and the folder of hooks, which may not be
/// there yet. Of commands every word that is a file of the work tree counts, for git hands them to a shell.
#[must_use]
pub fn named(top: &Path, settings: &Path, files: &dyn Files) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(top, settings, files, DEEPEST, &mut found);
    found.sort();
    found.dedup();
    found
}

fn collect(top: &Path, settings: &Path, files: &dyn Files, deep: usize, found: &mut Vec<PathBuf>) {
    let Some(content) = files.read(settings, LONGEST) else { return };
    let text = String::from_utf8_lossy(&content).replace("\\\n", " ");
    let mut section = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        let line = match line.strip_prefix('[') {
            Some(head) => {
                let (name, rest) = head.split_once(']').unwrap_or((head, ""));
                section = name.split([' ', '"', '.', '\t']).next().unwrap_or_default().to_ascii_lowercase();
                rest.trim()
            }
            None => line,
        };
        let Some((name, value)) = line.split_once('=') else { continue };
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        let says = SAYS_ONLY.iter().any(|(its, names)| *its == section && names.contains(&name.as_str()));
        if says {
            continue;
        }
        // A path may be quoted, and a remark may stand behind it.
        let whole = value.split([';', '#']).next().unwrap_or_default().trim().trim_matches('"');
        match (section.as_str(), name.as_str()) {
            ("include" | "includeif", "path") if !whole.starts_with('~') => {
                let included = lexical(&settings.parent().unwrap_or(top).join(whole));
                if deep > 0 && is_file(files, &included) {
                    collect(top, &included, files, deep - 1, found);
                    found.push(included);
                }
            }
            ("core", "hookspath") if !whole.is_empty() && !whole.starts_with('~') => {
                found.push(lexical(&top.join(whole)));
            }
            _ => found.extend(words(value).filter_map(|word| file(top, word, files))),
        }
    }
}

/// The words of a command as far as they could be paths, whatever stands around them.
fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split(|c: char| c.is_whitespace() || "\"'`;&|()<>!=:,${}\\".contains(c)).filter(|word| !word.is_empty())
}

/// The file of the work tree that a word means. `$(git rev-parse --show-toplevel)/tools/x` leaves `/tools/x`.
fn file(top: &Path, word: &str, files: &dyn Files) -> Option<PathBuf> {
    let below = top.join(word.trim_start_matches('/'));
    let paths = [Some(below), word.starts_with('/').then(|| PathBuf::from(word))];
    paths.into_iter().flatten().map(|path| lexical(&path)).find(|path| is_file(files, path))
}

fn is_file(files: &dyn Files, path: &Path) -> bool {
    matches!(crate::canonical(files, path).kind, Kind::File { .. })
}

fn lexical(path: &Path) -> PathBuf {
    crate::canonical::lexical(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;

    #[test]
    fn what_settings_name_in_the_work_tree_is_found() {
        let mut files = MemoryFiles::new();
        files
            .file("/w/tools/fsmonitor", b"")
            .file("/w/tools/filter.py", b"")
            .file("/w/tools/diff", b"")
            .file("/w/shared.gitconfig", b"[alias]\n x = !sh ./tools/diff\n[include]\n path = shared.gitconfig\n")
            .file("/w/main", b"")
            .file("/w/cat", b"")
            .file(
                "/w/.git/config",
                b"[core]\n\thooksPath = tools/hooks ; ours\n\tfsmonitor = \"./tools/fsmonitor\"\n\tbare = false\n\
                  [branch \"main\"]\n\tremote = main\n[include]\n\tpath = ../shared.gitconfig\n\
                  [filter \"x\"] clean = python3 \"$(git rev-parse --show-toplevel)/tools/filter.py\" %f\n",
            );
        let found = named(Path::new("/w"), Path::new("/w/.git/config"), &files);
        let wanted =
            ["/w/shared.gitconfig", "/w/tools/diff", "/w/tools/filter.py", "/w/tools/fsmonitor", "/w/tools/hooks"];
        assert_eq!(found, wanted.map(PathBuf::from));
    }

    #[test]
    fn settings_that_git_writes_itself_name_nothing() {
        let mut files = MemoryFiles::new();
        files.file("/w/origin", b"").file("/w/true", b"").file(
            "/w/.git/config",
            b"[core]\n\tfilemode = true\n\tignorecase = true\n[remote \"origin\"]\n\turl = /w/origin\n[branch \"main\"]\n\tremote = origin\n",
        );
        assert!(named(Path::new("/w"), Path::new("/w/.git/config"), &files).is_empty());
        assert!(named(Path::new("/w"), Path::new("/w/.git/none"), &files).is_empty());
    }
}
