//! `[[ ... ]]`.

use super::cursor::{Parse, Parser};
use super::tree::{Bytes, Condition, Word};
use super::word::Mode;

impl<'a> Parser<'_, 'a> {
    /// The inside of `[[ ]]` and the closing brackets.
    pub(super) fn condition(&mut self) -> Parse<Condition<'a>> {
        let condition = self.condition_or()?;
        if !self.eat_condition_end() {
            return Err(self.unexpected());
        }
        Ok(condition)
    }

    fn condition_or(&mut self) -> Parse<Condition<'a>> {
        let mut all = vec![self.condition_and()?];
        while self.eat_pair(b'|') {
            all.push(self.condition_and()?);
        }
        Ok(if all.len() > 1 { Condition::Or(all) } else { all.pop().unwrap_or(Condition::And(Vec::new())) })
    }

    fn condition_and(&mut self) -> Parse<Condition<'a>> {
        let mut all = vec![self.condition_term()?];
        while self.eat_pair(b'&') {
            all.push(self.condition_term()?);
        }
        Ok(if all.len() > 1 { Condition::And(all) } else { all.pop().unwrap_or(Condition::And(Vec::new())) })
    }

    /// `&&` or `||`.
    fn eat_pair(&mut self, byte: u8) -> bool {
        self.blanks();
        match (self.peek(), self.peek_second()) {
            (Some(first), Some((second, at))) if first == byte && second == byte => {
                self.pos = at + 1;
                true
            }
            _ => false,
        }
    }

    fn condition_term(&mut self) -> Parse<Condition<'a>> {
        let mut negated = false;
        loop {
            self.linebreak()?;
            self.step(1)?;
            if !self.eat_plain(b"!") {
                break;
            }
            negated = !negated;
        }
        let term = if self.eat(b'(') {
            let inner = self.deeper(Self::condition_or)?;
            self.linebreak()?;
            if !self.eat(b')') {
                return Err(self.unexpected());
            }
            self.linebreak()?;
            inner
        } else {
            self.condition_test()?
        };
        Ok(if negated { Condition::Not(Box::new(term)) } else { term })
    }

    /// `word`, `-f word` or `word == word`.
    fn condition_test(&mut self) -> Parse<Condition<'a>> {
        if self.at_condition_end() || self.at_descriptor() {
            return Err(self.unexpected());
        }
        let first = self.word(Mode::Word)?;
        self.blanks();
        if first.plain().is_some_and(is_unary) {
            let operator: Bytes<'a> = first.plain().unwrap_or_default().to_vec().into();
            if self.at_condition_end() || self.at_descriptor() {
                return Err(self.unexpected());
            }
            let operand = self.word(Mode::Word)?;
            self.linebreak()?;
            return Ok(Condition::Unary { operator, operand });
        }
        if self.at_condition_end() || matches!(self.peek(), Some(b'&' | b'|' | b')')) {
            return Ok(Condition::Word(first));
        }
        let operator = self.condition_operator()?;
        self.blanks();
        if self.at_condition_end() || self.at_descriptor() {
            return Err(self.unexpected());
        }
        let right = match &*operator {
            b"=~" => self.word(Mode::Regex)?,
            b"=" | b"==" | b"!=" => self.word(Mode::Pattern)?,
            _ => self.word(Mode::Word)?,
        };
        self.linebreak()?;
        Ok(Condition::Binary { operator, left: first, right })
    }

    fn condition_operator(&mut self) -> Parse<Bytes<'a>> {
        if let Some(byte @ (b'<' | b'>')) = self.peek()
            && !self.peek_second().is_some_and(|(b, _)| matches!(b, b'(' | b'<' | b'>' | b'&' | b'|'))
        {
            self.pos += 1;
            return Ok(vec![byte].into());
        }
        let word: Word<'a> = self.word(Mode::Word)?;
        match word.plain() {
            Some(text) if is_binary(text) => Ok(text.to_vec().into()),
            _ => Err(self.unexpected()),
        }
    }

    /// Digits before an angle are a descriptor to bash even here.
    fn at_descriptor(&mut self) -> bool {
        self.peek();
        let digits = self.slice(self.pos, self.end).iter().take_while(|b| b.is_ascii_digit()).count();
        digits > 0 && matches!(self.byte(self.pos + digits), Some(b'<' | b'>'))
    }

    fn at_condition_end(&mut self) -> bool {
        let before = self.pos;
        let found = self.eat_plain(b"]]");
        self.pos = before;
        found
    }

    fn eat_condition_end(&mut self) -> bool {
        self.blanks();
        self.eat_plain(b"]]")
    }

    /// Goes past this word if it stands here unquoted.
    fn eat_plain(&mut self, text: &[u8]) -> bool {
        let before = self.pos;
        let found = text.iter().all(|byte| self.eat(*byte))
            && self.peek().is_none_or(super::byte::is_meta)
            && !(matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second().is_some_and(|(b, _)| b == b'('));
        if !found {
            self.pos = before;
        }
        found
    }
}

fn is_unary(text: &[u8]) -> bool {
    matches!(text, [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter))
}

fn is_binary(text: &[u8]) -> bool {
    matches!(
        text,
        b"=" | b"==" | b"!=" | b"=~" | b"-nt" | b"-ot" | b"-ef" | b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge"
    )
}
