//! Arithmetic in a shell: computing, assigning, and running what is hidden in values.

use super::expand::{Expansion, Position};
use super::{Fog, Walker};
use crate::effect::Span;
use crate::syntax::tree::Arithmetic;
use crate::value::scope::Held;
use crate::value::{Scalar, arithmetic};
use crate::word::{Origin, Part};

/// How far a value that names another variable is followed.
const MAX_NAMES: usize = 8;

impl<'t> Walker<'t> {
    /// `$(( ))`, `(( ))`, subscripts and offsets.
    pub(crate) fn arithmetic(&mut self, expression: &'t Arithmetic<'t>) -> Scalar {
        let text = self.scalar_of(&expression.parts, Position::Quoted);
        let span = self.span(expression.span);
        self.evaluate(&text, span)
    }

    /// Evaluates text that is arithmetic, once its expansions are done.
    pub(crate) fn evaluate(&mut self, text: &Scalar, span: Span) -> Scalar {
        match text {
            Scalar::Exact(bytes) => self.evaluate_exact(bytes, span),
            Scalar::Shaped(shaped) => {
                if shaped.crafted {
                    self.evaluates_again(span);
                } else if shaped.origin == Origin::Unknown {
                    let text = "A value of unknown content is evaluated as arithmetic.".to_owned();
                    self.doubt("arithmetic-on-unknown", text, span);
                }
                for part in &shaped.parts {
                    if let Part::Literal(text) = part {
                        self.evaluate_exact(text.as_bytes(), span);
                    }
                }
                Scalar::number()
            }
        }
    }

    fn evaluate_exact(&mut self, bytes: &[u8], span: Span) -> Scalar {
        // Plain numbers are the rule.
        if !bytes.is_empty() && bytes.len() < 10 && bytes.iter().all(u8::is_ascii_digit) && bytes.first() != Some(&b'0')
        {
            return Scalar::exact(bytes);
        }
        self.charge(bytes.len());
        let survey = arithmetic::survey(bytes);
        if survey.expands {
            self.evaluates_again(span);
        }
        for name in &survey.names {
            self.evaluate_name(name, span, 0);
        }
        let value = arithmetic::evaluate(bytes, &|name| match self.lookup(name) {
            Expansion::One(Scalar::Exact(value)) => match &*value {
                [b'0'] => Some(0),
                [b'1'..=b'9', ..] if value.iter().all(u8::is_ascii_digit) => {
                    std::str::from_utf8(&value).ok()?.parse().ok()
                }
                [] => Some(0),
                _ => None,
            },
            Expansion::Unset => Some(0),
            _ => None,
        });
        for name in survey.assigned {
            self.set(name, Held::Scalar(Scalar::number()));
        }
        value.map_or_else(Scalar::number, |value| Scalar::exact(value.to_string().as_bytes()))
    }

    /// The value of a variable in an expression is an expression itself.
    fn evaluate_name(&mut self, name: &[u8], span: Span, depth: usize) {
        let Some(entry) = self.scope.get(name) else {
            if self.state.fog == Fog::All {
                self.evaluates_again(span);
            }
            return;
        };
        let value = match &entry.held {
            Held::Scalar(scalar) => scalar.clone(),
            Held::Array(items) => match items.first() {
                Some(item) => item.clone(),
                None => return,
            },
            Held::Unknown { crafted } => Scalar::hole(Origin::Unknown, *crafted),
            Held::Unset | Held::Defined { .. } => return,
        };
        // In a fog it may hold what any other place of the text gave it.
        if value.may_run_in_arithmetic() || self.state.fog != Fog::None && self.armed {
            return self.evaluates_again(span);
        }
        if let Some(bytes) = value.bytes()
            && !value.is_number()
        {
            let bytes = bytes.to_vec();
            // A variable that names itself ends in an error of bash, not in a command.
            if bytes == name {
                return;
            }
            if depth >= MAX_NAMES {
                if self.armed {
                    self.evaluates_again(span);
                }
                return;
            }
            for inner in arithmetic::survey(&bytes).names {
                self.evaluate_name(inner, span, depth + 1);
            }
        }
    }

    pub(crate) fn evaluates_again(&mut self, span: Span) {
        self.opaque("evaluates-again", "Arithmetic evaluates a value again, which may run commands.", span);
    }
}
