//! Other names of protected files.
//!
//! A mount covers a name, not a file: a hard link made before would be a way around it. Files with more names than one
//! are rare, so the folders are only walked when there is one.

use crate::error::Error;
use crate::plan::{Cover, What};
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How many names are looked at before the hold is given up.
const MOST: usize = 2_000_000;

/// Protects the other names of what is protected, as far as the run could write or find them.
pub(crate) fn add(covers: &mut Vec<Cover>, folders: &[PathBuf]) -> Result<(), Error> {
    let mut wanted: HashMap<(u64, u64), What> = HashMap::new();
    for cover in &*covers {
        if !matches!(cover.what, What::ReadOnly | What::Text(_) | What::Decoy(_) | What::Refuse) {
            continue;
        }
        collect(&cover.path, &cover.what, &mut wanted);
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let mut seen = 0_usize;
    let mut to_visit: Vec<PathBuf> = folders.to_vec();
    while let Some(folder) = to_visit.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST {
                return Err(Error::Bounds { path: folder, why: "too many files to look for hard links".to_owned() });
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                to_visit.push(entry.path());
            } else if kind.is_file()
                && let Ok(data) = entry.metadata()
                && data.nlink() > 1
                && let Some(what) = wanted.get(&(data.dev(), data.ino()))
            {
                covers.push(Cover { path: entry.path(), what: what.clone() });
            }
        }
    }
    Ok(())
}

/// A file, or the files in a protected folder, that have other names.
fn collect(path: &Path, what: &What, wanted: &mut HashMap<(u64, u64), What>) {
    let mut to_visit = vec![path.to_path_buf()];
    let mut left = 10_000_usize;
    while let Some(path) = to_visit.pop() {
        let Ok(data) = fs::symlink_metadata(&path) else { continue };
        if data.is_dir() {
            for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
                left = left.saturating_sub(1);
                if left == 0 {
                    return;
                }
                to_visit.push(entry.path());
            }
        } else if data.is_file() && data.nlink() > 1 {
            wanted.insert((data.dev(), data.ino()), what.clone());
        }
    }
}
