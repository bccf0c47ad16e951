//! All programs by name: a hash table that the build script makes.

use super::built::{PLACES, SLOTS_OF_PLACES, SPECS};
use super::text::hash;
use super::{Spec, gnu};
use crate::option::Style;

/// Where a name stands in the texts. Numbers instead of references: nothing to relocate when the process starts.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) spec: u16,
    /// Which of its names.
    pub(super) name: u8,
    /// What is said of its family, a bit each.
    pub(super) family: u8,
}

const STARTS_OTHERS: u8 = 1;
const TAKES_DATA: u8 = 1 << 1;
const TAKES_ADDRESSES: u8 = 1 << 2;

impl Place {
    fn resolve(self) -> Option<(&'static str, &'static Spec)> {
        let spec = SPECS.get(usize::from(self.spec))?;
        Some((spec.names.get(usize::from(self.name))?, spec))
    }
}

/// The table of a program, by its base name.
#[must_use]
pub fn spec(name: &str) -> Option<&'static Spec> {
    find(name).map(|(_, spec)| spec)
}

/// Whether a program of this name is there to start another that its words name.
#[must_use]
pub fn starts_others(name: &str) -> bool {
    family(name) & STARTS_OTHERS != 0
}

/// Whether the operands of a program of this name are data to it, and no instructions.
#[must_use]
pub fn takes_data(name: &str) -> bool {
    family(name) & TAKES_DATA != 0
}

/// Whether an address in any word of the program of this name, whose table this is, is one that it may connect to.
pub(super) fn takes_addresses(name: &str, found: &Spec) -> bool {
    // A compiler of C writes what `-D` says into a program, and connects nowhere.
    !found.style.has(Style::JOINS) && family(name) & TAKES_ADDRESSES != 0
}

fn family(name: &str) -> u8 {
    place(name).or_else(|| place(gnu::plain(name)?)).map_or(0, |place| place.family)
}

/// The canonical name of a program that is known under this one.
#[must_use]
pub fn canonical_name(name: &str) -> Option<&'static str> {
    find(name).map(|(name, _)| name)
}

/// The canonical name of a program, and its table.
pub(super) fn find(name: &str) -> Option<(&'static str, &'static Spec)> {
    written(name).or_else(|| written(gnu::plain(name)?))
}

fn written(name: &str) -> Option<(&'static str, &'static Spec)> {
    let (found, spec) = place(name)?.resolve()?;
    Some((spec.canonical(found), spec))
}

fn place(name: &str) -> Option<Place> {
    let mut slot = hash(name.as_bytes()) % SLOTS_OF_PLACES.len();
    // INVARIANT: two of three slots are empty, so an empty one ends every search.
    loop {
        let at = usize::from(*SLOTS_OF_PLACES.get(slot)?).checked_sub(1)?;
        let place = *PLACES.get(at)?;
        if place.resolve()?.0 == name {
            return Some(place);
        }
        slot = (slot + 1) % SLOTS_OF_PLACES.len();
    }
}

/// Every name with its table, in no order.
pub fn all() -> impl Iterator<Item = (&'static str, &'static Spec)> {
    PLACES.iter().filter_map(|place| place.resolve())
}

/// Names of which each has a number. Offsets instead of references, as above.
pub(super) struct Names {
    /// All of them, one behind the other.
    pub(super) names: &'static str,
    pub(super) entries: &'static [Named],
    /// By their hash, one more than an index into `entries`; 0 is empty.
    pub(super) slots: &'static [u16],
}

/// A name and its number.
pub(super) struct Named {
    pub(super) start: u16,
    pub(super) length: u8,
    pub(super) value: u16,
}

impl Names {
    /// The number of this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let mut slot = hash(name.as_bytes()) % self.slots.len();
        // INVARIANT: two of three slots are empty, so an empty one ends every search.
        loop {
            let at = usize::from(*self.slots.get(slot)?).checked_sub(1)?;
            let entry = self.entries.get(at)?;
            let start = usize::from(entry.start);
            if self.names.as_bytes().get(start..start + usize::from(entry.length))? == name.as_bytes() {
                return Some(usize::from(entry.value));
            }
            slot = (slot + 1) % self.slots.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Facets;

    #[test]
    fn every_name_finds_its_table_and_no_name_stands_twice() {
        let mut names: Vec<_> = all().map(|(name, _)| name).collect();
        for name in &names {
            assert!(spec(name).unwrap().names.contains(name), "{name}");
        }
        for name in super::super::facet::with(Facets::GNU) {
            assert!(spec(name).is_some(), "{name}");
            assert!(spec(&format!("g{name}")).is_some(), "g{name}");
        }
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        assert!(twice.is_empty(), "these names stand twice: {twice:?}");
        assert!(spec("no-such-program").is_none());
    }
}
