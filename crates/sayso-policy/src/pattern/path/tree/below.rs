//! The names below a folder, kept small: a project can hold hundreds of thousands.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Everything below a folder, folder by folder.
pub(crate) struct Below {
    root: PathBuf,
    folders: Vec<Folder>,
    /// All names, one behind the other.
    text: Vec<u8>,
    /// Where each name ends in `text`.
    ends: Vec<u32>,
    /// Links, and where they lead.
    links: Vec<(PathBuf, PathBuf)>,
}

struct Folder {
    path: PathBuf,
    /// One more than its last name, in `ends`.
    end: usize,
}

impl Below {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, folders: Vec::new(), text: Vec::new(), ends: Vec::new(), links: Vec::new() }
    }

    /// Adds a name to the folder that is added next. `None`: there is too much.
    pub(super) fn name(&mut self, name: &[u8]) -> Option<()> {
        self.text.extend_from_slice(name);
        self.ends.push(u32::try_from(self.text.len()).ok()?);
        Some(())
    }

    /// Ends a folder: the names since the last one are its.
    pub(super) fn folder(&mut self, path: PathBuf) {
        self.folders.push(Folder { path, end: self.ends.len() });
    }

    pub(super) fn link(&mut self, link: PathBuf, target: PathBuf) {
        self.links.push((link, target));
    }

    /// The folder itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Links, and where they lead.
    pub(super) fn targets(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.links.iter().map(|(link, target)| (link.as_path(), target.as_path()))
    }

    /// Each name with the folder that it is in.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&[u8], &Path)> {
        let mut folders = self.folders.iter().peekable();
        let mut from = 0;
        self.ends.iter().enumerate().filter_map(move |(at, end)| {
            while folders.next_if(|folder| folder.end <= at).is_some() {}
            let end = usize::try_from(*end).ok()?;
            let name = self.text.get(from..end)?;
            from = end;
            Some((name, folders.peek()?.path.as_path()))
        })
    }

    /// Whether some path satisfies `test`.
    pub(super) fn any(&self, test: impl Fn(&Path) -> bool) -> bool {
        self.any_named(|_| true, test)
    }

    /// Whether some path whose last name fits satisfies `test`.
    pub(super) fn any_named(&self, fits: impl Fn(&[u8]) -> bool, test: impl Fn(&Path) -> bool) -> bool {
        // Paths are built in one buffer, whose head is the folder.
        let mut path: Vec<u8> = Vec::new();
        let mut head: Option<(&Path, usize)> = None;
        self.names().filter(|(name, _)| fits(name)).any(|(name, folder)| {
            let end = match head {
                Some((known, end)) if std::ptr::eq(known, folder) => end,
                _ => {
                    path.clear();
                    path.extend_from_slice(folder.as_os_str().as_bytes());
                    if path.last() != Some(&b'/') {
                        path.push(b'/');
                    }
                    head = Some((folder, path.len()));
                    path.len()
                }
            };
            path.truncate(end);
            path.extend_from_slice(name);
            test(Path::new(OsStr::from_bytes(&path)))
        })
    }
}
