//! Why a word is one word.
//!
//! A word with holes is one word only for a reason that stands here; otherwise it may be none or several, each of which
//! may be an option, a pattern or another operand.

/// What keeps a word whole, whatever fills its holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Single {
    /// It is quoted, or all that is not quoted in it is certain not to split.
    Quoted,
    /// It stands where the shell splits nothing: an assignment, a `case` word, the value of a variable as it is kept.
    Unsplit,
    /// No shell comes between: a program puts one value into one word of what it starts (`xargs -I`, `find -exec`).
    Handed,
    /// A piece of a word that is one.
    Piece,
    /// No word of a command, but something that is told of it or compared with it: a name, a folder.
    Told,
}
