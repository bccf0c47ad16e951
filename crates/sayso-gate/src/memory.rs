//! What a gate remembers with, opened when a call first needs it.

use crate::files::Once;
use crate::mode::{self, Switch};
use crate::policy::Repository;
use crate::store::{self, Store};
use crate::{Error, Places};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// What a gate remembers with. A hook that needs none of it opens nothing.
#[derive(Clone, Debug)]
pub struct Memory {
    places: Places,
    store: Arc<OnceLock<Arc<dyn Store>>>,
}

impl Memory {
    /// The memory of this user, opened when it is first needed.
    #[must_use]
    pub fn of(places: &Places) -> Self {
        Self { places: places.clone(), store: Arc::default() }
    }

    /// The same with a store that is open already.
    #[must_use]
    pub fn with(places: &Places, store: Arc<dyn Store>) -> Self {
        let memory = Self::of(places);
        let _ = memory.store.set(store);
        memory
    }

    /// The store.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn store(&self) -> Result<&Arc<dyn Store>, Error> {
        if let Some(open) = self.store.get() {
            return Ok(open);
        }
        let opened = store::open(&self.places)?;
        Ok(self.store.get_or_init(|| opened))
    }

    /// What is wrong with the record, as far as this process knows: where the store was never needed, nothing is.
    pub(crate) fn alarm(&self) -> Option<Arc<str>> {
        self.store.get()?.alarm()
    }

    /// Where it is.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The mode that an operator has switched on, if one is in force now.
    pub(crate) fn switch(&self, looked: &Once<'_>, now_ms: u64) -> Option<Switch> {
        mode::in_force_for(looked, &self.places, now_ms)
    }
}

/// The name under which grants know a workspace. The same folder of all worktrees of one repository has it, and no
/// other: `./x` in a grant means the same file wherever it counts. Bytes that are no UTF-8 are written out.
pub(crate) fn site(workspace: &Path) -> String {
    let repository = Repository::of(workspace);
    let mut name = written_out(&repository.identity);
    if let Some(inner) = workspace.strip_prefix(&repository.root).ok().filter(|inner| !inner.as_os_str().is_empty()) {
        name.push_str(" in ");
        name.push_str(&written_out(inner));
    }
    name
}

fn written_out(path: &Path) -> String {
    let mut name = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        name.push_str(&chunk.valid().replace('%', "%25").replace(' ', "%20"));
        chunk.invalid().iter().for_each(|byte| name.push_str(&format!("%{byte:02x}")));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn no_two_folders_share_a_name() {
        let name = |bytes: &[u8]| site(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(name(b"/nowhere/plain"), "/nowhere/plain");
        assert_ne!(name(b"/nowhere/\xff"), name(b"/nowhere/\xfe"));
        assert_ne!(name(b"/nowhere/\xff"), name(b"/nowhere/%ff"));
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        std::fs::create_dir_all(dir.path().join(".git")).unwrap();
        std::fs::create_dir(&inner).unwrap();
        assert_ne!(site(dir.path()), site(&inner), "`./x` is another file there");
    }
}
