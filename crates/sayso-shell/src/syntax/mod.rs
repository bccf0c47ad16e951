//! Text of a command to a syntax tree, as bash 5.2 reads it.

pub mod few;
pub mod tree;
mod trouble;

pub use tree::Tree;
pub use trouble::{SyntaxError, Trouble};

use crate::Dialect;
use crate::effect::Span;

/// Switches that change the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// `shopt -s extglob` is on. It is off in `bash -c`.
    pub extended_globs: bool,
}

/// Reads a command's text.
///
/// # Errors
/// Where bash would report a syntax error, or where the text is over a limit of [`crate::limit`].
pub fn parse(source: &[u8], dialect: Dialect, options: Options) -> Result<Tree<'_>, SyntaxError> {
    let _ = (dialect, options);
    let end = u32::try_from(source.len()).unwrap_or(u32::MAX);
    Err(SyntaxError { trouble: Trouble::Unexpected, span: Span { start: 0, end } })
}
