//! Scripts and modules of the project: by their paths and names, never as the interpreter.

use super::family::Family;
use super::need::{Need, is_word};
use sayso_policy::Operation;
use sayso_shell::program::{Facets, facets};
use sayso_shell::{Carry, Run, RunId, Word};
use std::path::Path;

/// An interpreter with a script or module of the project: by its path or name, so that it is neither inline code nor another
/// file. With the word behind it, where that says what it does: `python3 manage.py migrate`.
pub(super) fn of_interpreter(operation: &Operation, id: RunId) -> Option<Need> {
    let run = operation.analysis.as_ref()?.run(id)?;
    let name = run.program.base.clone()?;
    if !facets(&name).has(Facets::INTERPRETER.and(Facets::SHELL)) || run.program.shadow.is_some() {
        return None;
    }
    after_interpreter(operation, id, run, &name)
}

fn after_interpreter(operation: &Operation, id: RunId, run: &Run, name: &str) -> Option<Need> {
    if run.open_options || run.subcommands > 0 {
        return None;
    }
    // An option with a value may be the code, or make the operand another one's.
    let mut valued = run.options.iter().filter(|option| option.value.is_some());
    match (valued.next(), valued.next()) {
        (None, _) => {}
        (Some(option), None) if option.name == "-m" => {
            let module = option.value.as_ref()?.exact_str().filter(|module| is_own_module(module))?;
            let text = match task(run, 0) {
                Some(word) => format!("{name} {word} -m={module}"),
                None => format!("{name} -m={module}"),
            };
            return Some((Family::Scripts, text));
        }
        _ => return None,
    }
    let inline = |effect: &sayso_shell::Effect| {
        effect.run == Some(id)
            && matches!(&effect.carry, Carry::Named { code, .. } if *code == sayso_shell::Code::InlineCode)
    };
    if operation.effects.iter().any(inline) {
        return None;
    }
    let path = run.argv.get(usize::from(*run.words.first()?))?.exact_str()?;
    (is_script(path) && is_inside(operation, path))
        .then(|| (Family::Scripts, with_task(format!("{name} {path}"), run, 1)))
}

/// A program that lies in the project, by its path there.
pub(super) fn own(operation: &Operation, index: usize, id: RunId) -> Option<Need> {
    if operation.provenance.has_effect(index) {
        return None;
    }
    let run = operation.analysis.as_ref()?.run(id)?;
    let path = run.name()?;
    let root = operation.workspace.root_for_allow()?;
    let whole = match Path::new(path).is_absolute() {
        true => path.into(),
        false => run.cwd.as_deref()?.join(path.strip_prefix("./").unwrap_or(path)),
    };
    let rest = whole.strip_prefix(root).ok()?.to_str()?;
    if !path.contains('/') || !is_script(rest) {
        return None;
    }
    let own = format!("./{rest}");
    let base = Path::new(rest).file_name()?.to_str()?;
    // A copy of an interpreter in the project, as virtual environments have it, runs whatever it is given too.
    if facets(base).has(Facets::INTERPRETER.and(Facets::SHELL)) {
        return after_interpreter(operation, id, run, &own);
    }
    if sayso_policy::GrantSelector::pattern(sayso_shell::Verb::Run, base).is_err() {
        return None;
    }
    Some((Family::Scripts, with_task(own, run, 0)))
}

/// With the word at this place among the words of a command, where it says what is done.
fn with_task(pattern: String, run: &Run, at: usize) -> String {
    match task(run, at) {
        Some(word) => format!("{pattern} {word}"),
        None => pattern,
    }
}

/// `:api:test`, `db:migrate`, `check`.
fn task(run: &Run, at: usize) -> Option<&str> {
    let word = run.words.get(at).and_then(|at| run.argv.get(usize::from(*at))).and_then(Word::exact_str)?;
    let named = word.split(':').all(|part| part.is_empty() || is_word(part) || is_camel(part));
    (named && word.len() > 1).then_some(word)
}

fn is_camel(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(|c| c.is_ascii_alphanumeric())
}

/// A path that reads the same as a pattern, and names a file.
fn is_script(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    let named =
        path.contains('/') || Path::new(path).extension().is_some() || Path::new(path).components().count() == 1;
    named && !path.starts_with('-') && path.chars().all(plain) && path.split('/').all(|part| part != "..")
}

fn is_inside(operation: &Operation, path: &str) -> bool {
    let root = operation.workspace.root_for_allow();
    !Path::new(path).is_absolute() || root.is_some_and(|root| Path::new(path).starts_with(root))
}

/// A module with a name as those of projects have it, and none that comes with the language: some of those run what they
/// are given (`runpy`, `pdb`, `timeit`).
fn is_own_module(module: &str) -> bool {
    const WITH_THE_LANGUAGE: &[&str] = &[
        "asyncio",
        "concurrent",
        "ctypes",
        "dbm",
        "distutils",
        "email",
        "encodings",
        "ensurepip",
        "html",
        "http",
        "idlelib",
        "importlib",
        "json",
        "lib2to3",
        "logging",
        "multiprocessing",
        "os",
        "pydoc_data",
        "sqlite3",
        "test",
        "tkinter",
        "turtledemo",
        "unittest",
        "urllib",
        "wsgiref",
        "xml",
        "xmlrpc",
        "zipfile",
        "zoneinfo",
    ];
    let mut parts = module.split('.');
    let known = parts.next().is_none_or(|first| WITH_THE_LANGUAGE.contains(&first));
    let plain = |c: char| c.is_ascii_alphanumeric() || "._".contains(c);
    !known && parts.next().is_some() && module.chars().all(plain)
}
