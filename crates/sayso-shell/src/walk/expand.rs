//! Words to values: what bash makes of a word before a command runs.

use super::Walker;
use crate::Dialect;
use crate::certain::value::Known;
use crate::certain::{Output, Printed};
use crate::dialect::{self, Does};
use crate::effect::Span;
use crate::program::Code;
use crate::program::Prints;
use crate::syntax::tree::{
    Command, CommandKind, CommandSubstitution, Connector, List, Part, ProcessSubstitution, Redirect, RedirectOperator,
    RedirectTarget, Word as Syntax,
};
use crate::value::Scalar;
use crate::value::brace::{self, Atom};
use crate::value::field::{Fields, Globbing, Separators};
use crate::value::pattern::{self, Piece};
use crate::value::scope::{Held, alias_key, function_key};
use crate::word::{Origin, Text, Word};
use std::rc::Rc;

/// What a parameter gives.
#[derive(Clone, Debug)]
pub(crate) enum Expansion {
    /// Certainly unset.
    Unset,
    /// One value.
    One(Scalar),
    /// `$@`, `${a[@]}`.
    Many(Rc<[Scalar]>),
    /// The same, of unknown number.
    ManyUnknown,
}

/// Where a word stands decides what is done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// An argument: split, globbed.
    Argument,
    /// The right side of an assignment: `~` also after `:`.
    Assignment,
    /// A word that looks like an assignment, its name included: `~` also after the first `=`.
    NameAndValue,
    /// `case` words, here-strings and the like: not split.
    Single,
    /// Inside double quotes, here-documents and arithmetic.
    Quoted,
}

impl<'t> Walker<'t> {
    /// Expands arguments.
    pub(crate) fn arguments(&mut self, words: &'t [Syntax<'t>], argv: &mut Vec<Word>, spans: &mut Vec<Span>) {
        for word in words {
            self.argument(word, argv);
            let span = self.span(word.span);
            let more = argv.len() - spans.len();
            if more > 1 {
                self.charge(more * 16);
            }
            if argv.len() > crate::limit::MAX_WORDS {
                self.opaque(Code::TooMuchWork, "The command has too many words to be followed.", span);
                argv.truncate(crate::limit::MAX_WORDS);
                argv.push(Word::Opaque);
                spans.resize(argv.len(), span);
                return;
            }
            spans.resize(argv.len(), span);
        }
    }

    /// Expands one argument to none, one or several words.
    pub(crate) fn argument(&mut self, word: &'t Syntax<'t>, out: &mut Vec<Word>) {
        match &*word.parts {
            // To zsh this is the path of a command `=` or `~`, and an error where there is none.
            [Part::Literal { text, .. }]
                if text.starts_with(b"=") && text.len() > 1 && self.state.dialect.may_be_zsh() =>
            {
                self.state.stops = true;
                self.with_fields(out, |_, fields| {
                    fields.quoted(b"/");
                    fields.hole(Origin::Unknown, false);
                    fields.end_word();
                });
                return;
            }
            [Part::Literal { text, .. }] if is_plain(text) => {
                out.push(Word::Exact(Text::from(&**text)));
                return;
            }
            [Part::Quoted { text, .. }] => {
                out.push(Word::Exact(Text::from(&**text)));
                return;
            }
            _ => {}
        }
        self.state.stops |= self.state.dialect.may_be_zsh() && dialect::may_find_nothing(word);
        if has_braces(word) {
            return self.braces(word, out);
        }
        let position = if looks_like_assignment(word) { Position::NameAndValue } else { Position::Argument };
        self.with_fields(out, |walker, fields| {
            walker.parts(&word.parts, fields, position);
            fields.end_word();
        });
    }

    fn with_fields(&mut self, out: &mut Vec<Word>, f: impl FnOnce(&mut Self, &mut Fields<'_>)) {
        let cwd = self.state.cwd.clone();
        let separators = self.separators();
        let from = out.len();
        let mut fields = Fields::new(out, self.state.globbing, separators, cwd.only());
        f(self, &mut fields);
        if self.state.dialect.may_be_zsh() {
            out.iter_mut().skip(from).for_each(dialect::cut_at_nul);
        }
    }

    fn separators(&self) -> Separators {
        if self.state.fog == super::Fog::All {
            return Separators::Unknown;
        }
        match self.scope.get(b"IFS").map(|entry| &entry.held) {
            None | Some(Held::Unset(_)) => Separators::Default,
            // Which bytes beyond ASCII are one character is the locale's business.
            Some(Held::Scalar(Scalar::Exact(set))) if self.state.fog == super::Fog::None && set.is_ascii() => {
                Separators::Set(set.as_shared().clone())
            }
            Some(_) => Separators::Unknown,
        }
    }

    /// The value of a word that is neither split nor globbed.
    pub(crate) fn scalar(&mut self, word: &'t Syntax<'t>, position: Position) -> Scalar {
        match &*word.parts {
            [] => return Scalar::exact(b"", Known::Absent),
            [Part::Quoted { text, .. }] => return Scalar::exact(text, Known::Written),
            [Part::Literal { text, .. }] if !text.contains(&b'~') => return Scalar::exact(text, Known::Written),
            _ => {}
        }
        self.scalar_of(&word.parts, position)
    }

    pub(crate) fn scalar_of(&mut self, parts: &'t [Part<'t>], position: Position) -> Scalar {
        let mut none = Vec::new();
        let mut fields = Fields::new(&mut none, Globbing::Off, Separators::None, None);
        self.parts(parts, &mut fields, position);
        let scalar = fields.into_scalar();
        match scalar.bytes() {
            Some(bytes) if bytes.len() > crate::limit::MAX_VALUE => Scalar::crafted(),
            Some(bytes) => {
                self.charge(bytes.len());
                scalar
            }
            None => scalar,
        }
    }

    /// A word as a pattern; `None` if it is not certain.
    pub(crate) fn pattern(&mut self, word: &'t Syntax<'t>) -> Option<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut known = Some(());
        for part in &word.parts {
            match part {
                Part::Literal { text, .. } => {
                    if self.state.dialect.may_be_zsh() && text.iter().any(|b| b"()|<>^~".contains(b)) {
                        known = None;
                    }
                    known = known.and_then(|()| pattern::parse(text, &mut pieces));
                }
                Part::Quoted { text, .. } => pieces.extend(text.iter().map(|b| Piece::Byte(*b))),
                other => {
                    // A value is no pattern to zsh.
                    if self.state.dialect.may_be_zsh() && !matches!(other, Part::DoubleQuoted { .. }) {
                        known = None;
                    }
                    if self.separators() != Separators::Default {
                        known = None;
                    }
                    let quoted = matches!(other, Part::DoubleQuoted { .. });
                    let value = self.scalar_of(std::slice::from_ref(other), Position::Single);
                    known = known.and_then(|()| match value.bytes() {
                        Some(bytes) if quoted => {
                            pieces.extend(bytes.iter().map(|b| Piece::Byte(*b)));
                            Some(())
                        }
                        Some(bytes) => pattern::parse(bytes, &mut pieces),
                        None => None,
                    });
                }
            }
        }
        known.filter(|()| !self.state.patterns_unsure).map(|()| pieces)
    }

    /// Expands parts side by side.
    pub(crate) fn parts(&mut self, parts: &'t [Part<'t>], fields: &mut Fields<'_>, position: Position) {
        let mut more = false;
        for (at, part) in parts.iter().enumerate() {
            if self.state.dialect.may_be_zsh() && dialect::goes_on(part, parts.get(at + 1)) {
                more = true;
                self.unbraced_subscript(part, parts.get(at + 1..).unwrap_or_default());
            }
            match part {
                Part::Literal { text, .. } => self.literal(text, at == 0, parts.len() == at + 1, fields, position),
                part => self.part(part, fields, position),
            }
        }
        if more {
            fields.blur(self.armed);
        }
    }

    /// `$x[y]` of zsh: what stands in the brackets is arithmetic, as it is in `${x[y]}`.
    fn unbraced_subscript(&mut self, variable: &Part<'t>, behind: &[Part<'t>]) {
        let Part::Variable { span, .. } = variable else { return };
        let span = self.span(*span);
        let [Part::Literal { text, .. } | Part::Quoted { text, .. }, more @ ..] = behind else { return };
        let Some(inside) = text.strip_prefix(b"[") else { return };
        match (inside.iter().position(|b| *b == b']'), inside, more) {
            (Some(end), ..) => {
                let inside = inside.get(..end).unwrap_or_default();
                if matches!(inside, b"@" | b"*") {
                    return;
                }
                if inside.iter().all(|b| b.is_ascii_alphanumeric() || b"_ ,+-".contains(b)) {
                    self.evaluate(&Scalar::exact(inside, Known::Written), span);
                } else {
                    self.evaluates_again(span);
                }
            }
            (None, [], [Part::Variable { name, .. }, Part::Literal { text, .. } | Part::Quoted { text, .. }, ..])
                if text.starts_with(b"]") =>
            {
                let value = self.lookup_scalar(name);
                self.evaluate(&value, span);
            }
            _ => self.evaluates_again(span),
        }
    }

    fn literal(&mut self, text: &[u8], first: bool, last: bool, fields: &mut Fields<'_>, position: Position) {
        // To zsh `**/` goes through all folders.
        if self.state.dialect.may_be_zsh() && !fields.is_single() && text.windows(2).any(|pair| pair == b"**") {
            return fields.hole(Origin::Unknown, true);
        }
        if !text.contains(&b'~') || position == Position::Quoted {
            return fields.literal(text);
        }
        let assigns = matches!(position, Position::Assignment | Position::NameAndValue);
        let mut named = first && position == Position::NameAndValue;
        let mut rest = text;
        let mut may_begin = first;
        loop {
            if may_begin && rest.first() == Some(&b'~') {
                let end = rest.iter().position(|b| *b == b'/' || *b == b':').unwrap_or(rest.len());
                // A `:` ends the name only where assignments are read.
                let end = match rest.get(end) {
                    Some(b':') if !assigns => rest.iter().position(|b| *b == b'/').unwrap_or(rest.len()),
                    _ => end,
                };
                let (prefix, tail) = rest.split_at(end);
                if tail.is_empty() && !last && self.state.dialect.may_be_zsh() {
                    // zsh looks at what it becomes: `~"/x"` and `~$x` are somebody's home folder.
                    fields.hole(Origin::Unknown, true);
                } else if tail.is_empty() && !last {
                    // `~"$x"` or `~$x`: bash does not expand it; `~us\er` neither.
                    fields.literal(prefix);
                } else {
                    self.tilde(prefix, fields);
                }
                rest = tail;
            }
            if !assigns {
                return fields.literal(rest);
            }
            // The next place where `~` counts is behind the `=` that ends the name, or `:`.
            let colon = rest.windows(2).position(|pair| matches!(pair, [b':', b'~']));
            let equals = rest.iter().position(|b| *b == b'=').filter(|_| std::mem::take(&mut named));
            let equals = equals.filter(|at| rest.get(at + 1) == Some(&b'~'));
            match equals.into_iter().chain(colon).min() {
                Some(at) => {
                    let (head, tail) = rest.split_at(at + 1);
                    fields.literal(head);
                    rest = tail;
                    may_begin = true;
                }
                None => return fields.literal(rest),
            }
        }
    }

    fn tilde(&mut self, prefix: &[u8], fields: &mut Fields<'_>) {
        let value = match prefix {
            b"~" => match self.lookup(b"HOME") {
                Expansion::One(scalar) => scalar,
                _ => Scalar::unknown(),
            },
            // In zsh these are the folders themselves, whatever the variables were made to hold.
            b"~+" if !self.state.dialect.may_be_plain() && !self.is_made_up(b"PWD") => self.lookup_scalar(b"PWD"),
            b"~-" if !self.state.dialect.may_be_plain() && !self.is_made_up(b"OLDPWD") => self.lookup_scalar(b"OLDPWD"),
            // In zsh a variable of that name may stand for it; where nobody knows the user, `sh` leaves the text.
            // Another user's home, or a place of the folder stack.
            _ => Scalar::unknown(),
        };
        fields.quoted_value(&value);
    }

    /// Whether a variable was set by this call, where zsh does not go by it.
    fn is_made_up(&self, name: &[u8]) -> bool {
        self.state.dialect.may_be_zsh() && self.scope.get(name).is_some()
    }

    fn part(&mut self, part: &'t Part<'t>, fields: &mut Fields<'_>, position: Position) {
        let quoted = position == Position::Quoted;
        match part {
            Part::Literal { text, .. } => fields.literal(text),
            Part::Quoted { text, .. } => fields.quoted(text),
            Part::DoubleQuoted { parts, .. } => {
                // `"$@"` without parameters is no word at all.
                if !matches!(parts.as_slice(), [Part::Variable { name, .. }] if &**name == b"@")
                    && !matches!(parts.as_slice(), [Part::Parameter(_)])
                {
                    fields.quoted(b"");
                }
                self.parts(parts, fields, Position::Quoted);
            }
            Part::Variable { name, .. } => {
                self.uses_variable(name);
                let value = self.variable(name);
                // To zsh `$a` is all of an array.
                let joined = match value {
                    Expansion::Many(_) | Expansion::ManyUnknown => &**name != b"@",
                    _ => false,
                };
                self.push(&value, quoted, joined, fields);
            }
            Part::Parameter(parameter) => self.parameter(parameter, fields, position),
            Part::Command(command) => {
                let value = self.command_substitution(command);
                if quoted {
                    fields.quoted_value(&value);
                } else if self.state.dialect.may_be_zsh()
                    && !fields.is_single()
                    && self.separators() != Separators::Default
                {
                    // zsh leaves more empty words between other separators than bash does.
                    fields.hole(Origin::Unknown, true);
                } else {
                    fields.unquoted_value(&value);
                }
            }
            Part::Process(process) => {
                self.process_substitution(process);
                let zsh = self.state.dialect == Dialect::Zsh;
                fields.quoted(if zsh { b"/proc/self/fd/" } else { b"/dev/fd/" });
                fields.hole(Origin::Number, false);
            }
            Part::Arithmetic(arithmetic) => {
                let value = self.arithmetic(arithmetic);
                if self.state.dialect.may_be_zsh() && arithmetic.parts.iter().any(dialect::may_end_arithmetic) {
                    // zsh may take it for a command in parentheses.
                    let span = self.span(arithmetic.span);
                    self.opaque(Code::OtherGrammar, "Whether this is arithmetic depends on the shell.", span);
                } else if quoted {
                    fields.quoted_value(&value);
                } else {
                    self.unquoted(&value, fields);
                }
            }
            Part::Array(array) => {
                self.array(b"", array);
                fields.hole(Origin::Unknown, true);
            }
            Part::ExtendedGlob(glob) => {
                for word in &glob.alternatives {
                    self.scalar(word, Position::Single);
                }
                fields.hole(Origin::Unknown, true);
            }
            Part::Opaque { why, span } => {
                let span = self.span(*span);
                self.opaque(Code::NotUnderstood, why.sentence(), span);
                fields.opaque();
            }
        }
    }

    /// Puts what a parameter gave into the word.
    pub(crate) fn push(&mut self, value: &Expansion, quoted: bool, joined: bool, fields: &mut Fields<'_>) {
        match value {
            Expansion::Unset if quoted => fields.quoted(b""),
            Expansion::Unset => {}
            Expansion::One(scalar) if quoted => fields.quoted_value(scalar),
            Expansion::One(scalar) => self.unquoted(scalar, fields),
            // Where nothing is split, `$@` is joined by blanks, `$*` by what `IFS` begins with.
            Expansion::Many(items) if quoted && joined || fields.is_single() => {
                let separator: &[u8] = match self.separators() {
                    _ if !joined => b" ",
                    Separators::Default | Separators::None => b" ",
                    // Joined by what `IFS` begins with.
                    Separators::Set(_) | Separators::Unknown => {
                        return fields.quoted_value(&Scalar::hole(Origin::Unknown, self.armed));
                    }
                };
                fields.quoted(b"");
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        fields.quoted(separator);
                    }
                    fields.quoted_value(item);
                }
            }
            // Other separators leave empty words between parameters.
            Expansion::Many(_) if !quoted && self.separators() != Separators::Default => {
                fields.hole(Origin::Unknown, true);
            }
            Expansion::Many(items) => {
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        fields.end_word();
                    }
                    if quoted {
                        fields.quoted_value(item);
                    } else {
                        self.unquoted(item, fields);
                    }
                }
            }
            Expansion::ManyUnknown if quoted && joined || fields.is_single() => {
                fields.quoted_value(&Scalar::hole(Origin::Unknown, self.armed));
            }
            Expansion::ManyUnknown => fields.hole(Origin::Unknown, true),
        }
    }

    /// The value of a parameter outside quotes, which not every shell splits.
    pub(super) fn unquoted(&self, value: &Scalar, fields: &mut Fields<'_>) {
        match self.state.dialect.splits_values() {
            Does::Yes => fields.unquoted_value(value),
            Does::No => fields.unsplit_value(value),
            Does::Maybe => fields.perhaps_split_value(value),
        }
    }

    fn braces(&mut self, word: &'t Syntax<'t>, out: &mut Vec<Word>) {
        let mut atoms: Vec<Atom<&'t Part<'t>>> = Vec::new();
        for part in &word.parts {
            match part {
                Part::Literal { text, .. } => atoms.extend(text.iter().map(|b| Atom::Byte(*b))),
                part => atoms.push(Atom::Whole(part)),
            }
        }
        self.charge(atoms.len());
        // `$${a,b}`: to bash the `{` behind a `$` begins no list.
        let after_dollar = |pair: &[Part<'_>]| {
            matches!(pair, [Part::Variable { name, .. }, Part::Literal { text, .. }]
                if &**name == b"$" && text.first() == Some(&b'{'))
        };
        let listed = if word.parts.windows(2).any(after_dollar) || !self.lists_alike(word) {
            None
        } else {
            brace::expand(&atoms)
        };
        let Some(words) = listed else {
            // Too many to list, or not to be told; what stands in them runs all the same.
            self.with_fields(out, |walker, fields| {
                for part in word.parts.iter().filter(|part| !matches!(part, Part::Literal { .. })) {
                    walker.part(part, fields, Position::Argument);
                }
                fields.blur(walker.armed);
                fields.end_word();
            });
            return;
        };
        // zsh keeps the empty word of `{a,}`.
        let keeps_empty = words.len() > 1 && self.state.dialect.may_be_zsh();
        for atoms in words {
            self.charge(atoms.len() * 8);
            self.with_fields(out, |walker, fields| {
                if keeps_empty {
                    fields.quoted(b"");
                }
                let mut literal = Vec::new();
                let mut first = true;
                let count = atoms.len();
                for (at, atom) in atoms.into_iter().enumerate() {
                    match atom {
                        Atom::Byte(byte) => literal.push(byte),
                        Atom::Whole(part) => {
                            walker.literal(&std::mem::take(&mut literal), first, false, fields, Position::Argument);
                            first = false;
                            walker.part(part, fields, Position::Argument);
                        }
                    }
                    if at + 1 == count {
                        walker.literal(&std::mem::take(&mut literal), first, true, fields, Position::Argument);
                    }
                }
                fields.end_word();
            });
        }
    }

    /// Whether values stand in braces only where they do not change what the braces list. zsh puts them in first: of
    /// `{a,$x}` two words `{a,b` and `c}` are left if `x` is the array `(b c)`.
    fn lists_alike(&self, word: &'t Syntax<'t>) -> bool {
        fn is_one(walker: &Walker<'_>, part: &Part<'_>) -> bool {
            match part {
                Part::Literal { .. } | Part::Quoted { .. } => true,
                Part::Variable { name, .. } => {
                    !matches!(&**name, b"@" | b"*")
                        && matches!(walker.lookup(name), Expansion::Unset | Expansion::One(Scalar::Exact(_)))
                }
                Part::DoubleQuoted { parts, .. } => parts.iter().all(|part| is_one(walker, part)),
                _ => false,
            }
        }
        // `{a..c..2}` is text to it, and `{1..3..-1}` counts down.
        let steps = |part: &Part<'_>| matches!(part, Part::Literal { text, .. } if text.windows(2).filter(|pair| *pair == b"..").count() > 1);
        // `{1..x}` is every character from `1` to `x`.
        let odd = |six: &[u8]| match six {
            [b'{', from, b'.', b'.', to, b'}'] => {
                !(from.is_ascii_digit() && to.is_ascii_digit()
                    || from.is_ascii_alphabetic() && to.is_ascii_alphabetic())
            }
            _ => false,
        };
        let odd = |part: &Part<'_>| matches!(part, Part::Literal { text, .. } if text.windows(6).any(odd));
        !self.state.dialect.may_be_zsh()
            || word.parts.iter().all(|part| is_one(self, part) && !steps(part) && !odd(part))
    }

    fn command_substitution(&mut self, command: &'t CommandSubstitution<'t>) -> Scalar {
        let crafted = std::mem::replace(&mut self.crafted, false);
        let branches = std::mem::replace(&mut self.branches, 0);
        let pipe = self.input.pipe.take();
        let span = self.span(command.span);
        // Where it is nested too deeply to be followed, it prints anything.
        let mut printed = Printed::Anything;
        self.deeper(span, |walker| {
            printed = walker
                .collect(|walker| match only_reads_file(&command.body) {
                    Some(redirects) if !walker.state.dialect.may_be_zsh() || !reads_process(redirects) => {
                        walker.reads_file(redirects);
                    }
                    _ => {
                        walker.list(&command.body);
                    }
                })
                .into_printed();
        });
        // Where no more files can be opened there is no substitution either, and nothing comes of it.
        if self.state.descriptors_unsure && printed != Printed::Nothing {
            printed = Printed::Anything;
        }
        self.input.pipe = pipe;
        self.branches = branches;
        let made = std::mem::replace(&mut self.crafted, crafted);
        if let Some(names) = self.asks_where(command) {
            return Scalar::one_of(names);
        }
        // What is made of it by way of a word is no longer told apart.
        self.armed |= made || matches!(printed, Printed::Anything | Printed::Known(Prints::Unknown));
        match printed {
            Printed::Nothing => Scalar::exact(b"", Known::Printed),
            Printed::Known(Prints::Exact(text)) if !text.as_bytes().contains(&0) => {
                let bytes = text.as_bytes();
                let end = bytes.iter().rposition(|b| *b != b'\n').map_or(0, |at| at + 1);
                Scalar::exact(bytes.get(..end).unwrap_or_default(), Known::Printed)
            }
            Printed::Perhaps(Prints::Exact(text)) if !text.as_bytes().contains(&0) => {
                let bytes = text.as_bytes();
                let end = bytes.iter().rposition(|b| *b != b'\n').map_or(0, |at| at + 1);
                Scalar::exact(bytes.get(..end).unwrap_or_default(), Known::Printed)
                    .merge(&Scalar::exact(b"", Known::Absent))
            }
            Printed::Known(Prints::Names(folder)) => Scalar::hole(Origin::Listing(Box::new(folder)), made),
            Printed::Known(Prints::Number) => Scalar::number(),
            Printed::Perhaps(Prints::Number) => Scalar::numbers(),
            Printed::Known(_) | Printed::Perhaps(_) | Printed::Anything => Scalar::crafted(),
        }
    }

    /// `$(which a || command -v b)`: the path of one of these, or nothing. As the name of a command the path means what
    /// the name means.
    fn asks_where(&self, command: &'t CommandSubstitution<'t>) -> Option<Vec<Rc<[u8]>>> {
        let [item] = &*command.body.items else { return None };
        let all = item.and_or.rest.iter().map(|(connector, pipeline)| (Some(*connector), pipeline));
        let mut names: Vec<Rc<[u8]>> = Vec::new();
        for (connector, pipeline) in std::iter::once((None, &item.and_or.first)).chain(all) {
            if connector.is_some_and(|connector| connector != Connector::Or) || pipeline.negated {
                return None;
            }
            let [Command { kind: CommandKind::Simple(simple), .. }] = &*pipeline.commands else { return None };
            let words: Option<Vec<&[u8]>> = simple.words.iter().map(Syntax::plain).collect();
            let name = crate::builtin::asked_for(&words?, self.state.dialect)?;
            let plain =
                name.iter().all(|b| b.is_ascii_alphanumeric() || b"_.+-".contains(b)) && name.first() != Some(&b'-');
            let asker = simple.words.first().and_then(Syntax::plain).unwrap_or_default();
            let keys = [function_key(asker), function_key(name), alias_key(asker), alias_key(name)];
            let shadowed = keys.iter().any(|key| self.scope.get(key).is_some()) || self.state.aliases;
            let silenced = |redirect: &Redirect<'_>| matches!(&redirect.target, RedirectTarget::Word(word) if word.plain() == Some(b"/dev/null"));
            if !simple.redirects.iter().all(silenced) || self.state.streams.err.may_be_here() {
                return None;
            }
            if !plain || shadowed || !simple.assignments.is_empty() || self.state.path_changed {
                return None;
            }
            names.push(name.into());
        }
        names.push(Rc::from(&b""[..]));
        Some(names)
    }

    /// Walks the commands of a process substitution. Returns what those of `<( )` print.
    pub(super) fn process_substitution(&mut self, process: &'t ProcessSubstitution<'t>) -> Output {
        let mut printed = Output::ANYTHING;
        let input = std::mem::take(&mut self.input);
        if process.output {
            self.input.stdin = crate::effect::Stdin::Pipe;
        }
        let span = self.span(process.span);
        // It runs beside the command: what `>( )` prints goes where the command's own output goes, at any time.
        self.branches += 1;
        self.deeper(span, |walker| {
            if process.output {
                walker.subshell(|walker| {
                    walker.list(&process.body);
                });
            } else {
                printed = walker.collect(|walker| {
                    walker.list(&process.body);
                });
            }
        });
        self.branches -= 1;
        self.input = input;
        printed
    }
}

/// `< <(p)`: zsh does not read that itself, and starts what it starts for redirects without a command.
pub(super) fn reads_process(redirects: &[Redirect<'_>]) -> bool {
    let is_process = |redirect: &Redirect<'_>| match &redirect.target {
        RedirectTarget::Word(word) => word.parts.iter().any(|part| matches!(part, Part::Process(_))),
        _ => false,
    };
    redirects.iter().any(is_process)
}

/// `$(<f)`, which no shell starts a program for.
fn only_reads_file<'t>(list: &'t List<'t>) -> Option<&'t [Redirect<'t>]> {
    let [item] = &*list.items else { return None };
    let [Command { kind: CommandKind::Simple(simple), .. }] = &*item.and_or.first.commands else { return None };
    let reads = matches!(simple.redirects.as_slice(), [redirect] if redirect.operator == RedirectOperator::Read);
    let alone = item.and_or.rest.is_empty() && !item.background && simple.words.is_empty();
    (reads && alone && simple.assignments.is_empty()).then_some(&simple.redirects)
}

/// Text that nothing happens to.
fn is_plain(text: &[u8]) -> bool {
    let special = |b: &u8| matches!(b, b'~' | b'{' | b'*' | b'?' | b'[');
    !text.iter().any(special) || text == b"[" || text == b"{}"
}

pub(super) fn has_braces(word: &Syntax<'_>) -> bool {
    let holds =
        |byte: u8| word.parts.iter().any(|part| matches!(part, Part::Literal { text, .. } if text.contains(&byte)));
    holds(b'{') && holds(b'}') && (holds(b',') || holds(b'.'))
}

/// `name=...`: bash expands `~` behind the `=` in arguments that look like this.
fn looks_like_assignment(word: &Syntax<'_>) -> bool {
    let Some(Part::Literal { text, .. }) = word.parts.first() else { return false };
    let end = text.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).unwrap_or(text.len());
    end > 0 && text.get(end) == Some(&b'=') && text.first().is_some_and(|b| !b.is_ascii_digit())
}
