//! Text of a command to a syntax tree, as bash 5.2 reads it.
//!
//! One recursive grammar for commands and the parts of words, on bytes. It is checked against bash itself; the places
//! where bash's own two readings of a text differ are told in `bracket.rs`.
//!
//! INVARIANT: what bash would run because of the text is in the tree, or the tree says that something there is not
//! understood. Input can neither drive the recursion deeper than [`crate::limit::MAX_DEPTH`] nor the work beyond a
//! fixed multiple of its length.

mod bracket;
mod byte;
mod compound;
mod conditional;
mod cursor;
mod expansion;
pub mod few;
mod heredoc;
mod list;
mod parameter;
mod quote;
mod redirect;
mod render;
mod simple;
pub mod tree;
mod trouble;
mod word;

pub use tree::Tree;
pub use trouble::{SyntaxError, Trouble};

use crate::Dialect;
use crate::effect::Span;
use crate::limit::MAX_COMMAND;
use cursor::Parser;

/// Switches that change the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// `shopt -s extglob` is on. It is off in `bash -c`.
    pub extended_globs: bool,
}

/// Reads a command's text.
///
/// The text is read as bash reads it, whatever the dialect; where the shell of the dialect would read it otherwise,
/// [`Tree::differs`] says so.
///
/// # Errors
/// Where bash would report a syntax error, or where the text is over a limit of [`crate::limit`].
pub fn parse(source: &[u8], dialect: Dialect, options: Options) -> Result<Tree<'_>, SyntaxError> {
    let all = Span { start: 0, end: u32::try_from(source.len()).unwrap_or(u32::MAX) };
    if source.len() > MAX_COMMAND {
        return Err(SyntaxError { trouble: Trouble::TooLong, span: all });
    }
    if source.contains(&0) {
        return Err(SyntaxError { trouble: Trouble::Nul, span: all });
    }
    let mut parser = Parser::new(source, options);
    let body = parser.whole()?;
    let shared = parser.shared;
    let mut tree = Tree { body, here_documents: shared.here_documents, differs: None, steps: shared.steps };
    if dialect != Dialect::Bash {
        tree.differs = crate::dialect::difference(&tree, source, dialect, shared.differs);
    }
    Ok(tree)
}
