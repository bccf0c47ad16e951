//! Builtins that run other commands, and those that jump.

use super::{Arguments, record};
use crate::Dialect;
use crate::certain::Output;
use crate::effect::Span;
use crate::program::{Code, Facets, facets};
use crate::walk::{Among, Call, Ends, Redirected, Walker};
use crate::word::Word;

/// `command`, `builtin`, `exec`, `eval`, `source`.
pub(super) fn runs_another<'t>(
    walker: &mut Walker<'t>,
    name: &str,
    call: Call<'t>,
    redirected: Option<&Redirected>,
) -> Ends {
    let span = call.span;
    let inner = call.clone();
    let (run, _) = record(walker, name, call, true);
    if let Some(redirected) = redirected {
        walker.read_by(redirected, Some(run));
    }
    let parent = walker.parent.replace(run);
    let mut ends = Ends::both(walker.cwd());
    walker.deeper(span, |walker| {
        ends = match name {
            "eval" => eval(walker, &inner),
            "source" | "." => source(walker, &inner),
            _ => starts(walker, name, inner),
        };
    });
    walker.parent = parent;
    ends
}

/// The command behind `command`, `builtin` or `exec`, with their options left out.
fn starts<'t>(walker: &mut Walker<'t>, name: &str, call: Call<'t>) -> Ends {
    let mut at = 1;
    let mut renamed = false;
    while let Some(word) = call.argv.get(at) {
        match word.exact() {
            Some(b"--") => {
                at += 1;
                break;
            }
            // `command -v x` only looks.
            Some([b'-', rest @ ..]) if name == "command" && rest.iter().any(|b| b"vV".contains(b)) => {
                walker.print(Output::ANYTHING);
                return Ends::both(walker.cwd());
            }
            Some([b'-', rest @ ..]) if !rest.is_empty() => {
                // `exec -a NAME`: what the program is told its name is.
                let takes_next = name == "exec" && rest.last() == Some(&b'a');
                renamed |= name == "exec" && rest.contains(&b'a');
                if name == "exec" && rest.split(|b| *b == b'a').next().is_some_and(|flags| flags.contains(&b'c')) {
                    walker.opaque(Code::Environment, "`exec -c` takes all variables away from a program.", call.span);
                }
                at += if takes_next { 2 } else { 1 };
            }
            _ => break,
        }
    }
    if at >= call.argv.len() {
        return Ends::both(walker.cwd());
    }
    if name == "exec" {
        // The program takes the shell's place.
        walker.state.may_have_ended = true;
    }
    // By the name it is told bash chooses its rules, and a box of many programs which of them it is.
    if renamed && call.argv.get(at).is_none_or(|word| word.exact_str().is_none_or(goes_by_name)) {
        walker.opaque(Code::Dialect, "A program that goes by its name is told another one.", call.span);
    }
    let among = if name == "exec" { Among::Programs } else { Among::NoFunctions };
    let rest = Call {
        argv: call.argv.get(at..).unwrap_or_default().to_vec(),
        spans: call.spans.get(at..).unwrap_or_default().to_vec(),
        env: call.env,
        span: call.span,
        assigned: Vec::new(),
    };
    walker.dispatch(rest, among, None)
}

fn goes_by_name(program: &str) -> bool {
    let base = program.rsplit('/').next().unwrap_or_default();
    let known = facets(base).has(Facets::SHELL.and(Facets::MULTI_CALL)) || Dialect::named(base).is_some();
    known || base.contains("box") || base.contains("utils")
}

fn eval<'t>(walker: &mut Walker<'t>, call: &Call<'t>) -> Ends {
    let span = tail(call);
    let mut text = Vec::new();
    for (at, word) in call.argv.iter().enumerate().skip(1) {
        match word.exact() {
            Some(b"--") if at == 1 => continue,
            Some(bytes) => {
                if !text.is_empty() {
                    text.push(b' ');
                }
                text.extend_from_slice(bytes);
            }
            None => {
                walker.opaque(Code::DynamicText, "`eval` runs text that is not known.", span);
                return Ends::both(walker.cwd());
            }
        }
    }
    walker.shell_text_here(&text, span);
    Ends::both(walker.cwd())
}

fn source<'t>(walker: &mut Walker<'t>, call: &Call<'t>) -> Ends {
    let span = tail(call);
    let first = match call.argv.get(1).and_then(Word::exact) {
        Some(b"--") => 2,
        _ => 1,
    };
    let Some(file) = call.argv.get(first) else { return Ends::both(walker.cwd()) };
    // A name without a slash is looked for on PATH first.
    let bare = file.exact().is_some_and(|name| !name.contains(&b'/'));
    let parameters = call.argv.get(first + 1..).unwrap_or_default();
    let positional = walker.state.positional.clone();
    if !parameters.is_empty() {
        walker.state.positional = walker.parameters(parameters);
    }
    // What it does is followed; but its text shows in messages, and its variables stay. Only asks and denies see this:
    // a script that may run needs no further yes to be read.
    walker.may_read(file, span);
    if bare {
        walker.sourced_by_name(file, span);
    } else {
        walker.script(file, span);
    }
    if !parameters.is_empty() {
        walker.state.positional = positional;
    }
    Ends::both(walker.cwd())
}

fn tail(call: &Call<'_>) -> Span {
    match (call.spans.get(1), call.spans.last()) {
        (Some(first), Some(last)) if first.start <= last.end => Span { start: first.start, end: last.end },
        _ => call.span,
    }
}

/// `trap 'text' SIG`: the text runs at an unknown time.
pub(super) fn trap(walker: &mut Walker<'_>, words: &Arguments<'_>) {
    let operands: Vec<_> = words.operands().collect();
    let listing = words.letters().is_some_and(|letters| letters.iter().any(|b| b"lp".contains(b)));
    if listing {
        return;
    }
    let unknown = |word: &Word| word.exact().is_none();
    let [(at, text), signals @ ..] = operands.as_slice() else { return };
    // With one word, it names a signal whose trap is taken away.
    if signals.is_empty() && !unknown(text) {
        return;
    }
    // A function of zsh has one of its own, for when it ends.
    let own = walker.state.dialect.may_be_zsh() && walker.in_function();
    let at_exit = !own && signals.iter().all(|(_, signal)| matches!(signal.exact(), Some(b"EXIT" | b"0" | b"exit")));
    match text.exact() {
        Some(b"-" | b"") => {}
        Some(text) => {
            let text = text.to_vec();
            walker.set_trap(&text, at_exit, words.span(*at));
        }
        _ => walker.opaque(Code::DynamicText, "A trap runs text that is not known.", words.span(*at)),
    }
}

/// `exit`, `return`, `break`, `continue`, `shift`.
pub(super) fn flow(walker: &mut Walker<'_>, name: &str, words: &Arguments<'_>) -> Ends {
    let number = words.argv.get(1).map(|word| word.exact_str().and_then(|text| text.parse::<usize>().ok()));
    match name {
        // With more than one word it complains and goes on.
        // With `--help` it tells what it is for, and goes on.
        "exit" | "logout"
            if words.argv.len() <= 2
                && words.argv.get(1).is_none_or(|word| word.exact().is_some_and(|word| word != b"--help")) =>
        {
            return Ends::NEVER;
        }
        "return" => {
            walker.state.may_have_ended = true;
            walker.jump(true);
        }
        "break" | "continue" => {
            walker.state.may_have_ended = true;
            if walker.loops == 0 && walker.state.dialect.may_be_zsh() {
                // Where there is no loop, zsh leaves the text that `eval` or `.` gave it.
                walker.opaque(Code::OtherGrammar, "Outside a loop this ends the text around it in zsh.", words.span(0));
            }
            walker.far_jumps |= number.is_some();
            walker.jump(false);
        }
        "shift" => {
            walker.state.positional = match (&walker.state.positional, number) {
                (Some(items), None) => Some(items.shifted(1)),
                (Some(items), Some(Some(count))) => Some(items.shifted(count)),
                _ => None,
            };
        }
        _ => {}
    }
    Ends::both(walker.cwd())
}
