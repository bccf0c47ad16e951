//! Facets by name: a hash table that the compiler builds, without a reference that would have to be relocated when a hook
//! starts.

use super::rows::ROWS;
use super::{Facets, Row};
use crate::program::gnu;

const SLOTS: usize = 2048;

/// A name and its facets.
#[derive(Clone, Copy)]
struct Entry {
    /// Where in [`NAMES`] the name begins.
    start: u16,
    length: u8,
    facets: Facets,
}

/// All names, one behind the other.
static NAMES: [u8; length()] = names();
static ENTRIES: [Entry; count()] = entries();
/// One more than an index into [`ENTRIES`]; 0 is empty.
static SLOTS_OF_HASH: [u16; SLOTS] = slots();

/// What is known of a program of this name, by its base name.
#[must_use]
pub fn facets(name: &str) -> Facets {
    match exact(name) {
        Some(facets) => facets,
        None => akin(name).map_or(Facets::NONE, |facets| facets.without(Facets::EXACT)),
    }
}

fn exact(name: &str) -> Option<Facets> {
    let mut slot = hash(name.as_bytes()) % SLOTS;
    // INVARIANT: the table is never full (checked when it is built), so an empty slot ends every search.
    loop {
        let at = usize::from(*SLOTS_OF_HASH.get(slot)?).checked_sub(1)?;
        let entry = ENTRIES.get(at)?;
        if entry.name()? == name.as_bytes() {
            return Some(entry.facets);
        }
        slot = (slot + 1) % SLOTS;
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
    // INVARIANT: these are the rows with `ANY_ENDING`; a test compares them.
    ANY_ENDING.iter().find(|begin| name.starts_with(**begin)).and_then(|begin| exact(begin))
}

pub(super) const ANY_ENDING: [&str; 2] = ["python", "lua"];

impl Entry {
    fn name(&self) -> Option<&'static [u8]> {
        let start = usize::from(self.start);
        NAMES.get(start..start + usize::from(self.length))
    }
}

/// The programs that have one of these facets.
pub(super) fn with(any: Facets) -> impl Iterator<Item = (&'static str, Facets)> {
    let named = |entry: &'static Entry| Some((std::str::from_utf8(entry.name()?).ok()?, entry.facets));
    ENTRIES.iter().filter(move |entry| entry.facets.has(any)).filter_map(named)
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

const fn count() -> usize {
    let (mut count, mut rows) = (0, ROWS);
    while let [row, rest @ ..] = rows {
        count += row.names.len();
        rows = rest;
    }
    count
}

const fn length() -> usize {
    let (mut length, mut rows) = (0, ROWS);
    while let [Row { names, .. }, rest @ ..] = rows {
        let mut names = *names;
        while let [name, others @ ..] = names {
            length += name.len();
            names = others;
        }
        rows = rest;
    }
    length
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; indexes are below the lengths")]
const fn names() -> [u8; length()] {
    let mut bytes = [0; length()];
    let (mut filled, mut rows) = (0, ROWS);
    while let [Row { names, .. }, rest @ ..] = rows {
        let mut names = *names;
        while let [name, others @ ..] = names {
            let mut at = 0;
            while at < name.len() {
                bytes[filled] = name.as_bytes()[at];
                filled += 1;
                at += 1;
            }
            names = others;
        }
        rows = rest;
    }
    bytes
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; indexes are below the lengths")]
const fn entries() -> [Entry; count()] {
    let mut entries = [Entry { start: 0, length: 0, facets: Facets::NONE }; count()];
    let (mut filled, mut start, mut rows) = (0, 0, ROWS);
    while let [Row { names, facets }, rest @ ..] = rows {
        let mut names = *names;
        while let [name, others @ ..] = names {
            assert!(start < u16::MAX as usize && name.len() < 256, "too many names");
            entries[filled] = Entry { start: start as u16, length: name.len() as u8, facets: *facets };
            start += name.len();
            filled += 1;
            names = others;
        }
        rows = rest;
    }
    entries
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; indexes are below the lengths")]
const fn slots() -> [u16; SLOTS] {
    assert!(count() < SLOTS / 2, "enlarge the index of facets");
    let mut table = [0; SLOTS];
    let (mut at, mut rows) = (0, ROWS);
    while let [Row { names, .. }, rest @ ..] = rows {
        let mut names = *names;
        while let [name, others @ ..] = names {
            let mut slot = hash(name.as_bytes()) % SLOTS;
            while table[slot] != 0 {
                slot = (slot + 1) % SLOTS;
            }
            at += 1;
            table[slot] = at as u16;
            names = others;
        }
        rows = rest;
    }
    table
}
