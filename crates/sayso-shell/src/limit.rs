//! Bounds on what is analysed. Over a bound the answer is opaque, never a guess.

/// Longest command in bytes.
pub const MAX_COMMAND: usize = 64 * 1024;
/// Deepest nesting of syntax, and of wrappers and scripts that contain commands.
pub const MAX_DEPTH: usize = 64;
