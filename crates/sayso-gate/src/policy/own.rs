//! What is Sayso's on this machine, under every name that leads to it.
//!
//! People keep `~/.config`, a policy file or an agent's settings in a repository of their own, behind links. There the
//! names that Sayso uses are links, and a call may go by what is behind them: both are protected, and so are the links,
//! because whoever replaces one has another policy in force.
//!
//! Found anew for each process and never kept in a compiled copy: an owner may move such a folder at any time.

use crate::audit::HeadKey;
use crate::{Places, anchored, registered};
use rustix::io::Errno;
use sayso_policy::{Protected, registration_files};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// As many links on the way to one file as the system itself follows.
const MOST_LINKS: usize = 40;

/// Where Sayso keeps its things, below a home folder.
const CONFIG: &str = ".config/sayso";
const STATE: &str = ".local/state/sayso";

/// What is Sayso's here, wherever the home folder is said to be.
pub(crate) fn protected(places: &Places) -> Protected {
    let (mut paths, mut registration, mut links) = (Vec::new(), Vec::new(), Vec::new());
    for (start, file) in [(Path::new("/"), &places.managed), (&places.home, &places.user)] {
        let Some(folder) = file.parent() else { continue };
        let Followed { path: real, missing } = look(start, folder, &mut links);
        if let (Some(name), false) = (file.file_name(), missing) {
            let target = follow(&real, &real.join(name), &mut links);
            paths.extend((!target.starts_with(&real)).then_some(target));
        }
        paths.extend([folder.to_owned(), real]);
    }
    paths.extend([follow(&places.home, &places.state, &mut links), places.state.clone()]);
    // An agent whose folder is missing costs one look.
    for (folder, files) in registration_files() {
        let named = places.home.join(folder);
        let Followed { path: real, missing } = look(&places.home, &named, &mut links);
        if missing && real == named {
            continue;
        }
        for file in files {
            let target = follow(&real, &real.join(file), &mut links);
            // What is where its name says is found by that name.
            registration.extend((target != named.join(file)).then_some(target));
        }
    }
    let mut states = vec![places.state.clone()];
    for noted in registered::all(places) {
        registration.extend(noted.paths().cloned());
        registration.extend(registered::side_by_side(&noted.program));
        links.extend_from_slice(noted.links());
        if let Some(home) = noted.home.as_ref().filter(|home| home.is_absolute() && **home != places.home) {
            paths.extend([CONFIG, STATE].map(|folder| home.join(folder)));
            states.push(home.join(STATE));
        }
    }
    registration.extend(running());
    // Whoever has the key signs another record in this one's place.
    let mut keys: Vec<PathBuf> = states.iter().filter_map(|folder| HeadKey::elsewhere(folder)).collect();
    // Whoever has the heads that lie elsewhere puts an earlier record in this one's place, and nobody can tell.
    keys.extend(anchored::all(places));
    for key in &keys {
        paths.extend([follow(Path::new("/"), key, &mut links), key.clone()]);
    }
    for list in [&mut paths, &mut registration, &mut links] {
        list.sort();
        list.dedup();
    }
    let twins = registration.iter().chain([&places.user]).chain(&keys).filter_map(|path| twin(path)).collect();
    // A server may be told to listen elsewhere; what it shows there still needs a key.
    let addresses = vec![("localhost".to_owned(), crate::PORT)];
    Protected { paths, registration, links, twins, addresses }
}

/// The program that runs here, for whoever knows no places.
pub(super) fn protected_program() -> Protected {
    let registration = running();
    let twins = registration.iter().filter_map(|path| twin(path)).collect();
    Protected { registration, twins, ..Protected::default() }
}

/// The program that runs here, and the one that lies beside it: the guard itself.
fn running() -> Vec<PathBuf> {
    let Ok(path) = std::env::current_exe() else { return Vec::new() };
    // What the kernel says of one that was replaced meanwhile.
    let replaced = path.as_os_str().as_bytes().strip_suffix(b" (deleted)");
    let path = replaced.map_or(path.as_path(), |path| Path::new(OsStr::from_bytes(path)));
    registered::side_by_side(path).collect()
}

/// What a file is to the file system, if it has another name besides: whoever writes to that one changes it too.
fn twin(path: &Path) -> Option<(u64, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    (meta.is_file() && meta.nlink() > 1).then(|| (meta.dev(), meta.ino()))
}

/// Where a path leads.
struct Followed {
    path: PathBuf,
    /// Nothing is there.
    missing: bool,
}

/// Where a path really is, from a folder above it that is no link. What is missing is where it would be made. Adds the
/// links on the way.
pub(crate) fn follow(start: &Path, path: &Path, links: &mut Vec<PathBuf>) -> PathBuf {
    look(start, path, links).path
}

fn look(start: &Path, path: &Path, links: &mut Vec<PathBuf>) -> Followed {
    let (mut at, rest) = match below(path, start).map_or_else(|| path.strip_prefix(start), Ok) {
        Ok(rest) => (start.to_owned(), rest),
        Err(_) => (PathBuf::from("/"), path),
    };
    let (mut followed, mut missing) = (0, false);
    // What links on the way led to, the next part last: it comes before the rest.
    let mut left: Vec<OsString> = Vec::new();
    let mut rest = rest.components();
    loop {
        let part = left.pop();
        let part = match &part {
            Some(part) => Path::new(part).components().next(),
            None => rest.next(),
        };
        match part {
            None if left.is_empty() => return Followed { path: at, missing },
            Some(Component::Normal(name)) => at.push(name),
            Some(Component::ParentDir) => {
                at.pop();
                missing = false;
                continue;
            }
            Some(Component::RootDir) => {
                (at, missing) = (PathBuf::from("/"), false);
                continue;
            }
            _ => continue,
        }
        if missing {
            continue;
        }
        match rustix::fs::readlink(&at, Vec::new()) {
            Ok(target) if followed < MOST_LINKS => {
                followed += 1;
                links.push(at.clone());
                at.pop();
                let target = Path::new(OsStr::from_bytes(target.as_bytes()));
                left.extend(target.components().rev().map(|part| part.as_os_str().to_owned()));
            }
            Ok(_) => {}
            Err(error) => missing = error == Errno::NOENT,
        }
    }
}

/// What follows a folder in a path, where both are written alike: by bytes, which takes a tenth of what a comparison name by
/// name does.
fn below<'p>(path: &'p Path, folder: &Path) -> Option<&'p Path> {
    let rest = path.as_os_str().as_bytes().strip_prefix(folder.as_os_str().as_bytes())?;
    let rest = if folder.parent().is_none() { rest } else { rest.strip_prefix(b"/")? };
    Some(Path::new(OsStr::from_bytes(rest))).filter(|rest| rest.is_relative())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_link_on_the_way_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("real/deep")).unwrap();
        symlink("../real/deep", base.join("real/up")).unwrap();
        symlink(base.join("real/up"), base.join("b")).unwrap();
        symlink("b", base.join("a")).unwrap();
        let mut links = Vec::new();
        let real = follow(&base, &base.join("a/not/there"), &mut links);
        assert_eq!(real, base.join("real/deep/not/there"));
        assert_eq!(links, [base.join("a"), base.join("b"), base.join("real/up")]);
        let dangling = base.join("dangling");
        symlink("gone/file", &dangling).unwrap();
        assert_eq!(follow(&base, &dangling, &mut links), base.join("gone/file"));
        // One that leads to itself ends.
        symlink("loop", base.join("loop")).unwrap();
        assert_eq!(follow(&base, &base.join("loop"), &mut links), base.join("loop"));
    }
}
