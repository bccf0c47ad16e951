//! The gate with a memory, over each store: the same tests hold all of them to what the traits promise. Only what is about
//! SQLite's file is its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    clippy::duplicate_mod,
    reason = "a failed unwrap is a failed test"
)]

#[path = "memory/forged.rs"]
mod forged;
#[path = "memory/gaps.rs"]
mod gaps;
#[path = "memory/suite.rs"]
mod in_memory;
#[path = "memory/suite.rs"]
mod sqlite;
#[path = "memory/steered.rs"]
mod steered;

use sayso_gate::{Memory, Places, store};

/// The memory of tests in this module: it says over which store they run.
fn memory(module: &str, places: &Places) -> Memory {
    if module.contains("in_memory") {
        return Memory::with(places, store::open_in_memory(places).unwrap());
    }
    Memory::of(places)
}

/// The same, opened again: what is kept in this process is still there as long as somebody holds it.
fn reopened(module: &str, memory: &Memory) -> Memory {
    if module.contains("in_memory") { memory.clone() } else { Memory::of(memory.places()) }
}
