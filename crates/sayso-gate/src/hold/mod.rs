//! Runs that the kernel holds: what the gate keeps for them, and what the machine says that bounds are made from. Nothing
//! here makes a hold.

mod aside;
mod blank;
mod ground;
mod linked;
pub mod open;
pub mod permit;
pub mod proof;
pub mod session;
mod store;

pub use ground::bounds;
pub use open::{Moved, settle};
