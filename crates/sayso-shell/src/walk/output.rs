//! What is printed into the substitution or pipe around a command.

use super::{State, Walker};
use crate::certain::{Output, Quiet, Sink, Streams};
use crate::program::Prints;
use std::rc::Rc;

impl Walker<'_> {
    /// A command prints this to its standard output.
    pub(crate) fn print(&mut self, output: Output) {
        let more = match self.state.streams.out {
            Sink::Here => output,
            Sink::Nowhere | Sink::Elsewhere => Output::nothing(Quiet::LedAway),
            Sink::Perhaps if output.is_nothing() => output,
            Sink::Perhaps => Output::ANYTHING,
        };
        if more.is_nothing() {
            return;
        }
        let certain = self.branches == 0 && !self.state.may_have_ended;
        let so_far = std::mem::replace(&mut self.output, Output::ANYTHING);
        self.output = so_far.then(more, certain);
    }

    /// A command may write any text to standard error: messages repeat words of the command.
    pub(crate) fn complain(&mut self) {
        if self.state.streams.err.may_be_here() {
            self.output = Output::ANYTHING;
        }
    }

    /// An expansion or an assignment may be refused here: bash then leaves the line, or ends a subshell.
    pub(crate) fn may_abort(&mut self) {
        self.complain();
        self.state.may_have_ended = true;
        if !std::ptr::eq(self.place.tree, self.root) || self.source.contains(&b'\n') {
            let before = self.state.left.take();
            let mut now = State { line_may_be_left: false, ..self.state.clone() };
            // Functions are left with the line, and their parameters with them.
            if !self.frames.is_empty() {
                now.positional = None;
            }
            self.state.left = Some(Rc::new(before.map_or_else(|| now.clone(), |before| before.or(&now))));
            self.state.line_may_be_left = true;
        }
    }

    /// Walks what runs in a shell of its own whose standard output is collected. What it writes elsewhere is no part of
    /// it.
    pub(crate) fn collect(&mut self, f: impl FnOnce(&mut Self)) -> Output {
        self.complain();
        let outer = std::mem::replace(&mut self.output, Output::nothing(Quiet::NotBegun));
        if self.state.streams.collected().get(3).may_be_here() {
            // It may write past the pipe into what is collected around it.
            let inner = self.collect_inner(f);
            self.output = Output::ANYTHING;
            return inner;
        }
        let inner = self.collect_inner(f);
        self.output = outer;
        inner
    }

    /// A command may have read a part of the input: what is left of it is not known.
    pub(crate) fn consume_input(&mut self) {
        self.consumed = true;
        self.input.text = None;
        if matches!(self.input.prints, Prints::Exact(_)) {
            self.input.prints = Prints::Unknown;
        }
    }

    /// A signal was sent, perhaps to the shell itself or to one around it.
    pub(crate) fn killed(&mut self) {
        self.kills += 1;
        self.state.may_have_ended = true;
    }

    /// Takes the redirects of a command back. What `exec` changed within stays changed.
    pub(crate) fn restore_streams(&mut self, before: Streams, opened: Streams) {
        self.state.streams = if self.state.streams == opened { before } else { Streams::UNKNOWN };
    }

    fn collect_inner(&mut self, f: impl FnOnce(&mut Self)) -> Output {
        let kills = self.kills;
        let mut trapped = false;
        self.subshell(|walker| {
            walker.state.streams = walker.state.streams.collected();
            walker.state.may_have_ended = false;
            f(walker);
            trapped = walker.state.trapped || walker.state.trapped_at_exit;
            if walker.state.stops {
                walker.output.cut_short();
            }
        });
        if self.kills != kills || trapped {
            self.output = Output::ANYTHING;
        }
        std::mem::replace(&mut self.output, Output::nothing(Quiet::NotBegun))
    }
}
