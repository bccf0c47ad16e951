//! What is known of a workspace's files, kept between calls: to list a hundred thousand files takes longer than a call may
//! take, and nearly all of them are where they were.
//!
//! A listing lies beside the compiled policies and is used under the same conditions: it and its folder are this user's
//! alone to write, and it is whole. Each folder in it counts only where the system says that the folder has not changed.
//!
//! INVARIANT: a listing changes what a decision costs, never what it is. Who can write here can write the policy itself.

use crate::policy::{leave_own, open_own};
use crate::{Places, RealFiles};
use sayso_policy::image;
use sayso_shell::{Files, Kind, Mark, Stands, Visit};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Where listings are.
const FOLDER: &str = "listings";
/// The longest that is read, and the most that a process keeps in mind.
const LONGEST: u64 = 64 * 1024 * 1024;
const MOST_REMEMBERED: usize = 8;

/// The real file system, with what is known of workspaces kept between calls.
#[derive(Debug, Default)]
pub struct KeptFiles {
    /// Where it is kept for other processes.
    places: Option<Places>,
    remembered: Mutex<HashMap<blake3::Hash, Arc<[u8]>>>,
}

impl KeptFiles {
    /// Kept for every process of this user.
    #[must_use]
    pub fn at(places: &Places) -> Self {
        Self { places: Some(places.clone()), ..Self::default() }
    }

    /// Kept while this process lives.
    #[must_use]
    pub fn here() -> Self {
        Self::default()
    }

    fn read(&self, name: &blake3::Hash) -> Option<Vec<u8>> {
        let places = self.places.as_ref()?;
        let path = places.state.join(FOLDER).join(name.to_hex().as_str());
        let (mut file, meta) = open_own(places, &path)?;
        if meta.len() > LONGEST {
            return None;
        }
        // Read to where it stays: there may be megabytes, and a copy costs as much as what is read of it.
        let mut sum = [0; 16];
        file.read_exact(&mut sum).ok()?;
        let mut content = Vec::with_capacity(usize::try_from(meta.len()).ok()?);
        file.take(LONGEST).read_to_end(&mut content).ok()?;
        (seal(name, &content) == sum).then_some(content)
    }

    fn write(&self, name: &blake3::Hash, content: &[u8]) -> Option<()> {
        let places = self.places.as_ref()?;
        let bytes = [seal(name, content).as_slice(), content].concat();
        leave_own(&places.own_folder(FOLDER).ok()?, name.to_hex().as_str(), &bytes)
    }
}

/// What shows that a listing is whole, and the one of this name. Of another version's, which had another sum, none is.
fn seal(name: &blake3::Hash, content: &[u8]) -> [u8; 16] {
    image::checksum(name.as_bytes(), content)
}

impl Files for KeptFiles {
    fn kept(&self, label: &[u8]) -> Option<Vec<u8>> {
        let name = blake3::hash(label);
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
        match remembered {
            Some(content) => Some(content.to_vec()),
            None => self.read(&name),
        }
    }

    fn keep(&self, label: &[u8], content: &[u8]) {
        let name = blake3::hash(label);
        if self.places.is_some() {
            // Without a listing the next call is slower, and nothing else.
            let _ = self.write(&name, content);
            return;
        }
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= MOST_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(name, content.into());
    }

    fn kind(&self, path: &Path) -> Kind {
        RealFiles.kind(path)
    }

    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        RealFiles.list(folder, limit)
    }

    fn entries(&self, folder: &Path, limit: usize) -> Option<Vec<(OsString, Stands)>> {
        RealFiles.entries(folder, limit)
    }

    fn visit(&self, folder: &Path, limit: usize, each: &mut dyn FnMut(&[u8], Stands)) -> Visit {
        RealFiles.visit(folder, limit, each)
    }

    fn mark(&self, folder: &Path) -> Option<Mark> {
        RealFiles.mark(folder)
    }

    fn head(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        RealFiles.head(path, limit)
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        RealFiles.read(path, limit)
    }

    fn read_through(&self, path: &Path, limit: usize, each: &mut dyn FnMut(&[u8])) -> bool {
        RealFiles.read_through(path, limit, each)
    }

    fn stamp(&self, path: &Path) -> Option<String> {
        RealFiles.stamp(path)
    }

    fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        RealFiles.identity(path)
    }

    fn changed_ms(&self, path: &Path) -> Option<u64> {
        RealFiles.changed_ms(path)
    }

    fn changeable(&self, path: &Path) -> bool {
        RealFiles.changeable(path)
    }

    fn owned(&self, path: &Path) -> bool {
        RealFiles.owned(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;
    use std::os::unix::fs::PermissionsExt;

    fn places() -> (tempfile::TempDir, Places) {
        let home = tempfile::tempdir().unwrap();
        let places = Places::find(Home::At(home.path())).unwrap();
        (home, places)
    }

    #[test]
    fn a_listing_is_read_only_as_it_was_left_and_under_its_own_label() {
        let (_home, places) = places();
        let files = KeptFiles::at(&places);
        assert_eq!(files.kept(b"one"), None);
        files.keep(b"one", b"content");
        assert_eq!(files.kept(b"one").unwrap(), b"content");
        assert_eq!(files.kept(b"two"), None);
        let folder = places.state.join(FOLDER);
        let path = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        // One that lies under another label's name is none of that label.
        let other = folder.join(blake3::hash(b"two").to_hex().as_str());
        std::fs::copy(&path, other).unwrap();
        assert_eq!(files.kept(b"two"), None);
        // Others could write it.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(files.kept(b"one"), None);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(files.kept(b"one").is_some());
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(files.kept(b"one"), None);
    }

    #[test]
    fn without_places_nothing_is_written() {
        let files = KeptFiles::here();
        files.keep(b"one", b"content");
        assert_eq!(files.kept(b"one").unwrap(), b"content");
    }
}
