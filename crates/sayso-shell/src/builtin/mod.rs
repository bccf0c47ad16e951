//! The builtins of bash: what they do to the shell, to files, and what they run.

mod control;
mod declare;
mod directory;
mod input;
mod kind;
mod lookup;
mod number;
mod switch;

pub(crate) use kind::{
    Redirects, asked_for, declares, is_only_read, is_test, leaves_no_trace, leaves_prefixes, reaches_hidden,
    redirects_of,
};

use crate::Dialect;
use crate::certain::output::is_silent;
use crate::certain::{Output, Quiet};
use crate::dialect::builtin::{Fares, fares};
use crate::effect::{Carry, Effect, NamedBy, Program, RunId, Span, Target, Verb};
use crate::program::{Code, Invocation, Prints, describe, facets};
use crate::walk::{Call, Ends, Redirected, Walker};
use crate::word::Word;

/// Runs a builtin.
pub(crate) fn run<'t>(walker: &mut Walker<'t>, name: &str, call: Call<'t>, redirected: Option<&Redirected>) -> Ends {
    match fares(walker.state.dialect, name, &call.argv) {
        Fares::Same => {}
        Fares::MayStop => walker.state.stops = true,
        Fares::Otherwise(text) => {
            let span = call.spans.first().copied().unwrap_or(call.span);
            walker.opaque(Code::Dialect, text, span);
        }
    }
    match name {
        "command" | "builtin" | "exec" | "eval" | "source" | "." => {
            control::runs_another(walker, name, call, redirected)
        }
        _ => plain(walker, name, call, redirected),
    }
}

fn plain<'t>(walker: &mut Walker<'t>, name: &str, mut call: Call<'t>, redirected: Option<&Redirected>) -> Ends {
    let assigned = std::mem::take(&mut call.assigned);
    let assignments = assigned.len();
    let argv = call.argv.clone();
    let spans = call.spans.clone();
    let (run, printed) = record(walker, name, call, false);
    if let Some(redirected) = redirected {
        walker.read_by(redirected, Some(run));
    }
    let words = Arguments { argv: &argv, spans: &spans, run };
    let ends = Ends::both(walker.cwd());
    if shows_all_variables(name, &words) {
        words.named(walker, Code::ShowsSecrets, NamedBy::Nothing, 0);
    }
    shows_variables(walker, name, &words);
    if tells_of_itself(name, &words) {
        walker.print(Output::ANYTHING);
    }
    number::computes(walker, name, &words);
    match name {
        "cd" | "pushd" | "popd" | "dirs" => return directory::run(walker, name, &words),
        "declare" | "typeset" | "local" | "export" | "readonly" => declare::run(walker, name, &words, assigned),
        "unset" => declare::unset(walker, &words),
        "read" | "mapfile" | "readarray" | "getopts" | "printf" | "wait" => input::run(walker, name, &words),
        "let" => {
            for (at, word) in words.operands() {
                let value = crate::value::Scalar::from_word(word, walker.armed);
                walker.evaluate(&value, words.span(at));
            }
        }
        "test" | "[" => input::test(walker, &words),
        "set" | "shopt" | "enable" | "hash" | "alias" | "unalias" => switch::run(walker, name, &words),
        "trap" => control::trap(walker, &words),
        "jobs" if words.letters().is_none_or(|letters| letters.contains(&b'x')) => {
            walker.opaque(Code::DynamicText, "`jobs -x` runs a command.", words.span(0));
        }
        // A signal may end this very shell.
        "kill" | "suspend" => walker.killed(),
        // `ulimit -n 3`: then nothing more can be opened.
        "ulimit" if words.argv.len() > 1 => walker.state.descriptors_unsure = true,
        "exit" | "logout" | "return" | "break" | "continue" | "shift" => return control::flow(walker, name, &words),
        "history" | "fc" | "bind" | "complete" | "compgen" | "compopt" => lookup::run(walker, name, &words),
        _ => {}
    }
    walker.note_crafted(facets(name), run);
    let made = match printed {
        // `echo` of other shells makes something of `\\`.
        Prints::Exact(text) if walker.state.dialect != Dialect::Bash && text.as_bytes().contains(&b'\\') => {
            walker.crafted = true;
            Output::ANYTHING
        }
        Prints::Unknown if is_silent(name, &argv, assignments) && !shows_in_zsh(walker, name, &words) => {
            Output::nothing(Quiet::Builtin)
        }
        printed => Output::described(printed),
    };
    walker.print(made);
    ends
}

/// With `--help` almost every builtin of bash prints what it is for.
fn tells_of_itself(name: &str, words: &Arguments<'_>) -> bool {
    !matches!(name, ":" | "true" | "false" | "test" | "[" | "echo")
        && words.argv.iter().skip(1).any(|word| word.exact() == Some(b"--help"))
}

/// To zsh a declaration without a value asks what the variable holds.
fn shows_in_zsh(walker: &Walker<'_>, name: &str, words: &Arguments<'_>) -> bool {
    walker.state.dialect.may_be_zsh()
        && matches!(name, "declare" | "typeset" | "local" | "export" | "readonly")
        && words.operands().any(|(_, word)| match word {
            Word::Exact(text) => !text.as_bytes().contains(&b'='),
            Word::Dynamic(shape) => {
                let named = shape.parts.first().is_some_and(|part| match part {
                    crate::word::Part::Literal(text) => text.as_bytes().contains(&b'='),
                    _ => false,
                });
                shape.splits() || !named
            }
            Word::Opaque => true,
        })
}

/// `set`, `export -p` and their like print the whole environment.
fn shows_all_variables(name: &str, words: &Arguments<'_>) -> bool {
    match name {
        "set" => words.argv.len() == 1,
        "export" | "declare" | "typeset" | "readonly" => {
            words.operands().next().is_none() && words.argv.iter().skip(1).all(|word| word.exact() != Some(b"-f"))
        }
        _ => false,
    }
}

/// `declare -p NAME` prints a variable.
fn shows_variables(walker: &mut Walker<'_>, name: &str, words: &Arguments<'_>) {
    // A word that may be this option is asked about in its own right.
    let prints =
        |word: &crate::word::Word| word.exact().is_some_and(|word| word.starts_with(b"-") && word.contains(&b'p'));
    if matches!(name, "declare" | "typeset" | "local" | "export" | "readonly") && words.argv.iter().skip(1).any(prints)
    {
        for (_, word) in words.operands() {
            match word.exact() {
                Some(name) => walker.uses_variable(name),
                None => walker.uses_some_variable(),
            }
        }
        walker.gets_secrets(words.run, words.span(0));
    }
}

/// Writes down that a builtin runs. What its table says of words and options counts, and its effects if it has one.
fn record<'t>(walker: &mut Walker<'t>, name: &str, call: Call<'t>, transparent: bool) -> (RunId, Prints) {
    let programs = walker.context.env.programs();
    let known = programs.spec(name).is_some();
    let taught = programs.taught(name);
    let program = Program { base: Some(name.to_owned()), builtin: true, known, taught, ..Program::default() };
    let span = call.span;
    let cwd = walker.cwd().clone();
    let description = describe(&Invocation {
        run: RunId(u32::try_from(walker.out.runs.len()).unwrap_or(u32::MAX)),
        name,
        argv: &call.argv,
        spans: &call.spans,
        // A builtin starts nothing that the environment could change.
        env: &[],
        cwd: cwd.only(),
        home: walker.context.home,
        workspace: walker.context.workspace,
        stdin: walker.input.stdin,
        stdin_text: None,
        stdin_file: None,
        stdin_prints: Prints::Unknown,
        files: &crate::NoFiles,
        programs: walker.context.env.programs(),
    });
    let run = walker.record(call.argv, call.spans, span, program, call.env);
    if let Some(run) = walker.run_mut(run) {
        run.words = description.words;
        run.subcommands = description.subcommands;
        run.options = description.options;
        run.open_options = description.open_options;
    }
    walker.runs(run, transparent, span);
    if known {
        for effect in description.effects {
            walker.effect(effect, crate::walk::Manner::Plain);
        }
        for doubt in description.doubts {
            walker.doubt(doubt.code, doubt.text, doubt.span);
        }
    }
    (run, description.prints)
}

/// The words of a builtin.
#[derive(Clone, Copy)]
struct Arguments<'a> {
    argv: &'a [Word],
    spans: &'a [Span],
    run: RunId,
}

impl<'a> Arguments<'a> {
    fn span(&self, at: usize) -> Span {
        self.spans.get(at).copied().unwrap_or_default()
    }

    fn all(&self) -> impl Iterator<Item = (usize, &'a Word)> + use<'a> {
        self.argv.iter().enumerate().skip(1)
    }

    /// Words behind the options.
    fn operands(&self) -> impl Iterator<Item = (usize, &'a Word)> + use<'a> {
        let mut ended = false;
        let argv = self.argv;
        argv.iter().enumerate().skip(1).filter(move |(_, word)| {
            if ended {
                return true;
            }
            match word.exact() {
                Some(b"--") => {
                    ended = true;
                    false
                }
                Some([b'-', _, ..]) => false,
                _ => {
                    ended = true;
                    true
                }
            }
        })
    }

    /// Letters of the options before the first operand; `None`: a word of unknown value may be one.
    fn letters(&self) -> Option<Vec<u8>> {
        let mut letters = Vec::new();
        for (_, word) in self.all() {
            match word.exact() {
                Some(b"--") => break,
                Some([b'-', rest @ ..]) if !rest.is_empty() => letters.extend_from_slice(rest),
                Some(_) => break,
                None if word.may_be_option() => return None,
                None => break,
            }
        }
        Some(letters)
    }

    /// An effect of the builtin that needs a yes of its own.
    fn named(&self, walker: &mut Walker<'_>, code: Code, by: NamedBy, at: usize) {
        walker.out.effects.push(Effect {
            verb: Verb::Run,
            target: Target::Option(self.run),
            span: self.span(at),
            run: Some(self.run),
            carry: Carry::Named { code, by },
            certain: true,
        });
    }
}
