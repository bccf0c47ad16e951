//! sed: a filter, until its script or `-i` says otherwise.

use crate::effect::{Carry, NamedBy, Verb};
use crate::program::{Code, View};
use crate::script;
use crate::word::Word;

pub(crate) fn sed(view: &mut View<'_>) {
    let in_place = view.has("--in-place");
    let mut operands = view.operands();
    let mut pieces = view.values("--expression");
    let files = view.values("--file");
    // `sed -i '' s/a/b/ f` of BSD: to GNU the empty word is the script. Both readings count.
    let empty_first = in_place && operands.first().and_then(|&at| view.word(at)).and_then(Word::exact) == Some(b"");
    if pieces.is_empty() && files.is_empty() {
        let taken = if empty_first { 2 } else { 1 };
        for at in operands.iter().copied().take(taken) {
            pieces.extend(view.word(at).map(|word| (at, word.clone())));
        }
        operands.drain(..operands.len().min(1));
    }
    script_of(view, &pieces, &files);
    for at in operands {
        let Some(word) = view.word(at) else { continue };
        view.reads(word, at);
        if in_place {
            changes(view, word, at);
        }
    }
}

/// All pieces are one script, joined with newlines: `-e 'a\' -e 'text'`.
fn script_of(view: &mut View<'_>, pieces: &[(usize, Word)], files: &[(usize, Word)]) {
    let mut text = Vec::new();
    for (at, piece) in pieces {
        match script::text_of(piece) {
            Some(piece) => {
                text.extend_from_slice(&piece);
                text.push(b'\n');
            }
            None => {
                view.named(Code::UnclearScript, NamedBy::Nothing, *at);
                view.doubt(Code::UnclearScript, "a sed script of unknown text may run or write".to_owned(), *at);
                return;
            }
        }
    }
    let at = pieces.first().map_or(0, |(at, _)| *at);
    view.findings(script::sed(&text), &NamedBy::Nothing, at);
    for (at, file) in files {
        match view.content(file) {
            Some(content) => view.findings(script::sed(&content), &NamedBy::Flag("--file".to_owned()), *at),
            None => view.code("sed", Code::RunsCode, NamedBy::Flag("--file".to_owned()), *at),
        }
    }
}

fn changes(view: &mut View<'_>, word: &Word, at: usize) {
    let carry = || Carry::Named { code: Code::ChangesFiles, by: NamedBy::Flag("--in-place".to_owned()) };
    view.path_effect(Verb::Write, word, at, false, carry());
    let suffix = view.value("--in-place").cloned();
    match (suffix.as_ref().map(Word::exact), word.exact()) {
        (None | Some(Some(b"")), _) => {}
        // A star stands for the name, a slash for another folder.
        (Some(Some(suffix)), Some(name)) if !suffix.contains(&b'*') && !suffix.contains(&b'/') => {
            let copy: Vec<u8> = name.iter().chain(suffix).copied().collect();
            view.path_effect(Verb::Write, &Word::Exact(copy.into()), at, false, carry());
        }
        _ => view.path_effect(Verb::Write, &script::unknown(), at, false, carry()),
    }
}
