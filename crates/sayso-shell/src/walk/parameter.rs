//! Parameters: `$x`, `${x...}`.

use super::expand::{Expansion, Position};
use super::{Fog, Walker};
use crate::Dialect;
use crate::certain::value::Known;
use crate::dialect::variable;
use crate::program::Code;
use crate::syntax::tree::{Fallback, Operation, Parameter, Part as Syntactic, Subscript, Word as Syntax};
use crate::value::field::Fields;
use crate::value::parameter::{Anchor, change_case, replace, substring, trim};
use crate::value::pattern::Piece;
use crate::value::scope::{Held, crafted};
use crate::value::{Scalar, Shaped};
use crate::word::{Origin, Part, Text};
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

/// Longer values are not worked on: the work would grow with the square of their length.
const MAX_WORKED: usize = 512;

/// Variables that bash keeps, and that hold numbers.
const NUMBERS: &[&[u8]] = &[
    b"RANDOM",
    b"SRANDOM",
    b"SECONDS",
    b"LINENO",
    b"UID",
    b"EUID",
    b"PPID",
    b"BASHPID",
    b"EPOCHSECONDS",
    b"SHLVL",
    b"OPTIND",
    b"BASH_SUBSHELL",
    b"HISTCMD",
    b"COLUMNS",
    b"LINES",
];

/// Whether unquoted text of a word holds what zsh reads as a pattern, a list, or the name of a command.
fn has_odd_literal(word: &Syntax<'_>) -> bool {
    word.parts.iter().enumerate().any(|(at, part)| match part {
        Syntactic::Literal { text, .. } => text.iter().any(|b| b"*?[](){}|<>^#~=,".contains(b)),
        part => crate::dialect::goes_on(part, word.parts.get(at + 1)),
    })
}

/// What stands in `[ ]`.
pub(crate) enum Index {
    /// `@`
    All,
    /// `*`
    Joined,
    At(usize),
    Unknown,
}

impl<'t> Walker<'t> {
    /// `$name`.
    pub(crate) fn variable(&mut self, name: &[u8]) -> Expansion {
        match name {
            b"@" | b"*" => match &self.state.positional {
                Some(items) => Expansion::Many(items.as_shared().clone()),
                None => Expansion::ManyUnknown,
            },
            b"#" => match &self.state.positional {
                Some(items) => Expansion::One(Scalar::exact(items.len().to_string().as_bytes(), Known::Counted)),
                None => Expansion::One(Scalar::number()),
            },
            b"?" | b"$" => Expansion::One(Scalar::number()),
            b"!" if self.state.has_job => Expansion::One(Scalar::hole(Origin::Job, false)),
            // Empty as long as nothing runs in the background, or 0.
            b"!" => Expansion::One(Scalar::numbers()),
            b"-" => Expansion::One(Scalar::unknown()),
            // `bash -c TEXT NAME`, and the last word of the command before.
            b"0" | b"_" => Expansion::One(Scalar::crafted()),
            [b'1'..=b'9', ..] => {
                let number = std::str::from_utf8(name).ok().and_then(|n| n.parse::<usize>().ok());
                match (&self.state.positional, number) {
                    (Some(items), Some(number)) => match items.get(number.saturating_sub(1)) {
                        Some(item) => Expansion::One(item.clone()),
                        None => Expansion::Unset,
                    },
                    _ => Expansion::One(Scalar::hole(Origin::Unknown, self.armed)),
                }
            }
            _ => {
                let value = self.lookup(name);
                // `set -u`: what comes from the environment may not be there.
                if self.state.ends_on_unset && (matches!(value, Expansion::Unset) || self.scope.get(name).is_none()) {
                    self.state.may_have_ended = true;
                    self.complain();
                }
                value
            }
        }
    }

    /// A variable's value.
    pub(crate) fn lookup(&self, name: &[u8]) -> Expansion {
        let Some(entry) = self.scope.get(name) else {
            return match self.state.fog {
                Fog::All => Expansion::One(Scalar::hole(Origin::Unknown, self.armed)),
                _ => Expansion::One(self.environment(name)),
            };
        };
        if entry.odd || self.state.fog != Fog::None {
            let crafted = match self.state.fog {
                Fog::All => self.armed,
                Fog::None | Fog::Touched => self.armed_names.contains(name),
            };
            return Expansion::One(Scalar::hole(Origin::Unknown, crafted));
        }
        match &entry.held {
            Held::Unset(_) => Expansion::Unset,
            Held::Scalar(scalar) => Expansion::One(scalar.clone()),
            Held::Array(items) if self.state.dialect == Dialect::Zsh => Expansion::Many(items.as_shared().clone()),
            Held::Array(_) if self.state.dialect == Dialect::Other => Expansion::ManyUnknown,
            Held::Array(items) => items.first().map_or(Expansion::Unset, |item| Expansion::One(item.clone())),
            Held::Unknown { crafted } => Expansion::One(Scalar::hole(Origin::Unknown, *crafted)),
            Held::Defined { .. } => Expansion::One(Scalar::unknown()),
        }
    }

    /// Whether any variable may hold something that arithmetic would run.
    fn foggy(&self) -> bool {
        self.state.fog == Fog::All && self.armed
    }

    pub(crate) fn lookup_scalar(&self, name: &[u8]) -> Scalar {
        match self.lookup(name) {
            Expansion::One(scalar) => scalar,
            Expansion::Unset => Scalar::exact(b"", Known::Absent),
            Expansion::Many(_) | Expansion::ManyUnknown => Scalar::hole(Origin::Unknown, self.armed),
        }
    }

    /// A variable that this call has not touched. The environment at run time is another than now, but for these.
    fn environment(&self, name: &[u8]) -> Scalar {
        let path = |path: Option<&std::path::Path>| match path {
            Some(path) if !self.state.elsewhere || self.state.may_be_here => {
                Scalar::exact(path.as_os_str().as_bytes(), Known::Place)
            }
            _ => Scalar::unknown(),
        };
        match name {
            b"PWD" => path(self.state.cwd.only()),
            b"OLDPWD" => path(self.state.before.only()),
            b"HOME" => path(self.context.home),
            _ if NUMBERS.contains(&name) && variable::is_number(self.state.dialect, name) => Scalar::number(),
            b"BASH_ARGV0" | b"BASH_COMMAND" | b"BASH_EXECUTION_STRING" | b"FUNCNAME" => Scalar::crafted(),
            _ => Scalar::unknown(),
        }
    }

    /// Reads a subscript; it may run commands.
    pub(crate) fn subscript(&mut self, name: &[u8], subscript: &'t Subscript<'t>) -> Index {
        let value = self.scalar_of(&subscript.parts, Position::Quoted);
        // bash expands a process substitution here too.
        let starts = |text: &[u8]| text.windows(2).any(|pair| matches!(pair, b"<(" | b">("));
        let written = |part: &Syntactic<'_>| match part {
            Syntactic::Literal { text, .. } | Syntactic::Quoted { text, .. } => starts(text),
            _ => false,
        };
        if subscript.parts.iter().any(written) {
            let span = self.span(subscript.span);
            self.evaluates_again(span);
        }
        match value.bytes() {
            Some(b"@") => Index::All,
            Some(b"*") => Index::Joined,
            _ if self.scope.get(name).is_some_and(|entry| entry.map) && self.state.fog == Fog::None => Index::Unknown,
            _ => {
                let span = self.span(subscript.span);
                let number = self.evaluate(&value, span);
                let index = number.bytes().and_then(|b| std::str::from_utf8(b).ok()).and_then(|n| n.parse().ok());
                index.map_or(Index::Unknown, Index::At)
            }
        }
    }

    /// `${...}` into the word.
    pub(crate) fn parameter(&mut self, parameter: &'t Parameter<'t>, fields: &mut Fields<'_>, position: Position) {
        let quoted = position == Position::Quoted;
        let index = parameter.subscript.as_ref().map(|subscript| self.subscript(&parameter.name, subscript));
        // Without a subscript only zsh takes a name for a whole array.
        let joined = match index {
            Some(Index::Joined) => true,
            Some(_) => false,
            // `"${!x@}"` is a word for each name that begins so, and none where there is none.
            None => &*parameter.name != b"@" && !matches!(parameter.operation, Operation::Names),
        };
        let noted = self.noted();
        let base = self.base(parameter, index.as_ref());
        if only_asks(&parameter.operation) {
            self.take_back(noted);
        }
        let value = match &parameter.operation {
            Operation::Fallback { kind, colon, word } => {
                return self.fallback(parameter, &base, *kind, *colon, word, fields, position);
            }
            Operation::Value => base,
            Operation::Names => Expansion::ManyUnknown,
            Operation::Length => Expansion::One(length(&base, matches!(index, Some(Index::All | Index::Joined)))),
            Operation::Trim { suffix, longest, pattern } => {
                let pattern = self.pattern(pattern);
                each(&base, |value| trimmed(value, pattern.as_deref(), *suffix, *longest))
            }
            Operation::Replace { all, pattern, replacement } => {
                let (anchor, pieces) = self.replace_pattern(pattern, *all);
                let with = match replacement {
                    Some(word) => self.scalar(word, Position::Single),
                    None => Scalar::exact(b"", Known::Absent),
                };
                each(&base, |value| replaced(value, pieces.as_deref(), &with, anchor, *all))
            }
            Operation::Substring { offset, length } => {
                let offset = self.arithmetic(offset);
                let length = length.as_ref().map(|length| self.arithmetic(length));
                if length.as_ref().is_some_and(|length| length.bytes().is_none_or(|bytes| bytes.starts_with(b"-"))) {
                    self.may_abort();
                }
                match &base {
                    Expansion::One(value) => Expansion::One(cut(value, &offset, length.as_ref())),
                    Expansion::Unset => Expansion::Unset,
                    Expansion::Many(_) | Expansion::ManyUnknown => Expansion::ManyUnknown,
                }
            }
            Operation::Case { operator, all, pattern } => {
                let plain = self.pattern(pattern).is_some_and(|p| p.is_empty());
                each(&base, |value| match value.bytes() {
                    Some(bytes) if plain && bytes.is_ascii() && !self.state.patterns_unsure => {
                        Scalar::exact(&change_case(bytes, *operator, *all), Known::Recased)
                    }
                    _ => Scalar::hole(Origin::Unknown, value.may_run_in_arithmetic()),
                })
            }
            Operation::Transform(letter) => self.transform(parameter, &base, *letter),
        };
        // zsh joins an array in quotes before it works on it.
        let whole = matches!(parameter.operation, Operation::Value | Operation::Length);
        let value = match value {
            Expansion::Many(_) if quoted && joined && !whole && self.state.dialect.may_be_zsh() => {
                Expansion::ManyUnknown
            }
            value => value,
        };
        self.push(&value, quoted, joined, fields);
    }

    /// What the name gives before the operation.
    fn base(&mut self, parameter: &Parameter<'t>, index: Option<&Index>) -> Expansion {
        if parameter.indirect {
            return self.indirect(parameter, index);
        }
        self.uses_variable(&parameter.name);
        let Some(index) = index else { return self.variable(&parameter.name) };
        let held = match self.scope.get(&parameter.name) {
            Some(entry) if entry.others && !matches!(index, Index::At(0)) => Held::Unknown { crafted: self.armed },
            Some(entry) if !entry.odd && self.state.fog == Fog::None => entry.held.clone(),
            Some(_) => Held::Unknown { crafted: self.armed_names.contains(&*parameter.name) || self.foggy() },
            None => Held::Unknown { crafted: &*parameter.name == b"BASH_ARGV" || self.foggy() },
        };
        match (held, index) {
            // Elsewhere arrays begin with 1, and a subscript of a string is a place in it.
            (held, Index::At(_)) if self.state.dialect != Dialect::Bash => {
                Expansion::One(Scalar::hole(Origin::Unknown, crafted(Some(&held)) || self.armed))
            }
            (Held::Array(items), Index::All | Index::Joined) => Expansion::Many(items.as_shared().clone()),
            (Held::Array(items), Index::At(at)) => match items.get(*at) {
                Some(item) => Expansion::One(item.clone()),
                None => Expansion::Unset,
            },
            (Held::Scalar(scalar), Index::All | Index::Joined) => Expansion::Many(Rc::from([scalar])),
            (Held::Scalar(scalar), Index::At(0)) => Expansion::One(scalar),
            (Held::Unset(_), Index::All | Index::Joined) => Expansion::Many(Rc::from([])),
            (Held::Unset(_) | Held::Scalar(_), Index::At(_)) => Expansion::Unset,
            // `PIPESTATUS` holds numbers, whatever it holds.
            (Held::Unknown { crafted: false }, Index::At(_)) if &*parameter.name == b"PIPESTATUS" => {
                Expansion::One(Scalar::number())
            }
            (Held::Unknown { .. } | Held::Defined { .. }, Index::All | Index::Joined) => Expansion::ManyUnknown,
            (Held::Unknown { crafted }, _) => Expansion::One(Scalar::hole(Origin::Unknown, crafted)),
            _ => Expansion::One(Scalar::hole(Origin::Unknown, self.armed)),
        }
    }

    /// `${!x}`: the value of `x` is a name, perhaps with a subscript, which is evaluated.
    fn indirect(&mut self, parameter: &Parameter<'t>, index: Option<&Index>) -> Expansion {
        if matches!(index, Some(Index::All | Index::Joined)) {
            // `${!a[@]}`: the subscripts in use.
            return match self.scope.get(&parameter.name).map(|entry| (&entry.held, entry.odd || entry.map)) {
                Some((Held::Array(items), false)) if self.state.fog == Fog::None => Expansion::Many(
                    (0..items.len()).map(|n| Scalar::exact(n.to_string().as_bytes(), Known::Counted)).collect(),
                ),
                _ => Expansion::ManyUnknown,
            };
        }
        let name = match self.variable(&parameter.name) {
            Expansion::One(name) => name,
            Expansion::Unset => {
                self.may_abort();
                return Expansion::Unset;
            }
            Expansion::Many(_) | Expansion::ManyUnknown => return Expansion::ManyUnknown,
        };
        match name.bytes() {
            Some(bytes) if is_name(bytes) || bytes.iter().all(u8::is_ascii_digit) => {
                let bytes = bytes.to_vec();
                self.uses_variable(&bytes);
                self.variable(&bytes)
            }
            _ => {
                self.may_abort();
                self.uses_some_variable();
                let built = matches!(&name, Scalar::Shaped(shaped) if self.armed && shaped.origin == Origin::Unknown);
                if name.may_run_in_arithmetic() || built {
                    let span = self.span(parameter.span);
                    self.opaque(
                        Code::EvaluatesAgain,
                        "A variable's name is made up at run time, and such a name can run commands.",
                        span,
                    );
                }
                Expansion::ManyUnknown
            }
        }
    }

    /// `${x:=a}` sets `x`; `${x[1]:=a}` an element, and `${!x:=a}` the variable that `x` names.
    fn assigned(&mut self, parameter: &Parameter<'t>, held: Held<super::Definition<'t>>) {
        if parameter.indirect {
            self.lose_variables();
            let span = self.span(parameter.span);
            let text = "Which variable is set here is not known; it may change what runs.";
            return self.opaque(Code::Environment, text, span);
        }
        let held = if parameter.subscript.is_some() { Held::Unknown { crafted: true } } else { held };
        self.set(&parameter.name, held);
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one expansion")]
    fn fallback(
        &mut self,
        parameter: &'t Parameter<'t>,
        base: &Expansion,
        kind: Fallback,
        colon: bool,
        word: &'t Syntax<'t>,
        fields: &mut Fields<'_>,
        position: Position,
    ) {
        let quoted = position == Position::Quoted;
        let joined = match &parameter.subscript {
            Some(subscript) => {
                matches!(&*subscript.parts, [Syntactic::Literal { text, .. } | Syntactic::Quoted { text, .. }] if &**text == b"*")
            }
            None => &*parameter.name != b"@",
        };
        let has = has_value(base, colon);
        // `"${x-"$@" b}"` becomes several words, by rules of its own.
        if quoted && !fields.is_single() && mentions_list(&word.parts) {
            let mark = self.scope.mark();
            self.scalar(word, Position::Single);
            let changes = self.scope.take(mark);
            self.scope.join(vec![changes], false);
            if kind == Fallback::Error {
                self.may_abort();
            }
            if kind == Fallback::Assign {
                self.assigned(parameter, Held::Unknown { crafted: true });
            }
            return fields.hole(Origin::Unknown, true);
        }
        if self.state.dialect.may_be_zsh() && !quoted && !fields.is_single() && has_odd_literal(word) {
            // To zsh the word is a pattern, and more than one.
            let value = self.scalar(word, Position::Assignment);
            if kind == Fallback::Assign && has != Some(true) {
                self.assigned(parameter, Held::Unknown { crafted: value.may_run_in_arithmetic() });
            }
            if kind == Fallback::Error {
                self.may_abort();
            }
            self.push(base, quoted, joined, fields);
            return fields.blur(self.armed);
        }
        match (kind, has) {
            (Fallback::Use | Fallback::Assign | Fallback::Error, Some(true)) | (Fallback::Alternative, Some(false)) => {
                let value = if kind == Fallback::Alternative { Expansion::Unset } else { base.clone() };
                self.push(&value, quoted, joined, fields);
            }
            (Fallback::Use, Some(false)) | (Fallback::Alternative, Some(true)) => {
                if quoted {
                    return self.parts(&word.parts, fields, Position::Quoted);
                }
                // `${x:+a b}` without quotes is split at its own blanks.
                let blank = |part: &Syntactic<'_>| matches!(part, Syntactic::Literal { text, .. } if !text.iter().all(|b| b.is_ascii_alphanumeric() || b"_-./~".contains(b)));
                if fields.is_single() || !word.parts.iter().any(blank) {
                    return self.parts(&word.parts, fields, Position::Argument);
                }
                for part in &word.parts {
                    match part {
                        Syntactic::Literal { text, .. } if text.contains(&b'~') => fields.hole(Origin::Unknown, true),
                        Syntactic::Literal { text, .. } => self.unquoted(&Scalar::exact(text, Known::Written), fields),
                        part => self.parts(std::slice::from_ref(part), fields, Position::Argument),
                    }
                }
            }
            (Fallback::Assign, Some(false)) => {
                let value = self.scalar(word, Position::Assignment);
                self.assigned(parameter, Held::Scalar(value.clone()));
                self.push(&Expansion::One(value), quoted, joined, fields);
            }
            (Fallback::Error, Some(false)) => {
                self.may_abort();
                self.scalar(word, Position::Single);
                fields.hole(Origin::Unknown, !quoted);
            }
            (kind, None) => {
                if kind == Fallback::Error {
                    self.may_abort();
                }
                // Either may be the case: what stands in the word may run.
                let mark = self.scope.mark();
                let value = self.scalar(word, Position::Assignment);
                if kind == Fallback::Assign {
                    self.assigned(parameter, Held::Scalar(value.clone()));
                }
                let changes = self.scope.take(mark);
                self.scope.join(vec![changes], false);
                let merged = match (kind, base) {
                    (Fallback::Error, base) => base.clone(),
                    (Fallback::Alternative, _) => Expansion::One(value.merge(&Scalar::exact(b"", Known::Absent))),
                    (_, Expansion::One(base)) => Expansion::One(value.merge(base)),
                    _ => Expansion::ManyUnknown,
                };
                self.push(&merged, quoted, joined, fields);
            }
        }
    }

    fn replace_pattern(&mut self, pattern: &'t Syntax<'t>, all: bool) -> (Anchor, Option<Vec<Piece>>) {
        let pieces = self.pattern(pattern);
        let first = match pattern.parts.first() {
            Some(crate::syntax::tree::Part::Literal { text, .. }) if !all => text.first().copied(),
            _ => None,
        };
        let anchor = match first {
            Some(b'#') => Anchor::Start,
            Some(b'%') => Anchor::End,
            _ => return (Anchor::Anywhere, pieces),
        };
        (anchor, pieces.map(|pieces| pieces.into_iter().skip(1).collect()))
    }

    fn transform(&mut self, parameter: &Parameter<'t>, base: &Expansion, letter: u8) -> Expansion {
        match letter {
            b'U' | b'L' | b'u' if self.state.patterns_unsure => {
                each(base, |v| Scalar::hole(Origin::Unknown, v.may_run_in_arithmetic()))
            }
            b'U' => each(base, |v| cased(v, b'^', true)),
            b'L' => each(base, |v| cased(v, b',', true)),
            b'u' => each(base, |v| cased(v, b'^', false)),
            b'P' => {
                let tame = match base {
                    Expansion::One(Scalar::Exact(bytes)) => !bytes.iter().any(|b| b"$`\\!".contains(b)),
                    Expansion::Unset => true,
                    _ => false,
                };
                if tame {
                    return base.clone();
                }
                let span = self.span(parameter.span);
                self.opaque(Code::ExpandsAgain, "`@P` expands the value again, and may run commands.", span);
                Expansion::ManyUnknown
            }
            _ => match base {
                Expansion::Unset => Expansion::Unset,
                Expansion::One(_) => Expansion::One(Scalar::crafted()),
                Expansion::Many(_) | Expansion::ManyUnknown => Expansion::ManyUnknown,
            },
        }
    }
}

/// Whether an operation tells no more of a value than that there is one, or how long it is.
fn only_asks(operation: &Operation<'_>) -> bool {
    matches!(operation, Operation::Length | Operation::Names | Operation::Fallback { kind: Fallback::Alternative, .. })
}

/// Whether bash takes this for a variable's name.
pub(crate) fn is_name(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

/// Whether there is a value; `None`: nobody knows.
fn has_value(base: &Expansion, colon: bool) -> Option<bool> {
    match base {
        Expansion::Unset => Some(false),
        Expansion::One(Scalar::Exact(bytes)) => Some(!colon || !bytes.is_empty()),
        Expansion::One(scalar) => scalar.is_certainly_full().then_some(true),
        Expansion::Many(items) => match &**items {
            [] => Some(false),
            [only] if colon => only.bytes().map(|bytes| !bytes.is_empty()),
            _ => Some(true),
        },
        Expansion::ManyUnknown => None,
    }
}

fn each(base: &Expansion, f: impl Fn(&Scalar) -> Scalar) -> Expansion {
    match base {
        // `${x/*/y}` of an empty value is `y`, of none it is nothing.
        Expansion::Unset => Expansion::Unset,
        Expansion::One(value) => Expansion::One(f(value)),
        Expansion::Many(items) => Expansion::Many(items.iter().map(f).collect()),
        Expansion::ManyUnknown => Expansion::ManyUnknown,
    }
}

/// Whether parts hold `$@` or an array.
fn mentions_list(parts: &[Syntactic<'_>]) -> bool {
    parts.iter().any(|part| match part {
        Syntactic::Variable { name, .. } => &**name == b"@",
        Syntactic::DoubleQuoted { parts, .. } => mentions_list(parts),
        Syntactic::Parameter(parameter) => {
            &*parameter.name == b"@"
                || parameter.subscript.is_some()
                || matches!(parameter.operation, Operation::Names)
                || matches!(&parameter.operation, Operation::Fallback { word, .. } if mentions_list(&word.parts))
        }
        _ => false,
    })
}

fn length(base: &Expansion, count: bool) -> Scalar {
    let number = match base {
        Expansion::Unset => Some(0),
        Expansion::One(Scalar::Exact(bytes)) if bytes.is_ascii() => Some(if count { 1 } else { bytes.len() }),
        Expansion::Many(items) => Some(items.len()),
        _ => None,
    };
    number.map_or_else(Scalar::number, |n| Scalar::exact(n.to_string().as_bytes(), Known::Counted))
}

fn cased(value: &Scalar, operator: u8, all: bool) -> Scalar {
    match value.bytes() {
        Some(bytes) if bytes.is_ascii() => Scalar::exact(&change_case(bytes, operator, all), Known::Recased),
        _ => Scalar::hole(Origin::Unknown, value.may_run_in_arithmetic()),
    }
}

fn trimmed(value: &Scalar, pattern: Option<&[Piece]>, suffix: bool, longest: bool) -> Scalar {
    let unknown = Scalar::hole(Origin::Unknown, value.may_run_in_arithmetic());
    let Some(pattern) = pattern else { return unknown };
    match value {
        Scalar::Exact(bytes) if bytes.len() <= MAX_WORKED && counts_bytes(pattern, bytes) => {
            Scalar::exact(trim(bytes, pattern, suffix, longest), Known::Cut)
        }
        Scalar::Shaped(shaped) => {
            let literal: Option<Vec<u8>> =
                pattern.iter().map(|piece| if let Piece::Byte(byte) = piece { Some(*byte) } else { None }).collect();
            match literal {
                Some(literal) if suffix => without_suffix(shaped, &literal).unwrap_or(unknown),
                // `${f##*/}` of a name that a glob found is a name without a slash.
                None if !suffix && longest && *pattern == [Piece::AnyBytes, Piece::Byte(b'/')] => {
                    file_name(shaped).unwrap_or(unknown)
                }
                _ => unknown,
            }
        }
        Scalar::Exact(_) => unknown,
    }
}

/// `${f%.c}` where `f` is a name that ends in `.c`.
fn without_suffix(shaped: &Shaped, suffix: &[u8]) -> Option<Scalar> {
    let (last, front) = shaped.parts.split_last()?;
    let Part::Literal(text) = last else { return None };
    let kept = text.as_bytes().strip_suffix(suffix)?;
    let mut parts = front.to_vec();
    if !kept.is_empty() {
        parts.push(Part::Literal(Text::from(kept)));
    }
    Some(Scalar::Shaped(Rc::new(Shaped { parts, either: Vec::new(), ..shaped.clone() })))
}

fn file_name(shaped: &Shaped) -> Option<Scalar> {
    let (first, rest) = shaped.parts.split_first()?;
    if rest.iter().chain([first]).any(|part| matches!(part, Part::Hole)) {
        return None;
    }
    let slash = |part: &Part| matches!(part, Part::Literal(text) if text.as_bytes().contains(&b'/'));
    if rest.iter().any(slash) {
        return None;
    }
    let mut parts = Vec::new();
    match first {
        Part::Literal(text) => {
            let tail = text.as_bytes().rsplit(|b| *b == b'/').next().unwrap_or_default();
            if !tail.is_empty() {
                parts.push(Part::Literal(Text::from(tail)));
            }
        }
        other => parts.push(other.clone()),
    }
    parts.extend_from_slice(rest);
    Some(Scalar::Shaped(Rc::new(Shaped { parts, either: Vec::new(), ..shaped.clone() })))
}

fn replaced(value: &Scalar, pattern: Option<&[Piece]>, with: &Scalar, anchor: Anchor, all: bool) -> Scalar {
    match (value.bytes(), pattern, with.bytes()) {
        // `&` in the replacement stands for the match, if a switch says so.
        (Some(bytes), Some(pattern), Some(with))
            if bytes.len() <= MAX_WORKED / 2
                && counts_bytes(pattern, bytes)
                && !with.iter().any(|b| b"&\\".contains(b)) =>
        {
            Scalar::exact(&replace(bytes, pattern, with, anchor, all), Known::Cut)
        }
        _ => Scalar::hole(Origin::Unknown, value.may_run_in_arithmetic() || with.may_run_in_arithmetic()),
    }
}

/// Whether a pattern takes from a value what it seems to take: what is one character of it beyond ASCII is the locale's
/// business.
fn counts_bytes(pattern: &[Piece], value: &[u8]) -> bool {
    value.is_ascii() && pattern.iter().all(|piece| !matches!(piece, Piece::Byte(byte) if !byte.is_ascii()))
}

fn cut(value: &Scalar, offset: &Scalar, length: Option<&Scalar>) -> Scalar {
    let number = |scalar: &Scalar| {
        scalar.bytes().and_then(|b| std::str::from_utf8(b).ok()).and_then(|n| n.trim().parse::<i64>().ok())
    };
    let unknown = || Scalar::hole(Origin::Unknown, value.may_run_in_arithmetic());
    let (Some(bytes), Some(offset)) = (value.bytes(), number(offset)) else { return unknown() };
    let length = match length.map(number) {
        Some(None) => return unknown(),
        Some(length) => length,
        None => None,
    };
    if !bytes.is_ascii() {
        return unknown();
    }
    substring(bytes, offset, length).map_or_else(unknown, |piece| Scalar::exact(piece, Known::Cut))
}
