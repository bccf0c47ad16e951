//! The small programs of every Unix system.

mod files;
mod print;
mod system;
mod text;

use super::Spec;

pub(super) const SPECS: &[&[Spec]] = &[files::SPECS, print::SPECS, system::SPECS, text::SPECS];
