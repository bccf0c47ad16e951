//! Runs that the kernel holds: what the gate keeps for them. Nothing here makes a hold.

pub mod permit;
pub mod proof;
pub mod session;
