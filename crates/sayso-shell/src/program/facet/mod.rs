//! Facets: what other rooms and crates ask about a program, instead of asking for its name.
//!
//! A facet is a fact in a word: it is a shell, it runs whatever it is given, its words are only printed. `rows` says which
//! program has which, `part` names commands of which only some words have one, and [`facets`] answers by name. Whoever
//! needs another fact of programs adds a facet here and to the rows; no room keeps a list of names of its own
//! (`tests/names.rs` looks). `docs/programs.md` says how.

mod index;
mod part;
mod rows;

pub use super::text::Facets;
pub use index::facets;
pub use part::commands;

/// Programs with the same facets.
struct Row {
    names: &'static [&'static str],
    facets: Facets,
}

#[cfg(test)]
mod tests;
