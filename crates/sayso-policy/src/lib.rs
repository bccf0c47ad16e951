//! The heart of Sayso: what an agent asks for, what the owner's policy says of it, and why.
//!
//! Pure: no I/O, no async. What must be known of files and environment is handed in as [`Facts`], what must be
//! remembered (usage, grants, counters) as [`State`].

pub mod explain;
pub mod normalise;
mod policy;
mod state;
pub mod text;
mod tool;
mod word;

pub use normalise::Kind;
pub use policy::{Policy, PolicyText};
pub use sayso_shell as shell;
pub use state::{Grant, GrantSelector, Scope, State, Usage};
pub use word::*;
