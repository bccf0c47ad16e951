//! Programs that read text and print it: filters.

use crate::effect::{Carry, NamedBy, PathTarget, Target, Verb};
use crate::program::{Code, Prints, View};
use crate::word::{Text, Word};

pub(crate) fn prints_number(view: &mut View<'_>) {
    // Without a file name `wc` prints numbers alone; with several it prints names too.
    let words = view.inv.argv.get(1..).unwrap_or_default();
    let numbers = match view.name {
        "wc" => view.operand_count() == 0 && !view.has("--files0-from"),
        // `-f` and `-s` print what they are given.
        "seq" => words.iter().all(|word| match word.exact() {
            Some([b'-', rest @ ..]) => rest == b"w" || rest.iter().all(u8::is_ascii_digit),
            Some(_) => true,
            None => matches!(word, Word::Dynamic(shape) if shape.origin.is_number()),
        }),
        // `expr "$x"` prints its operand.
        "expr" => matches!(words, [_, operator, _]
            if matches!(operator.exact(), Some(b"+" | b"-" | b"*" | b"/" | b"%"))),
        _ => true,
    };
    if numbers {
        view.out.prints = Prints::Number;
    }
}

/// The pieces are named by the word behind the file, letters or digits, and a suffix.
pub(crate) fn split(view: &mut View<'_>) {
    if view.has("--filter") {
        return;
    }
    // Where no length is given there are two, and more when the names run out.
    let length = match view.value("--suffix-length").map(Word::exact_str) {
        None | Some(Some("0")) => Some(2),
        Some(length) => length.and_then(|length| length.parse().ok()),
    };
    let digits = view.has_any(&["-d", "--numeric-suffixes"]) && !view.has_any(&["-x", "--hex-suffixes"]);
    let suffix = view.value("--additional-suffix").cloned().unwrap_or_else(|| Word::Exact("".into()));
    let prefixes: Vec<usize> = view.operands().into_iter().skip(1).collect();
    if prefixes.is_empty() {
        view.touches(Verb::Write, ".", true);
        pieces(view, &Word::Exact("x".into()), 0, length, digits, &suffix);
    }
    for at in prefixes {
        let Some(prefix) = view.word(at) else { continue };
        pieces(view, prefix, at, length, digits, &suffix);
    }
}

pub(crate) fn csplit(view: &mut View<'_>) {
    let digits = view.value("--digits").map_or(Some(2), |digits| digits.exact_str().and_then(|n| n.parse().ok()));
    match view.values("--prefix").pop() {
        Some((at, prefix)) => pieces(view, &prefix, at, digits, true, &Word::Exact("".into())),
        None => view.touches(Verb::Write, ".", true),
    }
}

/// Files are written whose names are made of a prefix, so many letters or digits, and a suffix. The first of them stands
/// for all in their folder and of their kind. But letters that are counted up may spell any name in the end, one that
/// somebody guards too (`.envr` and `c`), so only prefixes that are plainly made for it are as harmless as they look.
fn pieces(view: &mut View<'_>, prefix: &Word, at: usize, length: Option<usize>, digits: bool, suffix: &Word) {
    /// No name is longer.
    const LONGEST: usize = 255;
    let (Some(start), Some(end), Some(length)) = (prefix.exact(), suffix.exact(), length.filter(|n| *n <= LONGEST))
    else {
        return view.effect(Verb::Write, Target::Path(PathTarget::Unknown(None)), at, Carry::Plain);
    };
    let counted = if digits { b"0" } else { b"a" }.repeat(length);
    let first = Word::Exact(Text::from([start, &counted, end].concat()));
    let harmless = !is_hidden(start) && (digits && length > 1 || is_made_for_pieces(start));
    view.path_effect(Verb::Write, &first, at, false, Carry::Plain);
    if !harmless {
        // Not even a rule for writes names what they may spell.
        view.named(Code::WritesFile, NamedBy::Nothing, at);
    }
}

/// Whether a part of a path begins with a dot.
fn is_hidden(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| name.starts_with(b".") && !matches!(name, b"." | b".."))
}

/// Whether a prefix is the usual word for a piece, or ends where a number is expected to follow.
fn is_made_for_pieces(prefix: &[u8]) -> bool {
    const USUAL: &[&[u8]] = &[
        b"", b"x", b"part", b"parts", b"chunk", b"chunks", b"piece", b"pieces", b"split", b"segment", b"out",
        b"output", b"file", b"data", b"log", b"batch", b"shard",
    ];
    let name = prefix.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    match name {
        [.., b'_' | b'-'] => true,
        [.., last] if last.is_ascii_digit() => true,
        // `notes.txt.` and `aa`; `sitecustomize.` and `py` is another thing.
        [stem @ .., b'.'] => stem.contains(&b'.'),
        name => USUAL.contains(&name),
    }
}
