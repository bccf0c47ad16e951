//! Goes through the words of a command and tells options from operands.

use super::{Does, Found, Style, Tables, Takes};
use crate::effect::{Opt, Span};
use crate::word::{Origin, Part, Shape, Text, Word};

/// What one step of a [`Reader`] found.
pub(crate) enum Step {
    /// The word at this index is an operand.
    Operand(usize),
    /// One or more options were added to [`Reader::seen`].
    Options,
    /// No more words.
    Done,
}

/// An option that was met.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) opt: Opt,
    pub(crate) does: Does,
    /// Index of the word that holds it.
    pub(crate) at: usize,
}

/// Reads the words of a command one after the other.
pub(crate) struct Reader<'a> {
    argv: &'a [Word],
    spans: &'a [Span],
    at: usize,
    /// `--` or the first operand of a [`Style::LEADING`] program was seen.
    pub(crate) ended: bool,
    /// Everything that was an option.
    pub(crate) seen: Vec<Seen>,
    /// Words that may hold options nobody sees.
    pub(crate) open: bool,
    /// A glob that may match a name with a leading dash.
    pub(crate) open_glob: bool,
    /// Index of a `--`.
    pub(crate) terminator: Option<usize>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(argv: &'a [Word], spans: &'a [Span]) -> Self {
        Self { argv, spans, at: 1, ended: false, seen: Vec::new(), open: false, open_glob: false, terminator: None }
    }

    /// Reads on at this word: those before it were understood otherwise.
    pub(crate) fn skip_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(crate) fn step(&mut self, tables: Tables, style: Style) -> Step {
        loop {
            let at = self.at;
            let Some(word) = self.argv.get(at) else { return Step::Done };
            self.at += 1;
            if self.ended {
                return Step::Operand(at);
            }
            match word {
                Word::Exact(text) => {
                    let bytes = text.as_bytes();
                    if bytes == b"--" {
                        self.ended = true;
                        self.terminator = Some(at);
                        continue;
                    }
                    // `cargo +nightly`, `vim +cmd`: where the table has a `+`.
                    if bytes.first() == Some(&b'+')
                        && let Some(found) = tables.exact(b"+")
                    {
                        self.push(at, found, b"+", Some(rest(bytes, 1, None)));
                        return Step::Options;
                    }
                    if bytes.len() < 2 || bytes.first() != Some(&b'-') {
                        self.ended = style.has(Style::LEADING);
                        return Step::Operand(at);
                    }
                    if self.option(at, bytes, None, tables, style) {
                        return Step::Options;
                    }
                    return Step::Operand(at);
                }
                Word::Dynamic(shape) => {
                    // What splits may hold any number of words, each of them an option.
                    self.open |= shape.splits() && shape.origin == Origin::Unknown && has_hole(shape);
                    match shape.parts.first() {
                        Some(Part::Literal(text)) if text.as_bytes().first() == Some(&b'-') => {
                            let bytes = text.as_bytes();
                            if bytes.len() < 2 || !self.option(at, bytes, Some(shape), tables, style) {
                                self.open = true;
                                return Step::Operand(at);
                            }
                            return Step::Options;
                        }
                        _ => {
                            let may = word.may_be_option();
                            self.open |= may && has_hole(shape);
                            self.open_glob |= may && !has_hole(shape);
                            self.ended = style.has(Style::LEADING);
                            return Step::Operand(at);
                        }
                    }
                }
                Word::Opaque => {
                    self.open = true;
                    return Step::Operand(at);
                }
            }
        }
    }

    /// Reads a word that begins with a dash. `shape` is set where `bytes` is only its literal beginning. False: it is
    /// no option after all.
    fn option(&mut self, at: usize, bytes: &[u8], shape: Option<&Shape>, tables: Tables, style: Style) -> bool {
        let colon = style.has(Style::COLON);
        let equals = bytes.iter().position(|&b| b == b'=' || colon && b == b':');
        let single_word = !bytes.starts_with(b"--");
        if !single_word || style.has(Style::WORDS) {
            let name = bytes.get(..equals.unwrap_or(bytes.len())).unwrap_or(bytes);
            if shape.is_some() && equals.is_none() {
                // `--$x`, `--out*`: some option that begins like this.
                self.open = true;
                self.unknown(at, name, None);
                return true;
            }
            let joined = equals.map(|e| rest(bytes, e + 1, shape));
            return match tables.long(name, style) {
                Some(found) => {
                    self.take(at, found, name, joined);
                    true
                }
                None if style.has(Style::LENIENT) => false,
                None => {
                    self.unknown(at, name, joined);
                    true
                }
            };
        }
        // `-std=c11`, `-name`: one dash, several letters, an option of its own.
        if bytes.len() > 2 {
            let name = bytes.get(..equals.unwrap_or(bytes.len())).unwrap_or(bytes);
            if name.len() > 2
                && (shape.is_none() || equals.is_some())
                && let Some(found) = tables.exact(name)
            {
                let joined = equals.map(|e| rest(bytes, e + 1, shape));
                self.take(at, found, name, joined);
                return true;
            }
            if style.has(Style::JOINS)
                && let Some((found, len)) = tables.begins(bytes)
            {
                let name = bytes.get(..len).unwrap_or(bytes);
                self.take(at, found, name, Some(rest(bytes, len, shape)));
                return true;
            }
        }
        self.cluster(at, bytes, shape, tables, style)
    }

    fn cluster(&mut self, at: usize, bytes: &[u8], shape: Option<&Shape>, tables: Tables, style: Style) -> bool {
        if style.has(Style::LENIENT) {
            let all_known = bytes.iter().skip(1).all(|&b| tables.short(b).is_some());
            if !all_known || shape.is_some() {
                return false;
            }
        }
        let mut i = 1;
        while let Some(&letter) = bytes.get(i) {
            i += 1;
            let Some(found) = tables.short(letter) else {
                self.unknown(at, &[b'-', letter], None);
                continue;
            };
            let spelled = [b'-', letter];
            if letter.is_ascii_digit() && tables.all().all(|t| t.short(letter).is_none()) {
                let start = i - 1;
                while bytes.get(i).is_some_and(u8::is_ascii_digit) {
                    i += 1;
                }
                let number = bytes.get(start..i).unwrap_or_default();
                self.push(at, found, &spelled, Some(Word::Exact(number.into())));
                continue;
            }
            match found.takes {
                Takes::Nothing => self.push(at, found, &spelled, None),
                Takes::Value | Takes::Joined | Takes::Two => {
                    let more = i < bytes.len() || shape.is_some();
                    if more && style.has(Style::EQUALS) && bytes.get(i) == Some(&b'=') {
                        i += 1;
                    }
                    let joined = more.then(|| rest(bytes, i, shape));
                    self.take(at, found, &spelled, joined);
                    return true;
                }
            }
        }
        if shape.is_some() {
            // `-a$x`: more letters that nobody sees.
            self.open = true;
        }
        true
    }

    /// Adds an option, with the next word where its value stands there.
    fn take(&mut self, at: usize, found: Found, written: &[u8], joined: Option<Word>) {
        if found.takes == Takes::Two && joined.is_none() {
            self.at += 1;
        }
        let value = match (found.takes, joined) {
            (_, Some(value)) => Some(value),
            (Takes::Value | Takes::Two, None) => {
                let next = self.argv.get(self.at).cloned();
                if let Some(word) = &next {
                    self.at += 1;
                    // An unquoted word that vanishes or splits moves all words behind it.
                    self.open |= match word {
                        Word::Exact(_) => false,
                        Word::Dynamic(shape) => shape.splits() && shape.origin == Origin::Unknown && has_hole(shape),
                        Word::Opaque => true,
                    };
                }
                next
            }
            _ => None,
        };
        self.push(at, found, written, value);
        match found.does {
            Does::Command => self.at = self.argv.len(),
            Does::Last => self.ended = true,
            _ => {}
        }
    }

    fn push(&mut self, at: usize, found: Found, written: &[u8], value: Option<Word>) {
        let name =
            if found.name == "--no-" { String::from_utf8_lossy(written).into_owned() } else { found.name.to_owned() };
        let span = self.spans.get(at).copied().unwrap_or_default();
        self.seen.push(Seen { opt: Opt { name, value, span, known: true, implied: false }, does: found.does, at });
    }

    fn unknown(&mut self, at: usize, written: &[u8], value: Option<Word>) {
        let name = String::from_utf8_lossy(written).into_owned();
        let span = self.spans.get(at).copied().unwrap_or_default();
        self.seen.push(Seen { opt: Opt { name, value, span, known: false, implied: false }, does: Does::Nothing, at });
    }
}

fn has_hole(shape: &Shape) -> bool {
    shape.parts.iter().any(|p| matches!(p, Part::Hole))
}

/// What follows the first `from` bytes of a word.
fn rest(bytes: &[u8], from: usize, shape: Option<&Shape>) -> Word {
    let literal = bytes.get(from..).unwrap_or_default();
    let Some(shape) = shape else { return Word::Exact(literal.into()) };
    let mut parts = shape.parts.clone();
    if literal.is_empty() {
        parts.remove(0);
    } else if let Some(first) = parts.first_mut() {
        *first = Part::Literal(Text::from(literal));
    }
    Word::Dynamic(shape.with_parts(parts))
}
