//! All programs by name: a hash table that the compiler builds.

use super::Spec;

/// Every family, each a list of its files. Add a family's `SPECS` here.
const FAMILIES: &[&[&[Spec]]] = &[
    super::coreutils::SPECS,
    super::git::SPECS,
    crate::wrapper::SPECS,
    super::archive::SPECS,
    super::network::SPECS,
    super::stream::SPECS,
    &[super::cargo::SPECS],
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

const SLOTS: usize = 4096;

static INDEX: [Option<(&str, &Spec)>; SLOTS] = build();

/// The table of a program, by its base name.
#[must_use]
pub fn spec(name: &str) -> Option<&'static Spec> {
    find(name).map(|(_, spec)| spec)
}

/// The canonical name of a program, and its table.
pub(super) fn find(name: &str) -> Option<(&'static str, &'static Spec)> {
    let mut slot = hash(name.as_bytes()) % SLOTS;
    // INVARIANT: the table is never full (checked when it is built), so an empty slot ends every search.
    loop {
        match INDEX.get(slot).copied().flatten() {
            None => return None,
            Some((found, spec)) if found == name => return Some((spec.canonical(found), spec)),
            Some(_) => slot = (slot + 1) % SLOTS,
        }
    }
}

/// Every name with its table, in no order.
pub fn all() -> impl Iterator<Item = (&'static str, &'static Spec)> {
    INDEX.iter().copied().flatten()
}

const fn hash(bytes: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ byte_at(bytes, at) as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ (hash >> 15)) as usize
}

#[expect(clippy::indexing_slicing, reason = "the index is below the length")]
const fn byte_at(bytes: &[u8], at: usize) -> u8 {
    bytes[at]
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; indexes are below the lengths")]
const fn build() -> [Option<(&'static str, &'static Spec)>; SLOTS] {
    let mut table: [Option<(&'static str, &'static Spec)>; SLOTS] = [None; SLOTS];
    let mut filled = 0;
    let mut family = 0;
    while family < FAMILIES.len() {
        let mut file = 0;
        while file < FAMILIES[family].len() {
            let specs = FAMILIES[family][file];
            let mut at = 0;
            while at < specs.len() {
                let mut name = 0;
                while name < specs[at].names.len() {
                    insert(&mut table, specs[at].names[name], &specs[at]);
                    filled += 1;
                    name += 1;
                }
                at += 1;
            }
            file += 1;
        }
        family += 1;
    }
    assert!(filled < SLOTS / 2, "enlarge the index of programs");
    table
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is a remainder")]
const fn insert(table: &mut [Option<(&'static str, &'static Spec)>; SLOTS], name: &'static str, spec: &'static Spec) {
    let mut slot = hash(name.as_bytes()) % SLOTS;
    while table[slot].is_some() {
        slot = (slot + 1) % SLOTS;
    }
    table[slot] = Some((name, spec));
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
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a name stands twice");
        assert!(spec("no-such-program").is_none());
    }
}
