//! Folders that everybody uses, such as `/tmp`.
//!
//! A run may keep temporary files there, and the next call of the same agent finds them, held or not: so the folder is the
//! real one. But what other programs have in it is theirs. A run could listen in place of a socket, change a script that is
//! about to be started, or read what an editor left there. So that is covered, entry by entry, when the hold is made.

use crate::error::Error;
use crate::plan::What;
use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, statx};
use sayso_shell::bounds::{Bounds, Shared};
use std::fs;
use std::path::{Path, PathBuf};

/// How many things are covered. Each is a mount.
const MOST: usize = 512;
/// How many entries of a folder are looked at for sockets.
const MOST_LOOKED_AT: usize = 256;

/// What a run sees of what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Own,
    Fixed,
    Closed,
}

/// What of others is in the folders that everybody uses, and how it is covered.
pub(crate) fn covers(bounds: &Bounds, folder: &Path) -> Result<Vec<(PathBuf, What)>, Error> {
    let mut found = Found::default();
    for shared in &bounds.shared {
        let Ok(path) = fs::canonicalize(&shared.path) else { continue };
        // What the bounds speak of, and the working directory, are the run's; so are the folders around them.
        let spoken_of: Vec<PathBuf> = [&bounds.write, &bounds.read, &bounds.sockets]
            .into_iter()
            .flatten()
            .chain(bounds.caches.iter().map(|cache| &cache.path))
            .filter_map(|it| fs::canonicalize(it).ok())
            .chain(std::iter::once(folder.to_path_buf()))
            .filter(|it| it.starts_with(&path) && *it != path)
            .collect();
        visit(&path, shared, &spoken_of, &mut found);
    }
    let crowded = found.closed.len() + found.fixed.len() > MOST;
    if found.closed.len() > MOST {
        let path = bounds.shared.first().map(|shared| shared.path.clone()).unwrap_or_default();
        let why = format!("others have more than {MOST} files here, which would have to be covered one by one");
        return Err(Error::Bounds { path, why });
    }
    // Where there are too many, what everybody may read anyway comes last.
    found.fixed.truncate(if crowded { MOST - found.closed.len() } else { MOST });
    Ok(found.closed.into_iter().chain(found.fixed).collect())
}

#[derive(Default)]
struct Found {
    closed: Vec<(PathBuf, What)>,
    fixed: Vec<(PathBuf, What)>,
}

fn visit(folder: &Path, shared: &Shared, spoken_of: &[PathBuf], found: &mut Found) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if spoken_of.contains(&path) {
            continue;
        }
        if spoken_of.iter().any(|it| it.starts_with(&path)) {
            visit(&path, shared, spoken_of, found);
            continue;
        }
        let Some((view, kind)) = view(&path, shared.since) else { continue };
        match (view, kind.is_dir()) {
            (View::Own, _) => {}
            (View::Closed, true) => found.closed.push((path, What::Hide)),
            (View::Closed, false) => found.closed.push((path, What::Refuse)),
            (View::Fixed, _) => found.fixed.push((path, What::ReadOnly)),
        }
    }
}

/// Whose something is, and what it is. `None`: it is gone, or a link, which is nothing by itself.
fn view(path: &Path, since: u64) -> Option<(View, FileType)> {
    let data = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS | StatxFlags::BTIME).ok()?;
    let kind = FileType::from_raw_mode(data.stx_mode.into());
    if kind.is_symlink() {
        return None;
    }
    let plain = kind.is_dir() || kind.is_file();
    let own = data.stx_uid == rustix::process::geteuid().as_raw();
    if !plain || !own || kind.is_dir() && has_sockets(path) {
        return Some((View::Closed, kind));
    }
    let view = match (came(&data) >= since, data.stx_mode & 0o044 == 0) {
        (true, _) => View::Own,
        (false, true) => View::Closed,
        (false, false) => View::Fixed,
    };
    Some((view, kind))
}

/// When it came into being. Where the file system does not tell, when it last changed.
fn came(data: &Statx) -> u64 {
    let known = StatxFlags::from_bits_retain(data.stx_mask).contains(StatxFlags::BTIME);
    let time = if known { data.stx_btime.tv_sec } else { data.stx_ctime.tv_sec };
    u64::try_from(time).unwrap_or_default()
}

/// Whether something listens in a folder, or a folder in it: then it is a program's, whoever made it and whenever.
fn has_sockets(folder: &Path) -> bool {
    let look = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_LOOKED_AT);
        entries.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?))).collect::<Vec<_>>()
    };
    use std::os::unix::fs::FileTypeExt as _;
    let first = look(folder);
    let below = first.iter().filter(|(_, kind)| kind.is_dir()).take(16).flat_map(|(path, _)| look(path));
    first.iter().map(|(_, kind)| *kind).chain(below.map(|(_, kind)| kind)).any(|kind| kind.is_socket())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixListener;

    #[test]
    fn what_is_older_or_listens_is_of_others() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for (name, mode) in [("private", 0o700), ("public", 0o755)] {
            fs::create_dir(root.join(name)).unwrap();
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        for (name, mode) in [("key", 0o600), ("notes", 0o644)] {
            fs::write(root.join(name), "x").unwrap();
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir_all(root.join("agent/deep")).unwrap();
        fs::create_dir_all(root.join("around/ws")).unwrap();
        let _sockets = ["s", "agent/deep/s"].map(|name| UnixListener::bind(root.join(name)).unwrap());
        let seen = |since: u64| {
            let bounds = Bounds {
                write: vec![root.clone(), root.join("around/ws")],
                shared: vec![Shared { path: root.clone(), since }],
                ..Bounds::default()
            };
            let mut all: Vec<(String, What)> = covers(&bounds, &root.join("around/ws"))
                .unwrap()
                .into_iter()
                .map(|(path, what)| (path.strip_prefix(&root).unwrap().display().to_string(), what))
                .collect();
            all.sort();
            all
        };
        let of = |name: &str, what: What| (name.to_owned(), what);
        let listening = [of("agent", What::Hide), of("s", What::Refuse)];
        assert_eq!(seen(0), listening);
        let later = [
            of("agent", What::Hide),
            of("key", What::Refuse),
            of("notes", What::ReadOnly),
            of("private", What::Hide),
            of("public", What::ReadOnly),
            of("s", What::Refuse),
        ];
        assert_eq!(seen(u64::MAX), later);
    }
}
