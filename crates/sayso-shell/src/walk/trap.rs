//! Traps: text that runs at an unknown time.

use super::{Spans, State, Walker};
use crate::effect::Span;
use crate::program::Code;
use crate::value::scope::{Entry, Held};

impl Walker<'_> {
    /// A trap is set. What it does is walked at the end; here counts what it may change in between.
    pub(crate) fn set_trap(&mut self, text: &[u8], at_exit: bool, span: Span) {
        if self.traps.len() >= 64 {
            return self.opaque(Code::DynamicText, "There are too many traps to be followed.", span);
        }
        self.traps.push((text.into(), span));
        if at_exit {
            // Nothing comes after it but its own output.
            self.state.trapped_at_exit = true;
            return;
        }
        self.state.trapped = true;
        if std::mem::replace(&mut self.probing, true) {
            // A trap that sets a trap changes what a trap changes.
            return self.opaque(Code::Trap, "A trap sets another trap.", span);
        }
        self.lose_what_it_changes(text, span);
        self.probing = false;
    }

    /// Variables that the text sets may change between any two commands from now on. Whatever else it changes is not
    /// followed.
    fn lose_what_it_changes(&mut self, text: &[u8], span: Span) {
        let found = (self.out.runs.len(), self.out.effects.len(), self.out.doubts.len(), self.out.opaque);
        let (definitions, moves, output) = (self.definitions.len(), self.moves, self.output.clone());
        let (input, mut state) = (self.input.clone(), self.state.clone());
        let mark = self.scope.mark();
        self.shell_text(text, Spans::At(span), span);
        let changes = self.scope.take(mark);
        // That it ends the shell is known: from now on, that may be at any time.
        state.may_have_ended |= self.state.may_have_ended;
        state.line_may_be_left |= self.state.line_may_be_left;
        state.left = State::left_by_either(&state, &self.state);
        state.stops |= self.state.stops;
        let lost = self.state != state || moves != self.moves || self.out.opaque != found.3;
        let defines = changes.iter().any(|(name, _)| name.first() == Some(&0));
        self.state = state;
        self.input = input;
        self.output = output;
        self.definitions.truncate(definitions);
        self.out.runs.truncate(found.0);
        self.out.effects.truncate(found.1);
        self.out.doubts.truncate(found.2);
        self.out.opaque = found.3;
        if lost || defines {
            return self.opaque(Code::Trap, "A trap may change the shell between any two commands.", span);
        }
        for (name, _) in changes {
            // Those that a function hides are set too, once it has ended.
            for (known, entry) in self.frames.iter_mut().flat_map(|frame| &mut frame.hidden) {
                if **known == *name {
                    let exported = entry.as_ref().is_some_and(|entry| entry.exported);
                    *entry = Some(Entry { exported, odd: true, ..Entry::new(Held::Unknown { crafted: true }) });
                }
            }
            let exported = self.scope.get(&name).is_some_and(|entry| entry.exported);
            let held = Held::Unknown { crafted: true };
            self.arm(&name, &held);
            self.scope.set(&name, Some(Entry { exported, odd: true, ..Entry::new(held) }));
        }
    }
}
