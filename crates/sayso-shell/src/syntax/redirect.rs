//! Redirects.

use super::byte::{is_identifier, is_meta};
use super::cursor::{Parse, Parser};
use super::tree::{Descriptor, Few, Part, Redirect, RedirectOperator, RedirectTarget, Word};
use super::word::Mode;

impl<'a> Parser<'_, 'a> {
    /// All redirects from here on.
    pub(super) fn redirects(&mut self) -> Parse<Vec<Redirect<'a>>> {
        let mut redirects = Vec::new();
        let mut end = self.pos;
        self.blanks();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
            end = self.pos;
            self.blanks();
        }
        self.pos = end;
        Ok(redirects)
    }

    /// A redirect, if one stands here.
    pub(super) fn redirect(&mut self) -> Parse<Option<Redirect<'a>>> {
        let Some(first) = self.peek() else { return Ok(None) };
        let start = self.pos;
        let descriptor = match first {
            b'<' | b'>' | b'&' => Descriptor::Default,
            b'0'..=b'9' => match self.descriptor_number() {
                Some(number) => Descriptor::Number(number),
                None => return Ok(None),
            },
            b'{' => match self.descriptor_variable() {
                Some(descriptor) => descriptor,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let Some(operator) = self.redirect_operator(first == b'&') else {
            self.pos = start;
            return Ok(None);
        };
        let bashism = matches!(
            operator,
            Operator::Plain(RedirectOperator::WriteBoth | RedirectOperator::AppendBoth | RedirectOperator::HereString)
        );
        if bashism || matches!(descriptor, Descriptor::Variable(_)) {
            self.differs(start, self.pos);
        }
        let (operator, target) = match operator {
            Operator::Here { strip_tabs } => (RedirectOperator::HereDocument, self.here_document(strip_tabs)?),
            Operator::Plain(operator) => {
                self.blanks();
                let copies = matches!(operator, RedirectOperator::CopyInput | RedirectOperator::CopyOutput);
                let word = if copies && self.peek() == Some(b'-') { self.dash() } else { self.word(Mode::Word)? };
                (operator, RedirectTarget::Word(word))
            }
        };
        Ok(Some(Redirect { descriptor, operator, target, span: self.span(start, self.pos) }))
    }

    /// The `-` of `>&-`. It ends there: what follows, even without a blank, is the next word of the command.
    fn dash(&mut self) -> Word<'a> {
        let start = self.pos;
        self.pos += 1;
        let span = self.span(start, self.pos);
        Word { parts: Few::one(Part::Literal { text: self.text(start, self.pos), span }), span }
    }

    /// Digits just before `<` or `>`; `pos` goes past them then.
    fn descriptor_number(&mut self) -> Option<u32> {
        let start = self.pos;
        let mut number = 0_u32;
        let mut fits = true;
        while let Some(byte) = self.peek()
            && byte.is_ascii_digit()
        {
            let next = number.checked_mul(10).and_then(|n| n.checked_add(u32::from(byte - b'0')));
            fits &= next.is_some_and(|n| i32::try_from(n).is_ok());
            number = next.unwrap_or_default();
            self.pos += 1;
        }
        if fits && self.at_angle() {
            return Some(number);
        }
        self.pos = start;
        None
    }

    /// `{name}` just before `<` or `>`; `pos` goes past it then.
    fn descriptor_variable(&mut self) -> Option<Descriptor<'a>> {
        let start = self.pos;
        let rest = self.slice(start + 1, self.end);
        let length = rest.iter().position(|b| *b == b'}' || is_meta(*b))?;
        self.pos = start + 1 + length;
        let name = self.joined_text(start + 1, self.pos);
        let variable = name.iter().position(|b| *b == b'[').map_or(&*name, |at| name.get(..at).unwrap_or_default());
        if is_identifier(variable) && self.eat(b'}') && self.at_angle() {
            return Some(Descriptor::Variable(name));
        }
        self.pos = start;
        None
    }

    /// At `<` or `>` that is no process substitution.
    fn at_angle(&mut self) -> bool {
        matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second().is_none_or(|(b, _)| b != b'(')
    }

    fn redirect_operator(&mut self, ampersand: bool) -> Option<Operator> {
        use RedirectOperator as R;
        if ampersand {
            let (second, at) = self.peek_second()?;
            if second != b'>' {
                return None;
            }
            self.pos = at + 1;
            return Some(Operator::Plain(if self.eat(b'>') { R::AppendBoth } else { R::WriteBoth }));
        }
        if !self.at_angle() {
            return None;
        }
        let input = self.eat(b'<');
        if !input {
            self.pos += 1;
            return Some(Operator::Plain(match self.peek() {
                Some(b'>') => self.past(R::Append),
                Some(b'|') => self.past(R::Clobber),
                Some(b'&') => self.past(R::CopyOutput),
                _ => R::Write,
            }));
        }
        Some(Operator::Plain(match self.peek() {
            Some(b'>') => self.past(R::ReadWrite),
            Some(b'&') => self.past(R::CopyInput),
            Some(b'<') => {
                self.pos += 1;
                match self.peek() {
                    Some(b'<') => self.past(R::HereString),
                    Some(b'-') => {
                        self.pos += 1;
                        return Some(Operator::Here { strip_tabs: true });
                    }
                    _ => return Some(Operator::Here { strip_tabs: false }),
                }
            }
            _ => R::Read,
        }))
    }

    fn past(&mut self, operator: RedirectOperator) -> RedirectOperator {
        self.pos += 1;
        operator
    }
}

enum Operator {
    Plain(RedirectOperator),
    Here { strip_tabs: bool },
}
