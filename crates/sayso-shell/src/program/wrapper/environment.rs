//! `env`, which sets variables and then starts what follows, and its like.

use super::{Launch, launch};
use crate::effect::{NamedBy, Verb};
use crate::program::{Code, Description, Facets, Invocation, Start, View, by_table, facets};
use crate::word::{Origin, Part, Shape, Single, Text, Word};

/// How many `-S` may stand in a command. Each is a round of reading; no honest command has more than one.
const MOST_SPLITS: usize = 8;

pub(crate) fn env(view: &mut View<'_>) {
    if let Some((at, text)) = view.values("--split-string").into_iter().next() {
        split_string(view, at, &text);
        return;
    }
    let mut env = Vec::new();
    let mut n = 0;
    // Where nobody says where home is, a shell finds out for itself, or does without.
    let gone = |(_, name): &(usize, Word)| name.exact().is_none_or(|name| name == b"HOME");
    let empties = view.has("--ignore-environment") || view.operand(0).and_then(Word::exact) == Some(b"-");
    let shell = |word: &Word| {
        word.exact_str().is_some_and(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            facets(name).has(Facets::SHELL)
        })
    };
    if (empties || view.values("--unset").iter().any(gone)) && view.inv.argv.iter().skip(1).any(shell) {
        env.push((Text::from(&b"HOME"[..]), Word::Opaque));
    }
    // A lone dash means `-i`.
    if view.operand(n).and_then(Word::exact) == Some(b"-") {
        n += 1;
    }
    while let Some(assignment) = view.operand(n).and_then(assignment) {
        env.push(assignment);
        n += 1;
    }
    let cwd = view.value("--chdir").cloned();
    match view.operand_at(n) {
        Some(at) => view.out.transparent = launch(view, at, Launch { env, cwd, elsewhere: false }),
        // Without a command it prints all variables, secrets too.
        None if !view.has_any(&["--help", "--version"]) => view.named(Code::ShowsSecrets, NamedBy::Program, 0),
        None => {}
    }
}

/// `NAME=value`, if a word is one for certain.
pub(super) fn assignment(word: &Word) -> Option<(Text, Word)> {
    match word {
        Word::Exact(text) => {
            let bytes = text.as_bytes();
            let equals = bytes.iter().position(|&byte| byte == b'=')?;
            let (name, value) = (bytes.get(..equals)?, bytes.get(equals + 1..)?);
            Some((Text::from(name), Word::Exact(Text::from(value))))
        }
        Word::Dynamic(shape) => {
            let [Part::Literal(first), rest @ ..] = shape.parts.as_slice() else { return None };
            let bytes = first.as_bytes();
            let equals = bytes.iter().position(|&byte| byte == b'=')?;
            // What splits may end the assignment and begin a command; each name that a pattern finds begins as the
            // pattern does, and is an assignment again.
            if shape.splits() && shape.parts.contains(&Part::Hole) {
                return None;
            }
            if shape.splits() {
                let value = Word::Dynamic(Shape::single(vec![Part::Hole], Origin::Unknown, Single::Piece));
                return Some((Text::from(bytes.get(..equals)?), value));
            }
            let mut parts = Vec::new();
            let value = bytes.get(equals + 1..)?;
            if !value.is_empty() {
                parts.push(Part::Literal(Text::from(value)));
            }
            parts.extend_from_slice(rest);
            let value = Word::Dynamic(Shape::single(parts, shape.origin.clone(), Single::Piece));
            Some((Text::from(bytes.get(..equals)?), value))
        }
        Word::Opaque => None,
    }
}

/// `-S` puts the words of its value in its place and reads on. What it held may be options again, another `-S` too.
fn split_string(view: &mut View<'_>, at: usize, text: &Word) {
    let inv = view.inv;
    let holds_split = |word: &Word| word.exact().is_some_and(|word| word.starts_with(b"-") && word.contains(&b'S'));
    let many = inv.argv.iter().filter(|word| holds_split(word)).count() > MOST_SPLITS;
    let Some(words) = text.exact().filter(|_| !many).and_then(split) else {
        let (argv, spans) = (vec![Word::Opaque], vec![view.span(at)]);
        view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
        return;
    };
    let written = view.word(at).and_then(Word::exact).unwrap_or_default();
    let letters = written.iter().position(|&byte| byte == b'S').unwrap_or_default();
    let long = written.starts_with(b"--");
    let joined = if long { written.contains(&b'=') } else { letters + 1 < written.len() };
    // Options before it are read again, so that `-i`, `-u` and `-C` count, and so are the letters before it in `-iS`.
    let mut argv: Vec<Word> = inv.argv.get(..at).unwrap_or_default().to_vec();
    if !long && letters > 1 {
        argv.push(Word::Exact(written.get(..letters).unwrap_or_default().into()));
    }
    argv.extend(words.into_iter().map(|word| Word::Exact(word.into())));
    let mut spans = inv.spans.get(..at).unwrap_or_default().to_vec();
    spans.resize(argv.len(), view.span(at));
    let behind = at + if joined { 1 } else { 2 };
    argv.extend_from_slice(inv.argv.get(behind..).unwrap_or_default());
    spans.extend_from_slice(inv.spans.get(behind..).unwrap_or_default());
    let again = Invocation { argv: &argv, spans: &spans, stdin_prints: inv.stdin_prints.clone(), ..*inv };
    let Description { starts, effects, doubts, transparent, .. } = by_table(view.name, view.root, &again);
    view.out.starts = starts;
    view.out.effects = effects;
    view.out.doubts = doubts;
    view.out.transparent = transparent;
}

/// The words of a `-S` text, by the rules of env. `None`: a variable stands in it, or it is not understood.
fn split(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote: Option<u8> = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, Some(open)) if byte == open => quote = None,
            (b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c, None) => words.extend(word.take()),
            (b'#', None) if word.is_none() => break,
            (b'$', None | Some(b'"')) => return None,
            (b'\\', Some(b'\'')) => {
                // Between single quotes only these two can be escaped.
                let word = word.get_or_insert_default();
                match bytes.next()? {
                    next @ (b'\\' | b'\'') => word.push(next),
                    next => word.extend_from_slice(&[b'\\', next]),
                }
            }
            (b'\\', _) => match (bytes.next()?, quote) {
                (b'_', None) => words.extend(word.take()),
                (b'_', Some(_)) => word.get_or_insert_default().push(b' '),
                (b'c', None) => break,
                (b'n', _) => word.get_or_insert_default().push(b'\n'),
                (b't', _) => word.get_or_insert_default().push(b'\t'),
                (b'r', _) => word.get_or_insert_default().push(b'\r'),
                (b'f', _) => word.get_or_insert_default().push(0x0c),
                (b'v', _) => word.get_or_insert_default().push(0x0b),
                (next @ (b'#' | b'$' | b'"' | b'\'' | b'\\'), _) => word.get_or_insert_default().push(next),
                _ => return None,
            },
            _ => word.get_or_insert_default().push(byte),
        }
    }
    if quote.is_some() {
        return None;
    }
    words.extend(word);
    Some(words)
}

/// `cross-env A=1 command`.
pub(crate) fn cross_env(view: &mut View<'_>) {
    let mut env = Vec::new();
    while let Some(assignment) = view.operand(env.len()).and_then(assignment) {
        env.push(assignment);
    }
    if let Some(at) = view.operand_at(env.len()) {
        view.out.transparent = launch(view, at, Launch { env, ..Launch::default() });
    }
}

/// One program of this name takes the command at once, another behind `run`.
pub(crate) fn dotenv(view: &mut View<'_>) {
    // What the file holds goes to the program, and `get` and `list` print it.
    if !view.has_any(&["--file", "-e"]) {
        view.touches(Verb::Read, ".env", false);
    }
    if view.operand_str(0) == Some("run") {
        let dashes = view.operand(1).and_then(Word::exact) == Some(b"--");
        if let Some(at) = view.operand_at(1 + usize::from(dashes)) {
            view.out.transparent = launch(view, at, Launch::default());
        }
    } else {
        super::transparent(view, 0);
    }
}

pub(crate) fn direnv_exec(view: &mut View<'_>) {
    view.code("sh", Code::RunsCode, view.by_words(), 0);
    let cwd = view.operand(0).cloned();
    if let Some(at) = view.operand_at(1) {
        launch(view, at, Launch { cwd, ..Launch::default() });
    }
}

/// A file for each variable: any variable may be among them.
pub(crate) fn envdir(view: &mut View<'_>) {
    if let (Some(folder), Some(at)) = (view.operand(0), view.operand_at(0)) {
        view.reads_below(folder, at);
    }
    view.named(Code::Environment, NamedBy::Program, 0);
    if let Some(at) = view.operand_at(1) {
        launch(view, at, Launch::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_string_is_split_as_env_splits_it() {
        for (text, expected) in [
            ("a b", Some(vec!["a", "b"])),
            ("  sh -c 'x y'  ", Some(vec!["sh", "-c", "x y"])),
            ("a\"b c\"d", Some(vec!["ab cd"])),
            ("a\\_b", Some(vec!["a", "b"])),
            ("\"a\\_b\"", Some(vec!["a b"])),
            ("'a\\'b'", Some(vec!["a'b"])),
            ("a #b", Some(vec!["a"])),
            ("a#b", Some(vec!["a#b"])),
            ("a \\c b", Some(vec!["a"])),
            ("''", Some(vec![""])),
            ("${X}", None),
            ("'${X}'", Some(vec!["${X}"])),
            ("a 'b", None),
            ("a\\q", None),
        ] {
            let words = split(text.as_bytes());
            let words =
                words.map(|words| words.into_iter().map(|word| String::from_utf8(word).unwrap()).collect::<Vec<_>>());
            assert_eq!(words, expected.map(|words| words.into_iter().map(str::to_owned).collect()), "{text}");
        }
    }
}
