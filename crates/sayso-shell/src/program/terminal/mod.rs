//! Terminals inside terminals, and manuals.

mod manual;
mod tmux;

use super::Spec;

pub(super) const SPECS: &[&[Spec]] = &[manual::SPECS, tmux::SPECS];
