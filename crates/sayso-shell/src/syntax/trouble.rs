//! Why a text could not be parsed.

use crate::effect::Span;
use std::fmt;

/// Why a text, or a part of it, is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Longer than [`crate::limit::MAX_COMMAND`].
    TooLong,
    /// Nested deeper than [`crate::limit::MAX_DEPTH`].
    TooDeep,
    /// Re-reading of parts would take more work than the length allows.
    TooMuchWork,
    /// A NUL byte: bash would drop it or stop there.
    Nul,
    /// A quote, bracket or compound command is not closed.
    Unterminated,
    /// Something stands where bash does not expect it.
    Unexpected,
    /// Bash prints the inside of `$( )` and reads it again, and is known to lose its place here.
    Misread,
    /// Here bash would report a bad substitution when it runs.
    BadSubstitution,
    /// `${ command; }` or `${| command; }`: a command to bash 5.3, an error to bash 5.2.
    FunctionSubstitution,
}

impl Trouble {
    /// A sentence for people.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::TooLong => "The command is too long to be analysed.",
            Self::TooDeep => "The command is nested too deeply to be analysed.",
            Self::TooMuchWork => "The command is too tangled to be analysed.",
            Self::Nul => "The command holds a NUL byte.",
            Self::Unterminated => "A quote, bracket or compound command is not closed.",
            Self::Unexpected => "Something stands here that bash does not expect.",
            Self::Misread => "bash 5.2 itself misreads this.",
            Self::BadSubstitution => "bash would call this a bad substitution.",
            Self::FunctionSubstitution => "Newer versions of bash run a command here, older ones do not.",
        }
    }
}

/// A text that bash would refuse, or that is over a limit.
///
/// It is no proof that nothing would run: bash executes a text line by line, so lines before the error have run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub trouble: Trouble,
    /// Where it was noticed.
    pub span: Span,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.trouble.sentence(), self.span.start)
    }
}

impl std::error::Error for SyntaxError {}
