//! Lists, `&&` and `||`, pipes: what runs after what, and where the shell is then.

use super::{Branch, Definition, Ends, Input, State, Walker, directory};
use crate::certain::{Output, Printed, Quiet};
use crate::dialect::Does;
use crate::effect::{PipePlace, Stdin};
use crate::program::Prints;
use crate::syntax::tree::{AndOr, Command, Connector, Item, List, Pipeline};
use crate::value::scope::Changes;
use std::rc::Rc;

impl<'t> Walker<'t> {
    /// All lines of a text. An error that leaves a line goes on with the next.
    pub(crate) fn text(&mut self, list: &'t List<'t>) -> Ends {
        let mut ends = Ends::both(&self.state.cwd);
        let mut gone = false;
        for item in &list.items {
            if self.state.line_may_be_left && self.begins_line(item) {
                self.state.line_may_be_left = false;
                // It was left where the shell was then, whatever the rest of it would have done.
                if let Some(left) = self.state.left.take() {
                    self.state = self.state.or(&left);
                }
            }
            ends = self.item(item);
            gone |= self.ended(&ends);
        }
        if gone { Ends::NEVER } else { ends }
    }

    /// Whether a command certainly stands on a line of its own.
    fn begins_line(&self, item: &'t Item<'t>) -> bool {
        let super::Spans::Shifted(_) = self.place.spans else { return false };
        let start = self.span(item.and_or.first.span).start as usize;
        let before = self.source.get(..start).unwrap_or_default();
        before.iter().rev().find(|b| !matches!(b, b' ' | b'\t')) == Some(&b'\n')
    }

    /// Whether the shell certainly ended; from here on it may have.
    fn ended(&mut self, ends: &Ends) -> bool {
        let gone = ends.after().is_none();
        self.state.may_have_ended |= gone;
        gone
    }

    pub(crate) fn list(&mut self, list: &'t List<'t>) -> Ends {
        let mut ends = Ends::both(&self.state.cwd);
        let mut gone = false;
        for item in &list.items {
            ends = self.item(item);
            gone |= self.ended(&ends);
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
        // What it prints comes at any time.
        self.branches += 1;
        // zsh runs only the last part of `a && b &` in the background, the others here.
        if self.state.dialect.may_be_zsh() && !item.and_or.rest.is_empty() {
            let (mut stays, moves) = (true, self.moves);
            self.maybe(|walker| {
                let ends = walker.and_or(&item.and_or);
                stays = ends.after().is_some();
                ends
            });
            self.state.may_have_ended |= !stays;
            self.branches -= 1;
            if self.moves != moves {
                self.state.cwd = super::Cwd::UNKNOWN;
            }
            self.input = input;
            return Ends::both(&self.state.cwd);
        }
        self.subshell(|walker| {
            walker.and_or(&item.and_or);
        });
        self.branches -= 1;
        self.input = input;
        self.state.has_job = true;
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
            // `a || b`, where `a` cannot fail: what `b` would do is told, but it prints nothing.
            let printed = (enter.is_none() && skip.is_some()).then(|| self.output.clone());
            let then = self.pipeline(pipeline);
            if let Some(printed) = printed {
                self.output = printed;
            }
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

    fn pipeline(&mut self, pipeline: &'t Pipeline<'t>) -> Ends {
        if pipeline.timed {
            self.complain();
        }
        let ends = match &*pipeline.commands {
            [] => Ends::both(&self.state.cwd),
            // zsh times what runs in a process of its own.
            [only] if pipeline.timed && self.state.dialect.may_be_zsh() => {
                self.maybe(|walker| walker.command(only));
                Ends::both(&self.state.cwd)
            }
            [only] => self.command(only),
            _ => {
                self.pipe(pipeline);
                Ends::both(&self.state.cwd)
            }
        };
        if pipeline.negated { ends.negated() } else { ends }
    }

    /// The last command of a pipe runs in a subshell, but for some shells.
    fn last_of_pipe(&mut self, command: &'t Command<'t>) {
        let mut stops = false;
        match self.state.dialect.keeps_last_of_pipe() {
            Does::Yes => {
                self.command(command);
            }
            Does::Maybe => {
                self.maybe(|walker| walker.command(command));
            }
            Does::No => self.subshell(|walker| {
                walker.command(command);
                stops = walker.state.stops;
            }),
        }
        self.state.may_have_ended |= stops;
        if stops {
            self.output.cut_short();
        }
    }

    /// Each command of a pipe runs in its own subshell, but for the last one in some shells. Pipes within a pipe continue its places, so that
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
        let mut place = first;
        let last = pipeline.commands.len().saturating_sub(1);
        let mut printed = Output::nothing(Quiet::NotBegun);
        for (at, command) in pipeline.commands.iter().enumerate() {
            if at > 0 {
                let (prints, missing) = match printed.into_printed() {
                    Printed::Known(prints) => (prints, false),
                    Printed::Perhaps(prints) => (prints, true),
                    Printed::Nothing | Printed::Anything => (Prints::Unknown, false),
                };
                printed = Output::ANYTHING;
                let text = match &prints {
                    Prints::Exact(text) => Some(Rc::from(text.as_bytes())),
                    _ => None,
                };
                self.input =
                    Input { stdin: Stdin::Pipe, text, text_may_be_missing: missing, prints, file: None, pipe: None };
            }
            self.input.pipe = Some(PipePlace { pipeline: number, place });
            self.deepest_place = place;
            if at < last {
                printed = self.collect(|walker| {
                    walker.command(command);
                });
            } else {
                self.last_of_pipe(command);
            }
            place = self.deepest_place.saturating_add(1);
        }
        self.deepest_place = place.saturating_sub(1);
        self.input = outer;
    }
}
