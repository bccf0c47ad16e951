//! Where certainty is earned.
//!
//! What the walker knows of a value, an output or the shell's own state it knows because every step that made it is on a
//! list in this folder. The types keep their "known" side private, so that nothing outside can claim it without naming
//! its reason; what no list names is unknown, and an unknown leads to a question. `docs/soundness.md` says how to add to
//! a list.

pub(crate) mod folder;
pub(crate) mod items;
pub(crate) mod output;
pub(crate) mod setting;
pub(crate) mod value;
pub(crate) mod variable;
pub(crate) mod word;

pub(crate) use folder::{By, Cwd};
pub(crate) use items::Items;
pub(crate) use output::{Output, Printed, Quiet, Sink, Streams};
