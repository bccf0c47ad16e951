//! Which store git takes its configuration from. That file names programs: pagers, hooks, file system monitors.
//!
//! What is called `.git` is guarded, so that nothing changes its configuration unasked. But git also takes a folder for a store
//! that looks like one (`HEAD`, `objects`, `refs`), and a file `.git` leads to one of any name. Those are files like any other.

use crate::effect::NamedBy;
use crate::files::{Kind, Stands};
use crate::program::{Code, View, join};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Beyond this nothing is looked for: git would be led by a folder that far above only by intent.
const MANY: usize = 64;

/// Asks where the store that git would find is no `.git`.
pub(super) fn check(view: &mut View<'_>) {
    if view.path.first().is_some_and(|sub| matches!(*sub, "clone" | "init" | "version" | "help")) {
        return;
    }
    let Some(base) = view.base.as_deref().filter(|base| base.is_absolute()) else { return };
    if let Some(found) = unguarded(view, base) {
        view.named(Code::RunsCode, NamedBy::Nothing, 0);
        let text =
            format!("{} is a git store under another name, and its configuration can name programs", found.display());
        view.doubt(Code::RunsCode, text, 0);
    }
}

/// The store that git would find from this folder, if it is none that is guarded by its name.
fn unguarded(view: &View<'_>, base: &Path) -> Option<PathBuf> {
    let files = view.inv.files;
    let base = plain(base);
    if is_named(&base) {
        return None;
    }
    // Every command of git comes by here: paths are put together in one place, byte by byte.
    let mut path = Vec::with_capacity(base.as_os_str().len() + "/commondir".len());
    path.extend_from_slice(base.as_os_str().as_bytes());
    if path.ends_with(b"/") {
        path.pop();
    }
    for _ in 0..MANY {
        let folder = path.len();
        let mut kind = |name: &[u8]| {
            path.truncate(folder);
            path.push(b'/');
            path.extend_from_slice(name);
            files.kind(as_path(&path))
        };
        let link = kind(b".git");
        let to = match link {
            Kind::Missing => {
                let mut stands = |name: &[u8]| kind(name) != Kind::Missing;
                let store = stands(b"HEAD")
                    && (stands(b"objects") || stands(b"commondir"))
                    && (stands(b"refs") || stands(b"commondir"));
                path.truncate(folder);
                if store {
                    return Some(if path.is_empty() { "/".into() } else { as_path(&path).to_owned() });
                }
                // The folder above.
                path.truncate(path.iter().rposition(|byte| *byte == b'/')?);
                continue;
            }
            Kind::File { .. } => {
                let text = files.read(as_path(&path), 4096).unwrap_or_default();
                let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let to = line.strip_prefix(b"gitdir:").map(<[u8]>::trim_ascii)?;
                path.truncate(folder + 1);
                join(Some(as_path(&path)), to)
            }
            Kind::Link(to) => {
                path.truncate(folder + 1);
                as_path(&path).join(to)
            }
            _ => return None,
        };
        let to = plain(&to);
        return (!is_named(&to)).then(|| to.into_owned());
    }
    None
}

/// Whether a branch of another repository, as far as it was fetched, ends in the commit that is checked out. `None`: that
/// cannot be told at little cost.
pub(super) fn last_commit_is_pushed(view: &View<'_>) -> Option<bool> {
    const LARGEST: usize = 1 << 20;
    let files = view.inv.files;
    let base = view.base.as_deref().filter(|base| base.is_absolute())?;
    let store =
        base.ancestors().take(MANY).map(|folder| folder.join(".git")).find(|at| files.kind(at) != Kind::Missing)?;
    if !matches!(files.kind(&store), Kind::Folder { .. }) {
        return None;
    }
    let read = |path: &Path| files.read(path, LARGEST).map(|text| text.trim_ascii().to_vec());
    let packed = match files.kind(&store.join("packed-refs")) {
        Kind::Missing => Vec::new(),
        _ => read(&store.join("packed-refs"))?,
    };
    let lines = || {
        packed
            .split(|byte| *byte == b'\n')
            .filter_map(|line| line.split_at_checked(line.iter().position(|b| *b == b' ')?))
    };
    let head = read(&store.join("HEAD"))?;
    let commit = match head.strip_prefix(b"ref:").map(<[u8]>::trim_ascii) {
        None => head.clone(),
        Some(name) => match read(&join(Some(&store), name)) {
            Some(commit) => commit,
            None => lines().find(|(_, of)| of.trim_ascii() == name)?.0.to_vec(),
        },
    };
    if lines().any(|(at, name)| at == commit && name.trim_ascii().starts_with(b"refs/remotes/")) {
        return Some(true);
    }
    let mut open = vec![store.join("refs/remotes")];
    let mut looked_at = 0;
    while let Some(folder) = open.pop() {
        if files.kind(&folder) == Kind::Missing {
            continue;
        }
        for (name, stands) in files.entries(&folder, 1024)? {
            looked_at += 1;
            let path = folder.join(name);
            match stands {
                _ if looked_at > 1024 => return None,
                Stands::Folder => open.push(path),
                _ if read(&path)? == commit => return Some(true),
                _ => {}
            }
        }
    }
    Some(false)
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn names(path: &Path) -> impl Iterator<Item = &[u8]> {
    path.as_os_str().as_bytes().split(|byte| *byte == b'/')
}

/// Whether a part of a path is `.git`.
fn is_named(path: &Path) -> bool {
    names(path).any(|name| name == b".git")
}

/// Without `.` and `..`, which few paths hold.
fn plain(path: &Path) -> Cow<'_, Path> {
    if !names(path).any(|name| matches!(name, b"." | b"..")) {
        return path.into();
    }
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = out.pop(),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out.into()
}
