//! Simple commands: which function, builtin or program a name means, and what becomes of it.

use super::directory::either;
use super::expand::{Expansion, reads_process};
use super::redirect::Redirected;
use super::{Assigned, Definition, Ends, Fog, Input, Walker};
use crate::Dialect;
use crate::builtin;
use crate::builtin::Redirects;
use crate::certain::output::{never_complains, never_reads};
use crate::certain::value::{Exact, Known};
use crate::certain::{Output, Sink, Streams};
use crate::dialect::builtin::{Own, is_special, own};
use crate::dialect::started_for_redirects;
use crate::effect::{Carry, Effect, HostTarget, NamedBy, Program, RunId, Shadow, Span, Stdin, Target, Verb};
use crate::program::Code;
use crate::resolve::is_builtin;
use crate::syntax::tree::{
    AssignmentValue, Command, CommandKind, Part, Redirect, RedirectOperator, Simple, Word as Syntax,
};
use crate::value::Scalar;
use crate::value::pattern::{matches, parse};
use crate::value::scope::{Entry, Held, alias_key, function_key};
use crate::word::Part as Piece;
use crate::word::{Text, Word};
use std::rc::Rc;

/// A simple command after expansion, ready to be started.
#[derive(Clone, Debug)]
pub(crate) struct Call<'t> {
    pub(crate) argv: Vec<Word>,
    pub(crate) spans: Vec<Span>,
    pub(crate) env: Vec<(Text, Word)>,
    pub(crate) span: Span,
    /// Arguments of a declaration builtin that are assignments.
    pub(crate) assigned: Vec<Assigned<'t>>,
}

/// The values that a variable may hold.
type Alternatives = Vec<Rc<[u8]>>;

/// What a name may mean where it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// Functions, then builtins, then programs.
    All,
    /// `command x`: no functions.
    NoFunctions,
    /// What another program starts: programs only.
    Programs,
}

impl<'t> Walker<'t> {
    pub(crate) fn command(&mut self, command: &'t Command<'t>) -> Ends {
        let ends = self.command_of_kind(command);
        // `set -e`: what can fail may have ended the shell.
        self.state.may_have_ended |= self.state.ends_on_failure && ends.failed.is_some();
        ends
    }

    fn command_of_kind(&mut self, command: &'t Command<'t>) -> Ends {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple, command.span),
            CommandKind::Compound(compound) => {
                let span = self.span(command.span);
                let mut ends = Ends::both(&self.state.cwd);
                self.deeper(span, |walker| ends = walker.compound(compound, span));
                ends
            }
            CommandKind::Function(function) => self.define(function),
            CommandKind::Coproc(coproc) => {
                let name = match &coproc.name {
                    Some(word) => self.scalar(word, super::expand::Position::Single),
                    None => Scalar::exact(b"COPROC", Known::Named),
                };
                let input = std::mem::take(&mut self.input);
                self.input.stdin = crate::effect::Stdin::Pipe;
                let span = self.span(command.span);
                self.deeper(span, |walker| {
                    walker.collect(|walker| {
                        walker.command(&coproc.command);
                    });
                });
                self.input = input;
                match name.bytes() {
                    Some(name) => {
                        self.set(name, Held::Unknown { crafted: false });
                        // Beside the descriptors, which process it is.
                        let name = [name, &b"_PID"[..]].concat();
                        self.set(&name, Held::Scalar(Scalar::numbers()));
                    }
                    None => self.lose_variables(),
                }
                Ends::both(&self.state.cwd)
            }
        }
    }

    fn simple(&mut self, simple: &'t Simple<'t>, whole: Span) -> Ends {
        let span = self.span(whole);
        if !self.step(span) {
            return Ends::both(&self.state.cwd);
        }
        if let Some((name, either)) = self.choices(simple) {
            return self.each_choice(simple, whole, name, &either);
        }
        let mut call = Call { argv: Vec::new(), spans: Vec::new(), env: Vec::new(), span, assigned: Vec::new() };
        let noted = self.noted();
        self.expand_words(simple, &mut call);
        if call.argv.is_empty() {
            return self.without_words(simple);
        }
        if self.only_asks(&call.argv) {
            self.take_back(noted);
        }
        let mut prefixes: Vec<(Text, Scalar)> = Vec::new();
        // `x=1 y=$x p`: each sees those before it.
        let several = simple.assignments.len() > 1;
        // But what runs for the value of a later one does not.
        let seen = several
            && simple.assignments.iter().all(
                |assignment| matches!(&assignment.value, AssignmentValue::Scalar(word) if !mentions(&word.parts, b"")),
            );
        let mut hidden = Vec::new();
        for assignment in &simple.assignments {
            let (name, value) = self.prefix(assignment);
            call.env.push((name.clone(), value.to_word()));
            if several {
                hidden.push((name.clone(), self.scope.get(name.as_bytes()).cloned()));
                let held = if seen { Held::Scalar(value.clone()) } else { Held::Unknown { crafted: true } };
                self.scope.set(name.as_bytes(), Some(Entry::new(held)));
            }
            prefixes.push((name, value));
        }
        for (name, entry) in hidden.into_iter().rev() {
            self.scope.set(name.as_bytes(), entry);
        }
        if simple.redirects.is_empty() {
            self.tell(&call.argv, !prefixes.is_empty());
            let reads = self.input.text.is_some() && !never_reads(&call.argv);
            let ends = self.call(call, &prefixes, None);
            if reads {
                self.consume_input();
            }
            return ends;
        }
        let input = self.input.clone();
        let streams = self.state.streams;
        let redirected = self.redirects(&simple.redirects);
        if redirected.may_fail && streams.err.may_be_here() {
            self.output = Output::ANYTHING;
        }
        self.tell(&call.argv, redirected.may_fail || !prefixes.is_empty());
        let same = match (&input.text, &self.input.text) {
            (Some(outer), Some(inner)) => Rc::ptr_eq(outer, inner),
            (outer, _) => outer.is_some(),
        };
        let reads = same && !never_reads(&call.argv);
        let opened = self.state.streams;
        let keeps = keeps_redirects(&call);
        // A command whose redirects fail does not run, and prints nothing.
        self.branches += usize::from(redirected.may_fail);
        let ends = if redirected.may_fail && self.runs_in_shell(&call) && !leaves_no_trace(&call) {
            self.unless_refused(|walker| walker.call(call, &prefixes, Some(&redirected)))
        } else {
            self.call(call, &prefixes, Some(&redirected))
        };
        self.branches -= usize::from(redirected.may_fail);
        // `exec < f` is for all that follows.
        match keeps {
            Some(false) => {
                self.input = input;
                self.restore_streams(streams, opened);
                if reads {
                    self.consume_input();
                }
            }
            Some(true) => {
                if redirected.may_fail {
                    self.state.streams = self.state.streams.or(streams);
                }
                if self.branches > 0 || redirected.may_fail {
                    // It may not have happened.
                    self.input = Input { stdin: Stdin::File, pipe: self.input.pipe, ..Input::default() };
                }
            }
            None => {
                self.input = Input { stdin: Stdin::File, pipe: self.input.pipe, ..Input::default() };
                self.state.streams = Streams::UNKNOWN;
            }
        }
        ends
    }

    /// What the command may write to standard error, by itself or because the shell shows it.
    fn tell(&mut self, argv: &[Word], may_fail: bool) {
        let streams = self.state.streams;
        if !streams.err.may_be_here() {
            return;
        }
        let writes = matches!(streams.out, Sink::Here | Sink::Nowhere);
        if self.state.traces || may_fail || !writes || !never_complains(argv) {
            self.complain();
        }
    }

    /// What changes the shell does so only if its redirects could be opened.
    pub(super) fn unless_refused(&mut self, f: impl FnOnce(&mut Self) -> Ends) -> Ends {
        let here = self.state.cwd.clone();
        let mut ends = Ends::NEVER;
        self.maybe(|walker| {
            ends = f(walker);
            ends.clone()
        });
        ends.failed = either(ends.failed.as_ref(), Some(&here));
        ends
    }

    /// A command whose name is a variable that holds one of few values: `$cmd`, `"$cmd"`, and nowhere else.
    fn choices(&self, simple: &'t Simple<'t>) -> Option<(&'t [u8], Alternatives)> {
        let (first, rest) = simple.words.split_first()?;
        let name = variable_alone(first)?;
        let Expansion::One(value) = self.lookup(name) else { return None };
        let either = value.either();
        if either.len() < 2 || rest.iter().any(|word| mentions(&word.parts, name)) {
            return None;
        }
        Some((name, either.to_vec()))
    }

    fn each_choice(&mut self, simple: &'t Simple<'t>, whole: Span, name: &[u8], either: &[Rc<[u8]>]) -> Ends {
        let held = self.scope.get(name).cloned();
        for value in either {
            self.maybe(|walker| {
                walker.scope.set(
                    name,
                    Some(Entry::new(Held::Scalar(Scalar::Exact(Exact::shared(value.clone(), Known::Chosen))))),
                );
                let ends = walker.simple(simple, whole);
                walker.scope.set(name, held.clone());
                ends
            });
        }
        Ends::both(&self.state.cwd)
    }

    fn expand_words(&mut self, simple: &'t Simple<'t>, call: &mut Call<'t>) {
        let declares = simple.words.first().and_then(|word| word.plain()).is_some_and(builtin::declares);
        if !declares {
            call.argv.reserve_exact(simple.words.len());
            call.spans.reserve_exact(simple.words.len());
            return self.arguments(&simple.words, &mut call.argv, &mut call.spans);
        }
        for word in &simple.words {
            let at = call.argv.len();
            match self.declared(word, at, &mut call.argv) {
                Some(assigned) => call.assigned.push(assigned),
                None => self.argument(word, &mut call.argv),
            }
            let span = self.span(word.span);
            call.spans.resize(call.argv.len(), span);
        }
    }

    /// Assignments and redirects in the shell itself.
    fn without_words(&mut self, simple: &'t Simple<'t>) -> Ends {
        for assignment in &simple.assignments {
            self.assign(assignment);
        }
        if !simple.redirects.is_empty() {
            // Other shells open files first, and assign nothing where that fails.
            if self.state.dialect != Dialect::Bash {
                for assignment in &simple.assignments {
                    self.set(&assignment.name, Held::Unknown { crafted: true });
                }
            }
            self.without_command(simple);
        }
        // Plain text assigned to a variable that can be assigned to cannot fail.
        let plain = simple.redirects.is_empty()
            && simple.words.is_empty()
            && self.state.readonly.is_empty()
            && simple.assignments.iter().all(|assignment| {
                assignment.subscript.is_none()
                    && matches!(&assignment.value, AssignmentValue::Scalar(word)
                        if word.parts.iter().all(|part| matches!(part, Part::Literal { .. } | Part::Quoted { .. })))
            });
        if !plain || self.state.traces {
            self.complain();
        }
        Ends { ok: Some(self.state.cwd.clone()), failed: (!plain).then(|| self.state.cwd.clone()) }
    }

    /// Redirects alone. zsh runs a program for them: `cat`, or whatever shows a file.
    fn without_command(&mut self, simple: &'t Simple<'t>) {
        if !self.state.dialect.may_be_zsh() || !simple.assignments.is_empty() {
            return self.reads_file(&simple.redirects);
        }
        let span = simple.redirects.first().map_or_else(Span::default, |redirect| self.span(redirect.span));
        // A lone `<f` is shown, by what `READNULLCMD` is unless somebody changed it.
        let shows = matches!(simple.redirects.as_slice(), [redirect] if redirect.operator == RedirectOperator::Read);
        let names = started_for_redirects(shows && !reads_process(&simple.redirects));
        let input = self.input.clone();
        let streams = self.state.streams;
        let redirected = self.redirects(&simple.redirects);
        for name in names {
            let argv = vec![Word::Exact(Text::from(*name))];
            let call = Call { argv, spans: vec![span], env: Vec::new(), span, assigned: Vec::new() };
            self.dispatch(call, Among::Programs, Some(&redirected));
        }
        self.print(Output::ANYTHING);
        self.state.streams = streams;
        self.input = input;
    }

    /// Opens files, and does nothing with them but `$(<f)`.
    pub(super) fn reads_file(&mut self, redirects: &'t [Redirect<'t>]) {
        let input = self.input.clone();
        let streams = self.state.streams;
        let redirected = self.redirects(redirects);
        // `$(<f)` prints to where it always prints.
        self.state.streams = streams;
        self.read_by(&redirected, None);
        // What is read need not be a file: `$(< <(p))`, `$(</dev/stdin)`.
        let writes = |redirect: &Redirect<'_>| {
            use RedirectOperator as Op;
            matches!(
                redirect.operator,
                Op::Write | Op::Append | Op::Clobber | Op::CopyOutput | Op::WriteBoth | Op::AppendBoth
            )
        };
        if !redirects.iter().all(writes) {
            self.print(Output::ANYTHING);
        }
        self.input = input;
    }

    /// Starts a command of the shell, with assignments for it alone.
    fn call(&mut self, call: Call<'t>, prefixes: &[(Text, Scalar)], redirected: Option<&Redirected>) -> Ends {
        // Functions and builtins see them as variables while they run.
        let stays = !prefixes.is_empty() && self.runs_in_shell(&call);
        let mut hidden = Vec::new();
        if stays {
            for (name, value) in prefixes {
                let name = name.as_bytes().to_vec();
                hidden.push((name.clone(), self.scope.get(&name).cloned()));
                let steering = self.steering.clone();
                let path = self.state.path_changed;
                self.set(&name, Held::Scalar(value.clone()));
                // `IFS= read x` steers nothing but `read`; `PATH=x f` steers what `f` starts.
                if is_only_read(&call) {
                    self.steering = steering;
                    self.state.path_changed = path;
                }
            }
        }
        // What follows is asked only of those.
        let declares = stays && call.argv.first().and_then(Word::exact).is_some_and(builtin::reaches_hidden);
        let outer = self.prefixed.len();
        if stays {
            self.prefixed.extend(prefixes.iter().map(|(name, _)| name.clone()));
        }
        let keeps = stays && self.state.dialect.may_keep_prefixes() && !runs_plain_builtin(&call);
        let leaves = !stays || self.leaves_prefixes(&call);
        let ends = self.dispatch(call, Among::All, redirected);
        self.prefixed.truncate(outer);
        for (name, entry) in hidden.into_iter().rev() {
            let odd = self.scope.get(&name).is_some_and(|entry| entry.odd);
            self.scope.set(&name, entry);
            // `x=1 export x` may keep what was meant for it alone.
            if declares || keeps {
                self.set(&name, Held::Unknown { crafted: self.armed });
            }
            if !leaves || matches!(&*name, b"PWD" | b"OLDPWD") {
                self.lose_variable(&name, odd);
            }
        }
        ends
    }

    /// Whether a command in the shell certainly leaves the variables that were set for it alone as they were before.
    /// `export x`, `readonly x`, `unset x` and `printf -v x`, in a function too, reach those that are hidden.
    fn leaves_prefixes(&self, call: &Call<'t>) -> bool {
        let Some(name) = call.argv.first().and_then(Word::exact) else { return false };
        if !self.scope.is_empty() && self.scope.get(&function_key(name)).is_some() {
            return false;
        }
        builtin::leaves_prefixes(name, &call.argv)
    }

    /// What a variable holds is no longer known, here and in the functions around.
    fn lose_variable(&mut self, name: &[u8], odd: bool) {
        let held = || Held::Unknown { crafted: true };
        for (_, entry) in self.frames.iter_mut().flat_map(|frame| &mut frame.hidden).filter(|(known, _)| known == name)
        {
            *entry = Some(Entry { odd: true, ..Entry::new(held()) });
        }
        let odd = odd || self.scope.get(name).is_some_and(|entry| entry.odd);
        let held = Held::Unknown { crafted: self.armed };
        self.scope.set(name, Some(Entry { odd, ..Entry::new(held) }));
    }

    fn runs_in_shell(&self, call: &Call<'t>) -> bool {
        match call.argv.first().and_then(Word::exact) {
            Some(name) => {
                std::str::from_utf8(name).is_ok_and(is_builtin)
                    || !self.scope.is_empty() && self.scope.get(&function_key(name)).is_some()
            }
            None => true,
        }
    }

    /// Finds what the name means and starts it.
    pub(crate) fn dispatch(&mut self, call: Call<'t>, among: Among, redirected: Option<&Redirected>) -> Ends {
        let mut call = call;
        let name = match call.argv.first() {
            Some(Word::Exact(text)) => text.clone(),
            Some(word) => match self.unmatched(word) {
                Some(text) => {
                    if let Some(first) = call.argv.first_mut() {
                        *first = Word::Exact(text.clone());
                    }
                    text
                }
                None => return self.unknown_program(call, redirected),
            },
            None => return Ends::both(&self.state.cwd),
        };
        let bytes = name.as_bytes();
        if among != Among::Programs && self.state.dialect != Dialect::Bash {
            self.own_builtin(&call, bytes);
        }
        let mut certain = true;
        if among != Among::Programs && !self.scope.is_empty() {
            if self.scope.get(&alias_key(bytes)).is_some() {
                self.aliased(&call, bytes);
            }
            if among == Among::All
                && let Some(Entry { held: Held::Defined { definitions, maybe }, .. }) =
                    self.scope.get(&function_key(bytes))
            {
                let definitions: Rc<[Definition<'t>]> = definitions.clone();
                certain = !*maybe;
                let copy = (!certain).then(|| call.clone());
                let ends = self.call_function(&definitions, call, certain, redirected);
                match copy {
                    None => return ends,
                    Some(call) => return self.program_or_builtin(call, bytes, among, redirected),
                }
            }
        }
        let _ = certain;
        self.program_or_builtin(call, bytes, among, redirected)
    }

    fn program_or_builtin(
        &mut self,
        call: Call<'t>,
        name: &[u8],
        among: Among,
        redirected: Option<&Redirected>,
    ) -> Ends {
        match std::str::from_utf8(name) {
            Ok(name) if among != Among::Programs && is_builtin(name) => builtin::run(self, name, call, redirected),
            Ok(name) => self.program(name, call, redirected),
            // A name that is no text is no program anybody knows.
            Err(_) => {
                let program = Program::default();
                let run = self.record(call.argv, call.spans, call.span, program, call.env);
                self.runs(run, false, call.span);
                self.finish_call(run, redirected, Output::ANYTHING);
                Ends::both(&self.state.cwd)
            }
        }
    }

    /// A builtin that only another shell has.
    fn own_builtin(&mut self, call: &Call<'t>, name: &[u8]) {
        let Some(own) = std::str::from_utf8(name).ok().and_then(|name| own(self.state.dialect, name, &call.argv))
        else {
            return;
        };
        let span = call.spans.first().copied().unwrap_or(call.span);
        match own {
            Own::Unknown(text) => self.opaque(Code::Dialect, text, span),
            Own::Connects(host) => {
                let host = host.exact_str().map_or(HostTarget::Unknown, |host| HostTarget::Exact {
                    host: host.to_ascii_lowercase(),
                    port: None,
                });
                let carry = Carry::Named { code: Code::Redirect, by: NamedBy::Nothing };
                let (verb, target) = (Verb::Connect, Target::Host(host));
                self.out.effects.push(Effect { verb, target, span, run: None, carry, certain: true });
                // The number of the socket, or what it was where nothing answers.
                let held = match self.scope.get(b"REPLY") {
                    None => Held::Scalar(Scalar::numbers()),
                    Some(_) => Held::Unknown { crafted: self.armed },
                };
                self.set(b"REPLY", held);
            }
            Own::Loads => {}
        }
    }

    /// A glob as a command's name: where nothing matches it, it means itself.
    fn unmatched(&self, word: &Word) -> Option<Text> {
        const MANY: usize = 1000;
        let Word::Dynamic(shape) = word else { return None };
        let mut text = Vec::new();
        for part in &shape.parts {
            match part {
                Piece::Literal(bytes) | Piece::Class(bytes) => text.extend_from_slice(bytes.as_bytes()),
                Piece::AnyBytes => text.push(b'*'),
                Piece::AnyByte => text.push(b'?'),
                Piece::Hole => return None,
            }
        }
        let mut pattern = Vec::new();
        parse(&text, &mut pattern)?;
        let cwd = self.state.cwd.only()?;
        if text.contains(&b'/') || self.changed.touched() || self.state.elsewhere {
            return None;
        }
        let names = self.context.files.list(cwd, MANY)?;
        // What is one character of a name beyond ASCII is the locale's business.
        let found =
            names.iter().any(|name| !name.as_encoded_bytes().is_ascii() || matches(&pattern, name.as_encoded_bytes()));
        (!found).then(|| Text::from(text))
    }

    /// The name itself is not known: anything may run.
    fn unknown_program(&mut self, call: Call<'t>, redirected: Option<&Redirected>) -> Ends {
        let span = call.spans.first().copied().unwrap_or(call.span);
        let run = self.record(call.argv, call.spans, call.span, Program::default(), call.env);
        self.runs(run, false, call.span);
        let parent = self.parent.replace(run);
        self.opaque(Code::DynamicProgram, "Which program runs here depends on a value that is not known.", span);
        self.parent = parent;
        self.finish_call(run, redirected, Output::ANYTHING);
        Ends::both(&self.state.cwd)
    }

    /// `bash -c` does not expand aliases unless told to, and then only in later lines. An agent's shell may have been
    /// told so before this call.
    fn aliased(&mut self, call: &Call<'t>, name: &[u8]) {
        let text = format!("The call makes an alias of `{}`.", String::from_utf8_lossy(name));
        let later = self.source.get(..call.span.start as usize).is_some_and(|before| before.contains(&b'\n'));
        // Other shells expand aliases without being told.
        if later || self.state.aliases || self.state.fog == Fog::All || self.state.dialect != Dialect::Bash {
            self.opaque(Code::Alias, &text, call.span);
        } else {
            self.doubt(Code::Alias, text, call.span);
        }
    }

    /// What every started command ends with: who reads the redirects, and what is printed.
    pub(crate) fn finish_call(&mut self, run: RunId, redirected: Option<&Redirected>, output: Output) {
        if let Some(redirected) = redirected {
            self.read_by(redirected, Some(run));
        }
        self.print(output);
    }

    /// Why the name does not mean the program of that name, by what this call did.
    pub(crate) fn shadowed(&mut self, program: &mut Program, bare: bool) {
        if bare && self.state.path_changed && program.shadow.is_none() {
            program.shadow = Some(Shadow::Path);
        }
        if let Some(path) = &program.path
            && (self.changed.wrote(path) || self.changed.leads_astray(path))
        {
            program.shadow = Some(Shadow::Written);
        }
    }
}

/// Whether the redirects of a command stay for what follows: those of `exec` without a program do. `None`: nobody
/// knows whether that is what it is.
fn keeps_redirects(call: &Call<'_>) -> Option<bool> {
    let mut words = call.argv.iter();
    loop {
        let word = words.next()?.exact()?;
        match builtin::redirects_of(word) {
            Redirects::Stay => break,
            Redirects::HandedOn => {}
            Redirects::Own if word.starts_with(b"-") => {}
            Redirects::Own => return Some(false),
        }
    }
    match words.next() {
        None => Some(true),
        // `exec -c`, or `exec $x` that vanishes.
        Some(word) if word.exact().is_none_or(|text| text.starts_with(b"-")) => None,
        Some(_) => Some(false),
    }
}

/// The name, if a word is one variable and nothing else.
fn variable_alone<'t>(word: &'t Syntax<'t>) -> Option<&'t [u8]> {
    match &*word.parts {
        [Part::Variable { name, .. }] => Some(name),
        [Part::DoubleQuoted { parts, .. }] => match parts.as_slice() {
            [Part::Variable { name, .. }] => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Whether parts may use a variable. Anything but plain text and other variables counts as if it did.
fn mentions(parts: &[Part<'_>], name: &[u8]) -> bool {
    parts.iter().any(|part| match part {
        Part::Literal { .. } | Part::Quoted { .. } => false,
        Part::Variable { name: used, .. } => &**used == name,
        Part::DoubleQuoted { parts, .. } => mentions(parts, name),
        _ => true,
    })
}

/// A builtin that POSIX does not call special: assignments before it are for it alone everywhere.
fn runs_plain_builtin(call: &Call<'_>) -> bool {
    call.argv.first().and_then(Word::exact_str).is_some_and(|name| is_builtin(name) && !is_special(name.as_bytes()))
}

/// Builtins that change nothing in the shell.
fn leaves_no_trace(call: &Call<'_>) -> bool {
    call.argv.first().and_then(Word::exact).is_some_and(builtin::leaves_no_trace)
}

fn is_only_read(call: &Call<'_>) -> bool {
    call.argv.first().and_then(Word::exact).is_some_and(builtin::is_only_read)
}
