//! What begins with `$`, and backticks and process substitutions.

use super::bracket::Bracket;
use super::byte::{is_name, is_name_start, is_special_parameter};
use super::cursor::{Parse, Parser, Shared};
use super::tree::{Arithmetic, CommandSubstitution, Few, List, Part, ProcessSubstitution};
use super::word::{Mode, is_limit};
use super::{SyntaxError, Trouble};

impl<'a> Parser<'_, 'a> {
    /// `$...`, `pos` at the dollar.
    pub(super) fn dollar(&mut self, mode: Mode, parts: &mut Few<Part<'a>>) -> Parse<()> {
        let start = self.pos;
        let Some((next, at)) = self.peek_second() else {
            self.pos = start + 1;
            self.push_text(mode, parts, start, start + 1);
            return Ok(());
        };
        self.pos = at;
        let part = match next {
            b'(' => self.dollar_parenthesis(start)?,
            b'{' => self.dollar_brace(start, mode)?,
            b'[' => self.old_arithmetic(start)?,
            b'\'' if !mode.quoted() => self.ansi_c_quotes(start)?,
            b'\'' if mode == Mode::Operand && !self.in_here_document => self.early_quotes(start)?,
            b'"' if !matches!(mode, Mode::Double | Mode::Here | Mode::Arithmetic) => {
                self.differs(start, at);
                self.double_quotes(start)?
            }
            _ if is_name_start(next) => self.variable(start),
            _ if next.is_ascii_digit() || is_special_parameter(next) => {
                self.pos += 1;
                Part::Variable { name: self.text(at, at + 1), span: self.span(start, self.pos) }
            }
            _ => {
                self.pos = start + 1;
                self.push_text(mode, parts, start, start + 1);
                return Ok(());
            }
        };
        parts.push(part);
        Ok(())
    }

    /// `$name`, `pos` at the name.
    fn variable(&mut self, start: usize) -> Part<'a> {
        let (name, end) = self.name();
        self.pos = end;
        Part::Variable { name, span: self.span(start, end) }
    }

    /// The name at `pos` and its end; empty if there is none.
    pub(super) fn name(&self) -> (super::tree::Bytes<'a>, usize) {
        let mut end = self.pos;
        loop {
            while self.byte(end).is_some_and(is_name) {
                end += 1;
            }
            // A name goes on after `\<newline>`, but does not end with one.
            let mut next = end;
            while self.byte(next) == Some(b'\\') && self.byte(next + 1) == Some(b'\n') {
                next += 2;
            }
            if next == end || !self.byte(next).is_some_and(is_name) {
                return (self.joined_text(self.pos, end), end);
            }
            end = next;
        }
    }

    /// `$'..'` in the operand of a double-quoted `${}`: bash puts its text in place before it expands the operand, so
    /// that a dollar in it comes alive.
    fn early_quotes(&mut self, start: usize) -> Parse<Part<'a>> {
        let part = self.ansi_c_quotes(start)?;
        Ok(match part {
            Part::Quoted { ref text, span, .. } if text.iter().any(|b| matches!(b, b'$' | b'`' | b'\\' | b'"')) => {
                Part::Opaque { why: Trouble::BadSubstitution, span }
            }
            part => part,
        })
    }

    /// `$( )` or `$(( ))`, `pos` at the first parenthesis.
    fn dollar_parenthesis(&mut self, start: usize) -> Parse<Part<'a>> {
        self.pos += 1;
        let key = self.pos;
        if self.peek() == Some(b'(') {
            return self.arithmetic_or_command(start, key);
        }
        self.pos = key;
        let body = self.known_or_new_body(key)?;
        let span = self.span(start, self.pos);
        Ok(Part::Command(Box::new(CommandSubstitution { body, backtick: false, span })))
    }

    /// `<( )` or `>( )`, `pos` at the angle.
    pub(super) fn process_substitution(&mut self) -> Parse<Part<'a>> {
        let start = self.pos;
        let output = self.raw() == Some(b'>');
        self.pos += 1;
        self.eat(b'(');
        let key = self.pos;
        self.differs(start, key);
        let body = if self.peek() == Some(b'(') {
            self.late_body(key)?
        } else {
            self.pos = key;
            Ok(self.known_or_new_body(key)?)
        };
        let span = self.span(start, self.pos);
        Ok(match body {
            Ok(body) => Part::Process(Box::new(ProcessSubstitution { body, output, span })),
            Err(error) => Part::Opaque { why: error.trouble, span },
        })
    }

    fn known_or_new_body(&mut self, key: usize) -> Parse<List<'a>> {
        if !self.seen.is_empty()
            && let Some(seen) = self.seen.get_mut(&key)
            && seen.end <= self.end
            && let Some(body) = seen.body.take()
        {
            self.pos = seen.end;
            self.seen.remove(&key);
            return Ok(body);
        }
        self.substitution_body()
    }

    /// `... )` of a substitution, `pos` after the opening parenthesis.
    pub(super) fn substitution_body(&mut self) -> Parse<List<'a>> {
        let outer = std::mem::replace(&mut self.in_substitution, true);
        let here = std::mem::replace(&mut self.in_here_document, false);
        // Here-documents that began before the substitution get their text after it.
        let waiting = std::mem::take(&mut self.pending);
        let after_here_document = std::mem::replace(&mut self.after_here_document, false);
        let body = self.deeper(|p| {
            p.blanks();
            p.substitution_start = p.pos;
            let body = p.list()?;
            if p.eat(b')') { Ok(body) } else { Err(p.unexpected()) }
        });
        self.in_substitution = outer;
        self.in_here_document = here;
        self.after_here_document = after_here_document;
        if !self.pending.is_empty() {
            self.expect_here_documents_at_line_end()?;
        }
        self.pending.extend(waiting);
        body
    }

    /// `$((...))`, or `$( (...) ... )` written without a blank; `pos` at the second parenthesis.
    fn arithmetic_or_command(&mut self, start: usize, key: usize) -> Parse<Part<'a>> {
        let inner = self.pos;
        let after = self.counted_end(key)?;
        let close = after - 1;
        let span = self.span(start, after);
        let text = self.slice(inner + 1, close);
        if let Some(expression) = text.strip_suffix(b")")
            && self.is_balanced(inner + 1, inner + 1 + expression.len())?
        {
            let parts = self.arithmetic_between(inner + 1, close - 1)?;
            self.pos = after;
            return Ok(Part::Arithmetic(Box::new(Arithmetic { parts: parts.parts, span })));
        }
        Ok(match self.late_body(key)? {
            Ok(body) => Part::Command(Box::new(CommandSubstitution { body, backtick: false, span })),
            Err(error) => Part::Opaque { why: error.trouble, span },
        })
    }

    /// One past the end of `((...)`, by counting parentheses; `key` is after the first.
    fn counted_end(&mut self, key: usize) -> Parse<usize> {
        self.pos = key;
        match self.seen.get(&key) {
            Some(seen) if seen.end <= self.end => self.pos = seen.end,
            _ => {
                self.skip_bracket(Bracket::PARENTHESES)?;
            }
        }
        Ok(self.pos)
    }

    /// The commands of a substitution that begins with two parentheses. Bash finds its end by counting, and reads it
    /// only when it runs: an error in it is not an error of the whole text.
    fn late_body(&mut self, key: usize) -> Parse<Result<List<'a>, SyntaxError>> {
        let after = self.counted_end(key)?;
        // Each `\<newline>` is gone before bash reads the text, so that a comment may go on in the next line.
        let text = self.slice(key, after);
        if text.contains(&b'#') && text.windows(2).any(|pair| pair == b"\\\n") {
            return Ok(Err(self.error(Trouble::Misread)));
        }
        self.pos = key;
        let body = self.list_between(after - 1);
        self.pos = after;
        body
    }

    /// Commands from `pos` to `close` exactly. The outer error is a limit.
    fn list_between(&mut self, close: usize) -> Parse<Result<List<'a>, SyntaxError>> {
        let outer = std::mem::replace(&mut self.in_substitution, false);
        let here = std::mem::replace(&mut self.in_here_document, false);
        let pending = std::mem::take(&mut self.pending);
        let overdue = self.overdue.take();
        let body = self.deeper(|p| p.within(close, Self::whole));
        self.pending = pending;
        self.overdue = overdue;
        self.in_substitution = outer;
        self.in_here_document = here;
        match body {
            Err(error) if is_limit(error.trouble) => Err(error),
            body => Ok(body),
        }
    }

    /// Whether the parentheses of a text are balanced by the simple count with which bash decides that `$((` begins
    /// arithmetic. It does not know of substitutions: `$(( $(case x in x) a;; esac) ))` is a command.
    fn is_balanced(&mut self, start: usize, end: usize) -> Parse<bool> {
        self.step(end.saturating_sub(start))?;
        self.pos = start;
        self.within(end, |p| {
            let mut count = 0_usize;
            while let Some(byte) = p.raw() {
                p.pos += 1;
                match byte {
                    b'(' => count += 1,
                    b')' if count == 0 => return Ok(false),
                    b')' => count -= 1,
                    b'\\' => p.pos += 1,
                    b'\'' => {
                        let rest = p.slice(p.pos, p.end);
                        p.pos += rest.iter().position(|b| *b == b'\'').map_or(rest.len(), |at| at + 1);
                    }
                    b'"' => {
                        p.skip_bracket(Bracket::DOUBLE_QUOTES)?;
                    }
                    _ => {}
                }
            }
            Ok(count == 0)
        })
    }

    /// `$[ ]`, `pos` at the bracket.
    fn old_arithmetic(&mut self, start: usize) -> Parse<Part<'a>> {
        self.pos += 1;
        let inside = self.pos;
        self.skip_seen(Bracket::OLD_ARITHMETIC)?;
        let after = self.pos;
        self.differs(start, after);
        let parts = self.arithmetic_between(inside, after - 1)?.parts;
        self.pos = after;
        Ok(Part::Arithmetic(Box::new(Arithmetic { parts, span: self.span(start, after) })))
    }

    /// Arithmetic between two places; leaves `pos` at the second.
    pub(super) fn arithmetic_between(&mut self, start: usize, end: usize) -> Parse<Arithmetic<'a>> {
        self.pos = start;
        let parts = self.deeper(|p| p.within(end, |p| p.parts(Mode::Arithmetic)));
        let parts = match parts {
            Err(error) if !is_limit(error.trouble) => {
                self.pos = end;
                Few::one(Part::Opaque { why: error.trouble, span: self.span(start, end) })
            }
            parts => parts?,
        };
        Ok(Arithmetic { parts, span: self.span(start, end) })
    }

    /// Backticks, `pos` at the first. Their inside is a text of its own, with one level of backslashes removed.
    pub(super) fn backticks(&mut self, mode: Mode) -> Parse<Part<'a>> {
        let start = self.pos;
        self.pos += 1;
        let inside = self.pos;
        let close = self.skip_bracket(Bracket::BACKTICKS)?;
        let span = self.span(start, self.pos);
        let (text, map) = self.unescape_backticks(inside, close, mode.quoted());
        let body = self.deeper(|p| p.inner_text(&text, &map, |inner| inner.whole()))?;
        Ok(match body {
            Ok(body) => Part::Command(Box::new(CommandSubstitution { body, backtick: true, span })),
            Err(error) => Part::Opaque { why: error.trouble, span },
        })
    }

    fn unescape_backticks(&self, start: usize, end: usize, quoted: bool) -> (Vec<u8>, Vec<u32>) {
        let mut text = Vec::with_capacity(end - start);
        let mut map = Vec::with_capacity(end - start);
        let mut at = start;
        while at < end {
            let byte = self.byte(at).unwrap_or_default();
            if byte == b'\\' && at + 1 < end {
                let next = self.byte(at + 1).unwrap_or_default();
                match next {
                    b'\n' => {}
                    b'$' | b'`' | b'\\' => {
                        text.push(next);
                        map.push(self.origin(at + 1));
                    }
                    b'"' if quoted => {
                        text.push(next);
                        map.push(self.origin(at + 1));
                    }
                    _ => {
                        text.extend([byte, next]);
                        map.extend([self.origin(at), self.origin(at + 1)]);
                    }
                }
                at += 2;
            } else {
                text.push(byte);
                map.push(self.origin(at));
                at += 1;
            }
        }
        (text, map)
    }

    /// Reads a text made from the source with a parser of its own. The outer error is a limit.
    pub(super) fn inner_text<'t, T>(
        &mut self,
        text: &'t [u8],
        map: &'t [u32],
        rule: impl FnOnce(&mut Parser<'t, 'a>) -> Parse<T>,
    ) -> Parse<Result<T, SyntaxError>> {
        let nothing = Shared { depth: 0, steps: 0, budget: 0, here_documents: Vec::new(), differs: None };
        let shared = std::mem::replace(&mut self.shared, nothing);
        let mut inner = Parser::over(text, Some(map), self.options, shared);
        let result = inner.step(text.len()).and_then(|()| rule(&mut inner));
        self.shared = inner.shared;
        match result {
            Err(error) if is_limit(error.trouble) => Err(error),
            result => Ok(result),
        }
    }
}
