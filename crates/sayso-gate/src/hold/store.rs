//! Whether a git store that a held run has made, or a part of one, makes git run or read something.
//!
//! A test may make a repository, and an agent a work tree. Those stay. But a store can name programs in its settings and bring
//! hooks, and whoever enters the folder later, unheld, starts them with `git status`.

use crate::files::read_regular;
use crate::policy::{common_folder, line};
use rustix::fs::OFlags;
use sayso_shell::git_store::{STEERS, STEERS_WORKTREE};
use std::path::{Path, PathBuf};

/// A longer file of settings is not looked at.
const LARGEST: usize = 64 * 1024;

/// What git writes by itself, and what says only where things are.
const PLAIN: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
        ],
    ),
    ("remote", &["url", "fetch", "tagopt", "prune"]),
    ("branch", &["remote", "merge", "rebase", "description"]),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("extensions", &["objectformat"]),
    ("commit", &["gpgsign"]),
    ("gc", &["auto", "autodetach"]),
    ("pull", &["rebase", "ff"]),
    ("advice", &[]),
    ("lfs", &["repositoryformatversion"]),
];

/// Whether nothing in a new store, or in the file that leads to one, steers anything. `known` are the stores that were there.
pub(super) fn is_plain(git: &Path, known: &[PathBuf]) -> bool {
    match std::fs::symlink_metadata(git) {
        Ok(meta) if meta.is_dir() => is_plain_folder(git),
        // A link leads wherever it likes.
        Ok(meta) if meta.is_file() => common_folder(git).is_some_and(|common| known.contains(&common)),
        Ok(_) => false,
        Err(_) => true,
    }
}

fn is_plain_folder(store: &Path) -> bool {
    let missing = |name: &str| std::fs::symlink_metadata(store.join(name)).is_err();
    let steers = STEERS.iter().filter(|name| !["config", "hooks", "info/sparse-checkout"].contains(name));
    let trees = std::fs::read_dir(store.join("worktrees")).into_iter().flatten().flatten();
    steers.copied().all(missing)
        && has_only_samples(&store.join("hooks"))
        && (missing("config") || are_plain_settings(&store.join("config")))
        && trees.take(64).all(|entry| is_plain_tree(&entry.path()))
}

/// The folder of a work tree in a store.
pub(super) fn is_plain_tree(own: &Path) -> bool {
    let missing = |name: &&str| std::fs::symlink_metadata(own.join(name)).is_err();
    let others = STEERS_WORKTREE.iter().filter(|name| !["commondir", "gitdir"].contains(name));
    let common = || line(&own.join("commondir"), "").is_some_and(|common| common == Path::new("../.."));
    // What it says of its work tree, the work tree must say of it; one that is gone leads nowhere.
    let leads_back = || {
        line(&own.join("gitdir"), "").is_some_and(|file| {
            let file = own.join(file);
            file.ends_with(".git") && (std::fs::symlink_metadata(&file).is_err() || common_folder(&file).is_some())
        })
    };
    std::fs::symlink_metadata(own).is_ok_and(|meta| meta.is_dir())
        && others.copied().collect::<Vec<_>>().iter().all(missing)
        && common()
        && leads_back()
}

/// Folders in which git keeps what it has not finished.
pub(super) const UNDER_WAY: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];

/// Whether whoever goes on with it runs nothing by it.
pub(super) fn is_plain_work(folder: &Path) -> bool {
    let missing = |name: &str| std::fs::symlink_metadata(folder.join(name)).is_err();
    let names_none = |name: &str| match read_regular(&folder.join(name), LARGEST, OFlags::NOFOLLOW) {
        Ok((content, _)) => {
            !content.windows(8).any(|part| part == b"strategy") && !content.windows(3).any(|part| part == b"gpg")
        }
        Err(_) => missing(name),
    };
    match std::fs::symlink_metadata(folder) {
        Err(_) => true,
        Ok(meta) if meta.is_dir() => {
            ["git-rebase-todo", "todo"].iter().all(|name| is_plain_todo(&folder.join(name)))
                && ["strategy", "strategy_opts", "gpg_sign_opt"].iter().copied().all(missing)
                && names_none("opts")
        }
        Ok(_) => false,
    }
}

/// Whether the lines that a rebase goes on with only take commits over.
fn is_plain_todo(todo: &Path) -> bool {
    const TAKES: [&str; 15] =
        ["pick", "p", "reword", "r", "edit", "e", "squash", "s", "fixup", "f", "drop", "d", "noop", "break", "revert"];
    let Ok((content, _)) = read_regular(todo, LARGEST, OFlags::NOFOLLOW) else {
        return std::fs::symlink_metadata(todo).is_err();
    };
    let Ok(text) = std::str::from_utf8(&content) else { return false };
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .all(|line| line.split_whitespace().next().is_some_and(|word| TAKES.contains(&word)))
}

fn has_only_samples(hooks: &Path) -> bool {
    match std::fs::symlink_metadata(hooks) {
        Err(_) => true,
        Ok(meta) if meta.is_dir() => std::fs::read_dir(hooks).is_ok_and(|entries| {
            entries.flatten().all(|entry| entry.path().extension().is_some_and(|end| end == "sample"))
        }),
        Ok(_) => false,
    }
}

fn are_plain_settings(path: &Path) -> bool {
    let Ok((content, _)) = read_regular(path, LARGEST, OFlags::NOFOLLOW) else { return false };
    let Ok(text) = std::str::from_utf8(&content) else { return false };
    let mut section = String::new();
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])).all(|line| {
        if let Some(head) = line.strip_prefix('[') {
            // What stands behind the bracket on the same line would be a value.
            let Some(head) = head.strip_suffix(']') else { return false };
            section = head.split([' ', '"', '.', '\t']).next().unwrap_or_default().to_ascii_lowercase();
            return PLAIN.iter().any(|(name, _)| *name == section);
        }
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let name = name.trim().to_ascii_lowercase();
        let known =
            PLAIN.iter().find(|(its, _)| *its == section).is_some_and(|(_, names)| names.contains(&name.as_str()));
        // `ext::` and its like name a program; a backslash at the end goes on in the next line.
        known && !value.contains("::") && !value.ends_with('\\')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_git_made_is_plain_and_one_that_names_a_program_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let git = |words: &[&str]| {
            let mut command = std::process::Command::new("git");
            command.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]).args(words).current_dir(&root);
            assert!(command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().status.success(), "{words:?}");
        };
        git(&["init", "-q", "-b", "main", "one"]);
        let store = root.join("one/.git");
        git(&["-C", "one", "commit", "-q", "--allow-empty", "-m", "x"]);
        git(&["-C", "one", "worktree", "add", "-q", "../tree"]);
        git(&["clone", "-q", "one", "two"]);
        assert!(is_plain(&store, &[]) && is_plain(&root.join("two/.git"), &[]));
        assert!(is_plain(&root.join("tree/.git"), std::slice::from_ref(&store)));
        assert!(!is_plain(&root.join("tree/.git"), &[]), "a store that nobody knows");
        let config = std::fs::read_to_string(store.join("config")).unwrap();
        for more in [
            "[core]\n\tfsmonitor = evil\n",
            "[core] fsmonitor = evil\n",
            "[CORE]\n\thooksPath = /evil\n",
            "[remote \"x\"]\n\turl = ext::sh -c evil\n",
            "[remote \"x\"]\n\tuploadpack = evil\n",
            "[alias]\n\tstatus = !evil\n",
            "[include]\n\tpath = /evil\n",
            "[filter \"x\"]\n\tclean = evil\n",
            "[core]\n\tbare = false \\\n fsmonitor = evil\n",
        ] {
            std::fs::write(store.join("config"), format!("{config}{more}")).unwrap();
            assert!(!is_plain(&store, &[]), "{more}");
        }
        std::fs::write(store.join("config"), &config).unwrap();
        for name in ["hooks/pre-commit", "info/attributes", "objects/info/alternates", "commondir", "config.worktree"] {
            std::fs::write(store.join(name), "evil").unwrap();
            assert!(!is_plain(&store, &[]), "{name}");
            std::fs::remove_file(store.join(name)).unwrap();
        }
        assert!(is_plain(&store, &[]));
        let own = store.join("worktrees/tree");
        assert!(is_plain_tree(&own));
        std::fs::write(own.join("commondir"), "/evil\n").unwrap();
        assert!(!is_plain_tree(&own) && !is_plain(&store, &[]));
    }

    #[test]
    fn lines_of_a_rebase_that_run_something_are_not_plain() {
        let dir = tempfile::tempdir().unwrap();
        let todo = dir.path().join("todo");
        assert!(is_plain_todo(&todo));
        for (text, plain) in [
            ("pick 123 x\n# exec y\n\nfixup 4 z\n", true),
            ("pick 1 x\nexec evil\n", false),
            ("x evil\n", false),
            ("merge -C 1 evil\n", false),
        ] {
            std::fs::write(&todo, text).unwrap();
            assert_eq!(is_plain_todo(&todo), plain, "{text}");
        }
    }
}
