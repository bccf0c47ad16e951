//! Holding runs: what the machine says that bounds are made from.

mod ground;

pub use ground::bounds;
