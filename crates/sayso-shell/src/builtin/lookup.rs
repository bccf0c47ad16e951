//! `history`, `fc`, `bind` and completion: mostly for people at a prompt, but some of it runs or writes.

use super::Arguments;
use crate::effect::{Carry, NamedBy, Verb};
use crate::program::Code;
use crate::value::Scalar;
use crate::walk::Walker;
use crate::word::Word;

pub(super) fn run(walker: &mut Walker<'_>, name: &str, words: &Arguments<'_>) {
    let letters = words.letters();
    let has = |set: &[u8]| letters.as_ref().is_none_or(|letters| letters.iter().any(|b| set.contains(b)));
    match name {
        "history" => {
            let file = words.operands().next().map(|(_, word)| word.clone());
            let file = file.unwrap_or_else(|| Scalar::unknown().to_word());
            if has(b"aw") {
                write(walker, &file, words);
            }
            if has(b"nr") {
                walker.path_effect(Verb::Read, &file, words.span(0), Some(words.run), &Carry::Plain, false);
            }
        }
        // Without `-l` it runs an editor, or an old command again.
        "fc" if !has(b"l") || letters.is_none() => {
            walker.opaque(Code::DynamicText, "`fc` runs commands of the history.", words.span(0));
        }
        "bind" if has(b"xf") => {
            walker.opaque(Code::DynamicText, "`bind` makes keys run commands.", words.span(0));
        }
        // It takes effect when a person presses a key.
        "complete" if has(b"CF") => words.named(walker, Code::RunsCommand, NamedBy::Flag("-C".to_owned()), 1),
        "compgen" => {
            // `-C` runs a command, `-F` a function, and the words of `-W` are expanded.
            let tame = |word: &Word| word.exact().is_some_and(|text| !text.iter().any(|b| b"$`".contains(b)));
            if has(b"CF") || has(b"WPSXG") && !words.argv.iter().all(tame) {
                walker.opaque(Code::DynamicText, "Completion runs a command here.", words.span(0));
            }
        }
        _ => {}
    }
}

fn write(walker: &mut Walker<'_>, file: &Word, words: &Arguments<'_>) {
    let carry = Carry::Named { code: Code::WritesFile, by: NamedBy::Nothing };
    walker.path_effect(Verb::Write, file, words.span(0), Some(words.run), &carry, false);
}
