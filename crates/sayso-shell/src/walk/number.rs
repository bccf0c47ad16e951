//! Arithmetic in a shell: computing, assigning, and running what is hidden in values.

use super::expand::{Expansion, Position};
use super::{Fog, Walker};
use crate::certain::value::Known;
use crate::effect::Span;
use crate::program::Code;
use crate::syntax::tree::Arithmetic;
use crate::value::scope::{Held, crafted};
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
                if shaped.is_chosen() || self.armed && builds_name(&shaped.parts) {
                    self.evaluates_again(span);
                } else if shaped.origin == Origin::Unknown {
                    let text = "A value of unknown content is evaluated as arithmetic.".to_owned();
                    self.doubt(Code::ArithmeticOnUnknown, text, span);
                }
                if !text.is_number() {
                    self.may_abort();
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
            return Scalar::exact(bytes, Known::Written);
        }
        self.charge(bytes.len());
        let survey = arithmetic::survey(bytes);
        if survey.expands {
            self.evaluates_again(span);
        }
        for name in &survey.names {
            // What is no number stands in the message about it.
            self.uses_variable(name);
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
        if value.is_none() {
            // Division by zero, or a value that is no number.
            let number = |name: &&[u8]| self.lookup_scalar(name).is_number();
            if bytes.iter().any(|b| b"/%*#?:".contains(b)) || !survey.names.iter().all(number) {
                self.may_abort();
            }
        }
        // `0 && (x = 1)` assigns nothing.
        let sure = !bytes.iter().any(|b| b"&|?[".contains(b));
        for name in survey.assigned {
            let old = self.lookup_scalar(name);
            let new = if sure { Scalar::number() } else { old.merge(&Scalar::number()) };
            let text = matches!(self.scope.get(name).map(|entry| &entry.held), Some(Held::Scalar(_)));
            let integer = self.integers.take(name).is_some() || self.state.dialect.may_be_zsh() && !text;
            self.set(name, Held::Scalar(new));
            if integer {
                self.integers.insert(name.into());
            }
        }
        value.map_or_else(Scalar::number, |value| Scalar::exact(value.to_string().as_bytes(), Known::Computed))
    }

    /// The value of a variable in an expression is an expression itself.
    fn evaluate_name(&mut self, name: &[u8], span: Span, depth: usize) {
        let Some(entry) = self.scope.get(name) else {
            if self.state.fog == Fog::All || is_told_by_bash(name) {
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
            Held::Unset(_) | Held::Defined { .. } => return,
        };
        // In a fog it may hold what any other place of the text gave it.
        let built = matches!(&value, Scalar::Shaped(shaped) if self.armed && builds_name(&shaped.parts));
        if value.may_run_in_arithmetic() || built || self.may_be_armed(name) {
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

    /// Whether nobody knows what the variable holds now, and it may be something that arithmetic would run.
    pub(crate) fn may_be_armed(&self, name: &[u8]) -> bool {
        match self.state.fog {
            Fog::None => false,
            Fog::Touched => self.armed_names.contains(name),
            Fog::All => self.armed,
        }
    }

    /// What a variable of `declare -i` is given is evaluated at once.
    pub(super) fn computes(&mut self, held: &Held<super::Definition<'t>>, span: Span) {
        if crafted(Some(held)) {
            return self.evaluates_again(span);
        }
        if let Held::Scalar(Scalar::Exact(bytes)) = held {
            for name in arithmetic::survey(bytes).names {
                self.evaluate_name(name, span, 0);
            }
        }
    }

    pub(crate) fn evaluates_again(&mut self, span: Span) {
        let text = "The shell computes with text that may be no number, and such text can run commands.";
        self.opaque(Code::EvaluatesAgain, text, span);
    }
}

/// Variables in which bash keeps text of the command, or of what it matched.
fn is_told_by_bash(name: &[u8]) -> bool {
    matches!(
        name,
        b"_" | b"BASH_ARGV"
            | b"BASH_ARGV0"
            | b"BASH_COMMAND"
            | b"BASH_EXECUTION_STRING"
            | b"BASH_REMATCH"
            | b"FUNCNAME"
    )
}

/// `x$n`: which variable that names is not known.
fn builds_name(parts: &[Part]) -> bool {
    parts.windows(2).any(|pair| match pair {
        [Part::Literal(text), Part::Hole] => {
            let bytes = text.as_bytes();
            let begin = bytes.iter().rposition(|b| !(b.is_ascii_alphanumeric() || b"_#@".contains(b)));
            let last = bytes.get(begin.map_or(0, |at| at + 1)..).unwrap_or_default();
            last.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
        }
        _ => false,
    })
}
