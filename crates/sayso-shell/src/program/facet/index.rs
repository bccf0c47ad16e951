//! Facets by name: a hash table that the build script makes, without a reference that would have to be relocated when a
//! hook starts.

use super::Facets;
use crate::program::built::{FACET_ENTRIES, FACET_NAMES, SLOTS_OF_FACETS};
use crate::program::gnu;
use crate::program::text::hash;

/// A name and its facets.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Where in [`FACET_NAMES`] the name begins.
    pub(crate) start: u16,
    pub(crate) length: u8,
    pub(crate) facets: Facets,
}

/// What is known of a program of this name, by its base name.
#[must_use]
pub fn facets(name: &str) -> Facets {
    match exact(name) {
        Some(facets) => facets,
        None => akin(name).map_or(Facets::NONE, |facets| facets.without(Facets::EXACT)),
    }
}

/// The facets that are said of this very name.
pub(crate) fn exact(name: &str) -> Option<Facets> {
    let mut slot = hash(name.as_bytes()) % SLOTS_OF_FACETS.len();
    // INVARIANT: two of three slots are empty, so an empty one ends every search.
    loop {
        let at = usize::from(*SLOTS_OF_FACETS.get(slot)?).checked_sub(1)?;
        let entry = FACET_ENTRIES.get(at)?;
        if entry.name()? == name.as_bytes() {
            return Some(entry.facets);
        }
        slot = (slot + 1) % SLOTS_OF_FACETS.len();
    }
}

/// The facets of what a program is a version or a copy of: `gxargs`, `ruby3.2`, `python-dbg`.
fn akin(name: &str) -> Option<Facets> {
    if let Some(plain) = gnu::plain(name) {
        return exact(plain);
    }
    if name.ends_with(|c: char| c.is_ascii_digit()) {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        if let Some(facets) = exact(plain) {
            return Some(facets);
        }
    }
    // INVARIANT: these are the programs with `ANY_ENDING`; a test compares them.
    ANY_ENDING.iter().find(|begin| name.starts_with(**begin)).and_then(|begin| exact(begin))
}

pub(super) const ANY_ENDING: [&str; 2] = ["python", "lua"];

impl Entry {
    fn name(&self) -> Option<&'static [u8]> {
        let start = usize::from(self.start);
        FACET_NAMES.as_bytes().get(start..start + usize::from(self.length))
    }
}

/// The programs that have one of these facets.
pub(super) fn with(any: Facets) -> impl Iterator<Item = (&'static str, Facets)> {
    let named = |entry: &'static Entry| Some((std::str::from_utf8(entry.name()?).ok()?, entry.facets));
    FACET_ENTRIES.iter().filter(move |entry| entry.facets.has(any)).filter_map(named)
}
