//! Programs that pack and unpack.

pub(crate) mod compress;
pub(crate) mod tar;
pub(crate) mod zip;
