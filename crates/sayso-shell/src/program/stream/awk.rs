//! awk: a filter, until its program says otherwise.

use crate::effect::{Carry, NamedBy, Verb};
use crate::program::{Code, View};
use crate::script;
use crate::word::Word;

pub(crate) fn awk(view: &mut View<'_>) {
    let mut operands = view.operands().into_iter();
    let mut programs = view.values("--source");
    let files: Vec<(usize, Word)> = [view.values("--file"), view.values("--exec")].concat();
    if programs.is_empty() && files.is_empty() && !view.has_any(&["--version", "--help", "-V", "-h"]) {
        let program = operands.next();
        programs.extend(program.and_then(|at| Some((at, view.word(at)?.clone()))));
    }
    for (at, program) in &programs {
        match script::text_of(program) {
            Some(text) => view.findings(script::awk(&text), &NamedBy::Nothing, *at),
            None => {
                view.named(Code::UnclearScript, NamedBy::Nothing, *at);
                view.doubt(Code::UnclearScript, "an awk program of unknown text may run or write".to_owned(), *at);
            }
        }
    }
    for (at, file) in &files {
        match view.content(file) {
            Some(content) => view.findings(script::awk(&content), &NamedBy::Flag("--file".to_owned()), *at),
            None => view.code("awk", Code::RunsCode, NamedBy::Flag("--file".to_owned()), *at),
        }
    }
    let in_place = includes(view);
    // mawk's `-W exec file` and its like.
    for (at, option) in view.values("-W") {
        if !matches!(option.exact(), Some(b"version" | b"posix" | b"interactive" | b"dump" | b"usage" | b"help" | b"v"))
        {
            view.code("awk", Code::RunsCode, NamedBy::Flag("-W".to_owned()), at);
        }
    }
    for at in operands {
        let Some(word) = view.word(at) else { continue };
        if is_assignment(word) {
            continue;
        }
        view.reads(word, at);
        if in_place {
            let carry = Carry::Named { code: Code::ChangesFiles, by: NamedBy::Flag("--include".to_owned()) };
            view.path_effect(Verb::Write, word, at, false, carry);
        }
    }
}

/// `-i inplace` writes what it reads; any other library is code.
fn includes(view: &mut View<'_>) -> bool {
    let mut in_place = false;
    for (at, library) in view.values("--include") {
        if matches!(library.exact(), Some(b"inplace" | b"inplace.awk")) {
            in_place = true;
        } else {
            view.reads(&library, at);
            view.code("awk", Code::RunsCode, NamedBy::Flag("--include".to_owned()), at);
        }
    }
    in_place
}

/// `name=value` among the files sets a variable.
fn is_assignment(word: &Word) -> bool {
    let Some(bytes) = word.exact() else { return false };
    let name = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && bytes.get(name) == Some(&b'=') && !bytes.first().is_some_and(u8::is_ascii_digit)
}
