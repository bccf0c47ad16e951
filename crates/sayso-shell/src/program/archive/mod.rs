//! Programs that pack and unpack.

mod compress;
mod tar;
mod zip;

use super::Spec;

pub(super) const SPECS: &[&[Spec]] = &[compress::SPECS, tar::SPECS, zip::SPECS];
