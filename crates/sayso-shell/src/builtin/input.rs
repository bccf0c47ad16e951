//! Builtins that set variables from input, and `test`.

use super::Arguments;
use crate::certain::value::Known;
use crate::program::Code;
use crate::program::Prints;
use crate::value::Scalar;
use crate::value::scope::Held;
use crate::walk::{Fog, Walker, is_name};
use crate::word::{Origin, Word};

pub(super) fn run(walker: &mut Walker<'_>, name: &str, words: &Arguments<'_>) {
    match name {
        "read" => read(walker, words),
        "mapfile" | "readarray" => mapfile(walker, words),
        "getopts" => getopts(walker, words),
        "printf" => printf(walker, words),
        _ => wait(walker, words),
    }
}

/// The value that one line of input has.
fn line(walker: &Walker<'_>) -> Scalar {
    match &walker.input.prints {
        Prints::Names(folder) => Scalar::hole(Origin::Listing(Box::new(folder.clone())), false),
        Prints::Number => Scalar::numbers(),
        _ => Scalar::crafted(),
    }
}

fn read(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    let value = match line(walker) {
        // A part of a listed name is another name.
        value if !value.is_number() && !whole_lines(walker, words) => Scalar::crafted(),
        value => value,
    };
    let names = operands(words, b"adeinNptu", b"a");
    if names.is_empty() {
        return walker.set(b"REPLY", Held::Scalar(value));
    }
    let several = names.len() > 1;
    for (at, word, array) in names {
        let value = match &value {
            // The first of several words of a line is no whole name.
            Scalar::Shaped(_) if several && !value.is_number() => Scalar::crafted(),
            value => value.clone(),
        };
        let held = if array { Held::Unknown { crafted: value.may_run_in_arithmetic() } } else { Held::Scalar(value) };
        set(walker, &word, held, words, at);
    }
}

/// Whether `read` gives lines as they are, or what stands between zero bytes: `IFS=R` and `-d R` cut them elsewhere.
fn whole_lines(walker: &Walker<'_>, words: &Arguments<'_>) -> bool {
    let blank = |set: &[u8]| set.iter().all(|b| matches!(b, b' ' | b'\t' | b'\n'));
    let separators = match walker.scope.get(b"IFS").map(|entry| &entry.held) {
        None | Some(Held::Unset(_)) => true,
        Some(Held::Scalar(value)) => value.bytes().is_some_and(blank),
        Some(_) => false,
    };
    let Some(letters) = words.letters() else { return false };
    let ends = |word: &Word| word.exact().is_some_and(|text| text.starts_with(b"-") && text.ends_with(b"d"));
    let zero =
        words.argv.iter().position(ends).and_then(|at| words.argv.get(at + 1)).and_then(Word::exact) == Some(b"");
    separators && letters.iter().all(|letter| b"rs".contains(letter) || *letter == b'd' && zero)
}

fn mapfile(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    if words.letters().is_none_or(|letters| letters.contains(&b'C')) {
        walker.opaque(Code::DynamicText, "`mapfile -C` runs a command for the lines it reads.", words.span(0));
    }
    let names = operands(words, b"dnOsuCc", b"");
    let held = Held::Unknown { crafted: line(walker).may_run_in_arithmetic() };
    match names.first() {
        Some((at, word, _)) => set(walker, word, held, words, *at),
        None => walker.set(b"MAPFILE", held),
    }
}

fn getopts(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    walker.set(b"OPTARG", Held::Unknown { crafted: true });
    walker.set(b"OPTIND", Held::Scalar(Scalar::number()));
    if let Some((at, word)) = words.all().nth(1) {
        set(walker, word, Held::Unknown { crafted: false }, words, at);
    }
}

/// `printf -v NAME`.
fn printf(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    super::number::counts(walker, words);
    let Some(first) = words.argv.get(1) else { return };
    let (at, word) = match first.exact() {
        Some(b"-v") => match words.argv.get(2) {
            Some(word) => (2, word.clone()),
            None => return,
        },
        Some([b'-', b'v', name @ ..]) => (1, Word::Exact(name.into())),
        Some(_) => return,
        None if first.may_be_option() => return lose(walker, words, 1),
        None => return,
    };
    set(walker, &word, Held::Unknown { crafted: true }, words, at);
}

/// `wait -p NAME`.
fn wait(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    let mut take = false;
    for (at, word) in words.all() {
        if take {
            // Where there is nothing to wait for it is unset.
            set(walker, word, Held::Scalar(Scalar::numbers()), words, at);
        }
        match word.exact() {
            // `wait -fpNAME`
            Some([b'-', letters @ ..]) if !take => {
                let found = letters.iter().position(|letter| *letter == b'p').map(|at| letters.split_at(at + 1).1);
                take = found == Some(b"");
                if let Some(name) = found.filter(|name| !name.is_empty()) {
                    set(walker, &Word::Exact(name.into()), Held::Scalar(Scalar::numbers()), words, at);
                }
            }
            // `-p NAME` in a value: the name is set to a number.
            None if !take && !Scalar::from_word(word, false).is_number() && word.may_be_option() => {
                walker.state.fog = walker.state.fog.max(Fog::Touched);
            }
            _ => take = false,
        }
    }
}

/// `test -v NAME` evaluates a subscript in the name.
pub(super) fn test(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    let mut take = false;
    for (at, word) in words.all() {
        // Unquoted, what a file holds may become `-v a[$(id)]`.
        let splits = matches!(word, Word::Dynamic(shape) if shape.splits() && shape.origin == Origin::Unknown);
        if take || splits && walker.armed {
            walker.names_variable(&Scalar::from_word(word, walker.armed), words.span(at));
        }
        // A word of unknown value may be `-v` itself, but then the next must be a name that runs something.
        take = match word.exact() {
            Some(b"-v" | b"-R") => true,
            Some(_) => false,
            None => words.argv.get(at + 1).and_then(Word::exact).is_some_and(|next| next.contains(&b'[')),
        };
    }
}

/// Operands of a builtin whose options in `valued` take a value; values of those in `named` are names, too.
fn operands(words: &Arguments<'_>, valued: &[u8], named: &[u8]) -> Vec<(usize, Word, bool)> {
    let mut out = Vec::new();
    let mut ended = false;
    let mut next: Option<u8> = None;
    for (at, word) in words.all() {
        if let Some(letter) = next.take() {
            if named.contains(&letter) {
                out.push((at, word.clone(), true));
            }
            continue;
        }
        match word.exact() {
            Some(b"--") if !ended => ended = true,
            Some([b'-', rest @ ..]) if !ended && !rest.is_empty() => {
                if let Some(found) = rest.iter().position(|letter| valued.contains(letter)) {
                    let value = rest.get(found + 1..).unwrap_or_default();
                    match rest.get(found) {
                        letter if value.is_empty() => next = letter.copied(),
                        // `read -aNAME`
                        Some(letter) if named.contains(letter) => out.push((at, Word::Exact(value.into()), true)),
                        _ => {}
                    }
                }
            }
            _ => {
                ended = true;
                out.push((at, word.clone(), false));
            }
        }
    }
    out
}

pub(super) fn set<'t>(
    walker: &mut Walker<'t>,
    word: &Word,
    held: Held<crate::walk::Definition<'t>>,
    words: &Arguments<'_>,
    at: usize,
) {
    match word.exact() {
        Some(name) if is_name(name) => walker.set_at(name, held, words.span(at)),
        Some(name) => {
            walker.names_variable(&Scalar::exact(name, Known::Written), words.span(at));
            if let Some(end) = name.iter().position(|b| *b == b'[')
                && let Some(name) = name.get(..end)
            {
                walker.set(name, Held::Unknown { crafted: true });
            }
        }
        None => {
            walker.names_variable(&Scalar::from_word(word, walker.armed), words.span(at));
            lose(walker, words, at);
        }
    }
}

/// Some variable is set: perhaps one that the shell itself goes by.
fn lose(walker: &mut Walker<'_>, words: &Arguments<'_>, at: usize) {
    walker.lose_variables();
    walker.opaque(
        Code::Environment,
        "Which variable is set here is not known; it may change what runs.",
        words.span(at),
    );
}
