//! Files of a workspace that have other names outside of it.
//!
//! pnpm, uv and bun link what they install from a store that all projects share, and a local clone of git shares its objects: a
//! file that a held run writes there would change in the store too. A mount covers a name and not a file, so folders full of
//! such files are shown as a copy, and single ones cannot be written.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{DirEntry, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Folders that package managers fill.
const DEPENDENCIES: [&str; 5] = ["node_modules", ".venv", "venv", "site-packages", "bower_components"];
/// Folders that builds fill: what is linked there is linked within.
const OUTPUT: [&str; 4] = ["target", "dist", "build", ".next"];
/// How many files of such a folder are looked at: a package manager links all or none.
const SAMPLE: usize = 256;
/// How many files of a workspace are looked at, and how many single ones are covered.
const MOST: usize = 20_000;
const MOST_SINGLE: usize = 512;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Linked {
    /// Folders of dependencies, and what tells one installation from the next.
    pub(super) folders: Vec<(PathBuf, String)>,
    pub(super) files: Vec<PathBuf>,
}

/// Looks below a workspace.
pub(super) fn below(root: &Path) -> Linked {
    let mut found = Linked::default();
    // The names of each file with more names than one.
    let mut names: HashMap<(u64, u64), (u64, Vec<PathBuf>)> = HashMap::new();
    let mut left = MOST;
    let mut to_visit = vec![root.to_path_buf()];
    while let Some(folder) = to_visit.pop() {
        for entry in entries(&folder) {
            let Ok(kind) = entry.file_type() else { continue };
            let (name, path) = (entry.file_name(), entry.path());
            let is = |names: &[&str]| names.iter().any(|known| *known == name);
            if kind.is_dir() && is(&DEPENDENCIES) {
                if has_links(&path) {
                    found.folders.push((path.clone(), mark(&path)));
                }
            } else if kind.is_dir() && !is(&OUTPUT) {
                to_visit.push(path);
            } else if kind.is_file() {
                left = left.saturating_sub(1);
                if left == 0 {
                    to_visit.clear();
                    break;
                }
                if let Some(data) = linked(&entry) {
                    names.entry((data.dev(), data.ino())).or_insert((data.nlink(), Vec::new())).1.push(path);
                }
            }
        }
    }
    let elsewhere = names.into_values().filter(|(count, names)| u64::try_from(names.len()).is_ok_and(|it| it < *count));
    found.files = elsewhere.flat_map(|(_, names)| names).collect();
    found.files.sort();
    found.files.truncate(MOST_SINGLE);
    found.folders.sort();
    found
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten()
}

fn linked(entry: &DirEntry) -> Option<Metadata> {
    entry.metadata().ok().filter(|data| data.is_file() && data.nlink() > 1)
}

/// Whether one of the first files has another name.
fn has_links(folder: &Path) -> bool {
    let mut left = SAMPLE;
    let mut to_visit = vec![folder.to_path_buf()];
    while let Some(folder) = to_visit.pop() {
        for entry in entries(&folder) {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => to_visit.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    if linked(&entry).is_some() {
                        return true;
                    }
                    left = left.saturating_sub(1);
                }
                _ => {}
            }
            if left == 0 {
                return false;
            }
        }
    }
    false
}

/// Changes when something is installed anew: then what a run changed before is of another installation.
fn mark(folder: &Path) -> String {
    let notes = ["", ".modules.yaml", ".package-lock.json", ".yarn-state.yml", "pyvenv.cfg", "lib", "lib64"];
    let time = |name: &&str| {
        let place = if name.is_empty() { folder.to_path_buf() } else { folder.join(OsStr::new(name)) };
        let data = std::fs::symlink_metadata(place).ok();
        data.map_or((0, 0), |data| (data.mtime(), data.mtime_nsec()))
    };
    let times: Vec<u8> = notes
        .iter()
        .map(time)
        .flat_map(|(seconds, rest)| [seconds.to_le_bytes(), rest.to_le_bytes()].concat())
        .collect();
    blake3::hash(&times).to_hex().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_with_names_outside_are_found_and_those_within_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (ws, store) = (root.join("ws"), root.join("store"));
        for folder in ["node_modules/a", "sub/.venv/lib", "src", "npm/node_modules/b", "target"] {
            fs::create_dir_all(ws.join(folder)).unwrap();
        }
        fs::create_dir(&store).unwrap();
        let link = |name: &str, to: &str| {
            fs::write(store.join(name), name).unwrap();
            fs::hard_link(store.join(name), ws.join(to)).unwrap();
        };
        link("one", "node_modules/a/index.js");
        link("two", "sub/.venv/lib/x.py");
        link("three", "src/shared.c");
        fs::write(ws.join("npm/node_modules/b/index.js"), "b").unwrap();
        fs::write(ws.join("src/main.c"), "m").unwrap();
        fs::hard_link(ws.join("src/main.c"), ws.join("src/again.c")).unwrap();
        let found = below(&ws);
        let folders: Vec<_> = found.folders.iter().map(|(path, _)| path.clone()).collect();
        assert_eq!(folders, [ws.join("node_modules"), ws.join("sub/.venv")]);
        assert_eq!(found.files, [ws.join("src/shared.c")]);
        assert_eq!(below(&ws), found);
        fs::write(ws.join("node_modules/.modules.yaml"), "").unwrap();
        assert_ne!(below(&ws), found, "another installation");
    }
}
