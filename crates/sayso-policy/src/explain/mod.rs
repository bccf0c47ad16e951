//! Decisions in words: what a person, a page or another program is shown.

pub mod effect;
pub mod nearest;
pub mod pieces;
pub mod trace;
pub mod visible;

pub use nearest::{Change, nearest};
pub use trace::{Trace, trace};
pub use visible::{visible, visible_bytes, visible_lines};
