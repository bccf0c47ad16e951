//! Goes through a command as bash would, and lists what it would do.
//!
//! The walker follows every branch. Where bash decides at run time, both ways are walked and what they leave behind is
//! joined; where a value is not certain it is dynamic. Nothing is skipped because it looks unreachable.

mod assign;
mod branch;
mod change;
mod command;
mod compound;
mod condition;
mod describe;
mod directory;
mod expand;
mod filter;
mod function;
mod given;
mod list;
mod names;
mod number;
mod output;
mod parameter;
mod redirect;
mod report_to;
mod script;
mod secret;
mod start;
mod state;
mod text;
mod trap;

pub(crate) use crate::certain::Cwd;
pub(crate) use assign::Assigned;
pub(crate) use branch::Branch;
pub(crate) use change::{Changed, Manner};
pub(crate) use command::{Among, Call};
pub(crate) use directory::Ends;
pub(crate) use parameter::is_name;
pub(crate) use redirect::Redirected;
pub(crate) use state::{Fog, Input, State};
pub(crate) use text::{Place, Sources, Spans, Trees};

use crate::certain::{Output, Quiet, Streams};
use crate::effect::{RunId, Span};
use crate::program::Code;
use crate::syntax::tree::{Function, Tree};
use crate::value::field::Globbing;
use crate::value::scope::{Name, Scope};
use crate::word::{Text, Word};
use crate::{Analysis, Context, limit};
use std::cell::OnceCell;
use std::collections::BTreeSet;
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

/// A function that is being walked.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'t> {
    pub(crate) id: usize,
    pub(crate) fog: bool,
    /// In how many branches it was called: in more of them, `local` may not happen.
    pub(crate) branches: usize,
    /// What `local` hid: restored at the end.
    pub(crate) hidden: Vec<(Vec<u8>, Option<crate::value::scope::Entry<Definition<'t>>>)>,
}

/// Walks one command and everything it leads to.
pub(crate) struct Walker<'t> {
    pub(crate) context: Context<'t>,
    /// `PATH`, asked for once.
    search_path: OnceCell<Option<String>>,
    /// The command's own tree.
    root: &'t Tree<'t>,
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
    /// Somewhere there was a value that arithmetic would run.
    pub(crate) armed: bool,
    /// Somewhere there was a value that assigns something where it is taken for arithmetic: `y='i=7'; ((y))`.
    pub(crate) assigning: bool,
    /// The variables whose values were followed for the expression that is evaluated now.
    followed: Vec<Name>,
    /// The variables that were at some time given one.
    pub(crate) armed_names: BTreeSet<Name>,
    /// Variables that arithmetic made, which zsh keeps as numbers: what they are given is computed.
    pub(crate) integers: BTreeSet<Name>,
    /// Variables that this call set and that change what programs do.
    pub(crate) steering: Vec<(Text, Word)>,
    /// Variables with secrets that went into words of no program yet.
    secrets: Vec<Option<Text>>,
    /// Variables that came with the call.
    given: Vec<(Text, Word)>,
    /// How long they are together.
    given_bytes: usize,
    pub(crate) frames: Vec<Frame<'t>>,
    /// Scripts that are being walked.
    pub(crate) scripts: Vec<PathBuf>,
    /// All function definitions, and whether each was walked or need not be.
    pub(crate) definitions: Vec<(Definition<'t>, bool)>,
    /// Texts that run at an unknown time.
    pub(crate) traps: Vec<(Rc<[u8]>, Span)>,
    /// What is walked may as well be no command.
    pub(crate) guessing: bool,
    depth: usize,
    steps: usize,
    /// How many there may be.
    allowance: usize,
    /// It was said that there is too much to follow.
    exhausted: bool,
    unrolled: usize,
    passes: usize,
    pipelines: u16,
    deepest_place: u16,
    /// How often the working directory was changed.
    pub(crate) moves: usize,
    /// How many branches that may not be taken are open.
    pub(crate) branches: usize,
    /// Something may have been read of the input that is shared with what stands around.
    pub(crate) consumed: bool,
    /// Variables that are set for the command that runs now alone.
    pub(crate) prefixed: Vec<Text>,
    /// The text of a trap is walked to see what it changes.
    probing: bool,
    /// How often a signal was sent.
    pub(crate) kills: usize,
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
            root: tree,
            source,
            sources,
            trees,
            out: Analysis { runs: Vec::with_capacity(programs(source)), ..Analysis::default() },
            scope: Scope::new(),
            state: State {
                cwd: Cwd::given(context.cwd),
                before: Cwd::UNKNOWN,
                positional: None,
                globbing: Globbing::On,
                extended_globs: false,
                aliases: false,
                exports_all: Some(false),
                patterns_unsure: false,
                trapped: false,
                trapped_at_exit: false,
                path_changed: false,
                fog: Fog::None,
                stops: false,
                streams: Streams::OUTERMOST,
                may_have_ended: false,
                line_may_be_left: false,
                left: None,
                ends_on_unset: false,
                traces: false,
                ends_on_failure: false,
                dialect: context.dialect,
                elsewhere: false,
                may_be_here: false,
                readonly: Vec::new(),
                physical_cd: false,
                cd_unsure: false,
                has_job: false,
                descriptors_unsure: false,
            },
            place: Place { tree, spans: Spans::Shifted(0) },
            input: Input::default(),
            output: Output::nothing(Quiet::NotBegun),
            crafted: false,
            parent: None,
            changed: Changed::default(),
            armed: false,
            assigning: false,
            followed: Vec::new(),
            armed_names: BTreeSet::new(),
            integers: BTreeSet::new(),
            steering: Vec::new(),
            secrets: Vec::new(),
            given: Vec::new(),
            given_bytes: 0,
            frames: Vec::new(),
            scripts: Vec::new(),
            definitions: Vec::new(),
            traps: Vec::new(),
            guessing: false,
            depth: 0,
            steps: 0,
            allowance: limit::FREE_STEPS + source.len(),
            exhausted: false,
            unrolled: 0,
            passes: 0,
            pipelines: 0,
            deepest_place: 0,
            moves: 0,
            branches: 0,
            consumed: false,
            prefixed: Vec::new(),
            probing: false,
            kills: 0,
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
        self.take_given();
        self.text(&tree.body);
        self.walk_late();
        self.leaves_secrets();
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
            // Another may have taken its place, so that none needs to come before the next.
            let before = self.state.clone();
            self.shell_text(&text, Spans::At(span), span);
            self.state = before.or(&self.state);
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
        if self.steps > self.allowance.min(limit::MAX_STEPS) {
            // Work is charged in larger amounts too: the first step behind the limit is not always the same one.
            if !std::mem::replace(&mut self.exhausted, true) {
                self.opaque(Code::TooMuchWork, "The command does too much to be followed to its end.", span);
            }
            return false;
        }
        true
    }

    /// Another text is read, from a file.
    pub(crate) fn reads(&mut self, bytes: usize) {
        self.allowance = self.allowance.saturating_add(bytes);
    }

    /// Charges work that is not a command: bytes of values that are built.
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.steps = self.steps.saturating_add(bytes / 256);
    }

    /// Goes one level deeper, unless that is too deep.
    pub(crate) fn deeper(&mut self, span: Span, f: impl FnOnce(&mut Self)) {
        if self.depth >= limit::MAX_DEPTH {
            self.opaque(Code::TooDeep, "The command is nested too deeply to be followed.", span);
            return;
        }
        self.depth += 1;
        f(self);
        self.depth -= 1;
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

/// About as many programs as a text starts, to make room for them at once: they are large.
fn programs(source: &[u8]) -> usize {
    const MANY: usize = 16;
    let separators = source.iter().filter(|byte| matches!(byte, b'|' | b';' | b'&' | b'\n')).count();
    (1 + separators).min(MANY)
}
