//! A program that is not known well, and words behind it that look like a command.
//!
//! Nobody can list every program that starts another. So where the words of a program without a table of its own read
//! as a command (`tool exec rm -rf x`, `tool -- rm x`, `tool -c 'cd a && rm x'`), that command is analysed too. It only
//! ever adds to what a policy must say yes to: the program needs its own yes as before. Where nothing says that a command
//! is to be expected (`mpirun rm x`, `tool --hook='rm x'`), it may be one: asks and denies see it, and it needs no yes.

use crate::Dialect;
use crate::effect::Span;
use crate::program::{Invocation, Start, View, spec};
use crate::resolve::is_builtin;
use crate::word::Word;

/// Words behind which such programs take a command, with options of their own between.
const VERBS: &[&str] = &["exec", "run", "start", "x", "with", "spawn", "launch", "do", "--exec", "--run", "-e", "-x"];

/// Options that take the text of a command.
const TEXTS: &[&str] = &["-c", "--command", "--cmd", "--exec", "--execute", "--run", "--shell-command", "-e", "-x"];

/// Options that take a text for people.
const PROSE: &[&str] =
    &["-m", "--message", "--title", "--body", "--description", "--desc", "--comment", "--notes", "--note", "--subject"];

/// Words of a shell with which a command can begin.
const KEYWORDS: &[&str] = &["if", "for", "while", "until", "case", "select", "function", "time", "!", "{", "(", "[["];

/// So many are guessed of one program: its words are the agent's.
const MOST: usize = 16;

/// So many words of all guesses together.
const MOST_WORDS: usize = 1024;

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
        if let Some(text) = text_of(inv, at, word, verb || dashes) {
            return Some(shell(inv, at, text));
        }
        if dashes && is_program(word) || verb && is_program(word) && has_operand(inv, at) {
            return Some(words_behind(inv, at));
        }
        dashes |= word == "--";
        verb |= VERBS.contains(&word);
    }
    None
}

/// Commands that the words of a program that nobody knows may be, though nothing says so.
pub(crate) fn perhaps(inv: &Invocation<'_>) -> Vec<Start> {
    let mut found = Vec::new();
    let mut left = MOST_WORDS;
    for at in 1..inv.argv.len() {
        if found.len() == MOST {
            break;
        }
        let Some(word) = inv.argv.get(at).and_then(Word::exact_str) else { continue };
        let text = value(word);
        if is_text(text) || holds_commands(text) {
            if !PROSE.contains(&before(inv, at)) && !PROSE.contains(&word.split('=').next().unwrap_or_default()) {
                found.push(shell(inv, at, text));
            }
        } else if is_program(word) {
            let Some(rest) = left.checked_sub(inv.argv.len() - at) else { break };
            left = rest;
            found.push(words(inv, at));
        }
    }
    found
}

fn shell(inv: &Invocation<'_>, at: usize, text: &str) -> Start {
    let text = Word::Exact(text.into());
    Start::Shell { text, span: span(inv, at), dialect: Dialect::Other, elsewhere: false, parameters: Vec::new() }
}

fn words(inv: &Invocation<'_>, at: usize) -> Start {
    let argv = inv.argv.get(at..).unwrap_or_default().to_vec();
    let spans = (at..inv.argv.len()).map(|at| span(inv, at)).collect();
    Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None }
}

/// As [`words`]; of `tool exec rm -- -rf x` the dashes are the tool's, and `rm` gets what stands behind them.
fn words_behind(inv: &Invocation<'_>, at: usize) -> Start {
    let dashes = inv.argv.get(at + 1).and_then(Word::exact) == Some(b"--");
    let kept = || (at..inv.argv.len()).filter(|&index| !dashes || index != at + 1);
    let argv = kept().filter_map(|index| inv.argv.get(index).cloned()).collect();
    let spans = kept().map(|index| span(inv, index)).collect();
    Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None }
}

/// The text of a command in the word at `at`: it names a program and more, where a command is to be expected.
fn text_of<'a>(inv: &Invocation<'_>, at: usize, word: &'a str, expected: bool) -> Option<&'a str> {
    let text = match word.split_once('=') {
        Some((option, text)) if TEXTS.contains(&option) => text,
        _ if expected || TEXTS.contains(&before(inv, at)) => word,
        // `-c'rm x'`
        _ if word.get(..2).is_some_and(|option| TEXTS.contains(&option)) && !word.starts_with("--") => value(word),
        _ => return None,
    };
    is_text(text).then_some(text)
}

/// What an option holds that is joined with its value; every other word is itself.
fn value(word: &str) -> &str {
    match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(long), _) => long.split_once('=').map_or("", |(_, value)| value),
        (None, Some(short)) => {
            let mut rest = short.chars();
            rest.next();
            rest.as_str().trim_start_matches('=')
        }
        (None, None) => word,
    }
}

/// Whether this reads as a command and what it works on.
fn is_text(text: &str) -> bool {
    let Some((first, rest)) = text.trim_start().split_once([' ', '\t', '\n', ';', '&', '|', '(', '{']) else {
        return false;
    };
    let assigns = || first.split_once('=').is_some_and(|(name, _)| crate::walk::is_name(name.as_bytes()));
    let begins = first.is_empty() || is_program(first) || is_builtin(first) || KEYWORDS.contains(&first) || assigns();
    !rest.trim().is_empty() && begins
}

/// Whether a program comes behind one that nobody knows.
fn holds_commands(text: &str) -> bool {
    let begins = |part: &str| part.split_ascii_whitespace().next().is_some_and(is_program);
    text.split([';', '&', '|', '\n', '(', '{']).skip(1).any(begins)
}

/// `tool run test` names a script of the tool's; `tool run rm x` a program and what it works on.
fn has_operand(inv: &Invocation<'_>, at: usize) -> bool {
    let rest = inv.argv.get(at + 1..).unwrap_or_default();
    rest.iter().any(|word| word.exact().is_none_or(|bytes| !bytes.starts_with(b"-")))
}

fn is_program(word: &str) -> bool {
    !word.starts_with('-') && word.rsplit('/').next().is_some_and(|base| spec(base).is_some())
}

/// The word before, but for the program's name.
fn before<'a>(inv: &Invocation<'a>, at: usize) -> &'a str {
    inv.argv.get(at.saturating_sub(1)).filter(|_| at > 1).and_then(Word::exact_str).unwrap_or_default()
}

fn span(inv: &Invocation<'_>, at: usize) -> Span {
    inv.spans.get(at).copied().unwrap_or_default()
}
