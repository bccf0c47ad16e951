//! Runners of the project's own tasks: `mise run lint`, `nx run app:lint`, `turbo run build`.
//!
//! The word behind the runner is the name of a task, never a program: what it does, the project's files say. Patterns name
//! tasks by these words. Runners that make recipes or scripts are with their families (`make`, `npm`).

pub(crate) mod name;

pub(super) use name::{Naming, also, named, says, task, tasks, unknown};

use super::{Code, View};
use crate::effect::NamedBy;
use crate::word::Word;

/// `mise run lint`; `::: test` is one more task.
pub(crate) fn mise_run(view: &mut View<'_>) {
    let operands = view.operands();
    let is_next = |at: usize| view.word(at).and_then(Word::exact) == Some(b":::");
    let more: Vec<usize> = operands.iter().copied().filter(|at| at.checked_sub(1).is_some_and(is_next)).collect();
    if let Some(first) = operands.first() {
        task(view, *first, Naming::Whole);
    }
    for at in more {
        task(view, at, Naming::Whole);
        match view.word(at).and_then(Word::exact_str) {
            Some(name) => also(view, name, at),
            None => view.named(Code::DynamicOption, NamedBy::Nothing, at),
        }
    }
    view.hands_on(1);
}

/// `mise lint` is a task by its own name, where it is none of its commands.
pub(crate) fn by_name(view: &mut View<'_>) {
    let Some(at) = view.operand_at(0) else { return };
    let by = match view.word(at).and_then(Word::exact_str) {
        Some(name) => NamedBy::Words(vec![name.to_owned()]),
        None => NamedBy::Nothing,
    };
    view.named(Code::RunsCode, by, at);
    mise_run(view);
}

/// `nx run app:lint`, or `nx run lint` in a project's folder. `nx build app` is `nx run app:build`.
pub(crate) fn nx_run(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        task(view, at, Naming::Target);
    }
    view.hands_on(1);
    hand_values_on(view);
}

/// `nx run-many -t lint test`: names stand behind options, and behind those.
pub(crate) fn nx_many(view: &mut View<'_>) {
    let mut names: Vec<(usize, String)> = Vec::new();
    for flag in ["--target", "--project"] {
        for (at, value) in view.values(flag) {
            let Some(list) = value.exact_str().map(str::to_owned) else {
                unknown(view, at);
                continue;
            };
            names.extend(list.split(',').filter(|_| flag == "--target").map(|name| (at, name.to_owned())));
        }
    }
    let operands = view.operands();
    names.extend(operands.iter().filter_map(|&at| Some((at, view.word(at)?.exact_str()?.to_owned()))));
    for (at, name) in names {
        named(view, &name, at, Naming::Target);
    }
    hand_values_on(view);
}

/// Without a file it shows the graph in a browser.
pub(crate) fn nx_graph(view: &mut View<'_>) {
    if !view.has_any(&["--file", "--print"]) {
        view.named_by_words(Code::Serves);
    }
}

/// Options that the runner hands on may hold a path.
fn hand_values_on(view: &mut View<'_>) {
    super::lint::options_take_paths(view);
}

/// `turbo run build test`, `turbo build`; behind `--` stand words for the tasks.
pub(crate) fn turbo_run(view: &mut View<'_>) {
    let end = view.terminator.unwrap_or(usize::MAX);
    let names: Vec<usize> = view.operands().into_iter().filter(|at| *at < end).collect();
    for (n, at) in names.into_iter().enumerate() {
        // `app#build`
        let Some(name) = view.word(at).and_then(Word::exact_str) else { continue };
        let own = name.rsplit('#').next().unwrap_or(name).to_owned();
        named(view, &own, at, Naming::Whole);
        if n > 0 {
            also(view, name, at);
        }
    }
    let behind: Vec<usize> = view.operands().into_iter().filter(|at| *at > end).collect();
    for at in behind {
        if let Some(word) = view.word(at) {
            view.hands_on_word(word, at);
        }
    }
}

/// `moon run app:lint app:test`.
pub(crate) fn target_tasks(view: &mut View<'_>) {
    tasks(view, Naming::Target);
}

/// The first operand is a task; what follows goes to it.
pub(crate) fn first_task(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        task(view, at, Naming::Whole);
    }
    view.hands_on(1);
}

/// Each operand may be a task: which of them are words for the one before, only its definition says.
pub(crate) fn handing_tasks(view: &mut View<'_>) {
    for (n, at) in view.operands().into_iter().enumerate() {
        let Some(name) = view.word(at).and_then(Word::exact_str) else {
            unknown(view, at);
            continue;
        };
        if name.starts_with('-') {
            continue;
        }
        if n == 0 || says(name, Naming::Whole) == Some(Code::Publishes) {
            task(view, at, Naming::Whole);
        }
    }
    view.hands_on(1);
}
