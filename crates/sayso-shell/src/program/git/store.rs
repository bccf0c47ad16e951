//! Which store git takes its configuration from. That file names programs: pagers, hooks, file system monitors.
//!
//! What is called `.git` is guarded, so that nothing changes its configuration unasked. But git also takes a folder for a store
//! that looks like one (`HEAD`, `objects`, `refs`), and a file `.git` leads to one of any name. Those are files like any other.
//! A `.git` that is no store, for its `HEAD` says nothing, is passed over, and the folder around it is looked at.
//!
//! A program that was held may make repositories in folders of the project, where nothing was guarded before. So a store
//! that is not the project's own is read: see [`super::nested`].

use crate::effect::NamedBy;
use crate::files::{Files, Kind, Stands};
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
            format!("{} is a git store that is not the project's own, and it can name programs", found.display());
        view.doubt(Code::RunsCode, text, 0);
    }
}

/// The store that git would find from this folder, if its configuration may name programs unseen.
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
        let mut link = kind(b".git");
        if matches!(link, Kind::Folder { .. }) {
            path.truncate(folder);
            let store = as_path(&path).join(".git");
            if is_store(files, &store) {
                return super::nested::names_programs(view, &store).then_some(store);
            }
            link = Kind::Missing;
        }
        let mut kind = |name: &[u8]| {
            path.truncate(folder);
            path.push(b'/');
            path.extend_from_slice(name);
            files.kind(as_path(&path))
        };
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
                path.truncate(folder);
                path.extend_from_slice(b"/.git");
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
        return (!is_named(&to) || super::nested::names_programs(view, &to)).then(|| to.into_owned());
    }
    None
}

/// Whether git would take this folder for a store: what `HEAD` says, and folders that can be entered.
pub(super) fn is_store(files: &dyn Files, store: &Path) -> bool {
    let entered = |name: &str| {
        files.kind(&store.join(name)) != Kind::Missing && {
            // Below a folder that may not be entered nothing can be told.
            files.kind(&store.join(name).join("x")) != Kind::Unknown
        }
    };
    let head = store.join("HEAD");
    let says = match files.kind(&head) {
        Kind::Link(to) if to.starts_with("refs") => true,
        _ => files.read(&head, 1024).is_some_and(|text| is_head(&text)),
    };
    says && entered("objects") && entered("refs")
}

/// `ref: refs/...`, or the number of a commit.
pub(super) fn is_head(text: &[u8]) -> bool {
    match text.strip_prefix(b"ref:") {
        Some(name) => name.trim_ascii_start().starts_with(b"refs/"),
        None => {
            let number = text.trim_ascii();
            matches!(number.len(), 40 | 64) && number.iter().all(u8::is_ascii_hexdigit)
        }
    }
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
pub(super) fn is_named(path: &Path) -> bool {
    names(path).any(|name| name == b".git")
}

/// Without `.` and `..`, which few paths hold.
pub(super) fn plain(path: &Path) -> Cow<'_, Path> {
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
