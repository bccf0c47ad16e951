//! Terminals inside terminals, and manuals.

pub(crate) mod manual;
pub(crate) mod tmux;
