//! What exists below a folder, found once for each decision.

use sayso_shell::{Files, Kind};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Most names looked at for one decision. Over it the answer is "not known", which asks.
const MAX_NAMES: usize = 20_000;

/// What exists below folders. Links are not followed: what they lead to is judged by its own path.
pub(crate) struct Tree<'a> {
    files: &'a dyn Files,
    left: Cell<usize>,
    known: RefCell<HashMap<PathBuf, Option<std::rc::Rc<Vec<PathBuf>>>>>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(files: &'a dyn Files) -> Self {
        Self { files, left: Cell::new(MAX_NAMES), known: RefCell::default() }
    }

    /// Whether some path below `folder` satisfies `test`; `None`: not known.
    pub(crate) fn any_below(&self, folder: &Path, test: impl Fn(&Path) -> bool) -> Option<bool> {
        Some(self.all_below(folder)?.iter().any(|path| test(path)))
    }

    /// Whether some existing path that `pattern` expands to below `base`, or something below that path, satisfies
    /// `test`.
    pub(crate) fn any_expansion(&self, base: &Path, pattern: &[u8], test: impl Fn(&Path) -> bool) -> Option<bool> {
        let parts: Vec<&[u8]> = pattern.split(|b| *b == b'/').filter(|part| !part.is_empty()).collect();
        if let [b"**", last] = parts.as_slice()
            && let Some(suffix) = last.strip_prefix(b"*")
            && !suffix.is_empty()
            && !suffix.iter().any(|b| matches!(b, b'*' | b'?' | b'[' | b'\\'))
        {
            // A dot file counts too: what expands this may be a tool that does not leave them out.
            return self.any_below(base, |path| path.as_os_str().as_bytes().ends_with(suffix) && test(path));
        }
        let mut folders = vec![base.to_owned()];
        for part in parts {
            if part.windows(2).any(|two| two == b"**") {
                return self.any_below(base, test);
            }
            let mut next = Vec::new();
            for folder in folders {
                for name in self.names(&folder)? {
                    if shell_match(part, name.as_os_str().as_bytes()) {
                        next.push(folder.join(name));
                    }
                }
            }
            folders = next;
        }
        Some(folders.iter().any(|path| test(path)))
    }

    fn names(&self, folder: &Path) -> Option<Vec<std::ffi::OsString>> {
        match self.files.kind(folder) {
            Kind::Folder { .. } => {}
            Kind::Missing | Kind::File { .. } | Kind::Other => return Some(Vec::new()),
            Kind::Link(_) | Kind::Unknown => return None,
        }
        let names = self.files.list(folder, self.left.get())?;
        self.left.set(self.left.get().saturating_sub(names.len()));
        Some(names)
    }

    /// Everything below a folder; `None`: not known.
    pub(crate) fn all_below(&self, folder: &Path) -> Option<std::rc::Rc<Vec<PathBuf>>> {
        if let Some(found) = self.known.borrow().get(folder) {
            return found.clone();
        }
        let found = self.walk(folder).map(std::rc::Rc::new);
        self.known.borrow_mut().insert(folder.to_owned(), found.clone());
        found
    }

    fn walk(&self, folder: &Path) -> Option<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            for name in self.names(&folder)? {
                let path = folder.join(name);
                if matches!(self.files.kind(&path), Kind::Folder { .. }) {
                    open.push(path.clone());
                }
                found.push(path);
            }
        }
        Some(found)
    }
}

/// A shell pattern against one name. A leading dot needs a literal one; classes match any character: wider, and
/// this is only asked about what is denied.
fn shell_match(pattern: &[u8], name: &[u8]) -> bool {
    let mut glob = String::new();
    let mut rest = pattern.iter();
    while let Some(b) = rest.next() {
        match b {
            b'[' => {
                glob.push('?');
                for b in rest.by_ref() {
                    if *b == b']' {
                        break;
                    }
                }
            }
            b'\\' => {
                if let Some(b) = rest.next() {
                    glob.push(char::from(*b));
                }
            }
            b => glob.push(char::from(*b)),
        }
    }
    if name.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
        return false;
    }
    // Bytes above ASCII were widened to Latin-1 characters in `glob`; do the same to the name.
    let name: String = name.iter().map(|b| char::from(*b)).collect();
    super::Glob::new(&glob).matches(name.as_bytes())
}
