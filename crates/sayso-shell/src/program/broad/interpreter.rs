//! Interpreters of other languages: a script, or code in the command.

use crate::effect::{Carry, NamedBy, Stdin, Verb};
use crate::program::{Code, View};

/// A script file, code in the command, or code on standard input.
pub(crate) fn script(view: &mut View<'_>) {
    let inline = view.seen.iter().any(|s| s.does == crate::option::Does::Inline);
    if inline {
        view.hands_on(0);
        // `perl -i -pe code file` edits the files.
        if view.has("-i") {
            edits(view, 0);
        }
        return;
    }
    let asks =
        view.has_any(&["--version", "-v", "-version", "--help", "-h", "-V", "-i", "-m"]) && view.operand_count() == 0;
    if asks {
        return;
    }
    match view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w))) {
        Some((at, file)) if file.exact() != Some(b"-") => {
            view.path_effect(Verb::Read, file, at, false, Carry::Plain);
            if view.has("-c") && matches!(view.name, "perl" | "ruby") || view.has("-l") && view.name == "php" {
                // A syntax check; but perl runs BEGIN blocks.
                if view.name != "perl" {
                    return;
                }
            }
            view.code(view.name, Code::RunsCode, NamedBy::Program, at);
            view.hands_on(1);
        }
        _ => {
            if view.inv.stdin != Stdin::Inherited {
                view.imply("-e", None, 0);
            }
            view.code(view.name, Code::InlineCode, NamedBy::Flag("-e".to_owned()), 0);
        }
    }
}

fn edits(view: &mut View<'_>, from: usize) {
    for at in view.operands().into_iter().skip(from) {
        if let Some(word) = view.word(at) {
            view.writes(word, at);
        }
    }
}
