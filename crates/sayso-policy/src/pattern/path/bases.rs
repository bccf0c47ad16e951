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
    /// The folder that the call runs in, where a caller names its own workspace: `.` means it too where a rule restricts.
    pub beside: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// Folders that the caller says are its home: `~` means them too where a rule restricts.
    pub claimed_homes: Vec<PathBuf>,
}

impl Bases {
    pub(crate) fn of(operation: &Operation) -> Self {
        Self {
            workspace: operation.workspace.root().map(Path::to_owned),
            permit_workspace: !operation.workspace.is_too_wide(),
            beside: beside(operation).map(Path::to_owned),
            home: operation.home.clone(),
            claimed_homes: operation.claimed_homes.clone(),
        }
    }

    /// What `.` means.
    pub(super) fn workspaces(&self, purpose: Purpose) -> impl Iterator<Item = &Path> {
        let permits = purpose == Purpose::Permit;
        // INVARIANT: a workspace that a caller names takes no guard away from where the call runs.
        let named = self.workspace.as_ref().filter(|_| !permits || self.permit_workspace);
        named.into_iter().chain(self.beside.as_ref().filter(|_| !permits)).map(PathBuf::as_path)
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

/// The folder that a call runs in, if its workspace is another one by its caller's word alone.
pub(crate) fn beside(operation: &Operation) -> Option<&Path> {
    let folder = operation.folder.as_deref().or(operation.cwd.as_deref());
    folder.filter(|folder| operation.workspace.is_claimed() && operation.workspace.root() != Some(folder))
}
