//! How commands end, and where the shell is then.

use crate::certain::folder::Cwd;

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
