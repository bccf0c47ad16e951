//! Goes through a command as bash would, and lists what it would do.
//!
//! The walker follows every branch. Where bash decides at run time, both ways are walked and what they leave behind is
//! joined; where a value is not certain it is dynamic. Nothing is skipped because it looks unreachable.

mod assign;
mod change;
mod command;
mod compound;
mod condition;
mod directory;
mod expand;
mod filter;
mod function;
mod number;
mod parameter;
mod redirect;
mod report_to;
mod start;
mod text;

pub(crate) use assign::Assigned;
pub(crate) use change::{Changed, Manner};
pub(crate) use command::{Among, Call, output};
pub(crate) use directory::{Cwd, Ends};
pub(crate) use parameter::is_name;
pub(crate) use redirect::Redirected;
pub(crate) use text::{Place, Sources, Spans, Trees};

use crate::effect::{PipePlace, RunId, Span, Stdin};
use crate::program::Prints;
use crate::syntax::tree::{AndOr, Connector, Function, Item, List, Pipeline, Tree};
use crate::value::Scalar;
use crate::value::field::Globbing;
use crate::value::scope::{Changes, Mark, Scope};
use crate::word::{Text, Word};
use crate::{Analysis, Context, Dialect, limit};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::rc::Rc;

/// What a function or alias stands for.
#[derive(Clone, Copy)]
pub(crate) enum Definition<'t> {
    /// A function, with the text it stands in.
    Function {
        /// Its syntax.
        function: &'t Function<'t>,
        /// Where it stands.
        place: Place<'t>,
        /// Its number among all definitions.
        id: usize,
    },
    /// An alias; its text is never followed.
    Alias,
}

impl PartialEq for Definition<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Function { function: one, .. }, Self::Function { function: two, .. }) => std::ptr::eq(*one, *two),
            (Self::Alias, Self::Alias) => true,
            _ => false,
        }
    }
}

impl std::fmt::Debug for Definition<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Function { .. } => "function",
            Self::Alias => "alias",
        })
    }
}

/// How much of the variables is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fog {
    /// What the scope says.
    None,
    /// Those that this call sets may be anything: code that runs at an unknown time, loops too tangled to follow.
    Touched,
    /// Any variable may have been set to anything.
    All,
}

/// What belongs to one shell, besides its variables: cheap to save and to restore.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) cwd: Cwd,
    /// `$OLDPWD`.
    pub(crate) before: Cwd,
    /// `$1` and on; `None`: not known.
    pub(crate) positional: Option<Rc<[Scalar]>>,
    pub(crate) globbing: Globbing,
    pub(crate) extended_globs: bool,
    /// `shopt -s expand_aliases`.
    pub(crate) aliases: bool,
    /// A switch is set that changes the meaning of what follows in a way that is not followed.
    pub(crate) exports_all: bool,
    /// PATH, or what the shell remembers of it, was changed by this call.
    pub(crate) path_changed: bool,
    pub(crate) fog: Fog,
    pub(crate) dialect: Dialect,
    /// The user's home, unless the shell runs elsewhere.
    pub(crate) elsewhere: bool,
}

impl State {
    /// What may be the case if either was.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self {
            cwd: self.cwd.or(&other.cwd),
            before: self.before.or(&other.before),
            positional: if self.positional == other.positional { self.positional.clone() } else { None },
            globbing: if self.globbing == other.globbing { self.globbing } else { Globbing::Unknown },
            extended_globs: self.extended_globs || other.extended_globs,
            aliases: self.aliases || other.aliases,
            exports_all: self.exports_all || other.exports_all,
            path_changed: self.path_changed || other.path_changed,
            fog: self.fog.max(other.fog),
            dialect: self.dialect,
            elsewhere: self.elsewhere,
        }
    }

    /// Whether walking again from here could find something else than from there.
    fn differs(&self, other: &Self) -> bool {
        self.cwd != other.cwd
            || self.positional != other.positional
            || self.globbing != other.globbing
            || self.aliases != other.aliases
            || self.path_changed != other.path_changed
            || self.fog != other.fog
    }
}

/// A possibility that is being walked.
pub(crate) struct Branch {
    mark: Mark,
    state: State,
}

/// Where a command's input comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) stdin: Stdin,
    /// The exact text, if known.
    pub(crate) text: Option<Rc<[u8]>>,
    /// What the program on the left of the pipe prints.
    pub(crate) prints: Prints,
    pub(crate) pipe: Option<PipePlace>,
}

/// What the commands of a substitution print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Silent,
    Known(Prints),
    Mixed,
}

/// A function that is being walked.
#[derive(Debug)]
pub(crate) struct Frame<'t> {
    pub(crate) id: usize,
    pub(crate) fog: bool,
    /// What `local` hid: restored at the end.
    pub(crate) hidden: Vec<(Vec<u8>, Option<crate::value::scope::Entry<Definition<'t>>>)>,
}

/// Walks one command and everything it leads to.
pub(crate) struct Walker<'t> {
    pub(crate) context: Context<'t>,
    /// `PATH`, asked for once.
    search_path: OnceCell<Option<String>>,
    /// The command's own text.
    source: &'t [u8],
    sources: &'t Sources,
    trees: &'t Trees<'t>,
    pub(crate) out: Analysis,
    pub(crate) scope: Scope<Definition<'t>>,
    pub(crate) state: State,
    pub(crate) place: Place<'t>,
    pub(crate) input: Input,
    pub(crate) output: Output,
    /// The text of the command itself went into the output (`echo`, a here-document).
    pub(crate) crafted: bool,
    pub(crate) parent: Option<RunId>,
    pub(crate) changed: Changed,
    /// Somewhere a variable was given a value that arithmetic would run.
    pub(crate) armed: bool,
    /// Variables that cannot be assigned any more.
    pub(crate) readonly: Vec<Vec<u8>>,
    /// `cd` may go elsewhere than its path says (`set -P`).
    pub(crate) physical_cd: bool,
    /// Variables that this call set and that change what programs do.
    pub(crate) steering: Vec<(Text, Word)>,
    pub(crate) frames: Vec<Frame<'t>>,
    /// Scripts that are being walked.
    pub(crate) scripts: Vec<PathBuf>,
    /// All function definitions, and whether each was walked or need not be.
    pub(crate) definitions: Vec<(Definition<'t>, bool)>,
    /// Texts that run at an unknown time.
    pub(crate) traps: Vec<(Rc<[u8]>, Span)>,
    depth: usize,
    steps: usize,
    unrolled: usize,
    passes: usize,
    pipelines: u16,
    deepest_place: u16,
    /// How often the working directory was changed.
    pub(crate) moves: usize,
    /// How many branches that may not be taken are open.
    pub(crate) branches: usize,
    /// How many loops are open.
    pub(crate) loops: usize,
    /// A loop may be left early (`break`, `continue`, `return`), from this folder.
    pub(crate) jumps: Option<Cwd>,
    /// A jump may leave more than one loop.
    pub(crate) far_jumps: bool,
    /// A function may be left early, from this folder.
    pub(crate) returns: Option<Cwd>,
}

impl<'t> Walker<'t> {
    pub(crate) fn new(
        context: &Context<'t>,
        source: &'t [u8],
        sources: &'t Sources,
        trees: &'t Trees<'t>,
        tree: &'t Tree<'t>,
    ) -> Self {
        Self {
            context: *context,
            search_path: OnceCell::new(),
            source,
            sources,
            trees,
            out: Analysis::default(),
            scope: Scope::new(),
            state: State {
                cwd: Cwd::at(context.cwd),
                before: Cwd::UNKNOWN,
                positional: None,
                globbing: Globbing::On,
                extended_globs: false,
                aliases: false,
                exports_all: false,
                path_changed: false,
                fog: Fog::None,
                dialect: context.dialect,
                elsewhere: false,
            },
            place: Place { tree, spans: Spans::Shifted(0) },
            input: Input::default(),
            output: Output::Silent,
            crafted: false,
            parent: None,
            changed: Changed::default(),
            armed: false,
            readonly: Vec::new(),
            physical_cd: false,
            steering: Vec::new(),
            frames: Vec::new(),
            scripts: Vec::new(),
            definitions: Vec::new(),
            traps: Vec::new(),
            depth: 0,
            steps: 0,
            unrolled: 0,
            passes: 0,
            pipelines: 0,
            deepest_place: 0,
            moves: 0,
            branches: 0,
            loops: 0,
            jumps: None,
            far_jumps: false,
            returns: None,
        }
    }

    /// Walks everything and gives what was found.
    pub(crate) fn finish(mut self) -> Analysis {
        let tree = self.place.tree;
        self.check_dialect(tree);
        self.list(&tree.body);
        self.walk_late();
        self.out
    }

    /// What runs at an unknown time is walked with unknown values: traps, and functions that nothing called (an
    /// unfollowed text may).
    fn walk_late(&mut self) {
        let mut at = 0;
        self.state.fog = self.state.fog.max(Fog::Touched);
        if self.moves > 0 {
            self.state.cwd = Cwd::UNKNOWN;
        }
        self.state.positional = None;
        self.input = Input::default();
        while let Some((text, span)) = self.traps.get(at).cloned() {
            at += 1;
            self.shell_text(&text, Spans::At(span), span);
        }
        let mut at = 0;
        while let Some((definition, walked)) = self.definitions.get(at).copied() {
            at += 1;
            if !walked {
                self.walk_uncalled(definition);
            }
        }
    }

    /// Whether another step is within the limits; each simple command and each turn of a loop is one.
    pub(crate) fn step(&mut self, span: Span) -> bool {
        self.steps += 1;
        if self.steps > limit::MAX_STEPS {
            if self.steps == limit::MAX_STEPS + 1 {
                self.opaque("too-much-work", "The command does too much to be followed to its end.", span);
            }
            return false;
        }
        true
    }

    /// Charges work that is not a command: bytes of values that are built.
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.steps = self.steps.saturating_add(bytes / 256);
    }

    /// Goes one level deeper, unless that is too deep.
    pub(crate) fn deeper(&mut self, span: Span, f: impl FnOnce(&mut Self)) {
        if self.depth >= limit::MAX_DEPTH {
            self.opaque("too-deep", "The command is nested too deeply to be followed.", span);
            return;
        }
        self.depth += 1;
        f(self);
        self.depth -= 1;
    }

    pub(crate) fn list(&mut self, list: &'t List<'t>) -> Ends {
        let mut ends = Ends::both(&self.state.cwd);
        let mut gone = false;
        for item in &list.items {
            ends = self.item(item);
            gone |= ends.after().is_none();
        }
        // After `exit` what follows is walked all the same, but it does not bring the shell back.
        if gone { Ends::NEVER } else { ends }
    }

    fn item(&mut self, item: &'t Item<'t>) -> Ends {
        if !item.background {
            return self.and_or(&item.and_or);
        }
        let cwd = self.state.cwd.clone();
        let input = std::mem::take(&mut self.input);
        self.input.pipe = input.pipe;
        self.subshell(|walker| {
            walker.and_or(&item.and_or);
        });
        self.input = input;
        Ends { ok: Some(cwd), failed: None }
    }

    fn and_or(&mut self, and_or: &'t AndOr<'t>) -> Ends {
        let mut ends = self.pipeline(&and_or.first);
        if and_or.rest.is_empty() {
            if let Some(cwd) = ends.after() {
                self.state.cwd = cwd;
            }
            return ends;
        }
        // What stands behind `&&` and `||` may not run. In a chain of `&&` each knows that those before it did.
        let mut open: Option<Branch> = None;
        let mut previous = None;
        let mut cannot_fail = false;
        let mut other: Option<(Changes<Definition<'t>>, State)> = None;
        self.branches += 1;
        for (connector, pipeline) in &and_or.rest {
            let (enter, skip) = match connector {
                Connector::And => (ends.ok, ends.failed),
                Connector::Or => (ends.failed, ends.ok),
            };
            if skip.is_none() && enter.is_some() && open.is_none() {
                // What stands before it always leads here.
                if let Some(cwd) = &enter {
                    self.state.cwd = cwd.clone();
                }
                ends = self.pipeline(pipeline);
                continue;
            }
            let alone = previous != Some(Connector::And) || *connector != Connector::And;
            if alone {
                if let Some(branch) = open.take() {
                    // `a && x=1 || x=2`: what cannot fail did not run if the next does.
                    if *connector == Connector::Or && cannot_fail {
                        let taken = self.take_branch(branch);
                        other = Some(taken);
                    } else {
                        self.close_branch(branch);
                    }
                }
                open = Some(self.open_branch());
            }
            previous = Some(*connector);
            if let Some(cwd) = &enter {
                self.state.cwd = cwd.clone();
            }
            let then = self.pipeline(pipeline);
            let never = then.after().is_none();
            if let Some((changes, state)) = other.take()
                && let Some(branch) = open.take()
            {
                // Exactly one of the two ran.
                let (more, after) = self.take_branch(branch);
                if never {
                    self.scope.join(vec![changes], true);
                    self.state = state;
                } else {
                    self.scope.join(vec![changes, more], true);
                    self.state = state.or(&after);
                }
                previous = None;
            } else if never
                && alone
                && let Some(branch) = open.take()
            {
                // `|| exit`: the branch ends the shell, and what it changed is never seen.
                self.drop_branch(branch);
                previous = None;
            }
            cannot_fail =
                (alone || cannot_fail) && *connector == Connector::And && then.ok.is_some() && then.failed.is_none();
            ends = match connector {
                Connector::And => Ends { ok: then.ok, failed: directory::either(skip.as_ref(), then.failed.as_ref()) },
                Connector::Or => Ends { ok: directory::either(skip.as_ref(), then.ok.as_ref()), failed: then.failed },
            };
        }
        if let Some(branch) = open {
            self.close_branch(branch);
        }
        self.branches -= 1;
        if let Some(cwd) = ends.after() {
            self.state.cwd = cwd;
        }
        ends
    }

    /// Begins something that may not happen, or one of several possibilities.
    pub(crate) fn open_branch(&mut self) -> Branch {
        Branch { mark: self.scope.mark(), state: self.state.clone() }
    }

    /// Ends it: it may have happened.
    pub(crate) fn close_branch(&mut self, branch: Branch) {
        let changes = self.scope.take(branch.mark);
        self.scope.join(vec![changes], false);
        self.state = branch.state.or(&self.state);
    }

    /// Ends it as if it had never been.
    pub(crate) fn drop_branch(&mut self, branch: Branch) {
        self.scope.undo(branch.mark);
        self.state = branch.state;
    }

    /// Ends it for now, and keeps what it changed.
    pub(crate) fn take_branch(&mut self, branch: Branch) -> (Changes<Definition<'t>>, State) {
        let changes = self.scope.take(branch.mark);
        (changes, std::mem::replace(&mut self.state, branch.state))
    }

    fn pipeline(&mut self, pipeline: &'t Pipeline<'t>) -> Ends {
        let ends = match &*pipeline.commands {
            [] => Ends::both(&self.state.cwd),
            [only] => self.command(only),
            _ => {
                self.pipe(pipeline);
                Ends::both(&self.state.cwd)
            }
        };
        if pipeline.negated { ends.negated() } else { ends }
    }

    /// Each command of a pipe runs in its own subshell. Pipes within a pipe continue its places, so that
    /// `a | { b | c; }` reads like `a | b | c`.
    fn pipe(&mut self, pipeline: &'t Pipeline<'t>) {
        let outer = self.input.clone();
        let (number, first) = match outer.pipe {
            Some(place) => (place.pipeline, place.place),
            None => {
                self.pipelines = self.pipelines.saturating_add(1);
                (self.pipelines, 0)
            }
        };
        let printed = std::mem::replace(&mut self.output, Output::Silent);
        let mut place = first;
        for (at, command) in pipeline.commands.iter().enumerate() {
            if at > 0 {
                let prints = match std::mem::replace(&mut self.output, Output::Silent) {
                    Output::Known(prints) => prints,
                    Output::Silent | Output::Mixed => Prints::Unknown,
                };
                let text = match &prints {
                    Prints::Exact(text) => Some(Rc::from(text.as_bytes())),
                    _ => None,
                };
                self.input = Input { stdin: Stdin::Pipe, text, prints, pipe: None };
            }
            self.input.pipe = Some(PipePlace { pipeline: number, place });
            self.deepest_place = place;
            self.subshell(|walker| {
                walker.command(command);
            });
            place = self.deepest_place.saturating_add(1);
        }
        self.deepest_place = place.saturating_sub(1);
        self.input = outer;
        let last = std::mem::replace(&mut self.output, printed);
        self.print(last);
    }

    /// Walks something whose changes to the shell are forgotten.
    pub(crate) fn subshell(&mut self, f: impl FnOnce(&mut Self)) {
        let state = self.state.clone();
        let mark = self.scope.mark();
        let frames = self.frames.len();
        f(self);
        self.frames.truncate(frames);
        self.scope.undo(mark);
        self.state = state;
    }

    /// Walks something that may not happen, and joins what it leaves behind. A jump out of it (`break`, `return`) may
    /// have come between any two of its changes.
    pub(crate) fn maybe(&mut self, f: impl FnOnce(&mut Self) -> Ends) -> bool {
        let branch = self.open_branch();
        let outer = self.jumps.take();
        self.branches += 1;
        let ends = f(self);
        self.branches -= 1;
        let jumps = std::mem::replace(&mut self.jumps, outer);
        if let Some(cwd) = &jumps
            && (self.far_jumps || self.returns.is_some())
        {
            self.jumps = Some(self.jumps.as_ref().map_or_else(|| cwd.clone(), |known| known.or(cwd)));
        }
        if ends.after().is_none() && jumps.is_none() {
            self.drop_branch(branch);
            return false;
        }
        let (changes, mut after) = self.take_branch(branch);
        let blurred = match jumps {
            Some(cwd) => {
                after.cwd = after.cwd.or(&cwd);
                self.scope.blur(changes, self.armed)
            }
            None => self.scope.join(vec![changes], false),
        };
        let joined = self.state.or(&after);
        let changed = blurred || joined.differs(&self.state);
        self.state = joined;
        changed
    }

    /// Adds to what the current substitution prints.
    pub(crate) fn print(&mut self, output: Output) {
        let certain = self.branches == 0;
        self.output = match (std::mem::replace(&mut self.output, Output::Mixed), output) {
            (so_far, Output::Silent) => so_far,
            (Output::Silent, Output::Known(Prints::Unknown)) => Output::Mixed,
            (Output::Silent, Output::Known(prints)) if certain || matches!(prints, Prints::Names(_)) => {
                Output::Known(prints)
            }
            (Output::Known(Prints::Names(one)), Output::Known(Prints::Names(two))) if one == two => {
                Output::Known(Prints::Names(one))
            }
            _ => Output::Mixed,
        };
    }

    /// `break`, `continue`, `return`: what follows may be skipped.
    pub(crate) fn jump(&mut self, returns: bool) {
        let cwd = self.state.cwd.clone();
        let join = |known: &mut Option<Cwd>| *known = Some(known.as_ref().map_or_else(|| cwd.clone(), |k| k.or(&cwd)));
        join(&mut self.jumps);
        if returns {
            join(&mut self.returns);
        }
    }

    pub(crate) fn cwd(&self) -> &Cwd {
        &self.state.cwd
    }

    /// Whether this path may lead elsewhere since the call began.
    pub(crate) fn leads_astray(&self, path: &std::path::Path) -> bool {
        self.changed.leads_astray(path)
    }

    /// Whether a folder that was there may be gone.
    pub(crate) fn disturbed(&self) -> bool {
        self.changed.disturbed
    }

    pub(crate) fn in_function(&self) -> bool {
        !self.frames.is_empty()
    }

    pub(crate) fn span(&self, span: Span) -> Span {
        self.place.spans.map(span)
    }

    /// How often loops may still be unrolled.
    pub(crate) fn may_unroll(&mut self, turns: usize) -> bool {
        if self.unrolled + turns > limit::MAX_UNROLLED {
            return false;
        }
        self.unrolled += turns;
        true
    }
}
