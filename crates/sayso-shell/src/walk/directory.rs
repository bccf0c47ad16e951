//! The working directory, as far as it is known: `cd x; y` leaves two possibilities, `cd x && y` one.

use std::path::{Path, PathBuf};
use std::rc::Rc;

/// More possibilities than these are no knowledge.
const MAX_PLACES: usize = 4;

/// Where the shell may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cwd(Option<Rc<[PathBuf]>>);

impl Cwd {
    /// Nobody knows.
    pub(crate) const UNKNOWN: Self = Self(None);

    pub(crate) fn at(path: Option<&Path>) -> Self {
        // A relative working directory is none.
        Self(path.filter(|path| path.is_absolute()).map(|path| Rc::from([path.to_path_buf()])))
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

    /// After a successful `cd` to this path from anywhere this may be.
    pub(crate) fn enter(&self, path: &Path) -> Self {
        if path.is_absolute() {
            return Self::at(Some(&crate::canonical::lexical(path)));
        }
        let mut out: Option<Self> = None;
        for place in self.places() {
            // `cd` without `-P` takes `..` by text, from the path it came by.
            let there = Self::at(Some(&crate::canonical::lexical(&place.join(path))));
            out = Some(match out {
                None => there,
                Some(so_far) => so_far.or(&there),
            });
        }
        out.unwrap_or(Self::UNKNOWN)
    }
}

/// How a command may end, and where the shell is then. `None`: it cannot end so.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) ok: Option<Cwd>,
    pub(crate) failed: Option<Cwd>,
}

impl Ends {
    /// Either way, at the same place.
    pub(crate) fn both(cwd: &Cwd) -> Self {
        Self { ok: Some(cwd.clone()), failed: Some(cwd.clone()) }
    }

    /// The shell ends here.
    pub(crate) const NEVER: Self = Self { ok: None, failed: None };

    pub(crate) fn negated(self) -> Self {
        Self { ok: self.failed, failed: self.ok }
    }

    /// Where the shell is afterwards, whichever way it ended; `None` if it never gets there.
    pub(crate) fn after(&self) -> Option<Cwd> {
        either(self.ok.as_ref(), self.failed.as_ref())
    }
}

pub(crate) fn either(one: Option<&Cwd>, two: Option<&Cwd>) -> Option<Cwd> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.or(two)),
        (one, two) => one.or(two).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possibilities_add_up_until_nothing_is_known() {
        let home = Cwd::at(Some(Path::new("/w")));
        let both = home.or(&home.enter(Path::new("a")));
        assert_eq!(both.places(), [PathBuf::from("/w"), PathBuf::from("/w/a")]);
        assert_eq!(both.only(), None);
        let four = both.or(&both.enter(Path::new("b/../c")));
        assert_eq!(four.places().len(), 4);
        assert_eq!(four.or(&four.enter(Path::new("d"))), Cwd::UNKNOWN);
        assert_eq!(home.enter(Path::new("..")).only(), Some(Path::new("/")));
        assert_eq!(Cwd::UNKNOWN.enter(Path::new("/x")).only(), Some(Path::new("/x")));
        assert_eq!(Cwd::at(Some(Path::new("rel"))), Cwd::UNKNOWN);
    }
}
