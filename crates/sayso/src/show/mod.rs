//! What people see in the terminal.

pub(crate) mod agents;
pub(crate) mod bounds;
pub(crate) mod caret;
pub(crate) mod mode;
pub(crate) mod paint;
pub(crate) mod risk;
pub(crate) mod table;
pub(crate) mod verdict;
