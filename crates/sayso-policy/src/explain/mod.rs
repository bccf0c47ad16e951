//! Decisions in words: what a person, a page or another program is shown.

pub mod effect;
mod layers;
mod nearest;
mod pieces;
mod trace;
mod visible;

pub use layers::{LayerInForce, layers};
pub use nearest::{Change, nearest};
pub use trace::{Trace, TracedChange, TracedDoubt, TracedEffect, TracedOpinion, trace};

pub use visible::{push_byte, push_visible, visible, visible_lines};
