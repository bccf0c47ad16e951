//! All programs by name: a hash table that the compiler builds.

use super::{Spec, gnu};
use crate::option::Style;

/// Programs of one kind, in some files.
struct Family {
    files: &'static [&'static [Spec]],
    /// They are there to start another that their words name.
    starts_others: bool,
    /// Their operands are data: they read, print, compare, copy or remove what they are given, and do not go by what it
    /// says. What an option makes one of them run is an effect of its own.
    takes_data: bool,
    /// Their words may hold an address that they, or code that they hand words on to, connect to, beyond what their tables
    /// say. The others take data or prose, or say of every word what it is.
    takes_addresses: bool,
}

impl Family {
    const fn of(files: &'static [&'static [Spec]]) -> Self {
        Self { files, starts_others: false, takes_data: false, takes_addresses: false }
    }

    const fn starting_others(self) -> Self {
        Self { starts_others: true, ..self }
    }

    const fn taking_data(self) -> Self {
        Self { takes_data: true, ..self }
    }

    const fn taking_addresses(self) -> Self {
        Self { takes_addresses: true, ..self }
    }
}

/// Every family. Add a family's `SPECS` here.
const FAMILIES: &[Family] = &[
    Family::of(super::coreutils::SPECS).taking_data(),
    Family::of(super::git::SPECS),
    Family::of(crate::wrapper::SPECS).starting_others(),
    Family::of(super::archive::SPECS).taking_data(),
    Family::of(super::cloud::SPECS),
    Family::of(super::container::SPECS),
    Family::of(super::database::SPECS),
    Family::of(super::machine::SPECS).taking_addresses(),
    Family::of(super::network::SPECS),
    Family::of(super::stream::SPECS).taking_data(),
    Family::of(super::terminal::SPECS),
    Family::of(super::broad::SPECS).taking_addresses(),
    Family::of(&[super::builder::SPECS]).taking_addresses(),
    Family::of(&[super::bundler::SPECS]).taking_addresses(),
    Family::of(&[super::checker::SPECS]).taking_addresses(),
    Family::of(&[super::language::SPECS]).taking_addresses(),
    Family::of(&[super::tester::SPECS]).taking_addresses(),
    Family::of(&[super::jvm::SPECS]).taking_addresses(),
    Family::of(&[super::task::SPECS]).taking_addresses(),
    Family::of(&[super::cargo::SPECS]).taking_addresses(),
    Family::of(&[super::gh::SPECS]),
    Family::of(&[super::compare::SPECS]).taking_data(),
    Family::of(&[super::compiler::SPECS]).taking_data().taking_addresses(),
    Family::of(&[super::go::SPECS]).taking_addresses(),
    Family::of(&[super::lint::SPECS]).taking_addresses(),
    Family::of(&[super::make::SPECS]).taking_addresses(),
    Family::of(&[super::node::SPECS]),
    Family::of(&[super::npm::SPECS]).taking_addresses(),
    Family::of(&[super::pip::SPECS]).taking_addresses(),
    Family::of(&[super::pytest::SPECS]).taking_addresses(),
    Family::of(&[super::python::SPECS]),
    Family::of(&[super::json::SPECS]).taking_data(),
    Family::of(&[super::pager::SPECS]).taking_data(),
    Family::of(&[super::search::SPECS]).taking_data(),
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
    fn family(self) -> Option<&'static Family> {
        FAMILIES.get(usize::from(self.family))
    }

    fn resolve(self) -> Option<(&'static str, &'static Spec)> {
        let spec = self.family()?.files.get(usize::from(self.file))?.get(usize::from(self.spec))?;
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
    family(name).is_some_and(|family| family.starts_others)
}

/// Whether the operands of a program of this name are data to it, and no instructions.
#[must_use]
pub fn takes_data(name: &str) -> bool {
    family(name).is_some_and(|family| family.takes_data)
}

/// Whether an address in any word of the program of this name, whose table this is, is one that it may connect to.
pub(super) fn takes_addresses(name: &str, found: &Spec) -> bool {
    // A compiler of C writes what `-D` says into a program, and connects nowhere.
    !found.style.has(Style::JOINS) && family(name).is_some_and(|family| family.takes_addresses)
}

fn family(name: &str) -> Option<&'static Family> {
    place(name).or_else(|| place(gnu::plain(name)?))?.family()
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
    let mut slot = hash(name.as_bytes()) % SLOTS;
    // INVARIANT: the table is never full (checked when it is built), so an empty slot ends every search.
    loop {
        let at = usize::from(*SLOTS_OF_HASH.get(slot)?).checked_sub(1)?;
        let place = *PLACES.get(at)?;
        if place.resolve()?.0 == name {
            return Some(place);
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
        while file < FAMILIES[family].files.len() {
            let mut spec = 0;
            while spec < FAMILIES[family].files[file].len() {
                count += FAMILIES[family].files[file][spec].names.len();
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
        while file < FAMILIES[family].files.len() {
            let mut spec = 0;
            while spec < FAMILIES[family].files[file].len() {
                let names = FAMILIES[family].files[file][spec].names.len();
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
        let names = FAMILIES[place.family as usize].files[place.file as usize][place.spec as usize].names;
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
