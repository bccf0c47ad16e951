//! The hold: what a policy says of runs that the kernel bounds, and the bounds that follow from it.
//!
//! `section` is `[hold]` of a file, compiled; the stage of the same name decides what is lifted by it. [`lower`] makes
//! bounds of a policy and of what was found on the machine. It is pure: who looks at the machine is in the gate.

mod ground;
mod hosts;
mod image;
mod lower;
mod section;
mod verdicts;

pub use ground::{Found, HoldGround, OuterStore, Own};
pub use hosts::is_registry;
pub use lower::{Loss, Lowered, lower};
pub(crate) use section::{HoldSection, compile};
