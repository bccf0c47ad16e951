//! Where a path really leads: links followed, `..` taken at its folder, missing tails kept.
//!
//! The kernel resolves `link/..` to the parent of the link's target, so a path is never cleaned before its links are
//! followed. A path that does not exist yet is resolved as far as it does; the rest is kept as written.

use crate::files::{Files, Kind};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// As many links as Linux follows before it gives up.
const MAX_LINKS: usize = 40;

/// The outcome of [`canonical`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// The path without links and `..`. If it is not `certain` it is the best lexical answer.
    pub path: PathBuf,
    /// What stands there; never a link when `certain`.
    pub kind: Kind,
    /// Every component could be looked at, and the links ended. An allow must not rest on an uncertain path.
    pub certain: bool,
    /// A link was followed on the way.
    pub through_link: bool,
}

impl Canonical {
    /// Whether something certainly stands there.
    #[must_use]
    pub fn exists(&self) -> bool {
        !matches!(self.kind, Kind::Missing | Kind::Unknown)
    }
}

/// Resolves an absolute path component by component. A relative path stays relative and is not certain.
#[must_use]
pub fn canonical(files: &dyn Files, path: &Path) -> Canonical {
    let mut rest: Vec<Step> = Vec::with_capacity(16);
    push_steps(&mut rest, path);
    let mut done = PathBuf::with_capacity(path.as_os_str().len() + 16);
    let mut kind = Kind::Folder { world_writable: false };
    let mut certain = path.is_absolute();
    let mut links = 0;
    // Below something that is missing nothing is asked any more: it can only be created as plain folders.
    let mut missing = false;
    if certain {
        done.push("/");
    }
    while let Some(step) = rest.pop() {
        let name = match step {
            Step::Up => {
                if done.as_os_str().is_empty() || done.ends_with("..") {
                    done.push("..");
                } else {
                    done.pop();
                }
                // `missing/..` exists only once `missing` does; what is there then is looked at anew.
                missing = false;
                kind = Kind::Folder { world_writable: false };
                continue;
            }
            Step::Root => {
                done.clear();
                done.push("/");
                missing = false;
                kind = Kind::Folder { world_writable: false };
                continue;
            }
            Step::Name(name) => name,
        };
        done.push(&name);
        if missing || !path.is_absolute() {
            kind = if missing { Kind::Missing } else { Kind::Unknown };
            continue;
        }
        kind = files.kind(&done);
        match &kind {
            Kind::Link(target) => {
                links += 1;
                if links > MAX_LINKS {
                    certain = false;
                    kind = Kind::Unknown;
                    continue;
                }
                done.pop();
                push_steps(&mut rest, target);
            }
            Kind::Missing => missing = true,
            Kind::Unknown => certain = false,
            // A file with something below it: the kernel would refuse, so nothing is there.
            Kind::File { .. } | Kind::Other if !rest.is_empty() => missing = true,
            Kind::File { .. } | Kind::Folder { .. } | Kind::Other => {}
        }
    }
    Canonical { path: done, kind, certain, through_link: links > 0 }
}

enum Step {
    Root,
    Up,
    Name(OsString),
}

fn push_steps(rest: &mut Vec<Step>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::RootDir => rest.push(Step::Root),
            Component::ParentDir => rest.push(Step::Up),
            Component::Normal(name) => rest.push(Step::Name(name.to_owned())),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
}

/// Removes `.` and resolves `..` by text alone. Only for paths of which it is known that no link is on the way, and for
/// comparing what the same call wrote with what it uses.
#[must_use]
pub fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::with_capacity(path.as_os_str().len());
    for component in path.components() {
        match component {
            Component::CurDir | Component::Prefix(_) => {}
            Component::ParentDir => {
                if matches!(out.components().next_back(), Some(Component::Normal(_))) {
                    out.pop();
                } else if !out.has_root() {
                    out.push("..");
                }
            }
            Component::RootDir => out.push("/"),
            Component::Normal(name) => out.push(name),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;

    fn files() -> MemoryFiles {
        let mut files = MemoryFiles::new();
        files.file("/w/src/main.rs", b"fn main() {}");
        files.file("/etc/passwd", b"root");
        files.link("/w/etc", "/etc");
        files.link("/w/up", "..");
        files.link("/w/loop", "loop");
        files.link("/w/dangling", "nowhere/x");
        files.link("/w/deep", "src/../etc");
        files
    }

    #[test]
    fn links_and_parents_are_resolved_as_the_kernel_does() {
        for (path, expected, exists) in [
            ("/w/src/main.rs", "/w/src/main.rs", true),
            ("/w/./src//main.rs", "/w/src/main.rs", true),
            ("/w/etc/passwd", "/etc/passwd", true),
            ("/w/etc/../x", "/x", false),
            ("/w/src/../src", "/w/src", true),
            ("/w/up/w/src", "/w/src", true),
            ("/w/new/deep/../file", "/w/new/file", false),
            ("/w/dangling", "/w/nowhere/x", false),
            ("/w/deep/passwd", "/etc/passwd", true),
            ("/../../etc", "/etc", true),
            ("/w/src/main.rs/x", "/w/src/main.rs/x", false),
        ] {
            let found = canonical(&files(), Path::new(path));
            assert_eq!(found.path, Path::new(expected), "{path}");
            assert_eq!(found.exists(), exists, "{path}");
            assert!(found.certain, "{path}");
        }
    }

    #[test]
    fn a_loop_of_links_and_unknown_ground_are_not_certain() {
        assert!(!canonical(&files(), Path::new("/w/loop/x")).certain);
        assert!(!canonical(&crate::NoFiles, Path::new("/w/x")).certain);
        assert!(!canonical(&files(), Path::new("w/x")).certain);
    }

    #[test]
    fn a_missing_folder_before_dots_is_looked_at_anew() {
        let found = canonical(&files(), Path::new("/w/nope/../etc/passwd"));
        assert_eq!(found.path, Path::new("/etc/passwd"));
    }
}
