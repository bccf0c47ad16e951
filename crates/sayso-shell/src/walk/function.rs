//! Functions: defined, called with known arguments, and walked once more if nothing called them.

use super::command::Call;
use super::redirect::Redirected;
use super::{Cwd, Definition, Ends, Fog, Frame, Walker};
use crate::certain::Items;
use crate::effect::{Program, Shadow};
use crate::program::Code;
use crate::syntax::tree::Function;
use crate::value::scope::{Entry, Held, function_key};

/// How often a function is followed into itself with known arguments.
const MAX_RECURSION: usize = 2;

impl<'t> Walker<'t> {
    pub(crate) fn define(&mut self, function: &'t Function<'t>) -> Ends {
        let id = self.definitions.len();
        let definition = Definition::Function { function, place: self.place, id };
        let name = match function.name.plain() {
            Some(name) => name.to_vec(),
            // bash takes the word as it is written, quotes and all.
            None => {
                let span = self.span(function.name.span);
                self.doubt(Code::OddName, "A function's name is no plain word.".to_owned(), span);
                Vec::new()
            }
        };
        let key = function_key(&name);
        let mut definitions = vec![definition];
        let maybe = self.state.line_may_be_left;
        if maybe && let Some(Entry { held: Held::Defined { definitions: old, .. }, .. }) = self.scope.get(&key) {
            definitions.extend(old.iter().copied());
        }
        let held = Held::Defined { definitions: definitions.into(), maybe };
        let exported = self.state.exports_all != Some(false);
        self.scope.set(&key, Some(Entry { exported, ..Entry::new(held) }));
        // Functions of script files are many, and mostly not called.
        self.definitions.push((definition, !self.scripts.is_empty()));
        Ends::both(&self.state.cwd)
    }

    /// Calls each of the functions that a name may mean.
    pub(crate) fn call_function(
        &mut self,
        definitions: &[Definition<'t>],
        call: Call<'t>,
        certain: bool,
        redirected: Option<&Redirected>,
    ) -> Ends {
        let base = call.argv.first().and_then(|word| word.exact_str()).map(str::to_owned);
        let program = Program { base, builtin: true, shadow: Some(Shadow::Function), ..Program::default() };
        let span = call.span;
        let positional = self.parameters(call.argv.get(1..).unwrap_or_default());
        let run = self.record(call.argv, call.spans, span, program, call.env);
        self.runs(run, true, span);
        if let Some(redirected) = redirected {
            self.read_by(redirected, Some(run));
        }
        let parent = self.parent.replace(run);
        let mut ends = Ends::both(&self.state.cwd);
        let one = certain && definitions.len() == 1;
        for definition in definitions {
            let positional = positional.clone();
            let enter = |walker: &mut Self| {
                let mut ends = Ends::both(&walker.state.cwd);
                walker.deeper(span, |walker| ends = walker.enter(*definition, positional, span));
                ends
            };
            ends = if one {
                enter(self)
            } else {
                self.maybe(enter);
                Ends::both(&self.state.cwd)
            };
        }
        self.parent = parent;
        ends
    }

    fn enter(&mut self, definition: Definition<'t>, positional: Option<Items>, span: crate::effect::Span) -> Ends {
        let Definition::Function { function, place, id } = definition else { return Ends::both(&self.state.cwd) };
        if let Some((_, walked)) = self.definitions.get_mut(id) {
            *walked = true;
        }
        let open = self.frames.iter().filter(|frame| frame.id == id).count();
        if open > 0 && self.input.pipe.is_some() {
            self.doubt(Code::ForkBomb, "A function starts itself in a pipe or in the background.".to_owned(), span);
        }
        // Deep inside itself it is walked once with nothing known, which covers every further round.
        if self.frames.iter().any(|frame| frame.id == id && frame.fog) || !self.step(span) {
            return Ends::both(&self.state.cwd);
        }
        let fog = open >= MAX_RECURSION;
        let saved = (self.state.positional.clone(), self.state.fog, self.place);
        let (cwd, moves) = (self.state.cwd.clone(), self.moves);
        self.state.positional = if fog { None } else { positional };
        if fog {
            self.state.fog = self.state.fog.max(Fog::Touched);
            self.state.cwd = Cwd::UNKNOWN;
        }
        self.place = place;
        let branch = self.open_branch();
        let outer = (self.jumps.take(), self.returns.take());
        self.frames.push(Frame { id, fog, branches: self.branches, hidden: Vec::new() });
        let loops = std::mem::replace(&mut self.loops, 0);
        let body_span = self.span(function.name.span);
        let ends = self.compound(&function.body, body_span);
        self.loops = loops;
        let hidden = self.frames.pop().map(|frame| frame.hidden).unwrap_or_default();
        let jumps = self.returns.take();
        (self.jumps, self.returns) = outer;
        let (changes, mut after) = self.take_branch(branch);
        let jumped = jumps.is_some();
        match jumps {
            // A `return` may have come between any two changes.
            Some(cwd) => {
                after.cwd = after.cwd.or(&cwd);
                self.scope.blur(changes, &self.armed_names);
            }
            None => {
                self.scope.join(vec![changes], true);
            }
        }
        if fog && moves == self.moves {
            after.cwd = cwd;
        }
        // `exit` ends the shell, unless a `return` may have come before it.
        let ends = if jumped { Ends::both(&after.cwd) } else { ends };
        self.state = after;
        for (name, entry) in hidden.into_iter().rev() {
            self.scope.set(&name, entry);
        }
        (self.state.positional, self.place) = (saved.0, saved.2);
        if fog && self.state.fog == Fog::Touched {
            self.state.fog = saved.1;
        }
        ends
    }

    /// A function of the command that nothing was seen to call.
    pub(crate) fn walk_uncalled(&mut self, definition: Definition<'t>) {
        let Definition::Function { function, place, .. } = definition else { return };
        let saved = std::mem::replace(&mut self.place, place);
        let span = self.span(function.name.span);
        self.deeper(span, |walker| {
            walker.enter(definition, None, span);
        });
        self.place = saved;
    }
}
