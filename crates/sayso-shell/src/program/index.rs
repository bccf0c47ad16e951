//! All programs by name: a hash table that the compiler builds.

use super::{Spec, gnu};
use crate::option::Style;

/// Every family, each a list of its files. Add a family's `SPECS` here.
const FAMILIES: &[&[&[Spec]]] = &[
    super::coreutils::SPECS,
    super::git::SPECS,
    crate::wrapper::SPECS,
    super::archive::SPECS,
    super::cloud::SPECS,
    super::container::SPECS,
    super::database::SPECS,
    super::machine::SPECS,
    super::network::SPECS,
    super::stream::SPECS,
    super::terminal::SPECS,
    super::broad::SPECS,
    &[super::cargo::SPECS],
    &[super::gh::SPECS],
    &[super::compare::SPECS],
    &[super::compiler::SPECS],
    &[super::go::SPECS],
    &[super::lint::SPECS],
    &[super::make::SPECS],
    &[super::node::SPECS],
    &[super::npm::SPECS],
    &[super::pip::SPECS],
    &[super::pytest::SPECS],
    &[super::python::SPECS],
    &[super::json::SPECS],
    &[super::pager::SPECS],
    &[super::search::SPECS],
];

const SLOTS: usize = 8192;

/// Where a name stands in [`FAMILIES`]. Numbers instead of references: nothing to relocate when the process starts.
#[derive(Clone, Copy)]
struct Place {
    family: u8,
    file: u8,
    spec: u8,
    name: u8,
}

impl Place {
    fn resolve(self) -> Option<(&'static str, &'static Spec)> {
        let files = FAMILIES.get(usize::from(self.family))?;
        let spec = files.get(usize::from(self.file))?.get(usize::from(self.spec))?;
        Some((spec.names.get(usize::from(self.name))?, spec))
    }
}

static PLACES: [Place; count()] = places();

/// One more than an index into [`PLACES`]; 0 is empty.
static SLOTS_OF_HASH: [u16; SLOTS] = build();

/// The table of a program, by its base name.
#[must_use]
pub fn spec(name: &str) -> Option<&'static Spec> {
    find(name).map(|(_, spec)| spec)
}

/// Whether a program of this name is there to start another that its words name.
#[must_use]
pub fn starts_others(name: &str) -> bool {
    spec(name)
        .is_some_and(|found| crate::wrapper::SPECS.iter().any(|file| file.iter().any(|spec| spec.names == found.names)))
}

/// The programs whose operands are data: they read, print, compare, copy or remove what they are given, and do not go by
/// what it says. What an option makes one of them run is an effect of its own.
const DATA: &[&[&[Spec]]] = &[
    super::coreutils::SPECS,
    super::archive::SPECS,
    super::stream::SPECS,
    &[super::compare::SPECS],
    &[super::compiler::SPECS],
    &[super::json::SPECS],
    &[super::pager::SPECS],
    &[super::search::SPECS],
];

/// Whether the operands of a program of this name are data to it, and no instructions.
#[must_use]
pub fn takes_data(name: &str) -> bool {
    let among = |found: &Spec| {
        DATA.iter().flat_map(|family| family.iter()).any(|file| file.iter().any(|spec| spec.names == found.names))
    };
    spec(name).is_some_and(among)
}

/// The programs whose words may hold an address that they, or code that they hand words on to, connect to, beyond what
/// their tables say. What is left out takes data or prose, or says of every word what it is.
const ADDRESSES: &[&[&[Spec]]] = &[
    super::broad::SPECS,
    super::machine::SPECS,
    &[super::cargo::SPECS],
    &[super::compiler::SPECS],
    &[super::go::SPECS],
    &[super::lint::SPECS],
    &[super::make::SPECS],
    &[super::npm::SPECS],
    &[super::pip::SPECS],
    &[super::pytest::SPECS],
];

/// Whether an address in any word of this program is one that it may connect to.
pub(super) fn takes_addresses(found: &'static Spec) -> bool {
    // A compiler of C writes what `-D` says into a program, and connects nowhere.
    !found.style.has(Style::JOINS)
        && ADDRESSES
            .iter()
            .flat_map(|family| family.iter())
            .any(|file| file.iter().any(|spec| spec.names == found.names))
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
    let mut slot = hash(name.as_bytes()) % SLOTS;
    // INVARIANT: the table is never full (checked when it is built), so an empty slot ends every search.
    loop {
        let at = usize::from(*SLOTS_OF_HASH.get(slot)?).checked_sub(1)?;
        let (found, spec) = PLACES.get(at)?.resolve()?;
        if found == name {
            return Some((spec.canonical(found), spec));
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// Every name with its table, in no order.
pub fn all() -> impl Iterator<Item = (&'static str, &'static Spec)> {
    PLACES.iter().filter_map(|place| place.resolve())
}

#[expect(clippy::indexing_slicing, reason = "the index is below the length")]
const fn hash(bytes: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ (hash >> 15)) as usize
}

// The rest runs in the compiler.

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; indexes are below the lengths")]
const fn count() -> usize {
    let mut count = 0;
    let mut family = 0;
    while family < FAMILIES.len() {
        let mut file = 0;
        while file < FAMILIES[family].len() {
            let mut spec = 0;
            while spec < FAMILIES[family][file].len() {
                count += FAMILIES[family][file][spec].names.len();
                spec += 1;
            }
            file += 1;
        }
        family += 1;
    }
    count
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; indexes are below the lengths")]
const fn places() -> [Place; count()] {
    let mut places = [Place { family: 0, file: 0, spec: 0, name: 0 }; count()];
    let mut filled = 0;
    let mut family = 0;
    while family < FAMILIES.len() {
        let mut file = 0;
        while file < FAMILIES[family].len() {
            let mut spec = 0;
            while spec < FAMILIES[family][file].len() {
                let names = FAMILIES[family][file][spec].names.len();
                assert!(names < 256 && spec < 256, "too many for one file");
                let mut name = 0;
                while name < names {
                    places[filled] =
                        Place { family: family as u8, file: file as u8, spec: spec as u8, name: name as u8 };
                    filled += 1;
                    name += 1;
                }
                spec += 1;
            }
            file += 1;
        }
        family += 1;
    }
    places
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; indexes are below the lengths")]
const fn build() -> [u16; SLOTS] {
    let places = places();
    assert!(places.len() < SLOTS / 2, "enlarge the index of programs");
    let mut table = [0; SLOTS];
    let mut at = 0;
    while at < places.len() {
        let place = places[at];
        let names = FAMILIES[place.family as usize][place.file as usize][place.spec as usize].names;
        let mut slot = hash(names[place.name as usize].as_bytes()) % SLOTS;
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        at += 1;
        table[slot] = at as u16;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_table_and_no_name_stands_twice() {
        let mut names: Vec<_> = all().map(|(name, _)| name).collect();
        for name in &names {
            assert!(spec(name).unwrap().names.contains(name), "{name}");
        }
        assert!(gnu::names().is_sorted(), "they are looked for by halves");
        for name in gnu::names() {
            assert!(spec(name).is_some(), "{name}");
            assert!(spec(&format!("g{name}")).is_some(), "g{name}");
        }
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        assert!(twice.is_empty(), "these names stand twice: {twice:?}");
        assert!(spec("no-such-program").is_none());
    }
}
