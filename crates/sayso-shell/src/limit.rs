//! Bounds on what is analysed. Over a bound the answer is opaque, never a guess.

/// Longest command in bytes.
pub const MAX_COMMAND: usize = 64 * 1024;
/// Deepest nesting of syntax, and of wrappers and scripts that contain commands.
pub const MAX_DEPTH: usize = 64;
/// Most simple commands and turns of loops that one analysis follows, however long the texts are that it reads.
pub const MAX_STEPS: usize = 48 * 1024;
/// As many of them that a text of any length may have. Each byte of it, and of scripts that it runs, adds one: work grows
/// with what there is to read, and not with what functions and loops make of it.
pub const FREE_STEPS: usize = 2 * 1024;
/// Most turns of loops over known words that are followed one by one; further loops run once, over an unknown word.
pub const MAX_UNROLLED: usize = 512;
/// Most bytes that a known value may have; a longer one is not known.
pub const MAX_VALUE: usize = 64 * 1024;
/// Most words of one command after expansion.
pub const MAX_WORDS: usize = 32 * 1024;
