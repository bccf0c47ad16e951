//! Services and packages of the machine.

mod package;
mod systemctl;

use super::Spec;

pub(super) const SPECS: &[&[Spec]] = &[package::SPECS, systemctl::SPECS];
