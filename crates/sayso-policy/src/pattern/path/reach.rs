//! What a pattern can be about below a folder, from its text alone.

use super::{Bases, Component, PathPattern, Purpose, split};
use crate::pattern::Glob;
use std::path::Path;

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
