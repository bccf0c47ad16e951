//! Commands that have a facet though their program, with other words, has not: patterns, as a policy's sets hold them.
//! A text says it with `part`.

use super::{Facets, index};
use crate::program::built::PARTS;

/// The commands that have this facet, as patterns: names of programs in order, then programs with the words that it takes.
#[must_use]
pub fn commands(facet: Facets) -> Vec<String> {
    let mut names: Vec<String> = index::with(facet)
        .filter(|(name, _)| !index::ANY_ENDING.iter().any(|begin| name.starts_with(begin) && name != begin))
        .map(|(name, facets)| if facets.has(Facets::ANY_ENDING) { format!("{name}*") } else { name.to_owned() })
        .collect();
    names.sort_unstable();
    let parts = PARTS.iter().filter(|(of, _)| of.has(facet));
    names.extend(parts.map(|(_, part)| (*part).to_owned()));
    names
}
