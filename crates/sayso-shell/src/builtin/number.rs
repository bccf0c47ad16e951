//! Words that a builtin computes with, or counts into a variable.
//!
//! Where bash wants a plain number, zsh takes any arithmetic, and arithmetic runs what stands in subscripts:
//! `exit 'a[$(id)]'`, `printf %d 'a[$(id)]'`, `[ -t 'a[$(id)]' ]`.

use super::{Arguments, input};
use crate::Dialect;
use crate::certain::variable::{Meaning, meaning};
use crate::value::Scalar;
use crate::value::scope::Held;
use crate::walk::{Fog, Walker};
use crate::word::Word;

/// Evaluates what zsh would.
pub(super) fn computes(walker: &mut Walker<'_>, name: &str, words: &Arguments<'_>) {
    if !walker.state.dialect.may_be_zsh() {
        return;
    }
    match name {
        "exit" | "logout" | "return" | "break" | "continue" | "shift" => evaluate(walker, words, 1..words.argv.len()),
        "printf" => {
            let at = place_of_format(words);
            if words.argv.get(at).and_then(Format::of).is_none_or(|format| format.computes) {
                evaluate(walker, words, at + 1..words.argv.len());
            }
        }
        "test" | "[" => compares(walker, words),
        _ => {}
    }
}

fn evaluate(walker: &mut Walker<'_>, words: &Arguments<'_>, places: impl Iterator<Item = usize>) {
    for at in places {
        if let Some(word) = words.argv.get(at) {
            walker.evaluate(&Scalar::from_word(word, walker.armed), words.span(at));
        }
    }
}

/// `test A -eq B`, `test -t A`.
fn compares(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    for (at, word) in words.all() {
        match word.exact() {
            // Here zsh wants plain numbers, too; ksh does not.
            Some(b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge") if walker.state.dialect == Dialect::Other => {
                evaluate(walker, words, [at - 1, at + 1].into_iter());
            }
            Some(b"-t") => evaluate(walker, words, std::iter::once(at + 1)),
            Some(_) => {}
            // It may be such an operator; what it compares must then be text that runs something.
            None => {
                let runs =
                    |at: &usize| words.argv.get(*at).and_then(Word::exact).is_some_and(|text| text.contains(&b'['));
                evaluate(walker, words, [at - 1, at + 1].into_iter().filter(|at| *at > 0 && runs(at)));
            }
        }
    }
}

/// `printf %n NAME`: how much was printed so far becomes the value of a variable.
pub(super) fn counts(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    let at = place_of_format(words);
    let format = words.argv.get(at).and_then(Format::of);
    if format.as_ref().is_some_and(|format| !format.counts) {
        return;
    }
    for (at, word) in words.all().skip(at) {
        match word.exact() {
            // Which of the words it is depends on how often the format is gone through.
            Some(name) if format.is_some() || walker.scope.get(name).is_some() || steers(name) => {
                input::set(walker, word, Held::Unknown { crafted: true }, words, at);
            }
            Some(_) => {}
            None if format.is_some() => input::set(walker, word, Held::Unknown { crafted: true }, words, at),
            // The name of some variable in a value, behind a format that is not known either.
            None => walker.state.fog = walker.state.fog.max(Fog::Touched),
        }
    }
}

/// Whether this `printf` sets no variable.
pub(super) fn sets_nothing(argv: &[Word]) -> bool {
    let words = Arguments { argv, spans: &[], run: crate::effect::RunId(0) };
    let first = argv.get(1).and_then(Word::exact);
    first.is_some_and(|first| !first.starts_with(b"-v"))
        && argv.get(place_of_format(&words)).and_then(Format::of).is_some_and(|format| !format.counts)
}

/// A variable that is not known to be set, but that the shell goes by.
fn steers(name: &[u8]) -> bool {
    name == b"IFS" || meaning(name) != Meaning::Ordinary
}

/// Where the format of `printf` stands: behind `-v NAME` and `--`.
fn place_of_format(words: &Arguments<'_>) -> usize {
    let mut at = 1;
    while let Some(word) = words.argv.get(at).and_then(Word::exact) {
        match word {
            b"--" => return at + 1,
            b"-v" => at += 2,
            [b'-', b'v', ..] => at += 1,
            _ => break,
        }
    }
    at
}

/// What the format of `printf` makes of the words behind it.
struct Format {
    /// Some of them are numbers.
    computes: bool,
    /// One of them is the name of a variable.
    counts: bool,
}

impl Format {
    /// The format, if it is certain.
    fn of(word: &Word) -> Option<Self> {
        let text = word.exact()?;
        let mut format = Self { computes: false, counts: false };
        let mut rest = text;
        while let Some(at) = rest.iter().position(|b| *b == b'%') {
            rest = rest.get(at + 1..).unwrap_or_default();
            let end = rest.iter().position(|b| !b"#'-+ 0123456789*.$hjlLtz".contains(b));
            let (before, after) = rest.split_at(end.unwrap_or(rest.len()));
            format.computes |= before.contains(&b'*');
            match after.first() {
                Some(b's' | b'b' | b'q' | b'c' | b'%') => {}
                Some(b'n') => format.counts = true,
                _ => format.computes = true,
            }
            rest = after.get(1..).unwrap_or_default();
        }
        Some(format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_tells_which_words_are_numbers_or_names() {
        let of = |text: &str| Format::of(&Word::Exact(text.as_bytes().into())).map(|f| (f.computes, f.counts)).unwrap();
        for text in ["", "%s", "%-10s %5.2s|%b %q %c%%\\n", "\\033[1m%s\\033[0m\\n", "100%%"] {
            assert_eq!(of(text), (false, false), "{text}");
        }
        for text in ["%d", "%5i", "%*s", "%.*s", "%x", "%1$d", "%", "%(%F)T"] {
            assert_eq!(of(text), (true, false), "{text}");
        }
        for text in ["%n", "a%5n", "%s%ln"] {
            assert_eq!(of(text), (false, true), "{text}");
        }
    }
}
