//! Ignore files.
//!
//! A line `!.env` makes a search look into a file that it would pass over because it is hidden. An agent that may write
//! in the workspace could write such a line, so a hidden file counts as passed over only where no line takes it in; and
//! what git leaves out counts as left out only where a line says so plainly and none takes it back.

use super::Tree;
use crate::pattern::Glob;
use sayso_shell::Kind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

/// Files in which searches look for what to ignore.
const NAMES: &[&str] = &[".ignore", ".gitignore", ".rgignore", ".fdignore", ".git/info/exclude"];

/// Those of them that are git's.
const OF_GIT: &[&str] = &[".gitignore", ".git/info/exclude"];

/// A longer one counts as one that takes in everything.
const MAX_FILE: usize = 256 * 1024;

/// An ignore file, as it was seen.
#[derive(Clone)]
pub(super) enum Ignore {
    Missing,
    /// A link, or something else that git takes for none of its own.
    Odd(Option<Rc<[u8]>>),
    File(Option<Rc<[u8]>>),
}

impl Tree<'_> {
    /// Whether some ignore file, in this tree or above it, takes this path in.
    pub(super) fn takes_in(&self, root: &Path, path: &Path) -> bool {
        self.any_line(NAMES, path, true, |line, _| line.strip_prefix(b"!").is_some_and(|line| names(line, root, path)))
    }

    /// Whether git, and what goes by its ignore files, surely leaves this path out; with `folder`, it is one.
    pub(super) fn leaves_out(&self, root: &Path, path: &Path, folder: bool) -> bool {
        // Above the repository git does not look.
        let top = path.ancestors().skip(1).find(|above| self.files.kind(&above.join(".git")) != Kind::Missing);
        let inside = |above: &Path| top.is_some_and(|top| above.starts_with(top));
        self.any_line(OF_GIT, path, false, |line, above| inside(above) && plainly(line, above, root, path, folder))
            && !self.takes_in(root, path)
    }

    /// Whether a line of the ignore files in the folders above the path satisfies `test`; a file that cannot be read
    /// counts as `unread`.
    fn any_line(&self, names: &[&str], path: &Path, unread: bool, test: impl Fn(&[u8], &Path) -> bool) -> bool {
        path.ancestors().skip(1).any(|folder| {
            names.iter().any(|name| {
                let text = match self.ignore_file(&folder.join(name)) {
                    Ignore::Missing => return false,
                    Ignore::Odd(_) if !unread => return false,
                    Ignore::Odd(text) | Ignore::File(text) => text,
                };
                let Some(text) = text else { return unread };
                let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
                text.split(|b| *b == b'\n').any(|line| match self.survey.compare(1) {
                    Some(()) => test(trimmed(line), folder),
                    None => unread,
                })
            })
        })
    }

    /// Every name that a rule is about asks for the same files.
    fn ignore_file(&self, file: &Path) -> Ignore {
        if let Some(seen) = self.ignores.borrow().get(file) {
            return seen.clone();
        }
        let text = || self.files.read(file, MAX_FILE).map(Rc::from);
        let seen = match self.files.kind(file) {
            Kind::Missing => Ignore::Missing,
            Kind::File { .. } => Ignore::File(text()),
            _ => Ignore::Odd(text()),
        };
        self.ignores.borrow_mut().insert(file.to_owned(), seen.clone());
        seen
    }
}

/// Without blanks at the end; a tab is a character like any other.
fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let end = line.iter().rposition(|b| *b != b' ').map_or(0, |at| at + 1);
    line.get(..end).unwrap_or_default()
}

/// Whether a line, its `!` taken off, may be about this path.
fn names(line: &[u8], root: &Path, path: &Path) -> bool {
    let line = line.strip_suffix(b"/").unwrap_or(line);
    let last = line.rsplit(|b| *b == b'/').next().unwrap_or_default();
    // What is not plain text and stars may match anything.
    let plain = std::str::from_utf8(last).ok().filter(|last| !last.is_empty() && !last.contains(['[', '\\', '{']));
    let Some(glob) = plain.filter(|last| !last.contains("**")).map(Glob::new) else { return true };
    let rest = path.strip_prefix(root).unwrap_or(path);
    rest.components().any(|component| glob.matches_folded(component.as_os_str().as_bytes()))
}

/// Whether this line of the ignore file in `folder` surely matches the path or a folder between it and `root`: `.env`,
/// `*.pem`, `secrets/`, `/.env`. What is ignored is searched all the same where it is named as the place to begin.
fn plainly(line: &[u8], folder: &Path, root: &Path, path: &Path, is_folder: bool) -> bool {
    let (line, folders_only) = line.strip_suffix(b"/").map_or((line, false), |line| (line, true));
    let (line, here_only) = line.strip_prefix(b"/").map_or((line, false), |line| (line, true));
    let plain = |b: &u8| !matches!(b, b'/' | b'[' | b'\\' | b'!' | b'#' | b'{' | b' ');
    if line.is_empty() || !line.iter().all(plain) || line.windows(2).any(|two| two == b"**") {
        return false;
    }
    let (Ok(text), Ok(rest)) = (std::str::from_utf8(line), path.strip_prefix(folder)) else { return false };
    let glob = Glob::new(text);
    let count = rest.components().count();
    let above = root.strip_prefix(folder).map_or(0, |root| root.components().count());
    rest.components().enumerate().take(if here_only { 1 } else { count }).skip(above).any(|(at, component)| {
        (is_folder || at + 1 < count || !folders_only) && glob.matches(component.as_os_str().as_bytes())
    })
}
