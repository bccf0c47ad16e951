//! Programs that start another: the words, text or file behind them are opened and analysed in their own right.
//!
//! A wrapper that only starts what follows is transparent and needs no yes of its own. One that changes the user, the
//! host, the container or the root folder is not.

pub(crate) mod batch;
pub(crate) mod environment;
pub(crate) mod fetch;
pub(crate) mod guess;
pub(crate) mod later;
pub(crate) mod place;
pub(crate) mod plain;
pub(crate) mod shell;
pub(crate) mod trace;
pub(crate) mod user;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use batch::with_holes;
pub(crate) use guess::{guessed, perhaps};
pub(crate) use shell::shell_of;

use crate::effect::NamedBy;
use crate::program::{Code, Start, View};
use crate::word::{Origin, Part, Shape, Text, Word};

/// How what follows is started.
#[derive(Default)]
pub(crate) struct Launch {
    /// Its paths are not paths of this machine.
    pub(crate) elsewhere: bool,
    /// Assignments added for it.
    pub(crate) env: Vec<(Text, Word)>,
    /// It starts in this folder.
    pub(crate) cwd: Option<Word>,
}

/// Starts the words from `at` on. False: there are none.
pub(crate) fn launch(view: &mut View<'_>, at: usize, how: Launch) -> bool {
    let argv = view.inv.argv.get(at..).unwrap_or_default().to_vec();
    if argv.is_empty() {
        return false;
    }
    let spans = (at..view.inv.argv.len()).map(|i| view.span(i)).collect();
    let Launch { elsewhere, env, cwd } = how;
    view.out.starts.push(Start::Argv { argv, spans, env, elsewhere, cwd });
    true
}

/// Only starts the command that begins at the operand of this place.
pub(crate) fn transparent(view: &mut View<'_>, place: usize) {
    if let Some(at) = view.operand_at(place) {
        view.out.transparent = launch(view, at, Launch::default());
    }
}

/// Only starts the command that begins at the first operand.
pub(crate) fn transparent_first(view: &mut View<'_>) {
    transparent(view, 0);
}

/// The same of the second operand.
pub(crate) fn transparent_second(view: &mut View<'_>) {
    transparent(view, 1);
}

/// Starts the command that begins at the operand of this place, and needs a yes of its own.
fn opaque(view: &mut View<'_>, place: usize) {
    if let Some(at) = view.operand_at(place) {
        launch(view, at, Launch::default());
    }
}

/// Starts the command that begins at the first operand, and needs a yes of its own.
pub(crate) fn opaque_first(view: &mut View<'_>) {
    opaque(view, 0);
}

/// The same of the second operand.
pub(crate) fn opaque_second(view: &mut View<'_>) {
    opaque(view, 1);
}

/// Starts what stands behind `exec` or `run` of a program that does other things too: behind `--`, or at once.
pub(crate) fn started_behind(view: &mut View<'_>) {
    let argv = view.inv.argv;
    let is =
        |at: usize, words: &[&str]| view.word(at).and_then(Word::exact_str).is_some_and(|word| words.contains(&word));
    let Some(verb) = (1..argv.len()).find(|&at| is(at, &["exec", "run", "x"])) else { return };
    let dashes = (verb + 1..argv.len()).find(|&at| is(at, &["--"]));
    // `stack exec command -- words`
    let at = match dashes.filter(|&at| view.name != "stack" || at == verb + 1) {
        Some(dashes) => dashes + 1,
        None => {
            let option = |at: &usize| view.word(*at).and_then(Word::exact).is_some_and(|word| word.starts_with(b"-"));
            let Some(first) = (verb + 1..argv.len()).find(|at| !option(at)) else { return };
            first + usize::from(matches!(view.name, "aws-vault" | "chamber" | "nvm"))
        }
    };
    launch(view, at, Launch::default());
}

/// The words from `at` on, joined with blanks as a shell would read them. `None`: there are none.
pub(crate) fn joined(view: &View<'_>, at: usize) -> Option<Word> {
    let words = view.inv.argv.get(at..).unwrap_or_default();
    if words.is_empty() {
        return None;
    }
    let mut text = Vec::new();
    for word in words {
        let Some(bytes) = word.exact() else { return Some(Word::Opaque) };
        if !text.is_empty() {
            text.push(b' ');
        }
        text.extend_from_slice(bytes);
    }
    Some(Word::Exact(text.into()))
}

/// A shell or interpreter is started that takes its commands from a person or from standard input.
pub(crate) fn interactive(view: &mut View<'_>, language: &'static str, at: usize) {
    view.code(language, Code::RunsCode, NamedBy::Program, at);
}

/// Words of unknown value and number.
fn unknown_words(origin: Origin) -> Word {
    Word::Dynamic(Shape::several(vec![Part::Hole], origin))
}
