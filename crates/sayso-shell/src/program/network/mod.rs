//! Programs that reach other hosts.

mod copy;
mod curl;
mod lookup;
mod socket;
mod ssh;
mod wget;

use super::Spec;

pub(super) const SPECS: &[&[Spec]] = &[copy::SPECS, curl::SPECS, lookup::SPECS, socket::SPECS, ssh::SPECS, wget::SPECS];
