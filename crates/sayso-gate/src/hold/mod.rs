//! Runs that the kernel holds: what the gate keeps for them, and what the machine says that bounds are made from. Nothing
//! here makes a hold.

mod ground;
pub mod permit;
pub mod proof;
pub mod session;

pub use ground::bounds;
