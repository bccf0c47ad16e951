//! Commands that run later, when nobody looks: `at` and `batch`.

use crate::effect::NamedBy;
use crate::program::{Code, Prints, View};
use crate::word::Word;

pub(crate) fn at(view: &mut View<'_>) {
    if view.has_any(&["-l", "-c", "-d", "-r", "-V"]) {
        return;
    }
    view.named(Code::ChangesSystem, NamedBy::Program, 0);
    let text = match (&view.inv.stdin_prints, view.inv.stdin_text) {
        _ if view.has("-f") => None,
        (_, Some(text)) => Some(Word::Exact(text.into())),
        (Prints::Exact(text), None) => Some(Word::Exact(text.clone())),
        _ => None,
    };
    match text {
        Some(text) => view.starts_shell(text, 0),
        None => view.code("sh", Code::RunsCode, NamedBy::Program, 0),
    }
}
