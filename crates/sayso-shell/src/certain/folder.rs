//! Why the working directory is where it is believed to be: `cd x; y` leaves two possibilities, `cd x && y` one.
//!
//! A [`Cwd`] begins with the folder that came with the call, and moves only by the two ways that stand here.

use crate::canonical::lexical;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// More possibilities than these are no knowledge.
const MAX_PLACES: usize = 4;

/// Where the shell may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cwd(Option<Rc<[PathBuf]>>);

/// How a path is followed from one folder to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The shell's own `cd` without `-P` takes `..` by text, from the path it came by.
    Text,
    /// The system takes `..` from where links led (`env -C`): only a path without it is where it seems to be.
    System,
}

impl Cwd {
    /// Nobody knows.
    pub(crate) const UNKNOWN: Self = Self(None);

    /// The folder that came with the call.
    pub(crate) fn given(path: Option<&Path>) -> Self {
        path.map_or(Self::UNKNOWN, Self::at)
    }

    fn at(path: &Path) -> Self {
        // A relative working directory is none.
        Self(path.is_absolute().then(|| Rc::from([path.to_path_buf()])))
    }

    /// All possibilities; none if it is not known.
    pub(crate) fn places(&self) -> &[PathBuf] {
        self.0.as_ref().map_or(&[], |places| places)
    }

    /// The one place, if there is only one.
    pub(crate) fn only(&self) -> Option<&Path> {
        match self.places() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// What may be the case if either was.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let (Some(one), Some(two)) = (&self.0, &other.0) else { return Self::UNKNOWN };
        if Rc::ptr_eq(one, two) || one == two {
            return self.clone();
        }
        let mut all = one.to_vec();
        all.extend(two.iter().filter(|place| !one.contains(place)).cloned());
        if all.len() > MAX_PLACES { Self::UNKNOWN } else { Self(Some(all.into())) }
    }

    /// Here, or where this path certainly leads when links are followed.
    pub(crate) fn or_behind_links(&self, files: &dyn crate::Files) -> Self {
        match self.only().map(|path| crate::canonical::canonical(files, path)) {
            Some(found) if found.certain => self.or(&Self::at(&found.path)),
            _ => Self::UNKNOWN,
        }
    }

    /// After this path was entered from anywhere this may be.
    pub(crate) fn enter(&self, path: &Path, by: By) -> Self {
        if by == By::System && path.components().any(|part| part == std::path::Component::ParentDir) {
            return Self::UNKNOWN;
        }
        if path.is_absolute() {
            return Self::at(&lexical(path));
        }
        let mut out: Option<Self> = None;
        for place in self.places() {
            let there = Self::at(&lexical(&place.join(path)));
            out = Some(match out {
                None => there,
                Some(so_far) => so_far.or(&there),
            });
        }
        out.unwrap_or(Self::UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possibilities_add_up_until_nothing_is_known() {
        let home = Cwd::given(Some(Path::new("/w")));
        let both = home.or(&home.enter(Path::new("a"), By::Text));
        assert_eq!(both.places(), [PathBuf::from("/w"), PathBuf::from("/w/a")]);
        assert_eq!(both.only(), None);
        let four = both.or(&both.enter(Path::new("b/../c"), By::Text));
        assert_eq!(four.places().len(), 4);
        assert_eq!(four.or(&four.enter(Path::new("d"), By::Text)), Cwd::UNKNOWN);
        assert_eq!(home.enter(Path::new(".."), By::Text).only(), Some(Path::new("/")));
        assert_eq!(home.enter(Path::new("a"), By::System).only(), Some(Path::new("/w/a")));
        assert_eq!(home.enter(Path::new("a/.."), By::System), Cwd::UNKNOWN);
        assert_eq!(Cwd::UNKNOWN.enter(Path::new("/x"), By::Text).only(), Some(Path::new("/x")));
        assert_eq!(Cwd::given(Some(Path::new("rel"))), Cwd::UNKNOWN);
    }
}
