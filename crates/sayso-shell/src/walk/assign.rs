//! Assignments: what variables hold afterwards, and what that changes.

use super::expand::{Position, has_braces};
use super::parameter::{Index, is_name};
use super::{Definition, Fog, Walker};
use crate::Dialect;
use crate::certain::Items;
use crate::certain::value::Known;
use crate::certain::variable::{Meaning, is_kept_by_bash, is_tame_prompt, is_usual_locale, may_compute, meaning};
use crate::dialect::variable::{Steers, steers};
use crate::effect::Span;
use crate::program::{Code, changes_what_runs, names_output};
use crate::syntax::tree::{Array, Assignment, AssignmentValue, Part, Word as Syntax};
use crate::value::field::Globbing;
use crate::value::scope::{Entry, Held, crafted};
use crate::value::{Scalar, arithmetic};
use crate::word::{Text, Word};

/// Longer arrays are not kept element by element.
const MAX_ELEMENTS: usize = 256;

/// A declaration's argument (`export A=1`), read with the rules of assignments.
#[derive(Clone, Debug)]
pub(crate) struct Assigned<'t> {
    /// Which word of the command it is.
    pub(crate) at: usize,
    pub(crate) name: Vec<u8>,
    pub(crate) held: Held<Definition<'t>>,
}

/// Of variables that steer programs no more than these are kept in mind.
const MAX_STEERING: usize = 32;

impl<'t> Walker<'t> {
    /// An assignment in the shell itself.
    pub(crate) fn assign(&mut self, assignment: &'t Assignment<'t>) {
        let index = assignment.subscript.as_ref().map(|subscript| self.subscript(&assignment.name, subscript));
        // `a[-1]=x` of what holds nothing is an error, and so is an empty subscript.
        if matches!(index, Some(Index::Unknown)) {
            self.may_abort();
        }
        self.state.stops |= index.is_some() && self.state.dialect.may_be_zsh();
        let held = match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let value = self.scalar(word, Position::Assignment);
                Held::Scalar(match (assignment.append, &index) {
                    (false, _) => value,
                    (true, None) => self.appended(&assignment.name, &value),
                    // What the element held is not followed.
                    (true, Some(_)) => {
                        Scalar::hole(crate::word::Origin::Unknown, self.armed || value.may_run_in_arithmetic())
                    }
                })
            }
            AssignmentValue::Array(array) => {
                let new = self.array(&assignment.name, array);
                if assignment.append { self.extended(&assignment.name, new) } else { new }
            }
        };
        let span = self.span(assignment.span);
        match index {
            None => self.set_at(&assignment.name, held, span),
            Some(index) => self.set_element(&assignment.name, &index, held, span),
        }
    }

    fn appended(&self, name: &[u8], value: &Scalar) -> Scalar {
        match (self.lookup_scalar(name).bytes(), value.bytes()) {
            (Some(old), Some(new)) if old.len() + new.len() <= crate::limit::MAX_VALUE => {
                Scalar::exact(&[old, new].concat(), Known::Joined)
            }
            _ => self.lookup_scalar(name).merge(value).merge(&Scalar::unknown()),
        }
    }

    fn extended(&self, name: &[u8], new: Held<Definition<'t>>) -> Held<Definition<'t>> {
        let old = match self.scope.get(name) {
            Some(entry) if !entry.odd && self.state.fog == Fog::None => &entry.held,
            entry => {
                let old = entry.is_some_and(|entry| crafted(Some(&entry.held)));
                return Held::Unknown { crafted: old || self.may_be_armed(name) || crafted(Some(&new)) };
            }
        };
        match (old, &new) {
            (Held::Array(old), Held::Array(more)) if old.len() + more.len() <= MAX_ELEMENTS => {
                Held::Array(old.and(more))
            }
            (Held::Unset(_), _) => new,
            _ => Held::Unknown { crafted: crafted(Some(old)) || crafted(Some(&new)) },
        }
    }

    /// `( ... )`.
    pub(crate) fn array(&mut self, name: &[u8], array: &'t Array<'t>) -> Held<Definition<'t>> {
        let mut words = Vec::new();
        let mut plain = true;
        let mut armed = false;
        for element in &array.elements {
            match &element.subscript {
                None => {
                    let begin = words.len();
                    self.argument(&element.value, &mut words);
                    // `p x=~` is the home folder for `p`, but not in an array.
                    let text = |sign: u8| move |part: &Part<'_>| matches!(part, Part::Literal { text, .. } if text.contains(&sign));
                    let parts = &element.value.parts;
                    if parts.iter().any(text(b'=')) && parts.iter().any(text(b'~')) {
                        words.truncate(begin);
                        words.push(Word::Opaque);
                    }
                }
                Some(subscript) => {
                    plain = false;
                    self.subscript(name, subscript);
                    let value = self.scalar(&element.value, Position::Assignment);
                    armed |= value.may_run_in_arithmetic();
                }
            }
        }
        // Only words of certain number keep their places.
        let items = Items::of_words(&words, self.armed).filter(|_| plain && words.len() <= MAX_ELEMENTS);
        armed |= words.iter().any(|word| Scalar::from_word(word, self.armed).may_run_in_arithmetic());
        self.armed |= armed;
        items.map_or(Held::Unknown { crafted: armed }, Held::Array)
    }

    /// Sets a variable from within an expansion or a builtin.
    pub(crate) fn set(&mut self, name: &[u8], held: Held<Definition<'t>>) {
        self.set_at(name, held, Span::default());
    }

    /// Sets a variable, and takes note if that changes what the shell or programs do.
    pub(crate) fn set_at(&mut self, name: &[u8], held: Held<Definition<'t>>, span: Span) {
        // An assignment to a readonly variable fails, and what it holds is what it was.
        self.arm(name, &held);
        if self.is_readonly(name) {
            self.may_abort();
        }
        let held = if self.integers.contains(name) {
            self.computes(&held, span);
            Held::Unknown { crafted: self.armed_names.contains(name) }
        } else {
            held
        };
        // Some variables are born so.
        if may_compute(name) {
            self.computes(&held, span);
        }
        let held = if self.is_readonly(name) || self.state.line_may_be_left || may_compute(name) {
            Held::Unknown { crafted: self.armed_names.contains(name) }
        } else {
            held
        };
        let old = self.scope.get(name);
        // `m=(key value)` of what is a map: every other word is a subscript.
        let held = match held {
            Held::Array(_) if old.is_some_and(|entry| entry.map) => Held::Unknown { crafted: crafted(Some(&held)) },
            held => held,
        };
        let (exported, odd, map) = old.map_or((false, false, false), |entry| (entry.exported, entry.odd, entry.map));
        // A string that is given to an array is its first element: the others are still there.
        let array = |entry: &Entry<_>| entry.others || matches!(entry.held, Held::Array(_) | Held::Unknown { .. });
        let others = matches!(held, Held::Scalar(_)) && old.is_some_and(array);
        // `declare -i` evaluates what is assigned.
        if odd && !map && !may_compute(name) {
            self.computes(&held, span);
        }
        self.notice(name, &held, span);
        let exported = exported || self.state.exports_all == Some(true);
        self.scope.set(name, Some(Entry { held, exported, odd, map, others }));
    }

    /// Whether bash may refuse to assign to it.
    fn is_readonly(&self, name: &[u8]) -> bool {
        self.state.readonly.iter().any(|known| known == name)
            || matches!(name, b"BASHOPTS" | b"SHELLOPTS" | b"UID" | b"EUID" | b"PPID" | b"BASH_VERSINFO")
    }

    pub(super) fn arm(&mut self, name: &[u8], held: &Held<Definition<'t>>) {
        self.assigning = self.assigning || holds_assignment(held);
        if crafted(Some(held)) {
            self.armed = true;
            if !self.armed_names.contains(name) {
                self.armed_names.insert(name.into());
            }
        }
    }

    fn set_element(&mut self, name: &[u8], index: &Index, held: Held<Definition<'t>>, span: Span) {
        if self.scope.get(name).is_some_and(|entry| entry.odd) {
            let armed = crafted(Some(&held)) || self.armed_names.contains(name);
            return self.set_at(name, Held::Unknown { crafted: armed }, span);
        }
        let old = self.scope.get(name).map(|entry| entry.held.clone());
        let armed = crafted(Some(&held)) || crafted(old.as_ref()) || self.may_be_armed(name);
        let index = if self.state.dialect == Dialect::Bash { index } else { &Index::Unknown };
        let new = match (old, index, held) {
            (Some(Held::Array(items)), Index::At(at), Held::Scalar(value)) if *at < MAX_ELEMENTS => {
                items.with(*at, value).map_or(Held::Unknown { crafted: armed }, Held::Array)
            }
            (Some(Held::Unset(_)), Index::At(0), Held::Scalar(value)) => Held::Array(Items::of_one(value)),
            _ => Held::Unknown { crafted: armed },
        };
        self.set_at(name, new, span);
    }

    /// Some variables steer the shell or the programs it starts.
    pub(crate) fn notice(&mut self, name: &[u8], held: &Held<Definition<'t>>, span: Span) {
        self.steered(name, span);
        match meaning(name) {
            Meaning::Ordinary => {}
            Meaning::Search => self.state.path_changed = true,
            Meaning::Patterns => {
                self.state.globbing = Globbing::Unknown;
                self.state.patterns_unsure = true;
            }
            Meaning::Locale => {
                let usual = match held {
                    Held::Scalar(Scalar::Exact(text)) => is_usual_locale(text),
                    held => matches!(held, Held::Unset(_)),
                };
                if !usual {
                    self.state.globbing = Globbing::Unknown;
                    self.state.patterns_unsure = true;
                }
            }
            Meaning::Prompt => {
                let tame = match held {
                    Held::Scalar(Scalar::Exact(text)) => is_tame_prompt(text),
                    held => matches!(held, Held::Unset(_)),
                };
                if !tame {
                    self.opaque(Code::ExpandsAgain, "A prompt is expanded whenever it is shown.", span);
                }
            }
            // Before each prompt of a shell that stays.
            Meaning::BeforePrompt => match held {
                Held::Scalar(Scalar::Exact(text)) => self.traps.push((text.as_shared().clone(), span)),
                Held::Unset(_) => {}
                _ => self.opaque(Code::DynamicText, "A shell runs text that is not known.", span),
            },
            Meaning::Aliases => {
                self.state.aliases = true;
                self.opaque(Code::Alias, "Which names are aliased here is not known.", span);
            }
            Meaning::Unmodelled => {
                self.opaque(Code::OtherGrammar, "From here on the shell reads commands by other rules.", span);
            }
        }
        // The first byte keeps ordinary names out of the table.
        if name == b"IFS" || name.len() < 2 {
            return;
        }
        let Ok(text) = std::str::from_utf8(name) else { return };
        if changes_what_runs(text) || names_output(text) {
            if self.steering.len() >= MAX_STEERING {
                return self.opaque(Code::Environment, "Too many variables that change what runs are set here.", span);
            }
            let value = match held {
                Held::Scalar(scalar) => scalar.to_word(),
                _ => Word::Opaque,
            };
            self.steering.retain(|(known, _)| known.as_bytes() != name);
            self.steering.push((Text::from(name), value));
        }
    }

    /// Another shell keeps variables of its own.
    fn steered(&mut self, name: &[u8], span: Span) {
        match steers(self.state.dialect, name) {
            Steers::Nothing => {}
            Steers::Path => self.state.path_changed = true,
            Steers::Shell => self.opaque(Code::Dialect, "To zsh this variable changes what the shell does.", span),
            Steers::Stops => self.state.stops = true,
        }
    }

    /// An assignment before a command, for that command alone.
    pub(crate) fn prefix(&mut self, assignment: &'t Assignment<'t>) -> (Text, Scalar) {
        if let Some(subscript) = &assignment.subscript {
            self.subscript(&assignment.name, subscript);
            // A subscript that zsh cannot compute ends it: `a['1']=x echo b`.
            self.state.stops |= self.state.dialect.may_be_zsh();
        }
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => self.scalar(word, Position::Assignment),
            AssignmentValue::Array(array) => {
                self.array(&assignment.name, array);
                Scalar::crafted()
            }
        };
        let value = if assignment.append { self.appended(&assignment.name, &value) } else { value };
        // What cannot be assigned to keeps what it holds, and with attributes it holds something else.
        let odd = self.scope.get(&assignment.name).is_some_and(|entry| entry.odd);
        let value = if odd || self.is_readonly(&assignment.name) {
            self.may_abort();
            Scalar::hole(crate::word::Origin::Unknown, self.armed || value.may_run_in_arithmetic())
        } else {
            value
        };
        let span = self.span(assignment.span);
        // zsh computes what it keeps as a number even where it is set for one command alone.
        let computes = if self.state.dialect.may_be_zsh() { may_compute } else { is_kept_by_bash };
        if computes(&assignment.name) {
            self.evaluate(&value, span);
        }
        self.steered(&assignment.name, span);
        (Text::from(&*assignment.name), value)
    }

    /// Reads an argument of a declaration builtin: not split, and `~` counts behind `=`. `None`: it is a plain word.
    pub(crate) fn declared(&mut self, word: &'t Syntax<'t>, at: usize, argv: &mut Vec<Word>) -> Option<Assigned<'t>> {
        // `declare x={a,b}` becomes two arguments, but not in zsh.
        if has_braces(word) && self.state.dialect != Dialect::Zsh {
            return None;
        }
        let Some(Part::Literal { text, .. }) = word.parts.first() else { return None };
        let end = text.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))?;
        let (name, rest) = text.split_at(end);
        let append = rest.starts_with(b"+=");
        if name.is_empty() || name.first().is_some_and(u8::is_ascii_digit) || !(append || rest.starts_with(b"=")) {
            return None;
        }
        let name = name.to_vec();
        if let [_, Part::Array(array)] = &*word.parts {
            let new = self.array(&name, array);
            let held = match append {
                true if self.in_function() => Held::Unknown { crafted: true },
                true => self.extended(&name, new),
                false => new,
            };
            argv.push(Scalar::crafted().to_word());
            return Some(Assigned { at, name, held });
        }
        let whole = self.scalar(word, Position::NameAndValue);
        let skip = end + if append { 2 } else { 1 };
        let value = match &whole {
            Scalar::Exact(bytes) => Scalar::exact(bytes.get(skip..).unwrap_or_default(), Known::Cut),
            Scalar::Shaped(shaped) => {
                let mut shaped = (**shaped).clone();
                if let Some(crate::word::Part::Literal(first)) = shaped.parts.first() {
                    let kept = Text::from(first.as_bytes().get(skip..).unwrap_or_default());
                    if kept.as_bytes().is_empty() {
                        shaped.parts.remove(0);
                    } else if let Some(first) = shaped.parts.first_mut() {
                        *first = crate::word::Part::Literal(kept);
                    }
                }
                Scalar::Shaped(std::rc::Rc::new(shaped))
            }
        };
        // Older versions of dash split it: `export x=$y` may then set more than `x`.
        let open = |part: &Part<'_>| matches!(part, Part::Variable { .. } | Part::Parameter(_) | Part::Command(_));
        let splits = |bytes: &[u8]| bytes.iter().any(|b| b" \t\n*?[".contains(b));
        if self.state.dialect.may_be_plain() && word.parts.iter().any(open) && whole.bytes().is_some_and(splits) {
            self.lose_variables();
        }
        argv.push(whole.to_word());
        let value = match append {
            // `local x+=a` begins with nothing, unless `x` is local already.
            true if self.in_function() => {
                let armed = self.armed || value.may_run_in_arithmetic();
                Scalar::hole(crate::word::Origin::Unknown, armed)
            }
            true => self.appended(&name, &value),
            false => value,
        };
        Some(Assigned { at, name, held: Held::Scalar(value) })
    }

    /// A value is taken for a variable's name; a subscript in it is evaluated.
    pub(crate) fn names_variable(&mut self, value: &Scalar, span: Span) {
        // `unset a[0]` without quotes is a glob, which hardly ever finds a file.
        let glob = value.to_word().as_pattern();
        let glob = glob.as_ref().map(Text::as_bytes).filter(|glob| !glob.contains(&b'*'));
        match value.bytes().or(glob) {
            Some(bytes) if is_name(bytes) => {}
            Some(bytes) => {
                if let Some(at) = bytes.iter().position(|b| *b == b'[') {
                    let name = bytes.get(..at).unwrap_or_default().to_vec();
                    if meaning(&name) != Meaning::Ordinary {
                        self.notice(&name, &Held::Unknown { crafted: true }, span);
                    }
                    let inside = Scalar::exact(bytes.get(at + 1..).unwrap_or_default(), Known::Cut);
                    self.evaluate(&inside, span);
                }
            }
            None if value.may_run_in_arithmetic() => self.evaluates_again(span),
            None => {
                let text = "Which variable is set here is not known.".to_owned();
                self.doubt(Code::ArithmeticOnUnknown, text, span);
            }
        }
    }

    /// Some variable was set, nobody knows which.
    pub(crate) fn lose_variables(&mut self) {
        self.state.fog = Fog::All;
        self.state.path_changed = true;
    }
}

/// Whether what a variable is given assigns something where it is taken for arithmetic.
fn holds_assignment(held: &Held<Definition<'_>>) -> bool {
    let text = |text: &[u8]| arithmetic::assigns_anything(text);
    let value = |value: &Scalar| match value {
        Scalar::Exact(bytes) => text(bytes),
        Scalar::Shaped(shaped) => {
            shaped.either.iter().any(|bytes| text(bytes))
                || shaped
                    .parts
                    .iter()
                    .any(|part| matches!(part, crate::word::Part::Literal(part) if text(part.as_bytes())))
        }
    };
    match held {
        Held::Scalar(scalar) => value(scalar),
        Held::Array(items) => items.iter().any(value),
        Held::Unknown { .. } | Held::Unset(_) | Held::Defined { .. } => false,
    }
}
