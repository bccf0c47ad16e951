//! Programs that reach other hosts.

pub(crate) mod copy;
pub(crate) mod curl;
pub(crate) mod lookup;
pub(crate) mod socket;
pub(crate) mod ssh;
pub(crate) mod wget;
