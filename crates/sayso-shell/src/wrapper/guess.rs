//! A program that is not known well, and words behind it that look like a command.
//!
//! Nobody can list every program that starts another. So where the words of a program without a table of its own read
//! as a command (`tool exec rm -rf x`, `tool -- rm x`, `tool start 'rm x'`), that command is analysed too. It only ever
//! adds to what a policy must say yes to: the program needs its own yes as before.

use crate::Dialect;
use crate::effect::Span;
use crate::program::{Invocation, Start, View, spec};
use crate::word::Word;

/// Words behind which such programs take a command, with options of their own between.
const VERBS: &[&str] = &["exec", "run", "start", "x", "with", "spawn", "launch", "do", "--exec", "--run", "-e", "-x"];

/// Options that take the text of a command.
const TEXTS: &[&str] = &["-c", "--command", "--cmd", "--exec", "--execute", "--run", "--shell-command", "-e", "-x"];

/// As [`guessed`], for tables that hold many programs in a few words.
pub(crate) fn may_start(view: &mut View<'_>) {
    if let Some(start) = guessed(view.inv) {
        view.out.starts.push(start);
    }
}

/// The command that the words of this program may hold.
pub(crate) fn guessed(inv: &Invocation<'_>) -> Option<Start> {
    // Of a program whose name is not known nothing is known, and the policy is told so.
    inv.argv.first()?.exact()?;
    let mut verb = false;
    let mut dashes = false;
    for at in 1..inv.argv.len() {
        let Some(word) = inv.argv.get(at).and_then(Word::exact_str) else { continue };
        let text = text_of(inv, at, word, verb || dashes);
        if let Some(text) = text {
            let parameters = Vec::new();
            let text = Word::Exact(text.into());
            return Some(Start::Shell {
                text,
                span: span(inv, at),
                dialect: Dialect::Other,
                elsewhere: false,
                parameters,
            });
        }
        if dashes && is_program(word) || verb && is_program(word) && has_operand(inv, at) {
            let argv = inv.argv.get(at..).unwrap_or_default().to_vec();
            let spans = (at..inv.argv.len()).map(|at| span(inv, at)).collect();
            return Some(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
        }
        dashes |= word == "--";
        verb |= VERBS.contains(&word);
    }
    None
}

/// The text of a command in the word at `at`: it names a program and more, where a command is to be expected.
fn text_of<'a>(inv: &Invocation<'_>, at: usize, word: &'a str, expected: bool) -> Option<&'a str> {
    let before = inv.argv.get(at.saturating_sub(1)).filter(|_| at > 1).and_then(Word::exact_str).unwrap_or_default();
    let text = match word.split_once('=') {
        Some((option, text)) if TEXTS.contains(&option) => text,
        _ if expected || TEXTS.contains(&before) => word,
        _ => return None,
    };
    let (first, rest) = text.trim_start().split_once([' ', '\t', '\n', ';', '&', '|'])?;
    (is_program(first) && !rest.trim().is_empty()).then_some(text)
}

/// `tool run test` names a script of the tool's; `tool run rm x` a program and what it works on.
fn has_operand(inv: &Invocation<'_>, at: usize) -> bool {
    let rest = inv.argv.get(at + 1..).unwrap_or_default();
    rest.iter().any(|word| word.exact().is_none_or(|bytes| !bytes.starts_with(b"-")))
}

fn is_program(word: &str) -> bool {
    !word.starts_with('-') && word.rsplit('/').next().is_some_and(|base| spec(base).is_some())
}

fn span(inv: &Invocation<'_>, at: usize) -> Span {
    inv.spans.get(at).copied().unwrap_or_default()
}
