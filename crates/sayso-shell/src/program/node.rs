//! JavaScript runtimes.

use super::task::{self, Naming};
use super::{Code, View, index};
use crate::effect::{Carry, NamedBy, Stdin, Verb};
use crate::word::Word;

/// A script, code on standard input, or nothing but a question.
pub(crate) fn node(view: &mut View<'_>) {
    // A reporter that is none of node's own is a module.
    for (at, reporter) in view.values("--test-reporter") {
        if !matches!(reporter.exact_str(), Some("spec" | "tap" | "dot" | "junit" | "lcov")) {
            view.named_by_flag(Code::RunsCode, "--test-reporter", at);
        }
    }
    if view.has_any(&["--eval", "--print"]) {
        // `-p code`: the first operand is the code.
        view.hands_on(usize::from(!view.has("--eval")));
        return;
    }
    match view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w))) {
        Some((at, file)) if matches!(file.exact(), Some(b"-" | b"/dev/stdin")) => by_stdin(view, at),
        Some((at, file)) => {
            view.path_effect(Verb::Read, file, at, false, Carry::Plain);
            if !view.has("--check") {
                view.code("node", Code::RunsCode, NamedBy::Program, at);
                view.hands_on(1);
            }
        }
        None if view.has_any(&[
            "--version",
            "-v",
            "--help",
            "-h",
            "--v8-options",
            "--test",
            "--run",
            "--completion-bash",
            "--revision",
        ]) => {}
        None => by_stdin(view, 0),
    }
}

fn by_stdin(view: &mut View<'_>, at: usize) {
    if view.inv.stdin != Stdin::Inherited || at > 0 {
        view.imply("--eval", None, at);
    }
    view.code("node", Code::InlineCode, NamedBy::Flag("--eval".to_owned()), at);
}

pub(crate) fn hands_on_all(view: &mut View<'_>) {
    view.hands_on(0);
}

pub(crate) fn deno_eval(view: &mut View<'_>) {
    let at = view.operand_at(0).unwrap_or_default();
    view.code("javascript", Code::InlineCode, NamedBy::Words(vec!["eval".to_owned()]), at);
}

/// A script of the project; where it has none of this name, bun starts a program or a file that is called so.
pub(crate) fn bun_run(view: &mut View<'_>) {
    // More projects have scripts of these names than call the program by way of bun.
    const SCRIPTS: &[&str] =
        &["build", "check", "docs", "format", "install", "script", "start", "test", "time", "watch"];
    let Some((at, word)) = view.operand_at(0).and_then(|at| view.word(at).map(|word| (at, word))) else { return };
    let Some(name) = word.exact_str() else {
        view.named(Code::DynamicOption, NamedBy::Nothing, at);
        return;
    };
    if name == "-" || name.contains(['/', '\\']) || name.contains('.') && !is_script(view, name) {
        view.path_effect(Verb::Read, word, at, false, Carry::Plain);
        view.code("javascript", Code::RunsCode, NamedBy::Words(vec!["run".to_owned(), name.to_owned()]), at);
    } else if index::spec(name).is_some() && !SCRIPTS.contains(&name) && !is_script(view, name) {
        view.starts_words(at);
    }
    task::task(view, at, Naming::Whole);
    view.hands_on(1);
}

/// Whether `package.json` says so. What it says is the project's: a name that is none there is a program to bun.
fn is_script(view: &View<'_>, name: &str) -> bool {
    let Some(text) = view.content(&Word::Exact("package.json".into())) else { return false };
    let text = String::from_utf8_lossy(&text).into_owned();
    let Some((_, scripts)) = text.split_once("\"scripts\"") else { return false };
    let scripts = scripts.split('}').next().unwrap_or_default();
    scripts.split_once(&format!("\"{name}\"")).is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

/// A command for bun's own shell.
pub(crate) fn bun_exec(view: &mut View<'_>) {
    if let Some((at, text)) = view.operand_at(0).and_then(|at| view.word(at).map(|word| (at, word.clone()))) {
        view.starts_shell(text, at);
    }
}
