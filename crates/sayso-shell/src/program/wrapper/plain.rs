//! Wrappers that only start what follows.

use super::{Launch, launch, transparent};
use crate::program::{Code, View};
use crate::word::Word;

/// `command -v git` asks what a name means and starts nothing.
pub(crate) fn command(view: &mut View<'_>) {
    if !view.has_any(&["-v", "-V"]) {
        transparent(view, 0);
    }
}

/// With `-p` these change a process that runs already.
fn unless_about_a_process(view: &mut View<'_>, place: usize) {
    if view.has_any(&["--pid", "--pgid", "--uid"]) {
        view.named_by_flag(Code::Signals, "--pid", 0);
    } else {
        transparent(view, place);
    }
}

/// What follows begins at the first operand.
pub(crate) fn unless_about_a_process_first(view: &mut View<'_>) {
    unless_about_a_process(view, 0);
}

/// What follows begins at the second operand.
pub(crate) fn unless_about_a_process_second(view: &mut View<'_>) {
    unless_about_a_process(view, 1);
}

/// `setarch` itself takes an architecture first, which is optional where an option stands before.
pub(crate) fn setarch(view: &mut View<'_>) {
    let named = view.inv.name == "setarch"
        && view.operand_str(0).is_some_and(|arch| {
            [
                "i386", "i486", "i586", "i686", "x86_64", "linux32", "linux64", "uname26", "aarch64", "arm64", "ppc",
                "s390",
            ]
            .iter()
            .any(|known| arch.starts_with(known))
        });
    if let Some(at) = view.operand_at(usize::from(named)) {
        view.out.transparent = launch(view, at, Launch::default());
    }
}

/// `runcon CONTEXT command`, or its parts as options.
pub(crate) fn runcon(view: &mut View<'_>) {
    if view.has_any(&["--compute", "--type", "--user", "--role", "--range"]) {
        super::opaque(view, 0);
    } else {
        super::opaque(view, 1);
    }
}

pub(crate) fn each_operand_is_shell_text(view: &mut View<'_>) {
    for at in view.operands() {
        let text = view.word(at).cloned().unwrap_or(Word::Opaque);
        view.starts_shell(text, at);
    }
    view.out.transparent = true;
}
