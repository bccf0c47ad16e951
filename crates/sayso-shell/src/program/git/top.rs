//! Where the working tree begins that git finds from a folder: what `git rev-parse --show-toplevel` prints.
//!
//! Git goes up from the folder, links followed, to the first one that holds a `.git` which is a store, or a file that leads to
//! one. What it prints is known only where every step was looked at: no setting may name another working tree, and no folder on
//! the way may be a store itself.

use super::store::{is_named, is_store};
use crate::canonical::canonical;
use crate::files::{Files, Kind};
use crate::program::{Rests, View, join};
use crate::word::Word;
use std::path::{Path, PathBuf};

/// The largest file of settings that is read, and how far up is looked.
const LARGEST: usize = 1 << 20;
const MANY: usize = 64;

/// `git rev-parse --show-toplevel`, with nothing besides but a folder to begin in.
pub(crate) fn rev_parse(view: &mut View<'_>) {
    let plain = |name: &str| matches!(name, "--show-toplevel" | "-C" | "--no-pager" | "-P");
    // This subcommand takes no abbreviations, and prints what it does not know.
    let alone = view.inv.argv.last().and_then(Word::exact) == Some(b"--show-toplevel")
        && view.seen.iter().all(|seen| plain(&seen.opt.name))
        && view.seen.iter().filter(|seen| seen.opt.name == "--show-toplevel").count() == 1
        && view.operand_count() == 0
        && view.terminator.is_none()
        && !view.out.open_options;
    if !alone || view.inv.env.iter().any(|(name, _)| name.as_bytes().starts_with(b"GIT_")) {
        return;
    }
    let Some(base) = view.base.as_deref().filter(|base| base.is_absolute()) else { return };
    if let Some((top, rests)) = find(view.inv.files, base, view.inv.home) {
        let mut line = top.into_os_string().into_encoded_bytes();
        line.push(b'\n');
        view.prints(line);
        view.out.rests = Some(rests);
    }
}

/// The top of the working tree around a folder, and what that rests on.
fn find(files: &dyn Files, base: &Path, home: Option<&Path>) -> Option<(PathBuf, Rests)> {
    let base = canonical(files, base);
    if !base.certain || !matches!(base.kind, Kind::Folder { .. }) || is_named(&base.path) {
        return None;
    }
    let mut rests = Rests { paths: Vec::new(), surely: true };
    let device = files.identity(&base.path).map(|(device, _)| device);
    for folder in base.path.ancestors().take(MANY) {
        // It stops where another file system begins.
        rests.surely &= device.is_some() && files.identity(folder).map(|(device, _)| device) == device;
        let link = folder.join(".git");
        let store = match files.kind(&link) {
            Kind::Missing => {
                rests.paths.push(link);
                // A store without a working tree.
                if files.kind(&folder.join("HEAD")) != Kind::Missing {
                    return None;
                }
                continue;
            }
            Kind::Folder { .. } => link.clone(),
            Kind::File { .. } => {
                let text = files.read(&link, 4096)?;
                let to = text.strip_prefix(b"gitdir: ")?;
                let to = to.strip_suffix(b"\n").unwrap_or(to);
                if to.is_empty() || to.iter().any(|byte| *byte < b' ') {
                    return None;
                }
                let to = canonical(files, &join(Some(folder), to));
                to.certain.then_some(to.path)?
            }
            Kind::Link(_) | Kind::Other | Kind::Unknown => return None,
        };
        rests.paths.push(link.clone());
        rests.paths.push(store.clone());
        let common = match files.kind(&store.join("commondir")) {
            Kind::Missing => store.clone(),
            Kind::File { .. } => {
                let text = files.read(&store.join("commondir"), 4096)?;
                let to = canonical(files, &join(Some(&store), text.trim_ascii()));
                to.certain.then_some(to.path)?
            }
            _ => return None,
        };
        if !(is_store(files, &store) || common != store && has_head(files, &store) && is_store(files, &common)) {
            return None;
        }
        rests.paths.push(common.clone());
        for settings in [common.join("config"), store.join("config.worktree")] {
            match settings_of(files, &settings)? {
                Settings::OtherTree => return None,
                Settings::Unread => rests.surely = false,
                Settings::Plain => {}
            }
        }
        rests.surely &= [folder, &link, &store, &common].iter().all(|path| files.owned(path));
        rests.surely &= is_readable(files, Path::new("/etc/gitconfig"));
        rests.surely &= home.is_some_and(|home| {
            is_readable(files, &home.join(".gitconfig")) && is_readable(files, &home.join(".config/git/config"))
        });
        let printable = !folder.as_os_str().as_encoded_bytes().contains(&b'\n');
        return printable.then(|| (folder.to_path_buf(), rests));
    }
    None
}

fn has_head(files: &dyn Files, store: &Path) -> bool {
    files.read(&store.join("HEAD"), 1024).is_some_and(|text| super::store::is_head(&text))
}

/// What a file of settings means to where the working tree is.
enum Settings {
    /// Nothing, and git can read it.
    Plain,
    /// Nothing, as far as it can be read: git may refuse it, and print nothing.
    Unread,
    /// The working tree may be elsewhere, or there may be none.
    OtherTree,
}

/// `None`: it is there and cannot be read, or this call has changed it.
fn settings_of(files: &dyn Files, path: &Path) -> Option<Settings> {
    if files.kind(path) == Kind::Missing {
        return Some(Settings::Plain);
    }
    let text = files.read(path, LARGEST)?;
    // A backslash at the end of a line joins it with the next, and nobody writes settings so.
    let text = String::from_utf8_lossy(&text).to_ascii_lowercase();
    let elsewhere = |line: &str| {
        let line = line.replace("worktreeconfig", "");
        line.contains("worktree") || line.contains("bare") && !line.replace([' ', '\t'], "").ends_with("bare=false")
    };
    Some(if text.lines().any(elsewhere) {
        Settings::OtherTree
    } else if is_plain(&text) {
        Settings::Plain
    } else {
        Settings::Unread
    })
}

/// Whether git certainly reads this file without a complaint.
fn is_readable(files: &dyn Files, path: &Path) -> bool {
    files.kind(path) == Kind::Missing
        || files.read(path, LARGEST).is_some_and(|text| {
            // What it takes in would have to be read as well.
            let text = String::from_utf8_lossy(&text).to_ascii_lowercase();
            is_plain(&text) && !text.contains("[include")
        })
}

/// Settings in the plainest form, of a repository whose format every git knows.
fn is_plain(text: &str) -> bool {
    let name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b))
    };
    let section = |inner: &str| match inner.split_once(' ') {
        None => name(inner),
        Some((first, sub)) => {
            let quoted = sub.strip_prefix('"').and_then(|sub| sub.strip_suffix('"'));
            name(first) && quoted.is_some_and(|sub| !sub.contains(['"', '\\', ']']))
        }
    };
    text.lines().map(str::trim).all(|line| {
        let set = |(key, value): (&str, &str)| {
            let (key, value) = (key.trim_end(), value.trim_start());
            let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            name(key) && !key.contains('.') && !quoted.unwrap_or(value).contains(['"', '\\'])
        };
        let comment = line.is_empty() || line.starts_with(['#', ';']);
        let heading = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        comment || heading.is_some_and(section) || line.split_once('=').is_some_and(set)
    }) && known_format(text)
}

/// The version of a store, and the extensions that every git of these years knows.
fn known_format(text: &str) -> bool {
    let mut extensions = false;
    text.lines().map(|line| line.replace([' ', '\t'], "")).all(|line| {
        if line.starts_with('[') {
            extensions = line.starts_with("[extensions");
            return true;
        }
        match line.split_once('=') {
            Some(("repositoryformatversion", version)) => matches!(version, "0" | "1"),
            Some((name, value)) if extensions => {
                matches!((name, value), ("worktreeconfig", "true" | "false") | ("objectformat", "sha1"))
            }
            _ => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;

    fn repository(config: &[u8]) -> MemoryFiles {
        let mut files = MemoryFiles::new();
        files.folder("/w/src/deep").folder("/w/.git/objects").folder("/w/.git/refs");
        files.file("/w/.git/HEAD", b"ref: refs/heads/main\n").file("/w/.git/config", config);
        files
    }

    const PLAIN: &[u8] =
        b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"o\"]\n\turl = https://x/y\n";

    fn top(files: &MemoryFiles, from: &str) -> Option<(String, bool)> {
        find(files, Path::new(from), Some(Path::new("/home/ann")))
            .map(|(top, rests)| (top.display().to_string(), rests.surely))
    }

    #[test]
    fn the_nearest_store_decides_and_links_are_followed() {
        let mut files = repository(PLAIN);
        files.link("/l", "/w/src");
        let found = Some(("/w".to_owned(), true));
        assert_eq!(top(&files, "/w"), found);
        assert_eq!(top(&files, "/w/src/deep"), found);
        assert_eq!(top(&files, "/l/deep"), found);
        assert_eq!(top(&files, "/w/missing"), None);
        assert_eq!(top(&files, "/w/.git/refs"), None);
        assert_eq!(top(&files, "/"), None);
        // A folder that looks like a store, and a `.git` that is none.
        files.file("/w/src/HEAD", b"ref: refs/heads/main\n");
        assert_eq!(top(&files, "/w/src/deep"), None);
        let mut files = repository(PLAIN);
        files.folder("/w/src/.git");
        assert_eq!(top(&files, "/w/src/deep"), None);
    }

    #[test]
    fn settings_that_lead_elsewhere_or_cannot_be_read_leave_it_open() {
        for config in ["[core]\n\tworktree = /home", "[core]\nbare = true", "[core]\nBARE", "[core] WorkTree=x"] {
            assert_eq!(top(&repository(config.as_bytes()), "/w"), None, "{config}");
        }
        for config in ["[core", "x", "[a]\n\tb = \"c", "[core]\nrepositoryformatversion = 9", "[a]\nb = c\\\n d"] {
            assert_eq!(top(&repository(config.as_bytes()), "/w"), Some(("/w".to_owned(), false)), "{config}");
        }
        let mut files = repository(PLAIN);
        files.file("/home/ann/.gitconfig", b"[user\n");
        assert_eq!(top(&files, "/w"), Some(("/w".to_owned(), false)));
    }

    #[test]
    fn the_file_of_a_linked_working_tree_is_followed() {
        let mut files = repository(PLAIN);
        files.file("/w2/.git", b"gitdir: /w/.git/worktrees/w2\n").folder("/w2/src");
        files.file("/w/.git/worktrees/w2/HEAD", b"ref: refs/heads/b\n");
        files.file("/w/.git/worktrees/w2/commondir", b"../..\n");
        assert_eq!(top(&files, "/w2/src"), Some(("/w2".to_owned(), true)));
        files.file("/w/.git/worktrees/w2/config.worktree", b"[core]\n\tworktree = /home\n");
        assert_eq!(top(&files, "/w2/src"), None);
        // A submodule's settings name its folder.
        let mut files = repository(PLAIN);
        files.file("/w/sub/.git", b"gitdir: ../.git/modules/sub\n").folder("/w/.git/modules/sub/objects");
        files.folder("/w/.git/modules/sub/refs").file("/w/.git/modules/sub/HEAD", b"ref: refs/heads/b\n");
        files.file("/w/.git/modules/sub/config", b"[core]\n\tworktree = ../../../sub\n");
        assert_eq!(top(&files, "/w/sub"), None);
        files.file("/w/sub/.git", b"something else\n");
        assert_eq!(top(&files, "/w/sub"), None);
    }
}
