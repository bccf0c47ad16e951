//! The small programs of every Unix system.

pub(crate) mod files;
pub(crate) mod print;
pub(crate) mod system;
pub(crate) mod text;
