//! Programs that print whole lines of what they read and nothing else.

use super::built::{KEEPS_LINES, KEEPS_LINES_BY_NAME};
pub(crate) use super::text::Expressions;

/// How a program passes lines on.
#[derive(Clone, Copy)]
pub(crate) struct KeepsLines {
    /// The options with which it prints some of the lines that it reads, unchanged.
    pub(crate) options: &'static [&'static str],
    /// It looks for a pattern, its first operand, of this kind.
    pub(crate) pattern: Option<Expressions>,
}

/// How the program of this name passes lines on; `None`: it may print something else.
pub(crate) fn keeps_lines(name: &str) -> Option<KeepsLines> {
    KEEPS_LINES.get(KEEPS_LINES_BY_NAME.find(name)?).copied()
}
