//! Python itself. Its modules that are programs of their own are judged as those programs.

use super::{Code, View, index};
use crate::effect::{NamedBy, Stdin, Verb};
use crate::files::Kind;
use crate::word::Word;

/// Code stands in the command, comes from standard input, from a file, or from a module.
pub(crate) fn python(view: &mut View<'_>) {
    if let Some((at, _)) = view.values("-c").pop() {
        view.code("python", Code::InlineCode, NamedBy::Flag("-c".to_owned()), at);
        view.hands_on(0);
    } else if let Some((at, module)) = view.values("-m").pop() {
        run_module(view, &module, at);
    } else if let Some((at, file)) = view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w))) {
        if matches!(file.exact(), Some(b"-" | b"/dev/stdin")) {
            inline_by_stdin(view, at);
        } else {
            view.path_effect(Verb::Read, file, at, false, crate::effect::Carry::Plain);
            view.code("python", Code::RunsCode, NamedBy::Program, at);
        }
        view.hands_on(1);
    } else if !view.has_any(&["--version", "--help", "-h", "--help-env", "--help-xoptions", "--help-all"]) {
        // Whatever comes on standard input is code; at a terminal it is a person's.
        inline_by_stdin(view, 0);
    }
}

/// `unittest discover START PATTERN TOP`: the tests below these folders are run.
pub(crate) fn unittest(view: &mut View<'_>) {
    if view.operand_str(0) == Some("discover") {
        for place in [1, 3] {
            if let (Some(at), Some(folder)) = (view.operand_at(place), view.operand(place).cloned()) {
                view.reads_below(&folder, at);
            }
        }
    }
    super::lint::takes_paths(view);
}

fn inline_by_stdin(view: &mut View<'_>, at: usize) {
    if view.inv.stdin != Stdin::Inherited || at > 0 {
        view.imply("-c", None, at);
    }
    view.code("python", Code::InlineCode, NamedBy::Flag("-c".to_owned()), at);
}

/// `python -m pytest x` is `pytest x`, unless a file of the working directory has the module's name: Python would take
/// that one.
fn run_module(view: &mut View<'_>, module: &Word, at: usize) {
    // `-mpytest` holds its value; `-m pytest` and `-Im pytest` do not.
    let joined = view.word(at + 1) != Some(module);
    let first_argument = if joined { at + 1 } else { at + 2 };
    let name = module.exact_str();
    let program = name.and_then(|name| match name {
        "py.test" => Some("pytest"),
        "pre_commit" => Some("pre-commit"),
        "ipykernel" | "jupyterlab" | "notebook" => Some("jupyter"),
        "pip" | "pip3" => Some("pip"),
        other => index::find(other).map(|(name, _)| name),
    });
    match (name, program) {
        (Some(name), Some(program)) if !is_shadowed(view, name) => {
            view.out.transparent = true;
            view.starts_as(program, at, first_argument);
        }
        _ => {
            view.code("python", Code::RunsCode, NamedBy::Flag("-m".to_owned()), at);
            view.hands_on(0);
        }
    }
}

fn is_shadowed(view: &View<'_>, module: &str) -> bool {
    if view.has_any(&["-I", "-P"]) {
        return false;
    }
    let Some(cwd) = view.base.as_deref() else { return false };
    let first = module.split('.').next().unwrap_or(module);
    let exists = |name: &str| !matches!(view.inv.files.kind(&cwd.join(name)), Kind::Missing | Kind::Unknown);
    exists(&format!("{first}.py")) || exists(first)
}
