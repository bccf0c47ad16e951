//! Groups, conditions and loops.

use super::expand::Position;
use super::{Ends, Fog, Walker};
use crate::certain::Output;
use crate::dialect;
use crate::effect::{RunId, Span};
use crate::program::Code;
use crate::syntax::tree::{Arithmetic, CaseArm, CaseEnd, Compound, CompoundKind, List, Word as Syntax};
use crate::value::Scalar;
use crate::value::scope::Held;
use crate::word::{Origin, Word};

/// A loop over more words than these is walked once, over an unknown word.
const MAX_TURNS: usize = 64;

/// How deep loops in loops are walked twice to see what a turn leaves to the next.
const MAX_PASSES: usize = 3;

impl<'t> Walker<'t> {
    pub(crate) fn compound(&mut self, compound: &'t Compound<'t>, span: Span) -> Ends {
        if compound.redirects.is_empty() {
            return self.kind(&compound.kind, span);
        }
        let input = self.input.clone();
        let streams = self.state.streams;
        let redirected = self.redirects(&compound.redirects);
        if redirected.may_fail && (streams.err.may_be_here() || self.state.streams.err.may_be_here()) {
            self.output = Output::ANYTHING;
        }
        self.branches += usize::from(redirected.may_fail);
        let opened = self.state.streams;
        let first = RunId(u32::try_from(self.out.runs.len()).unwrap_or(u32::MAX));
        let ends = if redirected.may_fail && !matches!(compound.kind, CompoundKind::Subshell(_)) {
            self.unless_refused(|walker| walker.kind(&compound.kind, span))
        } else {
            self.kind(&compound.kind, span)
        };
        self.branches -= usize::from(redirected.may_fail);
        // What the whole reads is read by the first command in it.
        let reader = self.out.run(first).map(|_| first);
        self.read_by(&redirected, reader);
        self.restore_streams(streams, opened);
        self.input = input;
        ends
    }

    fn kind(&mut self, kind: &'t CompoundKind<'t>, span: Span) -> Ends {
        // Words, patterns and numbers in them may be wrong, and then the message shows them.
        if !matches!(kind, CompoundKind::Group(_) | CompoundKind::Subshell(_)) {
            self.complain();
        }
        match kind {
            CompoundKind::Group(list) => self.list(list),
            CompoundKind::Subshell(list) => {
                self.subshell(|walker| {
                    walker.list(list);
                });
                Ends::both(&self.state.cwd)
            }
            CompoundKind::If { branches, otherwise } => self.conditional(branches, otherwise.as_ref()),
            CompoundKind::While { condition, body, .. } => self.repeat(span, |walker| {
                walker.list(condition);
                walker.list(body);
            }),
            CompoundKind::For { select, name, words, body } => {
                self.each_word(*select, name, words.as_deref(), body, span)
            }
            CompoundKind::ForArithmetic { header, body } => self.counting(header, body, span),
            CompoundKind::Case { word, arms } => self.case(word, arms),
            CompoundKind::Arithmetic(expression) => {
                self.arithmetic(expression);
                if self.state.dialect.may_be_zsh() && expression.parts.iter().any(dialect::may_end_arithmetic) {
                    // zsh may take it for commands in parentheses.
                    self.opaque(Code::OtherGrammar, "Whether this is arithmetic depends on the shell.", span);
                }
                Ends::both(&self.state.cwd)
            }
            CompoundKind::Condition(condition) => {
                self.condition(condition);
                Ends::both(&self.state.cwd)
            }
        }
    }

    fn conditional(&mut self, branches: &'t [(List<'t>, List<'t>)], otherwise: Option<&'t List<'t>>) -> Ends {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return match otherwise {
                Some(list) => self.list(list),
                None => Ends::both(&self.state.cwd),
            };
        };
        let ends = self.list(condition);
        let (yes, no) = match (&ends.ok, &ends.failed) {
            (None, None) => (self.state.cwd.clone(), self.state.cwd.clone()),
            (ok, failed) => (
                ok.clone().unwrap_or_else(|| self.state.cwd.clone()),
                failed.clone().unwrap_or_else(|| self.state.cwd.clone()),
            ),
        };
        self.branches += 1;
        let branch = self.open_branch();
        self.state.cwd = yes;
        let then = self.list(body);
        let (changed, mut state) = self.take_branch(branch);
        let branch = self.open_branch();
        self.state.cwd = no;
        let other = if rest.is_empty() && otherwise.is_none() {
            Ends::both(&self.state.cwd)
        } else {
            self.conditional(rest, otherwise)
        };
        let (changed_else, mut state_else) = self.take_branch(branch);
        self.branches -= 1;
        match (then.after(), other.after()) {
            (None, None) => return Ends::NEVER,
            (Some(cwd), None) => {
                state.cwd = cwd;
                self.state = state;
                self.scope.join(vec![changed], true);
            }
            (None, Some(cwd)) => {
                state_else.cwd = cwd;
                self.state = state_else;
                self.scope.join(vec![changed_else], true);
            }
            (Some(cwd), Some(cwd_else)) => {
                state.cwd = cwd;
                state_else.cwd = cwd_else;
                self.state = state.or(&state_else);
                self.scope.join(vec![changed, changed_else], true);
            }
        }
        Ends::both(&self.state.cwd)
    }

    /// Walks what may run any number of times. The second walk sees what the first left behind, and replaces it.
    fn repeat(&mut self, span: Span, turn: impl Fn(&mut Self)) -> Ends {
        if !self.step(span) {
            return Ends::both(&self.state.cwd);
        }
        self.loops += 1;
        let fog = self.state.fog;
        if self.passes >= MAX_PASSES {
            // Loops in loops in loops: nothing that is set here is followed.
            let (cwd, moves) = (self.state.cwd.clone(), self.moves);
            self.state.fog = self.state.fog.max(Fog::Touched);
            self.state.cwd = super::Cwd::UNKNOWN;
            self.state.positional = None;
            self.turn_once(&turn);
            if self.state.fog == Fog::Touched {
                self.state.fog = fog;
            }
            if moves == self.moves {
                self.state.cwd = cwd;
            }
        } else {
            let before = (self.out.runs.len(), self.out.effects.len(), self.out.doubts.len(), self.out.opaque);
            let cwd = self.state.cwd.clone();
            self.passes += 1;
            if self.turn_once(&turn) {
                self.out.runs.truncate(before.0);
                self.out.effects.truncate(before.1);
                self.out.doubts.truncate(before.2);
                self.out.opaque = before.3;
                if cwd != self.state.cwd {
                    // One more turn may lead one folder further.
                    self.state.cwd = super::Cwd::UNKNOWN;
                }
                self.turn_once(&turn);
            }
            self.passes -= 1;
        }
        self.loops -= 1;
        Ends::both(&self.state.cwd)
    }

    /// One turn that may not happen. Whether anything is less certain after it.
    fn turn_once(&mut self, turn: &impl Fn(&mut Self)) -> bool {
        self.maybe(|walker| {
            turn(walker);
            Ends::both(&walker.state.cwd)
        })
    }

    fn each_word(
        &mut self,
        select: bool,
        name: &'t Syntax<'t>,
        words: Option<&'t [Syntax<'t>]>,
        body: &'t List<'t>,
        span: Span,
    ) -> Ends {
        let items: Option<Vec<Word>> = match words {
            Some(words) => {
                let mut items = Vec::new();
                for word in words {
                    self.argument(word, &mut items);
                }
                Some(items)
            }
            None => self.state.positional.as_ref().map(|items| items.iter().map(Scalar::to_word).collect()),
        };
        let name = match self.scalar(name, Position::Single).bytes() {
            Some(name) => name.to_vec(),
            None => Vec::new(),
        };
        if select {
            self.set(b"REPLY", Held::Scalar(Scalar::crafted()));
        }
        let items = items.filter(|items| !select && !items.is_empty() && items.len() <= MAX_TURNS);
        match items {
            Some(items) if self.may_unroll(items.len()) => self.unrolled(&name, &items, body, span),
            items => {
                let value = match items {
                    Some(items) => {
                        items.iter().map(|word| Scalar::from_word(word, self.armed)).reduce(|one, two| one.merge(&two))
                    }
                    None => None,
                };
                let value = value.unwrap_or_else(Scalar::crafted);
                self.perhaps(&name, &value);
                self.repeat(span, |walker| {
                    walker.set(&name, Held::Scalar(value.clone()));
                    walker.list(body);
                })
            }
        }
    }

    /// One turn for each word. A `break` may end the loop after any of them, so each may not happen.
    fn unrolled(&mut self, name: &[u8], items: &[Word], body: &'t List<'t>, span: Span) -> Ends {
        self.loops += 1;
        for item in items {
            if !self.step(span) {
                break;
            }
            let value = loop_value(item, self.armed);
            let several = match item {
                Word::Dynamic(shape) => shape.splits(),
                Word::Opaque => true,
                Word::Exact(_) => false,
            };
            if several {
                // One word here is many turns.
                self.perhaps(name, &value);
                self.repeat(span, |walker| {
                    walker.set(name, Held::Scalar(value.clone()));
                    walker.list(body);
                });
            } else {
                self.maybe(|walker| {
                    walker.set(name, Held::Scalar(value));
                    walker.list(body);
                    Ends::both(&walker.state.cwd)
                });
            }
        }
        self.loops -= 1;
        Ends::both(&self.state.cwd)
    }

    /// A loop may have no turn at all: its variable then is what it was.
    fn perhaps(&mut self, name: &[u8], value: &Scalar) {
        self.maybe(|walker| {
            walker.set(name, Held::Scalar(value.clone()));
            Ends::both(&walker.state.cwd)
        });
    }

    fn counting(&mut self, header: &'t Arithmetic<'t>, body: &'t List<'t>, span: Span) -> Ends {
        self.header(header);
        self.repeat(span, |walker| {
            walker.list(body);
            walker.header(header);
        })
    }

    /// One arm, several that fall into each other, or none.
    fn case(&mut self, word: &'t Syntax<'t>, arms: &'t [CaseArm<'t>]) -> Ends {
        self.scalar(word, Position::Single);
        let mut taken = Vec::new();
        let mut states: Option<super::State> = None;
        let mut open: Option<super::Branch> = None;
        self.branches += 1;
        for arm in arms {
            for pattern in &arm.patterns {
                self.scalar(pattern, Position::Single);
            }
            let branch = open.take().unwrap_or_else(|| self.open_branch());
            let before = self.open_branch();
            let ends = self.list(&arm.body);
            if ends.after().is_none() {
                self.drop_branch(before);
            } else {
                // Fallen into, it may run without the arms before it.
                self.close_branch(before);
            }
            if arm.end != CaseEnd::Break {
                open = Some(branch);
                continue;
            }
            let (changes, state) = self.take_branch(branch);
            taken.push(changes);
            states = Some(states.map_or_else(|| state.clone(), |so_far| so_far.or(&state)));
        }
        if let Some(branch) = open {
            let (changes, state) = self.take_branch(branch);
            taken.push(changes);
            states = Some(states.map_or_else(|| state.clone(), |so_far| so_far.or(&state)));
        }
        self.branches -= 1;
        self.scope.join(taken, false);
        if let Some(state) = states {
            self.state = self.state.or(&state);
        }
        Ends::both(&self.state.cwd)
    }
}

/// The value that a loop's variable takes from a word: a name that a glob found is one name.
fn loop_value(word: &Word, armed: bool) -> Scalar {
    match word {
        Word::Dynamic(shape) if shape.splits() && shape.origin == Origin::Unknown => {
            // One of the words that something unknown was split into.
            match Scalar::from_word(word, armed) {
                Scalar::Shaped(shaped) => Scalar::hole(Origin::Unknown, shaped.crafted),
                exact => exact,
            }
        }
        word => Scalar::from_word(word, armed),
    }
}
