//! Wrappers that start a command for each name, line, change or interval.

use super::user::shell_behind;
use super::{Launch, interactive, launch, unknown_words};
use crate::Dialect;
use crate::effect::{NamedBy, Span};
use crate::program::{Code, Prints, Start, View};
use crate::word::{Origin, Part, Shape, Single, Text, Word};

/// What standard input gives as words: exact ones where they are certain.
fn words_of_stdin(view: &View<'_>) -> Vec<Word> {
    let from_file = view.has("--arg-file");
    if view.value("--arg-file").and_then(Word::exact) == Some(b"/dev/null") {
        return Vec::new();
    }
    let plain = |byte: &u8| !matches!(byte, b'\'' | b'"' | b'\\' | 0);
    match &view.inv.stdin_prints {
        Prints::Exact(text)
            if !from_file && text.as_bytes().iter().all(plain) && !view.has_any(&["--null", "--delimiter", "-E"]) =>
        {
            text.as_bytes()
                .split(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
                .filter(|word| !word.is_empty())
                .map(|word| Word::Exact(Text::from(word)))
                .collect()
        }
        Prints::Names(folder) if !from_file && !cuts_names(view) => {
            vec![unknown_words(Origin::Listing(Box::new(folder.clone())))]
        }
        Prints::Number if !from_file => vec![unknown_words(Origin::Number)],
        _ => vec![unknown_words(Origin::Unknown)],
    }
}

/// Whether names are taken apart where they do not end: `zR.envRz` holds another name for `-d R`.
fn cuts_names(view: &View<'_>) -> bool {
    let whole = |word: &Word| matches!(word.exact(), Some(b"\n" | b"\\n" | b"\0" | b"\\0"));
    view.values("--delimiter").iter().any(|(_, sign)| !whole(sign)) || view.has("--colsep")
}

pub(crate) fn xargs(view: &mut View<'_>) {
    if view.has("--process-slot-var") {
        view.named_by_flag(Code::Environment, "--process-slot-var", 0);
    }
    let replace = ["-I", "--replace", "-J"].iter().find(|name| view.has(name)).map(|name| view.value(name).cloned());
    let given = words_of_stdin(view);
    let from = view.operand_at(0).unwrap_or(view.inv.argv.len());
    let mut argv: Vec<Word> = view.inv.argv.get(from..).unwrap_or_default().to_vec();
    let mut spans: Vec<Span> = (from..view.inv.argv.len()).map(|at| view.span(at)).collect();
    if argv.is_empty() {
        argv.push(Word::Exact("echo".into()));
        spans.push(view.span(0));
    }
    match replace {
        Some(marker) => {
            let marker =
                marker.as_ref().map_or(Some(b"{}".as_slice()), Word::exact).filter(|marker| !marker.is_empty());
            let origin = origin_of(&given);
            for word in &mut argv {
                *word = match (marker, word.exact()) {
                    (Some(marker), Some(text)) => with_holes(text, marker, &origin),
                    // A marker nobody knows may stand anywhere.
                    _ => Word::Opaque,
                };
            }
        }
        None => {
            // Few at a time: which run gets which words is open.
            let few = view.has_any(&["--max-args", "--max-lines", "-L", "--max-chars"]);
            let given = if few && given.len() > 1 { vec![unknown_words(Origin::Unknown)] } else { given };
            spans.resize(argv.len() + given.len(), view.span(0));
            argv.extend(given);
        }
    }
    view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
    view.out.transparent = true;
}

fn origin_of(given: &[Word]) -> Origin {
    match given {
        [Word::Dynamic(shape)] => shape.origin.clone(),
        _ => Origin::Unknown,
    }
}

/// `text` with a hole wherever `marker` stands.
pub(crate) fn with_holes(text: &[u8], marker: &[u8], origin: &Origin) -> Word {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(marker) {
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal).into()));
            }
            parts.push(Part::Hole);
            rest = behind;
        } else {
            literal.push(first);
            rest = tail;
        }
    }
    if parts.is_empty() {
        return Word::Exact(text.into());
    }
    if !literal.is_empty() {
        parts.push(Part::Literal(literal.into()));
    }
    Word::Dynamic(Shape::single(parts, origin.clone(), Single::Handed))
}

/// The words before `:::` are one text for a shell, with `{}` for an argument that parallel quotes.
pub(crate) fn parallel(view: &mut View<'_>) {
    let from = view.operand_at(0).unwrap_or(view.inv.argv.len());
    let words = view.inv.argv.get(from..).unwrap_or_default();
    let separator = words.iter().position(|word| word.exact().is_some_and(|word| word.starts_with(b":::")));
    let command = words.get(..separator.unwrap_or(words.len())).unwrap_or_default();
    let span = view.span(from);
    let mut argv = Vec::new();
    let mut holes = false;
    for word in command {
        let safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./-=,:@%+{} ".contains(byte);
        match word.exact().filter(|text| text.iter().all(safe)) {
            Some(text) => {
                for piece in text.split(|&byte| byte == b' ').filter(|piece| !piece.is_empty()) {
                    let hole = piece.contains(&b'{');
                    holes |= hole;
                    // `{.}`, `{/}`, `{1}` and the like: parts of an argument.
                    argv.push(if hole { unknown_piece(piece) } else { Word::Exact(piece.into()) });
                }
            }
            None => {
                view.out.starts.push(Start::Shell {
                    text: Word::Opaque,
                    span,
                    dialect: Dialect::Other,
                    elsewhere: false,
                    parameters: Vec::new(),
                });
                return;
            }
        }
    }
    if argv.is_empty() {
        // Every line of standard input, or every argument, is a command.
        view.out.starts.push(Start::Shell {
            text: Word::Opaque,
            span,
            dialect: Dialect::Other,
            elsewhere: false,
            parameters: Vec::new(),
        });
        return;
    }
    if !holes {
        let given = if separator.is_some() { vec![unknown_words(Origin::Unknown)] } else { words_of_stdin(view) };
        argv.extend(given);
    }
    let spans = vec![span; argv.len()];
    view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
    view.out.transparent = true;
}

fn unknown_piece(piece: &[u8]) -> Word {
    let literal: Vec<u8> = piece.iter().copied().take_while(|&byte| byte != b'{').collect();
    let mut parts = Vec::new();
    if !literal.is_empty() {
        parts.push(Part::Literal(literal.into()));
    }
    parts.push(Part::Hole);
    Word::Dynamic(Shape::single(parts, Origin::Unknown, Single::Handed))
}

pub(crate) fn watch(view: &mut View<'_>) {
    if view.has("--screenshotsdir") {
        view.named_by_flag(Code::WritesFile, "--screenshotsdir", 0);
    }
    if view.has("--exec") {
        if let Some(at) = view.operand_at(0) {
            view.out.transparent = launch(view, at, Launch::default());
        }
    } else {
        shell_text(view);
    }
}

pub(crate) fn shell_text(view: &mut View<'_>) {
    view.out.transparent = shell_behind(view, 0, false);
}

pub(crate) fn flock(view: &mut View<'_>) {
    let Some((at, lock)) = view.operand_at(0).and_then(|at| Some((at, view.word(at)?))) else { return };
    let descriptor = lock.exact().is_some_and(|word| word.iter().all(u8::is_ascii_digit));
    if !descriptor {
        view.writes(lock, at);
    }
    match view.operand_at(1) {
        Some(command) if matches!(view.word(command).and_then(Word::exact), Some(b"-c" | b"--command")) => {
            let text = view.word(command + 1).cloned().unwrap_or(Word::Opaque);
            view.starts_shell(text, command + 1);
        }
        Some(command) => {
            launch(view, command, Launch::default());
        }
        None => {}
    }
    view.out.transparent = !view.out.starts.is_empty();
}

pub(crate) fn script(view: &mut View<'_>) {
    match (view.operand_at(0), view.operand(0)) {
        (Some(at), Some(file)) => view.writes(file, at),
        _ if view.has_any(&["--log-out", "--log-io", "--log-in"]) => {}
        _ => view.touches(crate::Verb::Write, "typescript", false),
    }
    // BSD: a command stands behind the file.
    if let Some(at) = view.operand_at(1) {
        launch(view, at, Launch::default());
    } else if !view.has("--command") {
        interactive(view, "sh", 0);
    }
}

pub(crate) fn entr(view: &mut View<'_>) {
    if view.has("-s") {
        if let (Some(at), Some(text)) = (view.operand_at(0), view.operand(0)) {
            view.starts_shell(text.clone(), at);
            view.out.transparent = true;
        }
    } else if let Some(at) = view.operand_at(0) {
        view.out.transparent = launch(view, at, Launch::default());
    }
}

/// `nodemon app.js` runs node; with `--exec`, that program is given the file.
pub(crate) fn nodemon(view: &mut View<'_>) {
    let from = view.operand_at(0);
    if view.has("--exec") {
        if let (Some(at), Some(file)) = (from, view.operand(0)) {
            view.reads(file, at);
            view.code("unknown", Code::RunsCode, NamedBy::Flag("--exec".to_owned()), at);
        }
        return;
    }
    let mut argv = vec![Word::Exact("node".into())];
    match from {
        Some(at) => argv.extend_from_slice(view.inv.argv.get(at..).unwrap_or_default()),
        None => argv.push(Word::Exact(".".into())),
    }
    let spans = vec![view.span(from.unwrap_or(0)); argv.len()];
    view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
}

pub(crate) fn expect(view: &mut View<'_>) {
    if view.has("-c") && view.operand_at(0).is_none() {
        return;
    }
    if let (Some(at), Some(file)) = (view.operand_at(0), view.operand(0)) {
        view.reads(file, at);
    }
    view.code("tcl", Code::RunsCode, NamedBy::Program, 0);
}

pub(crate) fn run_parts(view: &mut View<'_>) {
    if view.has_any(&["--test", "--list"]) {
        return;
    }
    if let (Some(at), Some(folder)) = (view.operand_at(0), view.operand(0)) {
        view.reads_below(folder, at);
    }
    view.code("unknown", Code::RunsCode, NamedBy::Program, 0);
}
