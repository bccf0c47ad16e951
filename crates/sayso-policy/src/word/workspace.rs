//! The folder a session is about.

use std::path::{Path, PathBuf};

/// The folder a session is about, fixed by the owner or at session start. No call and no `cd` moves it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    root: Option<PathBuf>,
    too_wide: bool,
    claimed: bool,
}

impl Workspace {
    /// No workspace is known: `.` matches nothing.
    #[must_use]
    pub fn unknown() -> Self {
        Self::default()
    }

    /// This folder, which should be canonical. `home` is the owner's home folder, where known.
    ///
    /// INVARIANT: `/`, a home folder, or a folder above one is too wide: `.` matches no allow there, because "inside
    /// the workspace" would then mean nearly everything.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>, home: Option<&Path>) -> Self {
        Self::beside(root, home)
    }

    /// The same where there are several home folders: the owner's, and what a caller says is its own.
    #[must_use]
    pub fn beside<'a>(root: impl Into<PathBuf>, homes: impl IntoIterator<Item = &'a Path>) -> Self {
        let root = root.into();
        let too_wide = !root.is_absolute()
            || root.parent().is_none()
            || homes.into_iter().any(|home| home.starts_with(&root))
            || looks_like_home_or_above(&root);
        Self { root: Some(root), too_wide, claimed: false }
    }

    /// The same, where a caller says so of itself and no owner does: what restricts by `.` then holds for the folder that
    /// the call runs in as well.
    #[must_use]
    pub fn claimed(self) -> Self {
        Self { claimed: true, ..self }
    }

    /// Whether it is a caller's word alone.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        self.claimed
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The folder, if `.` may match an allow there.
    #[must_use]
    pub fn root_for_allow(&self) -> Option<&Path> {
        if self.too_wide { None } else { self.root() }
    }

    /// Whether the folder is `/`, a home folder or above one.
    #[must_use]
    pub fn is_too_wide(&self) -> bool {
        self.too_wide
    }
}

/// Home folders of other people by where systems put them.
fn looks_like_home_or_above(root: &Path) -> bool {
    let parts: Vec<_> = root.components().skip(1).filter_map(|c| c.as_os_str().to_str()).collect();
    matches!(parts.as_slice(), [] | ["root" | "home" | "Users"] | ["home" | "Users", _] | ["var", "root"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_homes_and_what_is_above_them_match_no_allow() {
        let home = Path::new("/srv/people/ann");
        for wide in ["/", "/home", "/home/bob", "/root", "/Users/x", "/srv/people", "/srv/people/ann", "relative"] {
            assert!(Workspace::new(wide, Some(home)).is_too_wide(), "{wide}");
        }
        for fine in ["/home/bob/src", "/srv/people/ann/src/app", "/app", "/tmp/x"] {
            assert!(!Workspace::new(fine, Some(home)).is_too_wide(), "{fine}");
        }
    }
}
