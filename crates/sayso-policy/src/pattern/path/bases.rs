//! What `.` and `~` mean.

use super::super::Purpose;
use crate::word::Operation;
use std::path::{Path, PathBuf};

/// What `.` and `~` mean for one operation, canonical.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bases {
    pub workspace: Option<PathBuf>,
    /// False where the workspace is too wide for an allow.
    pub permit_workspace: bool,
    pub home: Option<PathBuf>,
    /// Folders that the caller says are its home: `~` means them too where a rule restricts.
    pub claimed_homes: Vec<PathBuf>,
}

impl Bases {
    pub(crate) fn of(operation: &Operation) -> Self {
        Self {
            workspace: operation.workspace.root().map(Path::to_owned),
            permit_workspace: !operation.workspace.is_too_wide(),
            home: operation.home.clone(),
            claimed_homes: operation.claimed_homes.clone(),
        }
    }

    /// What `~` means.
    pub(super) fn homes(&self, purpose: Purpose) -> impl Iterator<Item = &Path> {
        // INVARIANT: no allow matches because of what a caller says its home is.
        let claimed = if purpose == Purpose::Permit { &[][..] } else { &self.claimed_homes };
        self.home.iter().chain(claimed).map(PathBuf::as_path)
    }

    /// Whether this canonical path is the workspace or in it, in the sense that matters for an allow.
    pub(crate) fn inside_workspace(&self, path: &Path) -> bool {
        self.permit_workspace && self.workspace.as_deref().is_some_and(|root| path.starts_with(root))
    }
}
