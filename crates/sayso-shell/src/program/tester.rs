//! Runners of tests for Ruby, PHP and Python's environments.

use super::task::{self, Naming};
use super::{Code, View};
use crate::word::{Text, Word};

/// `spec/a_spec.rb:12` and `spec/a_spec.rb[1:2]` are lines and examples of a file. A formatter that is none of its own is
/// looked for as a class, in code.
pub(crate) fn rspec(view: &mut View<'_>) {
    super::project::runs_operands(view);
    const OWN: &[&str] =
        &["p", "progress", "d", "doc", "documentation", "h", "html", "j", "json", "f", "failures", "s"];
    for (at, format) in view.values("--format") {
        if !format.exact_str().is_some_and(|name| OWN.contains(&name)) {
            view.named_by_flag(Code::RunsCode, "--format", at);
        }
    }
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        match word.exact() {
            Some(bytes) => {
                let end = bytes.iter().position(|b| matches!(b, b':' | b'[')).unwrap_or(bytes.len());
                let file = Word::Exact(Text::from(bytes.get(..end).unwrap_or(bytes)));
                view.reads_sources(&file, at, "rb feature");
            }
            None => view.reads_below(word, at),
        }
    }
}

/// Environments are called like tasks. Words behind `--` go to their commands.
pub(crate) fn tox(view: &mut View<'_>) {
    environments(view, "-e");
    environments(view, "-m");
    view.hands_on(0);
}

pub(crate) fn nox(view: &mut View<'_>) {
    environments(view, "--session");
    environments(view, "--tags");
    view.hands_on(0);
}

fn environments(view: &mut View<'_>, flag: &str) {
    for (at, list) in view.values(flag) {
        let Some(list) = list.exact_str() else { continue };
        for code in list.split(',').filter_map(|name| task::says(name, Naming::Whole)) {
            view.named_by_flag(code, flag, at);
        }
    }
}

/// Behind the dashes stands a command.
pub(crate) fn started(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.starts_words(at);
    }
}
