//! What may be read, for Landlock: it can allow a folder with all that is below, but not take a part out of it again. So
//! the folders around a hidden one are replaced by what is beside it.

use crate::plan::{Cover, What};
use std::fs;
use std::path::{Path, PathBuf};

/// Everything that is not hidden. What is made later beside a hidden folder cannot be read.
pub(crate) fn readable(covers: &[Cover]) -> Vec<PathBuf> {
    let closed: Vec<&Path> = covers
        .iter()
        .filter(|cover| matches!(cover.what, What::Hide | What::Refuse | What::Decoy(_) | What::Text(_)))
        .map(|cover| cover.path.as_path())
        // Devices are allowed one by one.
        .chain([Path::new("/dev")])
        .collect();
    let written: Vec<&Path> =
        covers.iter().filter(|cover| cover.what.is_written()).map(|cover| cover.path.as_path()).collect();
    let mut open = Vec::new();
    let mut to_visit = vec![PathBuf::from("/")];
    while let Some(path) = to_visit.pop() {
        if closed.contains(&path.as_path()) {
            continue;
        }
        // A writable folder is one rule: files come and go in it.
        let inside = closed.iter().any(|closed| closed.starts_with(&path));
        if !inside || written.contains(&path.as_path()) {
            open.push(path);
            continue;
        }
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            // What a link leads to is allowed, or not, by its own name.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                to_visit.push(entry.path());
            }
        }
    }
    // What is shown inside a hidden folder, and what is written there.
    open.extend(
        covers
            .iter()
            .filter(|cover| matches!(cover.what, What::Show) || cover.what.is_written())
            .map(|cover| cover.path.clone()),
    );
    open
}
