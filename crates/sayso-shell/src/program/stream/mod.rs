//! Programs with a language of their own for files and lines: find, sed, awk.

mod awk;
mod find;
mod names;
mod sed;

use super::Spec;
pub(super) use find::shared;

pub(super) const SPECS: &[&[Spec]] = &[awk::SPECS, find::SPECS, sed::SPECS];
