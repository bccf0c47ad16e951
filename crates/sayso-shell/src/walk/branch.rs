//! What may or may not happen: walked, then joined with what was.

use super::{Cwd, Definition, Ends, State, Walker};
use crate::value::scope::{Changes, Mark};

/// A possibility that is being walked.
pub(crate) struct Branch {
    mark: Mark,
    state: State,
}

impl<'t> Walker<'t> {
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

    /// Walks something whose changes to the shell are forgotten.
    pub(crate) fn subshell(&mut self, f: impl FnOnce(&mut Self)) {
        let state = self.state.clone();
        let mark = self.scope.mark();
        // A shell that is started there knows nothing of the functions that run here.
        let (frames, prefixed) = (self.frames.clone(), self.prefixed.clone());
        let input = self.input.clone();
        let consumed = std::mem::replace(&mut self.consumed, false);
        self.state.trapped_at_exit = false;
        f(self);
        if self.state.trapped_at_exit && self.state.streams.out.may_be_here() {
            self.output = crate::certain::Output::ANYTHING;
        }
        self.input = input;
        // What it read of an input that it shares is gone.
        if std::mem::replace(&mut self.consumed, consumed) {
            self.consume_input();
        }
        (self.frames, self.prefixed) = (frames, prefixed);
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
                self.scope.blur(changes, &self.armed_names)
            }
            None => self.scope.join(vec![changes], false),
        };
        let joined = self.state.or(&after);
        let changed = blurred || joined != self.state;
        self.state = joined;
        changed
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
}
