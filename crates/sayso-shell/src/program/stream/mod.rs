//! Programs with a language of their own for files and lines: find, sed, awk.

pub(crate) mod awk;
pub(crate) mod find;
pub(crate) mod names;
pub(crate) mod sed;

pub(super) use find::shared;
