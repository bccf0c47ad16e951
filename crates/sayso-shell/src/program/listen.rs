//! Programs that take commands from whoever types into them: those that their tables do not already show as running code
//! of their own.

use super::built::{LISTENERS, LISTENERS_BY_NAME};
use crate::effect::{Run, Stdin};

/// A program that reads commands from its terminal.
pub(super) struct Listener {
    /// With one of these it does what it is told and no more.
    pub(super) told_by: &'static [&'static str],
    /// With more words than this, too.
    pub(super) words: usize,
    /// It reads keys from the terminal even where its input comes through a pipe.
    pub(super) piped: bool,
}

/// Whether a program would take commands from whoever types into its terminal.
#[must_use]
pub fn listens_to_terminal(run: &Run) -> bool {
    is_listener(run) || opens_editor(run)
}

/// Git starts an editor for a message that it is not given, and for a list that is to be changed.
fn opens_editor(run: &Run) -> bool {
    const MESSAGE: &[&str] =
        &["--message", "--file", "--reuse-message", "--fixup", "--squash", "--no-edit", "--dry-run", "--help"];
    let has = |names: &[&str]| run.options.iter().any(|option| names.contains(&option.name.as_str()));
    run.program.base.as_deref() == Some("git")
        && match run.subcommand(0) {
            Some("commit") => !has(MESSAGE),
            Some("rebase") => has(&["--interactive", "--edit-todo"]),
            Some("add") => has(&["--edit"]),
            _ => false,
        }
}

fn is_listener(run: &Run) -> bool {
    let Some(base) = run.program.base.as_deref() else { return false };
    let Some(listener) = LISTENERS_BY_NAME.find(base).and_then(|at| LISTENERS.get(at)) else { return false };
    let told = run.options.iter().any(|option| listener.told_by.contains(&option.name.as_str()))
        || run.argv.iter().filter_map(|word| word.exact_str()).any(|word| listener.told_by.contains(&word));
    let terminal = run.stdin == Stdin::Inherited || listener.piped;
    let repl = run.words.first().and_then(|at| run.argv.get(usize::from(*at))?.exact_str()) == Some("repl");
    terminal && !told && (repl || run.words.len() <= listener.words)
}
