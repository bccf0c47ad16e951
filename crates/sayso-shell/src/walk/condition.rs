//! `[[ ... ]]`: what stands in it is expanded, and some of it is evaluated as arithmetic.

use super::Walker;
use super::expand::Position;
use crate::syntax::tree::{Condition, Word as Syntax};
use crate::value::scope::Held;

impl<'t> Walker<'t> {
    pub(crate) fn condition(&mut self, condition: &'t Condition<'t>) {
        match condition {
            Condition::Or(all) | Condition::And(all) => {
                for (at, one) in all.iter().enumerate() {
                    if at == 0 {
                        self.condition(one);
                        continue;
                    }
                    let mark = self.scope.mark();
                    self.condition(one);
                    let changes = self.scope.take(mark);
                    self.scope.join(vec![changes], false);
                }
            }
            Condition::Not(one) => self.condition(one),
            Condition::Word(word) => {
                let noted = self.noted();
                self.scalar(word, Position::Single);
                if !self.may_trace() {
                    self.take_back(noted);
                }
            }
            Condition::Unary { operator, operand } => {
                let noted = self.noted();
                let value = self.scalar(operand, Position::Single);
                if matches!(&**operator, b"-n" | b"-z") && !self.may_trace() {
                    self.take_back(noted);
                }
                if matches!(&**operator, b"-v" | b"-R") {
                    let span = self.span(operand.span);
                    self.names_variable(&value, span);
                }
                // To zsh the number of a descriptor is arithmetic.
                if &**operator == b"-t" && self.state.dialect.may_be_zsh() {
                    let span = self.span(operand.span);
                    self.evaluate(&value, span);
                }
            }
            Condition::Binary { operator, left, right } => {
                let numeric = matches!(&**operator, b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge");
                for word in [left, right] {
                    self.operand(word, numeric);
                }
                if &**operator == b"=~" {
                    // It holds what was matched, which may be all of the text.
                    let crafted = !right.plain().is_some_and(crate::program::number::digits_alone);
                    self.set(b"BASH_REMATCH", Held::Unknown { crafted });
                    if self.state.dialect.may_be_zsh() {
                        for name in [&b"MATCH"[..], b"MBEGIN", b"MEND", b"match", b"mbegin", b"mend"] {
                            self.set(name, Held::Unknown { crafted });
                        }
                    }
                }
            }
        }
    }

    fn operand(&mut self, word: &'t Syntax<'t>, numeric: bool) {
        let value = self.scalar(word, Position::Single);
        if numeric {
            let span = self.span(word.span);
            self.evaluate(&value, span);
        }
    }
}
