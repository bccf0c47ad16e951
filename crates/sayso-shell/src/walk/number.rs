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
/// So many names are followed for one expression.
const MAX_FOLLOWED: usize = 32;

impl<'t> Walker<'t> {
    /// `$(( ))`, `(( ))`, subscripts and offsets.
    pub(crate) fn arithmetic(&mut self, expression: &'t Arithmetic<'t>) -> Scalar {
        let text = self.scalar_of(&expression.parts, Position::Quoted);
        let span = self.span(expression.span);
        self.evaluate(&text, span)
    }

    /// `for ((a; b; c))`: each of the three is an expression, or nothing.
    pub(crate) fn header(&mut self, header: &'t Arithmetic<'t>) {
        let text = self.scalar_of(&header.parts, Position::Quoted);
        let span = self.span(header.span);
        let Some(bytes) = text.bytes() else {
            self.evaluate(&text, span);
            return;
        };
        for part in bytes.split(|b| *b == b';').filter(|part| !part.iter().all(u8::is_ascii_whitespace)) {
            self.evaluate(&Scalar::exact(part, Known::Cut), span);
        }
    }

    /// Evaluates text that is arithmetic, once its expansions are done.
    pub(crate) fn evaluate(&mut self, text: &Scalar, span: Span) -> Scalar {
        match text {
            Scalar::Exact(bytes) => self.evaluate_exact(bytes, span, true),
            Scalar::Shaped(shaped) => {
                let unknown = !text.is_number();
                if shaped.is_chosen() || self.armed && builds_name(&shaped.parts) {
                    self.evaluates_again(span);
                } else if shaped.either.is_empty() {
                    self.assigns_unseen(unknown && !shaped.origin.is_number(), &shaped.parts);
                } else {
                    for bytes in &shaped.either {
                        self.follows_text(bytes, span, 0);
                    }
                }
                if shaped.origin == Origin::Unknown
                    && !shaped.is_chosen()
                    && !(self.armed && builds_name(&shaped.parts))
                {
                    let text = "A value of unknown content is evaluated as arithmetic.".to_owned();
                    self.doubt(Code::ArithmeticOnUnknown, text, span);
                }
                if !text.is_number() {
                    self.may_abort();
                }
                for part in &shaped.parts {
                    if let Part::Literal(text) = part {
                        self.evaluate_exact(text.as_bytes(), span, false);
                    }
                }
                Scalar::number()
            }
        }
    }

    /// `whole`: it is all of the expression.
    fn evaluate_exact(&mut self, bytes: &[u8], span: Span, whole: bool) -> Scalar {
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
            self.followed.clear();
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
        // An error leaves the line, and assigns nothing.
        let number = |name: &[u8]| self.lookup_scalar(name).is_number();
        let sound = whole && (value.is_some() || arithmetic::is_sound(bytes, &number));
        if !sound && whole {
            self.may_abort();
        }
        // `0 && (x = 1)` assigns nothing.
        let sure = sound && !bytes.iter().any(|b| b"&|?[".contains(b));
        for name in survey.assigned {
            self.computed(name, sure);
        }
        value.map_or_else(Scalar::number, |value| Scalar::exact(value.to_string().as_bytes(), Known::Computed))
    }

    /// Arithmetic gives a variable a number; unless `sure`, perhaps.
    fn computed(&mut self, name: &[u8], sure: bool) {
        let old = self.lookup_scalar(name);
        let new = if sure { Scalar::number() } else { old.merge(&Scalar::number()) };
        let text = matches!(self.scope.get(name).map(|entry| &entry.held), Some(Held::Scalar(_)));
        let integer = self.integers.take(name).is_some() || self.state.dialect.may_be_zsh() && !text;
        self.set(name, Held::Scalar(new));
        if integer {
            self.integers.insert(name.into());
        }
    }

    /// The text of a value that is evaluated: what it names is evaluated in turn, and it may assign.
    fn follows_text(&mut self, bytes: &[u8], span: Span, depth: usize) {
        self.charge(bytes.len());
        let survey = arithmetic::survey(bytes);
        if survey.expands {
            return self.evaluates_again(span);
        }
        for name in &survey.names {
            // Each is followed once: values that name each other would be followed for ever.
            if self.followed.len() > MAX_FOLLOWED {
                self.followed_too_far(span);
            } else if !self.followed.iter().any(|known| **known == **name) {
                self.followed.push((*name).into());
                self.evaluate_name(name, span, depth);
            }
        }
        if depth == 0 {
            self.followed.clear();
        }
        for name in survey.assigned {
            self.computed(name, false);
        }
    }

    /// What names lead to is not followed any further: it may run or assign whatever a value of the call does.
    fn followed_too_far(&mut self, span: Span) {
        if self.armed {
            self.evaluates_again(span);
        }
        if self.assigning {
            self.lose_variables();
        }
    }

    /// A value that is not known is evaluated, or a name that is put together from one: what it assigns is not seen.
    fn assigns_unseen(&mut self, unknown: bool, parts: &[Part]) {
        let written =
            |part: &Part| matches!(part, Part::Literal(text) if arithmetic::assigns_anything(text.as_bytes()));
        let built = builds_name(parts);
        if self.assigning && (unknown || built) || built && parts.iter().any(written) {
            self.lose_variables();
        }
    }

    /// The value of a variable in an expression is an expression itself.
    fn evaluate_name(&mut self, name: &[u8], span: Span, depth: usize) {
        let Some(entry) = self.scope.get(name) else {
            if self.state.fog == Fog::All || is_told_by_bash(name) {
                self.evaluates_again(span);
            }
            return;
        };
        let values: Vec<Scalar> = match &entry.held {
            Held::Scalar(scalar) => vec![scalar.clone()],
            // Which element is asked for may not be known.
            Held::Array(items) => items.to_vec(),
            Held::Unknown { crafted } => vec![Scalar::hole(Origin::Unknown, *crafted)],
            Held::Unset(_) | Held::Defined { .. } => return,
        };
        if self.may_be_armed(name) {
            return self.evaluates_again(span);
        }
        if self.state.fog != Fog::None && self.assigning {
            self.lose_variables();
        }
        let computed = self.integers.contains(name);
        for value in values {
            self.evaluate_value(name, &value, computed, span, depth);
        }
    }

    fn evaluate_value(&mut self, name: &[u8], value: &Scalar, computed: bool, span: Span, depth: usize) {
        // In a fog it may hold what any other place of the text gave it.
        let built = matches!(value, Scalar::Shaped(shaped) if self.armed && builds_name(&shaped.parts));
        if value.may_run_in_arithmetic() || built {
            return self.evaluates_again(span);
        }
        match value {
            _ if value.is_number() => {}
            // A variable that names itself ends in an error of bash, not in a command.
            Scalar::Exact(bytes) if **bytes == *name => {}
            _ if depth >= MAX_NAMES => self.followed_too_far(span),
            Scalar::Exact(bytes) => self.follows_text(bytes, span, depth + 1),
            Scalar::Shaped(_) if computed => {}
            Scalar::Shaped(shaped) if shaped.either.is_empty() => {
                self.assigns_unseen(true, &shaped.parts);
                for part in &shaped.parts {
                    if let Part::Literal(text) = part {
                        self.follows_text(text.as_bytes(), span, depth + 1);
                    }
                }
            }
            Scalar::Shaped(shaped) => {
                for bytes in &shaped.either {
                    self.follows_text(bytes, span, depth + 1);
                }
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
        match held {
            Held::Scalar(Scalar::Exact(bytes)) => {
                let sound = bytes.iter().all(u8::is_ascii_digit) && (bytes.len() < 2 || bytes.first() != Some(&b'0'));
                if !sound {
                    self.may_abort();
                }
                let bytes = bytes.as_shared().clone();
                self.follows_text(&bytes, span, 0);
            }
            Held::Scalar(value) if !value.is_number() => {
                let value = value.clone();
                self.evaluate(&value, span);
            }
            _ => {}
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
