//! `${...}`.

use super::Trouble;
use super::bracket::Bracket;
use super::byte::{is_name_start, is_special_parameter};
use super::cursor::{Parse, Parser};
use super::tree::{Bytes, Fallback, Few, Operation, Parameter, Part, Subscript, Word};
use super::word::{Mode, is_limit};

impl<'a> Parser<'_, 'a> {
    /// `${...}`, `pos` at the brace.
    pub(super) fn dollar_brace(&mut self, start: usize, mode: Mode) -> Parse<Part<'a>> {
        self.pos += 1;
        if let Some(part) = self.plain_parameter(start) {
            return Ok(part);
        }
        let inside = self.pos;
        self.skip_seen(Bracket::BRACES)?;
        let after = self.pos;
        let span = self.span(start, after);
        self.pos = inside;
        let parameter = if matches!(self.raw(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            Ok(Err(Trouble::FunctionSubstitution))
        } else {
            self.deeper(|p| p.within(after - 1, |p| p.parameter(mode.quoted())))
        };
        let complete = self.pos == after - 1;
        self.pos = after;
        Ok(match parameter {
            Ok(Ok(parameter)) if complete => Part::Parameter(Box::new(Parameter { span, ..parameter })),
            Ok(Ok(_)) => Part::Opaque { why: Trouble::BadSubstitution, span },
            Ok(Err(why)) => Part::Opaque { why, span },
            Err(error) if is_limit(error.trouble) => return Err(error),
            Err(error) => Part::Opaque { why: error.trouble, span },
        })
    }

    /// `${name}`, the usual case, without looking for the end first.
    fn plain_parameter(&mut self, start: usize) -> Option<Part<'a>> {
        let inside = self.pos;
        let first = self.raw()?;
        let end = if is_name_start(first) {
            self.name().1
        } else if first.is_ascii_digit() {
            let digits = self.slice(inside, self.end).iter().take_while(|b| b.is_ascii_digit()).count();
            inside + digits
        } else if is_special_parameter(first) {
            inside + 1
        } else {
            return None;
        };
        if self.byte(end) != Some(b'}') {
            return None;
        }
        self.pos = end + 1;
        Some(Part::Variable { name: self.joined_text(inside, end), span: self.span(start, self.pos) })
    }

    /// The inside of `${}`, which ends where the text ends. The inner error is what bash finds when it runs.
    fn parameter(&mut self, quoted: bool) -> Parse<Result<Parameter<'a>, Trouble>> {
        let start = self.pos;
        if self.peek() == Some(b'#') && self.peek_second().is_some() {
            self.pos += 1;
            if let Some((name, subscript)) = self.parameter_name()?
                && self.peek().is_none()
            {
                let operation = Operation::Length;
                return Ok(Ok(Parameter {
                    name,
                    subscript,
                    indirect: false,
                    operation,
                    span: self.span(start, start),
                }));
            }
            self.pos = start;
        }
        let indirect = self.peek() == Some(b'!')
            && self
                .peek_second()
                .is_some_and(|(b, _)| is_name_start(b) || b.is_ascii_digit() || matches!(b, b'#' | b'?' | b'@' | b'*'));
        if indirect {
            self.pos += 1;
            self.differs(start, self.pos);
        }
        let Some((name, subscript)) = self.parameter_name()? else { return Ok(Err(Trouble::BadSubstitution)) };
        let operation = self.operation(quoted, indirect && subscript.is_none())?;
        let span = self.span(start, start);
        Ok(operation.map(|operation| Parameter { name, subscript, indirect, operation, span }))
    }

    /// A name, digits or a special character, and a subscript.
    fn parameter_name(&mut self) -> Parse<Option<(Bytes<'a>, Option<Subscript<'a>>)>> {
        let Some(first) = self.peek() else { return Ok(None) };
        let start = self.pos;
        let name = if is_name_start(first) {
            let (name, end) = self.name();
            self.pos = end;
            name
        } else if first.is_ascii_digit() {
            while self.raw().is_some_and(|b| b.is_ascii_digit()) {
                self.pos += 1;
            }
            self.text(start, self.pos)
        } else if is_special_parameter(first) {
            self.pos += 1;
            self.text(start, self.pos)
        } else {
            return Ok(None);
        };
        let subscript = if self.peek() == Some(b'[') && is_name_start(first) { Some(self.subscript()?) } else { None };
        Ok(Some((name, subscript)))
    }

    /// `[...]`, `pos` at the bracket.
    pub(super) fn subscript(&mut self) -> Parse<Subscript<'a>> {
        let open = self.pos;
        self.pos += 1;
        let close = self.skip_bracket(Bracket::SUBSCRIPT)?;
        self.differs(open, close);
        let subscript = self.arithmetic_between(open + 1, close)?;
        self.pos = close + 1;
        Ok(subscript)
    }

    fn operation(&mut self, quoted: bool, names: bool) -> Parse<Result<Operation<'a>, Trouble>> {
        let Some(first) = self.peek() else { return Ok(Ok(Operation::Value)) };
        let start = self.pos;
        self.pos += 1;
        let second = self.peek();
        let operation = match first {
            b'*' | b'@' if names && second.is_none() => Operation::Names,
            b':' => match second.and_then(fallback) {
                Some(kind) => {
                    self.pos += 1;
                    Operation::Fallback { kind, colon: true, word: self.fallback_word(quoted)? }
                }
                None => self.substring()?,
            },
            b'-' | b'=' | b'?' | b'+' => {
                let kind = fallback(first).unwrap_or(Fallback::Use);
                Operation::Fallback { kind, colon: false, word: self.fallback_word(quoted)? }
            }
            b'#' | b'%' => {
                let longest = self.eat(first);
                Operation::Trim { suffix: first == b'%', longest, pattern: self.operand(Mode::Text)? }
            }
            b'/' => self.replace()?,
            b'^' | b',' | b'~' => {
                let all = self.eat(first);
                Operation::Case { operator: first, all, pattern: self.operand(Mode::Text)? }
            }
            b'@' => match second {
                Some(letter) if self.peek_second().is_none() => {
                    self.pos += 1;
                    Operation::Transform(letter)
                }
                _ => return Ok(Err(Trouble::BadSubstitution)),
            },
            _ => return Ok(Err(Trouble::BadSubstitution)),
        };
        if !matches!(operation, Operation::Fallback { .. } | Operation::Trim { .. } | Operation::Value) {
            self.differs(start, self.pos);
        }
        Ok(Ok(operation))
    }

    fn fallback_word(&mut self, quoted: bool) -> Parse<Word<'a>> {
        self.operand(if quoted { Mode::Operand } else { Mode::Text })
    }

    /// Text up to the end, or to the slash. What fails here would fail when bash runs it.
    fn operand(&mut self, mode: Mode) -> Parse<Word<'a>> {
        let start = self.pos;
        match self.text_word(mode) {
            Err(error) if !is_limit(error.trouble) => {
                self.pos = self.end;
                let span = self.span(start, self.end);
                Ok(Word { parts: Few::one(Part::Opaque { why: error.trouble, span }), span })
            }
            word => word,
        }
    }

    fn replace(&mut self) -> Parse<Operation<'a>> {
        let all = self.eat(b'/');
        let pattern = self.operand(Mode::TextToSlash)?;
        let replacement = if self.eat(b'/') { Some(self.operand(Mode::Text)?) } else { None };
        Ok(Operation::Replace { all, pattern, replacement })
    }

    /// `offset:length`, `pos` after the first colon.
    fn substring(&mut self) -> Parse<Operation<'a>> {
        let (start, end) = (self.pos, self.end);
        let colon = self.substring_colon()?;
        let offset = self.arithmetic_between(start, colon.unwrap_or(end))?;
        let length = match colon {
            Some(colon) => Some(self.arithmetic_between(colon + 1, end)?),
            None => None,
        };
        Ok(Operation::Substring { offset, length })
    }

    /// The colon between offset and length: not one of `?:`, not inside brackets or substitutions.
    fn substring_colon(&mut self) -> Parse<Option<usize>> {
        let mut questions = 0_usize;
        let mut colon = None;
        while let Some(byte) = self.peek() {
            let at = self.pos;
            self.pos += 1;
            self.step(1)?;
            match byte {
                b'?' => questions += 1,
                b':' if questions > 0 => questions -= 1,
                b':' => {
                    colon = Some(at);
                    break;
                }
                b'\\' => self.pos += 1,
                b'$' if self.eat(b'(') => self.skip_substitution()?,
                b'(' => {
                    self.skip_bracket(Bracket::PARENTHESES)?;
                }
                b'{' => self.skip_seen(Bracket::BRACES)?,
                b'[' => {
                    self.skip_bracket(Bracket::SUBSCRIPT)?;
                }
                b'`' => {
                    self.skip_bracket(Bracket::BACKTICKS)?;
                }
                b'"' => {
                    self.skip_bracket(Bracket::DOUBLE_QUOTES)?;
                }
                _ => {}
            }
        }
        Ok(colon)
    }
}

fn fallback(byte: u8) -> Option<Fallback> {
    Some(match byte {
        b'-' => Fallback::Use,
        b'=' => Fallback::Assign,
        b'?' => Fallback::Error,
        b'+' => Fallback::Alternative,
        _ => return None,
    })
}
