//! What a pattern can be about below a folder, from its text alone.

use super::{Anchor, Bases, Component, PathPattern, Purpose, split};
use crate::pattern::Glob;
use std::path::{Path, PathBuf};

impl PathPattern {
    /// Ends in `**`: what matches a folder matches all below it.
    pub(super) fn covers_below(&self) -> bool {
        match self {
            Self::Anything => true,
            Self::Regex(_) => false,
            Self::Components(components) => matches!(components.list.last(), Some(Component::Deep)),
        }
    }

    /// Whether it matches this canonical folder with all below it.
    pub(super) fn covers_folder(&self, folder: &Path, bases: &Bases) -> bool {
        self.covers_below() && self.matches_path(folder, bases, Purpose::Restrict)
    }

    /// Whether a pattern such as `/**/.git/hooks/**` goes on below this folder: it ends as the pattern begins.
    pub(super) fn reaches_from(&self, folder: &Path) -> bool {
        let Self::Components(components) = self else { return false };
        let named: Vec<&Glob> = components
            .list
            .iter()
            .skip_while(|component| **component == Component::Deep)
            .map_while(|component| match component {
                Component::One(glob) => Some(glob),
                Component::Deep => None,
            })
            .collect();
        let parts = split(folder);
        (1..named.len()).any(|count| {
            let tail = parts.len().checked_sub(count).and_then(|from| parts.get(from..));
            tail.is_some_and(|tail| tail.iter().zip(&named).all(|(part, glob)| glob.matches_folded(part)))
        })
    }

    /// Whether anything below this canonical folder could match, from the text alone.
    pub(super) fn may_lie_below(&self, folder: &Path, bases: &Bases) -> bool {
        let Self::Components(components) = self else { return true };
        components.anchors(bases, Purpose::Restrict).any(|base| components.may_lie_below(folder, base))
    }
}

/// What a pattern means as places, for bounds that know folders and files and no patterns.
impl PathPattern {
    /// Whether it is a folder, spelled out, with everything below it.
    pub(crate) fn is_folder(&self) -> bool {
        let Self::Components(components) = self else { return false };
        let Some((Component::Deep, folder)) = components.list.split_last() else { return false };
        folder.iter().all(|part| matches!(part, Component::One(glob) if glob.literal().is_some()))
    }

    /// The folders that it allows with everything below, if it [is one](Self::is_folder).
    pub(crate) fn folders(&self, bases: &Bases) -> Vec<PathBuf> {
        let Self::Components(components) = self else { return Vec::new() };
        if !self.is_folder() {
            return Vec::new();
        }
        let literal: PathBuf = components.literal_part().collect();
        components.anchors(bases, Purpose::Permit).map(|base| join(base, &literal)).collect()
    }

    /// The one place that it is about, spelled out to its end or up to a final `**`; not one that is everywhere.
    pub(crate) fn place(&self, bases: &Bases) -> Option<PathBuf> {
        let Self::Components(components) = self else { return None };
        let literal: PathBuf = components.literal_part().collect();
        let rest = components.list.get(literal.iter().count()..).unwrap_or_default();
        let whole = matches!(rest, [] | [Component::Deep]) && literal.iter().next().is_some();
        whole.then(|| components.anchors(bases, Purpose::Restrict).next().map(|base| join(base, &literal)))?
    }

    /// What a pattern such as `/**/.github/workflows/**` means in this folder: its literal names behind the first `**`.
    pub(crate) fn name_in(&self, folder: &Path) -> Option<PathBuf> {
        let Self::Components(components) = self else { return None };
        let behind = match (&components.anchor, components.list.as_slice()) {
            (Anchor::Root, [Component::Deep, behind @ ..]) | (Anchor::Workspace, behind) => behind,
            _ => return None,
        };
        let mut name = PathBuf::new();
        for part in behind {
            match part {
                Component::One(glob) => name.push(glob.literal()?),
                Component::Deep => break,
            }
        }
        name.iter().next().map(|_| folder.join(&name))
    }
}

impl super::Components {
    /// The names at its beginning that are spelled out.
    fn literal_part(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map_while(|part| match part {
            Component::One(glob) => glob.literal(),
            Component::Deep => None,
        })
    }
}

fn join(base: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { base.to_owned() } else { base.join(below) }
}
