//! Words: parts side by side, by the quoting rules of where they stand.

use super::Trouble;
use super::bracket::Bracket;
use super::byte::{is_meta, is_special_in_double_quotes, is_special_in_word};
use super::cursor::{Parse, Parser};
use super::tree::{Bytes, ExtendedGlob, Few, Part, Quote, Word};

/// By which rules text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A word of a command: ends at a blank or an operator.
    Word,
    /// The same where extended globs are known: `[[ x == @(a|b) ]]`.
    Pattern,
    /// The right side of `=~`: parentheses and `|` belong to the word.
    Regex,
    /// Unquoted text up to a known end, blanks and operators included: the operand of an unquoted `${}`.
    Text,
    /// The same, up to a `/` too: the pattern of `${x/pattern/replacement}`.
    TextToSlash,
    /// An alternative of an extended glob: up to `|` or a known end.
    Alternative,
    /// Inside `"..."`, up to the closing quote.
    Double,
    /// The operand of a `${}` in double quotes or in a here-document, up to a known end.
    Operand,
    /// The text of a here-document, up to a known end.
    Here,
    /// Arithmetic and subscripts, up to a known end.
    Arithmetic,
}

impl Mode {
    /// Whether text is quoted as in double quotes.
    pub(super) const fn quoted(self) -> bool {
        matches!(self, Self::Double | Self::Operand | Self::Here | Self::Arithmetic)
    }

    fn is_special(self, byte: u8, extended_globs: bool) -> bool {
        match self {
            Self::Word if !extended_globs => is_special_in_word(byte),
            Self::Word | Self::Pattern => is_special_in_word(byte) || is_glob_operator(byte),
            Self::Regex => is_special_in_word(byte),
            Self::Text => matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$' | b'<' | b'>'),
            Self::TextToSlash => matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$' | b'<' | b'>' | b'/'),
            Self::Alternative => {
                matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$' | b'<' | b'>' | b'|') || is_glob_operator(byte)
            }
            Self::Double => is_special_in_double_quotes(byte),
            Self::Operand => byte == b'\'' || is_special_in_double_quotes(byte),
            Self::Here | Self::Arithmetic => matches!(byte, b'\\' | b'`' | b'$'),
        }
    }
}

fn is_glob_operator(byte: u8) -> bool {
    matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!')
}

impl<'a> Parser<'_, 'a> {
    /// A word of a command; an error if there is none.
    pub(super) fn word(&mut self, mode: Mode) -> Parse<Word<'a>> {
        self.peek();
        let start = self.pos;
        if let Some(end) = self.plain_word_end(mode) {
            self.step(end - start)?;
            self.pos = end;
            let span = self.span(start, end);
            return Ok(Word { parts: Few::one(Part::Literal { text: self.text(start, end), span }), span });
        }
        let parts = self.parts(mode)?;
        if parts.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Word { parts, span: self.span(start, self.pos) })
    }

    /// The end of a word without anything special in it, which most are.
    fn plain_word_end(&self, mode: Mode) -> Option<usize> {
        if mode != Mode::Word || self.options.extended_globs {
            return None;
        }
        let run = self.slice(self.pos, self.end);
        let length = run.iter().position(|b| is_special_in_word(*b)).unwrap_or(run.len());
        let ends = match run.get(length) {
            Some(b'<' | b'>') => false,
            Some(byte) => is_meta(*byte),
            None => true,
        };
        (length > 0 && ends).then_some(self.pos + length)
    }

    /// Text up to a known end as a word, perhaps empty.
    pub(super) fn text_word(&mut self, mode: Mode) -> Parse<Word<'a>> {
        let start = self.pos;
        let parts = self.parts(mode)?;
        Ok(Word { parts, span: self.span(start, self.pos) })
    }

    /// Parts until the mode's end.
    pub(super) fn parts(&mut self, mode: Mode) -> Parse<Few<Part<'a>>> {
        let mut parts = Few::new();
        self.parts_into(mode, &mut parts)?;
        Ok(parts)
    }

    /// The same, after parts that were read already.
    pub(super) fn parts_into(&mut self, mode: Mode, parts: &mut Few<Part<'a>>) -> Parse<()> {
        let globs = self.options.extended_globs;
        loop {
            let start = self.pos;
            let run = self.slice(start, self.end);
            let length = run.iter().position(|b| mode.is_special(*b, globs)).unwrap_or(run.len());
            self.step(length + 1)?;
            self.pos = start + length;
            self.push_text(mode, parts, start, self.pos);
            let Some(byte) = self.raw() else { return Ok(()) };
            match byte {
                b'\\' => self.backslash(mode, parts)?,
                b'"' if mode == Mode::Double => return Ok(()),
                b'"' => parts.push(self.double_quotes(self.pos)?),
                b'\'' if mode == Mode::Operand => self.ignored_quotes(parts)?,
                b'\'' => parts.push(self.single_quotes()?),
                b'`' => parts.push(self.backticks(mode)?),
                b'$' => self.dollar(mode, parts)?,
                b'<' | b'>' if self.peek_second().is_some_and(|(b, _)| b == b'(') => {
                    parts.push(self.process_substitution()?);
                }
                b'(' | b'|' if mode == Mode::Regex => self.regex_operator(byte, parts)?,
                b'|' | b'/' if matches!(mode, Mode::Alternative | Mode::TextToSlash) => return Ok(()),
                _ if is_glob_operator(byte) && self.peek_second().is_some_and(|(b, _)| b == b'(') => {
                    parts.push(self.extended_glob()?);
                }
                _ if is_meta(byte) && matches!(mode, Mode::Word | Mode::Pattern | Mode::Regex) => return Ok(()),
                _ => {
                    self.pos += 1;
                    self.push_text(mode, parts, self.pos - 1, self.pos);
                }
            }
        }
    }

    /// Adds text, quoted or not as the mode says, to the part before it if that is the same kind of text.
    pub(super) fn push_text(&self, mode: Mode, parts: &mut Few<Part<'a>>, start: usize, end: usize) {
        if start >= end {
            return;
        }
        let more = self.span(start, end);
        match parts.last_mut() {
            // Unquoted text follows unquoted text only where a `\<newline>` stood between.
            Some(Part::Literal { text, span }) if !mode.quoted() => {
                text.to_mut().extend_from_slice(self.slice(start, end));
                span.end = more.end;
            }
            Some(Part::Quoted { text, quote: Quote::Double, span }) if mode.quoted() => {
                text.to_mut().extend_from_slice(self.slice(start, end));
                span.end = more.end;
            }
            _ => {
                let text = self.text(start, end);
                parts.push(if mode.quoted() {
                    Part::Quoted { text, quote: Quote::Double, span: more }
                } else {
                    Part::Literal { text, span: more }
                });
            }
        }
    }

    /// `\`, `pos` at it.
    fn backslash(&mut self, mode: Mode, parts: &mut Few<Part<'a>>) -> Parse<()> {
        let start = self.pos;
        let Some(next) = self.byte(start + 1) else {
            self.pos += 1;
            // Bash keeps a backslash at the very end, unless a newline of an earlier line is left in its buffer behind it.
            if mode == Mode::Word && self.slice(0, start).contains(&b'\n') {
                parts.push(Part::Opaque { why: Trouble::Misread, span: self.span(start, self.pos) });
            } else {
                self.push_text(mode, parts, start, self.pos);
            }
            return Ok(());
        };
        self.pos += 2;
        if next == b'\n' {
            return Ok(());
        }
        if !mode.quoted() {
            let text = self.text(start + 1, start + 2);
            parts.push(Part::Quoted { text, quote: Quote::Backslash, span: self.span(start, self.pos) });
            return Ok(());
        }
        let escapes = match next {
            b'$' | b'`' | b'\\' => true,
            b'"' => mode != Mode::Here,
            b'}' => mode == Mode::Operand,
            _ => false,
        };
        self.push_text(mode, parts, if escapes { start + 1 } else { start }, self.pos);
        Ok(())
    }

    /// Single quotes in the operand of a `${}` in double quotes: when bash looked for the closing brace it stepped
    /// over them, but now they are text, and what stands between them is expanded.
    fn ignored_quotes(&mut self, parts: &mut Few<Part<'a>>) -> Parse<()> {
        let open = self.pos;
        self.pos += 1;
        self.push_text(Mode::Operand, parts, open, self.pos);
        let rest = self.slice(self.pos, self.end);
        let Some(length) = rest.iter().position(|b| *b == b'\'') else { return Ok(()) };
        let close = self.pos + length;
        let inside = self.deeper(|p| p.within(close, |p| p.parts(Mode::Operand)));
        match inside {
            Ok(inside) if self.pos == close => {
                for part in inside.into_vec() {
                    parts.push(part);
                }
            }
            Err(error) if is_limit(error.trouble) => return Err(error),
            // Something begins between the quotes and does not end there.
            _ => parts.push(Part::Opaque { why: Trouble::BadSubstitution, span: self.span(open, close + 1) }),
        }
        self.pos = close + 1;
        self.push_text(Mode::Operand, parts, close, close + 1);
        Ok(())
    }

    /// `(` or `|` in a regular expression.
    fn regex_operator(&mut self, byte: u8, parts: &mut Few<Part<'a>>) -> Parse<()> {
        let start = self.pos;
        self.pos += 1;
        self.push_text(Mode::Regex, parts, start, self.pos);
        if byte == b'|' {
            return Ok(());
        }
        let inside = self.pos;
        let close = self.skip_bracket(Bracket::PARENTHESES)?;
        self.pos = inside;
        self.deeper(|p| p.within(close, |p| p.parts_into(Mode::Text, parts)))?;
        self.pos = close + 1;
        self.push_text(Mode::Regex, parts, close, self.pos);
        Ok(())
    }

    /// `@(a|b)`, `pos` at the operator.
    fn extended_glob(&mut self) -> Parse<Part<'a>> {
        let start = self.pos;
        let operator = self.raw().unwrap_or_default();
        self.pos += 1;
        self.eat(b'(');
        let inside = self.pos;
        let close = self.skip_bracket(Bracket::PARENTHESES)?;
        self.pos = inside;
        self.differs(start, close);
        let alternatives = self.deeper(|p| {
            p.within(close, |p| {
                let mut alternatives = vec![p.text_word(Mode::Alternative)?];
                while p.raw() == Some(b'|') {
                    p.pos += 1;
                    alternatives.push(p.text_word(Mode::Alternative)?);
                }
                Ok(alternatives)
            })
        })?;
        self.pos = close + 1;
        let span = self.span(start, self.pos);
        Ok(Part::ExtendedGlob(Box::new(ExtendedGlob { operator, alternatives, span })))
    }

    /// Bytes of a range with `\<newline>` pairs gone.
    pub(super) fn joined_text(&self, start: usize, end: usize) -> Bytes<'a> {
        let raw = self.slice(start, end);
        if !raw.contains(&b'\\') {
            return self.text(start, end);
        }
        let mut joined = Vec::with_capacity(raw.len());
        let mut rest = raw;
        while let Some((byte, after)) = rest.split_first() {
            if let Some(after) = rest.strip_prefix(b"\\\n") {
                rest = after;
            } else {
                joined.push(*byte);
                rest = after;
            }
        }
        joined.into()
    }
}

/// Over a limit the whole text is given up, never just the part.
pub(super) fn is_limit(trouble: Trouble) -> bool {
    matches!(trouble, Trouble::TooLong | Trouble::TooDeep | Trouble::TooMuchWork | Trouble::Nul)
}
