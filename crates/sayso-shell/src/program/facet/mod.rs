//! Facets: what other rooms and crates ask about a program, instead of asking for its name.
//!
//! A facet is a fact in a word: it is a shell, it runs whatever it is given, its words are only printed. A program's text
//! says which it has, `part` names commands of which only some words have one, and [`facets`] answers by name. Whoever
//! needs another fact of programs adds a facet to `text/facet.rs` and to the texts; no room keeps a list of names of its own
//! (`tests/names.rs` looks). `docs/programs.md` says how.

mod index;
mod part;

pub use super::text::Facets;
pub use index::facets;
pub(super) use index::{Entry, exact as of_name};
pub use part::commands;

/// The names that have one of these facets.
#[cfg(test)]
pub(super) fn with(any: Facets) -> impl Iterator<Item = &'static str> {
    index::with(any).map(|(name, _)| name)
}

#[cfg(test)]
mod tests;
