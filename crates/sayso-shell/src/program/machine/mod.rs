//! Services and packages of the machine.

pub(crate) mod package;
