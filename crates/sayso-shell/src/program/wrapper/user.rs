//! Wrappers that change the user or what it may do: they need a yes of their own.

use super::environment::assignment;
use super::{Launch, interactive, joined, launch};
use crate::Dialect;
use crate::program::{Code, Start, View};
use crate::word::Word;

pub(crate) fn sudo(view: &mut View<'_>) {
    if view.has("--edit") {
        edits(view);
        for at in view.operands() {
            if let Some(word) = view.word(at) {
                view.reads(word, at);
                view.writes(word, at);
            }
        }
        return;
    }
    if view.has_any(&["--list", "--validate", "--version", "--help"]) {
        return;
    }
    let mut env = Vec::new();
    let mut n = 0;
    while let Some(assignment) = view.operand(n).and_then(assignment) {
        env.push(assignment);
        n += 1;
    }
    let elsewhere = view.has_any(&["--host", "--chroot"]);
    let cwd = view.value("--chdir").cloned();
    match view.operand_at(n) {
        Some(at) => {
            launch(view, at, Launch { env, cwd, elsewhere });
        }
        None if view.has_any(&["--login", "--shell"]) => interactive(view, "sh", 0),
        None => {}
    }
}

/// An editor of the user's choice is started on a copy.
pub(crate) fn edits(view: &mut View<'_>) {
    view.named_by_flag(Code::RunsCommand, "--edit", 0);
}

/// The group stands first, behind a dash for a login; the words behind it are text for a shell, behind `-c` or not.
pub(crate) fn other_group(view: &mut View<'_>) {
    let is = |at: usize, text: &str| view.word(at).and_then(Word::exact_str) == Some(text);
    let group = 1 + usize::from(is(1, "-") || is(1, "-l"));
    let at = group + 1 + usize::from(is(group + 1, "-c"));
    view.out.words = (1..view.inv.argv.len()).filter_map(|at| u16::try_from(at).ok()).collect();
    match joined(view, at) {
        Some(text) => {
            let (span, parameters) = (view.span(at), Vec::new());
            view.out.starts.push(Start::Shell { text, span, dialect: Dialect::Other, elsewhere: false, parameters });
        }
        None => interactive(view, "sh", 0),
    }
}

pub(crate) fn doas(view: &mut View<'_>) {
    match view.operand_at(0) {
        Some(at) => {
            launch(view, at, Launch::default());
        }
        None if view.has("-s") => interactive(view, "sh", 0),
        None => {}
    }
}

/// `su [-] [user [args]]`; with `runuser -u user`, a command stands behind.
pub(crate) fn su(view: &mut View<'_>) {
    if view.has_any(&["--command", "--session-command", "--help", "--version"]) {
        return;
    }
    match view.operand_at(0) {
        Some(at) if view.has("--user") => {
            launch(view, at, Launch::default());
        }
        _ => interactive(view, "sh", 0),
    }
}

/// `capsh --drop=.. -- -c 'text'`: what follows `--` is for a shell.
pub(crate) fn capsh(view: &mut View<'_>) {
    let Some(end) = view.terminator.or_else(|| view.inv.argv.iter().position(|word| word.exact() == Some(b"==")))
    else {
        return;
    };
    let mut argv = vec![Word::Exact("bash".into())];
    argv.extend_from_slice(view.inv.argv.get(end + 1..).unwrap_or_default());
    let spans = (end..view.inv.argv.len()).map(|at| view.span(at)).collect();
    view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
}

pub(crate) fn fakeroot(view: &mut View<'_>) {
    match view.operand_at(0) {
        Some(at) => {
            view.out.transparent = launch(view, at, Launch::default());
        }
        None if !view.has_any(&["--help", "--version", "-h", "-v"]) => interactive(view, "sh", 0),
        None => {}
    }
}

/// The words from operand `n` on, joined, as text for a shell somewhere.
pub(super) fn shell_behind(view: &mut View<'_>, n: usize, elsewhere: bool) -> bool {
    let Some(at) = view.operand_at(n) else { return false };
    let Some(text) = joined(view, at) else { return false };
    let span = view.span(at);
    view.out.starts.push(Start::Shell { text, span, dialect: Dialect::Other, elsewhere, parameters: Vec::new() });
    true
}
