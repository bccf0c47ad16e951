//! sqlite3: a file, and SQL or dot-commands that may run, read and write others.

use crate::effect::{Carry, NamedBy, Stdin, Verb};
use crate::program::{Code, Prints, View};
use crate::script::{self, Finding};
use crate::word::Word;

pub(crate) fn sqlite(view: &mut View<'_>) {
    // Options before the question have been obeyed when it is answered.
    let asks = view.has_any(&["-version", "-help", "--version", "--help"]);
    let mut texts: Vec<(usize, Word)> = view.values("-cmd");
    texts.extend(view.values("-c"));
    texts.extend(view.values("-s"));
    texts.extend(view.operands().into_iter().skip(1).filter_map(|at| Some((at, view.word(at)?.clone()))));
    for (at, file) in view.values("-init") {
        match view.content(&file) {
            Some(text) => texts.push((at, Word::Exact(text.into()))),
            None => view.named_by_flag(Code::UnclearScript, "-init", at),
        }
    }
    let only_options = !asks && view.operand_count() < 2 && !view.has_any(&["-c", "-s"]);
    if only_options {
        texts.extend(from_stdin(view));
    }
    let mut changes = false;
    if !texts.is_empty() && texts.iter().all(|(_, text)| is_question(text)) {
        view.imply("--only-reads", None, 0);
    }
    for (at, text) in texts {
        match script::text_of(&text) {
            Some(text) => {
                let mut findings = script::sqlite(&text);
                changes |= findings.contains(&Finding::Change);
                findings.retain(|finding| *finding != Finding::Change);
                view.findings(findings, &NamedBy::Nothing, at);
            }
            None => {
                view.named(Code::UnclearScript, NamedBy::Nothing, at);
                view.doubt(
                    Code::UnclearScript,
                    "SQL of unknown text may change the database and run dot-commands".to_owned(),
                    at,
                );
            }
        }
    }
    if let (Some(at), Some(database)) = (view.operand_at(0), view.operand(0))
        && database.exact() != Some(b":memory:")
    {
        let file = file_of(database);
        view.path_effect(Verb::Read, &file, at, false, Carry::Plain);
        if changes && !view.has("-readonly") {
            view.path_effect(Verb::Write, &file, at, false, Carry::Plain);
        }
    }
}

/// The file that a database's name stands for: `file:///x?mode=ro` is the address of `/x`.
fn file_of(database: &Word) -> Word {
    let Some(address) = database.exact().and_then(|name| name.strip_prefix(b"file:")) else { return database.clone() };
    let path = match address.strip_prefix(b"//") {
        // Only this machine's files can be opened, and it may be named.
        Some(rest) => rest.iter().position(|byte| *byte == b'/').and_then(|from| rest.get(from..)).unwrap_or_default(),
        None => address,
    };
    let end = path.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(path.len());
    match path.get(..end) {
        Some(path) if !path.is_empty() && !path.contains(&b'%') => Word::Exact(path.into()),
        _ => Word::Opaque,
    }
}

/// Whether a text is nothing but a question, in SQL or by a dot-command that tells how the data is laid out.
pub(super) fn is_question(text: &Word) -> bool {
    let Some(text) = script::text_of(text) else { return false };
    let tells =
        [".tables", ".schema", ".indexes", ".databases", ".headers on", ".mode column", ".mode json", ".mode csv"];
    let line = String::from_utf8_lossy(&text).trim().to_owned();
    let told = |command: &&str| {
        let rest = line.strip_prefix(*command);
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b' '))
    };
    tells.iter().any(told) || script::only_asks(&text) && script::sqlite(&text).is_empty()
}

/// What standard input says, if it is not at a terminal.
pub(super) fn from_stdin(view: &View<'_>) -> Option<(usize, Word)> {
    match (&view.inv.stdin_prints, view.inv.stdin_text, view.inv.stdin) {
        (_, Some(text), _) => Some((0, Word::Exact(text.into()))),
        (Prints::Exact(text), None, _) => Some((0, Word::Exact(text.clone()))),
        (_, None, Stdin::Inherited) => None,
        _ => Some((0, Word::Opaque)),
    }
}
