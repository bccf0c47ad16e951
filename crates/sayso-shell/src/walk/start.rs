//! Starting programs, and what programs start in turn.

use super::change::{Manner, manner};
use super::command::{Among, Call};
use super::filter::Filter;
use super::names::passed;
use super::redirect::Redirected;
use super::{Cwd, Ends, Input, Place, Spans, Walker, is_name};
use crate::Dialect;
use crate::Kind;
use crate::canonical::canonical;
use crate::certain::output::{prints_one_number, tells_of_itself};
use crate::certain::variable::steers_new_shell;
use crate::certain::{By, Items};
use crate::certain::{Output, Sink};
use crate::dialect::variable::{Steers, steers};
use crate::effect::{
    Carry, Effect, NamedBy, Opt, PathTarget, Program, RunId, Shadow, Sieve, Span, Stdin, Target, Verb,
};
use crate::program::number::prints_number;
use crate::program::{
    Code, Description, Facets, Prints, Start, facets, fills_in_variables, holds_command, pastes_variables,
    without_gnu_prefix,
};
use crate::resolve::resolve_on;
use crate::syntax::tree::Tree;
use crate::syntax::{Options, SyntaxError};
use crate::value::Scalar;
use crate::value::field::Globbing;
use crate::value::scope::{Entry, Held, function_key};
use crate::word::{Text, Word};
use std::path::{Path, PathBuf};

/// With one of these a search may look into what it passes over by itself, or git into another repository.
const STEERS_SEARCHES: [&str; 5] =
    ["RIPGREP_CONFIG_PATH", "GREP_OPTIONS", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];

/// With one of these git finds another repository or working tree than its folder says, or other settings.
const LEADS_GIT: [&str; 11] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXEC_PATH",
];

impl<'t> Walker<'t> {
    /// Variables that the program finds and whose values would be commands in a recipe. What is in the environment
    /// already is passed on without `export`, and has a name in capitals.
    fn hand_on_commands(&self, env: &mut Vec<(Text, Word)>) {
        for name in self.scope.names().map(|name| &**name) {
            let Some(entry) = self.scope.get(name) else { continue };
            let passed = entry.exported || !name.iter().any(u8::is_ascii_lowercase);
            if let Held::Scalar(Scalar::Exact(value)) = &entry.held
                && passed
                && holds_command(value)
                && is_name(name)
                && !env.iter().any(|(known, _)| known.as_bytes() == name)
            {
                env.push((Text::from(name), Word::Exact(Text::from(&**value))));
            }
        }
    }

    /// Variables that compose finds and may put into its file, whatever their values. As above, a name in capitals may be in
    /// the environment already.
    fn hand_on_what_fills_in(&self, env: &mut Vec<(Text, Word)>) {
        for name in self.scope.names().map(|name| &**name) {
            let Some(entry) = self.scope.get(name) else { continue };
            let passed = entry.exported || !name.iter().any(u8::is_ascii_lowercase);
            if passed && is_name(name) && !env.iter().any(|(known, _)| known.as_bytes() == name) {
                let value = match &entry.held {
                    Held::Scalar(Scalar::Exact(value)) => Word::Exact(Text::from(&**value)),
                    Held::Scalar(_) => Word::Opaque,
                    _ => continue,
                };
                env.push((Text::from(name), value));
            }
        }
    }

    /// A program outside the shell.
    pub(crate) fn program(&mut self, name: &str, mut call: Call<'t>, redirected: Option<&Redirected>) -> Ends {
        let mut program = if self.state.elsewhere {
            Program { base: Some(last_name(name).to_owned()), ..Program::default() }
        } else {
            let path = self.search_path.get_or_init(|| self.context.env.get("PATH"));
            resolve_on(name, self.state.cwd.only(), &self.context, path.as_deref())
        };
        self.shadowed(&mut program, !name.contains('/'));
        let base = without_gnu_prefix(last_name(name));
        // Asked once: each look costs as much as a comparison of names.
        let programs = self.context.env.programs();
        let facets = programs.facets(base);
        program.taught = programs.taught(base);
        program.known = programs.spec(base).is_some();
        if !self.steering.is_empty() {
            for (name, value) in &self.steering {
                if !call.env.iter().any(|(known, _)| known == name) {
                    call.env.push((name.clone(), value.clone()));
                }
            }
        }
        if pastes_variables(base) {
            self.hand_on_commands(&mut call.env);
        }
        if fills_in_variables(base, &call.argv) {
            self.hand_on_what_fills_in(&mut call.env);
        }
        self.hand_on_given(&mut call.env);
        if call.env.iter().any(|(name, _)| name.as_bytes() == b"PATH")
            && !name.contains('/')
            && program.shadow.is_none()
        {
            program.shadow = Some(Shadow::Path);
        }
        let known = program.known;
        let shadowed = program.shadow.is_some() || self.state.elsewhere;
        let written = program.shadow == Some(Shadow::Written);
        let scripts = self.own_scripts(name, &program);
        let span = call.span;
        let mut description = self.describe(base, facets, &call);
        self.widen_searches(&mut description);
        let surely = self.still_rests(&mut description);
        if let Prints::Names(listing) = &mut description.prints
            && let (None, Some(cwd)) = (&listing.from, self.state.cwd.only())
            && listing.folder.starts_with(cwd)
        {
            // What is not below it can only have been named from the root on.
            listing.from = Some(cwd.to_owned());
        }
        let Call { argv, spans, env, .. } = call;
        let mut changes = manner(facets, &argv);
        if facets.has(Facets::COPIES) && self.copies_nothing(&description) {
            changes = Manner::Attributes;
        }
        if facets.has(Facets::PACKS) && packs(&description) {
            changes = Manner::Plain;
        }
        let passed = match &self.input.prints {
            Prints::Names(given) => passed(base, &argv, &env, &description, given),
            _ => None,
        };
        let one_number = prints_one_number(name, &argv);
        let tells_of_itself = tells_of_itself(&argv);
        let filter = Filter::of(facets, &argv);
        let number = prints_number(base, &argv, &description, &self.input.prints);
        let run = self.record(argv, spans, span, program, env);
        let Description {
            words,
            subcommands,
            options,
            open_options,
            effects,
            doubts,
            starts,
            guesses,
            transparent,
            prints,
            rests,
        } = description;
        if let Some(run) = self.run_mut(run) {
            run.words = words;
            run.subcommands = subcommands;
            run.options = options;
            run.open_options = open_options;
        }
        self.runs(run, transparent, span);
        if let Some(redirected) = redirected {
            self.read_by(redirected, Some(run));
        }
        for effect in effects {
            self.shell_code(&effect, span);
            self.effect(effect, changes);
        }
        if written {
            self.code(run, "unknown", Code::WrittenProgram, span);
            self.opaque(Code::WrittenProgram, "The program may be written by this very command.", span);
        }
        for doubt in doubts {
            self.doubt(doubt.code, doubt.text, doubt.span);
        }
        self.start_all(starts, run, span, base);
        self.guess_all(guesses, run, span, base);
        let followed = !scripts.is_empty() && scripts.iter().all(|script| self.run_own_script(script, run, span));
        if !self.state.elsewhere && !followed {
            self.changed.disturbed |= !known || facets.has(Facets::DISTURBS);
            self.changed.anywhere |= !known;
        }
        if facets.has(Facets::SIGNALS) {
            self.killed();
        }
        // A filter of names prints names.
        let prints = match (passed, prints) {
            (Some(names), Prints::Unknown) => Prints::Names(names),
            (_, Prints::Unknown) if number => Prints::Number,
            // `cat` without a file prints what it reads, `base64 -d` what that stands for.
            (_, Prints::Unknown) => self.input.text.as_ref().and_then(|text| filter.apply(text)).unwrap_or_default(),
            (_, prints) => prints,
        };
        // Only the program itself prints what its table says, and one that is not there prints nothing.
        let rests_on_files = rests.is_some() && surely && matches!(prints, Prints::Exact(_));
        let prints = match prints {
            _ if shadowed || tells_of_itself => Output::ANYTHING,
            Prints::Number if !one_number => Output::if_there(prints),
            Prints::Exact(_) if self.scope.get(&function_key(b"command_not_found_handle")).is_some() => {
                Output::ANYTHING
            }
            Prints::Exact(_) if !surely || self.input.text_may_be_missing || !self.is_there(run) => {
                Output::if_there(prints)
            }
            prints => Output::described(prints),
        };
        self.note_crafted(facets, run);
        let fails = !rests_on_files
            || !prints.is_known()
            || self.state.streams.out != Sink::Here
            || redirected.is_some_and(|redirected| redirected.may_fail);
        self.print(prints);
        let here = self.state.cwd.clone();
        Ends { failed: fails.then(|| here.clone()), ok: Some(here) }
    }

    /// Whether a program certainly can be started.
    fn is_there(&self, run: RunId) -> bool {
        self.out.run(run).and_then(|run| run.program.path.as_deref()).is_some_and(|path| {
            let found = canonical(self.context.files, path);
            found.certain && matches!(found.kind, Kind::File { executable: true })
        })
    }

    /// Drops what a program is said to print if that rests on files that this call may have changed, or on an environment
    /// that leads elsewhere. Whether it is certainly printed.
    fn still_rests(&self, description: &mut Description) -> bool {
        let Some(rests) = &description.rests else { return true };
        let altered = |path: &PathBuf| self.changed.alters(path);
        let led = |name: &&str| self.context.env.get(name).is_some();
        let gone = self.changed.anywhere
            || self.changed.disturbed
            || rests.paths.iter().any(altered)
            || LEADS_GIT.iter().any(led)
            || self.state.cwd.only().is_none();
        if gone {
            description.prints = Prints::Unknown;
        }
        // A file of settings elsewhere may be one that cannot be read.
        let other_home = |name: &&str| self.scope.get(name.as_bytes()).is_some();
        rests.surely && !["HOME", "XDG_CONFIG_HOME"].iter().any(other_home) && !led(&"XDG_CONFIG_HOME")
    }

    /// A search that the environment configures may look into what it passes over by itself.
    fn widen_searches(&self, description: &mut Description) {
        let sieves = description
            .effects
            .iter_mut()
            .filter_map(|effect| match &mut effect.target {
                Target::Path(PathTarget::Sifted(listing)) => Some(&mut listing.sieve),
                _ => None,
            })
            .chain(match &mut description.prints {
                Prints::Names(listing) => Some(&mut listing.sieve),
                _ => None,
            })
            .filter(|sieve| **sieve != Sieve::All);
        for sieve in sieves {
            if STEERS_SEARCHES.iter().any(|name| self.context.env.get(name).is_some()) {
                *sieve = Sieve::All;
            }
        }
    }

    /// Whether what a program prints may be chosen by the command's own text: it prints it, or decodes it.
    pub(crate) fn note_crafted(&mut self, facets: Facets, run: RunId) {
        if self.crafted {
            return;
        }
        let prints = facets.has(Facets::PRINTS_WORDS);
        let literal_input = self.input.text.is_some() || self.input.stdin == Stdin::Text;
        let armed = self.armed;
        let risky = |word: &Word| match word.exact() {
            Some(text) if prints => text.iter().any(|b| b"[$`\\".contains(b)),
            // Most words hold none of the three, and one look tells.
            Some(text) if !text.iter().any(|byte| matches!(byte, b'`' | b'$' | b'[')) => false,
            Some(text) => text.contains(&b'`') || text.contains(&b'$') && text.contains(&b'['),
            None => armed,
        };
        let words = self.out.run(run).is_some_and(|run| run.argv.iter().skip(1).any(risky));
        self.crafted = words || literal_input && facets.has(Facets::DECODES.and(Facets::INTERPRETER));
    }

    /// Whether a program that fetches what is not installed is started where this call took installed ones away.
    pub(super) fn lost_modules(&self, facets: Facets, argv: &[Word], cwd: Option<&Path>) -> bool {
        let runs = |word: &Word| matches!(word.exact(), Some(b"exec" | b"x"));
        let fetches = facets.has(Facets::FETCHES) || facets.has(Facets::FETCHES_BY_WORD) && argv.iter().any(runs);
        let altered = |folder: &Path| self.changed.alters(&folder.join("node_modules"));
        fetches && cwd.is_some_and(|cwd| cwd.ancestors().any(altered))
    }

    fn start_all(&mut self, starts: Vec<Start>, run: RunId, span: Span, name: &str) {
        if starts.is_empty() {
            return;
        }
        let parent = self.parent.replace(run);
        for start in starts {
            self.deeper(span, |walker| walker.subshell(|walker| walker.start(start, run, span, name)));
        }
        self.parent = parent;
    }

    /// Walks commands that may be started. What is found counts for asks and denies alone, and nothing is a doubt: the
    /// words may as well be names.
    fn guess_all(&mut self, guesses: Vec<Start>, run: RunId, span: Span, name: &str) {
        // One guess within another would be too far from what is written.
        if guesses.is_empty() || self.guessing {
            return;
        }
        let (opaque, crafted, armed) = (self.out.opaque, self.crafted, self.armed);
        let (doubts, effects, runs) = (self.out.doubts.len(), self.out.effects.len(), self.out.runs.len());
        let (traps, definitions) = (self.traps.len(), self.definitions.len());
        let output = self.output.clone();
        self.guessing = true;
        self.start_all(guesses, run, span, name);
        self.guessing = false;
        (self.out.opaque, self.crafted, self.armed, self.output) = (opaque, crafted, armed, output);
        self.out.doubts.truncate(doubts);
        self.traps.truncate(traps);
        self.definitions.truncate(definitions);
        for run in self.out.runs.iter_mut().skip(runs) {
            run.guessed = true;
        }
        let mut at = 0;
        self.out.effects.retain_mut(|effect| {
            at += 1;
            effect.certain &= at <= effects;
            // Of a program that nobody knows it is no news that it may do something unknown.
            at <= effects || !matches!(effect.target, Target::Anything | Target::Path(PathTarget::Unknown(_)))
        });
    }

    fn start(&mut self, start: Start, run: RunId, span: Span, name: &str) {
        if self.out.run(run).is_some_and(|run| super::describe::moves_what_starts(&start, run)) {
            let text = "A value before the command may hold words of its own: which program runs is not known.";
            let only_starts = self.out.effects.iter().any(|effect| effect.target == Target::Wrapper(run));
            if only_starts {
                self.opaque(Code::DynamicProgram, text, span);
            } else {
                // It needs a yes of its own, and so does this.
                self.doubt(Code::DynamicOption, text.to_owned(), span);
                let carry = Carry::Named { code: Code::DynamicOption, by: NamedBy::Nothing };
                let target = Target::Option(run);
                self.out.effects.push(Effect { verb: Verb::Run, target, span, run: Some(run), carry, certain: true });
            }
        }
        let facets = self.context.env.programs().facets(name);
        if facets.has(Facets::FEEDS) {
            // What it starts reads nothing of what it read itself.
            self.input = Input { pipe: self.input.pipe, ..Input::default() };
        }
        match start {
            Start::Argv { argv, spans, env, elsewhere, cwd } => {
                self.goes(elsewhere, facets);
                if let Some(cwd) = cwd {
                    self.state.cwd = match cwd.exact_str() {
                        Some(path) if !self.state.elsewhere || self.state.may_be_here => {
                            self.state.cwd.enter(Path::new(path), By::System)
                        }
                        _ => Cwd::UNKNOWN,
                    };
                }
                if argv.is_empty() || !self.step(span) {
                    return;
                }
                let mut all = self.run_mut(run).map(|run| run.env.clone()).unwrap_or_default();
                all.extend(env);
                let whole = match (spans.first(), spans.last()) {
                    (Some(first), Some(last)) if first.start <= last.end => Span { start: first.start, end: last.end },
                    _ => span,
                };
                let call = Call { argv, spans, env: all, span: whole, assigned: Vec::new() };
                self.dispatch(call, Among::Programs, None);
            }
            Start::Shell { text, span, dialect, elsewhere, parameters } => {
                self.goes(elsewhere, facets);
                self.new_shell(run, dialect, parameters);
                match text.exact() {
                    Some(bytes) => {
                        let bytes = bytes.to_vec();
                        self.shell_text_here(&bytes, span);
                    }
                    None => self.opaque(Code::DynamicText, "A shell runs text that is not known.", span),
                }
            }
            Start::Script { file, span, dialect, parameters } => {
                self.new_shell(run, dialect, parameters);
                self.script(&file, span);
            }
        }
    }

    /// What follows runs where this wrapper puts it.
    fn goes(&mut self, elsewhere: bool, by: Facets) {
        // Another user is none of another machine.
        if elsewhere && !by.has(Facets::OTHER_USER) {
            self.state.may_be_here = (self.state.may_be_here || !self.state.elsewhere) && by.has(Facets::OTHER_ROOT);
            self.state.elsewhere = true;
        }
    }

    /// A shell of its own knows what was exported, and nothing else of ours.
    pub(super) fn new_shell(&mut self, run: RunId, dialect: Dialect, parameters: Vec<Word>) {
        let env = self.run_mut(run).map(|run| run.env.clone()).unwrap_or_default();
        let passed_on = self.hands_on_variables(run);
        let names: Vec<_> = self.scope.names().cloned().collect();
        for name in names {
            let Some(entry) = self.scope.get(&name) else { continue };
            let entry = match &entry.held {
                Held::Defined { definitions, .. } if entry.exported => {
                    let held = Held::Defined { definitions: definitions.clone(), maybe: !passed_on };
                    Some(Entry { held, ..entry.clone() })
                }
                Held::Defined { .. } => None,
                // A shell believes these only where they are true.
                _ if matches!(&*name, b"PWD" | b"OLDPWD") => Some(Entry::new(Held::Unknown { crafted: self.armed })),
                // Arrays are never handed on.
                Held::Scalar(_) | Held::Unset(_) if entry.exported && passed_on => continue,
                // Not exported here, it may still come from the environment.
                _ => Some(Entry::new(Held::Unknown { crafted: false })),
            };
            self.scope.set(&name, entry);
        }
        let steered = |name: &str| steers(dialect, name.as_bytes()) != Steers::Nothing;
        if env.iter().any(|(name, _)| name.as_str().is_none_or(steered)) {
            let span = self.run_mut(run).map(|run| run.span).unwrap_or_default();
            self.opaque(Code::Dialect, "A shell is started with a variable that changes how it reads commands.", span);
        }
        for (name, value) in env {
            let value = Scalar::from_word(&value, self.armed);
            // A number that a word holds may be none.
            let value = if value.bytes().is_none() && value.is_number() { Scalar::numbers() } else { value };
            let held = match name.as_bytes() {
                b"PWD" | b"OLDPWD" => Held::Unknown { crafted: self.armed },
                _ => Held::Scalar(value),
            };
            let span = self.out.run(run).map(|run| run.span).unwrap_or_default();
            if steers_new_shell(name.as_bytes()) {
                self.opaque(Code::Environment, "A variable changes what the shell itself does.", span);
            } else {
                self.notice(name.as_bytes(), &held, span);
            }
            self.arm(name.as_bytes(), &held);
            self.scope.set(name.as_bytes(), Some(Entry { exported: true, ..Entry::new(held) }));
        }
        // bash does not take IFS from the environment.
        self.scope.set(b"IFS", None);
        // `bash -c TEXT $x a`: where the first word behind the text vanishes, the others move.
        self.state.positional = match parameters.first() {
            Some(word) if self.parameters(std::slice::from_ref(word)).is_none() => None,
            _ => self.parameters(parameters.get(1..).unwrap_or_default()),
        };
        self.state.dialect = dialect;
        self.state.stops = false;
        self.state.globbing = Globbing::On;
        self.state.extended_globs = false;
        self.state.aliases = false;
        self.state.exports_all = Some(false);
        self.state.patterns_unsure = false;
        self.state.trapped = false;
        let strict = |option: &Opt| {
            matches!(&*option.name, "-e" | "-u" | "-x" | "-v" | "--verbose" | "-o" | "-f" | "-F") || !option.known
        };
        let strict = self.out.run(run).is_some_and(|run| run.open_options || run.options.iter().any(strict));
        self.state.begins(strict);
        self.state.line_may_be_left = false;
        self.state.left = None;
        self.frames.clear();
        self.prefixed.clear();
        // What the shell reads from its input is its own text, not that of the commands in it.
        if self.input.stdin == Stdin::Text {
            self.input = Input { stdin: Stdin::Text, pipe: self.input.pipe, ..Input::default() };
        }
    }

    /// Whether the shell that a program starts certainly finds the variables that are exported here: all that stands
    /// between hands them on.
    fn hands_on_variables(&self, run: RunId) -> bool {
        let mut at = Some(run);
        while let Some(run) = at.and_then(|id| self.out.run(id)) {
            let own = run.program.shadow == Some(Shadow::Function);
            if !own && !run.program.base.as_deref().is_some_and(|base| facets(base).has(Facets::HANDS_ON)) {
                return false;
            }
            at = run.parent;
        }
        true
    }

    /// Where the spans of a text lie, if the text stands in the command as it is, between quotes or without.
    fn spans_of(&self, text: &[u8], span: Span) -> Spans {
        let (start, end) = (span.start as usize, span.end as usize);
        for quote in [1, 0] {
            let inside = end.checked_sub(quote).and_then(|end| self.source.get(start + quote..end));
            if inside == Some(text) {
                return Spans::Shifted(span.start + u32::try_from(quote).unwrap_or(0));
            }
        }
        Spans::At(span)
    }

    /// Walks text in the current shell, as `eval` does.
    pub(crate) fn shell_text_here(&mut self, text: &[u8], span: Span) {
        let spans = self.spans_of(text, span);
        self.shell_text(text, spans, span);
    }

    /// Walks text in the current shell.
    pub(crate) fn shell_text(&mut self, text: &[u8], spans: Spans, span: Span) {
        self.charge(text.len());
        let options = Options { extended_globs: self.state.extended_globs };
        let read = self.read(text, options);
        match read {
            Ok(tree) => self.walk_tree(tree, spans, span),
            Err(error) => self.unreadable(error, span),
        }
    }

    fn read(&self, text: &[u8], options: Options) -> Result<&'t Tree<'t>, SyntaxError> {
        self.trees.read(self.sources, text, self.state.dialect, options)
    }

    fn walk_tree(&mut self, tree: &'t Tree<'t>, spans: Spans, span: Span) {
        let place = std::mem::replace(&mut self.place, Place { tree, spans });
        self.deeper(span, |walker| {
            walker.check_dialect(tree);
            walker.text(&tree.body);
        });
        self.place = place;
    }

    fn unreadable(&mut self, error: SyntaxError, span: Span) {
        self.opaque(Code::Syntax, error.trouble.sentence(), span);
    }

    /// Another shell than bash may read the same text otherwise.
    pub(crate) fn check_dialect(&mut self, tree: &Tree<'t>) {
        if let Some(difference) = tree.differs {
            let span = self.span(difference.span);
            self.opaque(Code::Dialect, difference.text, span);
        }
    }

    /// Copies of files that are not there come to nothing.
    fn copies_nothing(&self, description: &Description) -> bool {
        let mut sources = description.effects.iter().filter(|effect| effect.verb == Verb::Read).peekable();
        sources.peek().is_some()
            && sources.all(|effect| match &effect.target {
                Target::Path(PathTarget::Exact(path) | PathTarget::Below(path)) => {
                    !self.changed.anywhere && !self.changed.wrote(path) && self.is_missing(path)
                }
                _ => false,
            })
    }

    /// A shell that takes its commands from a pipe or file runs what nobody has seen.
    fn shell_code(&mut self, effect: &Effect, span: Span) {
        if effect.target.is_shell_code() && self.input.stdin != Stdin::Inherited && !self.state.elsewhere {
            self.opaque(Code::DynamicText, "A shell runs text that is not known.", span);
        }
    }

    /// Code that nobody looks into.
    pub(crate) fn code(&mut self, run: RunId, language: &'static str, code: Code, span: Span) {
        self.out.effects.push(Effect {
            verb: Verb::Run,
            target: Target::Code { run, language },
            span,
            run: Some(run),
            carry: Carry::Named { code, by: NamedBy::Nothing },
            certain: true,
        });
    }

    /// A copy of a word list as positional parameters.
    pub(crate) fn parameters(&mut self, words: &[Word]) -> Option<Items> {
        self.armed |= words.iter().any(|word| match word {
            Word::Exact(text) => text.as_bytes().iter().any(|b| b"[$`".contains(b)),
            Word::Dynamic(shape) => shape.splits() && shape.origin == crate::word::Origin::Unknown,
            Word::Opaque => true,
        });
        Items::of_words(words, self.armed)
    }
}

/// What follows the last slash. Most names have none, and one look tells.
fn last_name(name: &str) -> &str {
    match name.as_bytes().iter().rposition(|byte| *byte == b'/') {
        Some(at) => name.get(at + 1..).unwrap_or(name),
        None => name,
    }
}

/// Whether tar only writes an archive: a file like any other.
fn packs(description: &Description) -> bool {
    let has = |name: &str| description.options.iter().any(|option| option.name == name);
    has("--create") && !has("--extract") && !description.open_options
}
