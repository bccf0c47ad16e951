//! Pictures, sound, film, documents, data.

use crate::effect::Verb;
use crate::program::View;

/// What is read and what is written is not told apart: every operand may be either.
pub(crate) fn converts(view: &mut View<'_>) {
    for at in view.operands() {
        if let Some(word) = view.word(at)
            && word.exact() != Some(b"-")
        {
            view.reads(word, at);
            view.path_effect(Verb::Write, word, at, false, crate::effect::Carry::Plain);
        }
    }
}
