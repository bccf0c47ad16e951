//! Simple commands: assignments, words, redirects; and functions, which begin like one.

use super::Trouble;
use super::bracket::Bracket;
use super::byte::{is_identifier, is_meta, is_name_start};
use super::cursor::{Parse, Parser};
use super::tree::{
    Array, ArrayElement, Assignment, AssignmentValue, Command, CommandKind, Few, Part, Quote, Simple, Subscript, Word,
};
use super::word::Mode;

/// Few commands have more words: to make room for some that do not come is cheaper than to make it twice.
const USUAL_WORDS: usize = 8;

/// What stands at the beginning of a word that could be an assignment.
enum Beginning<'a> {
    /// `name=`, `name+=`, `name[subscript]=`.
    Assignment(Assignment<'a>),
    /// A word, of which these parts were read.
    Word(Few<Part<'a>>),
}

impl<'a> Parser<'_, 'a> {
    /// A simple command or a function; `first` is a word that was read before (after `coproc`).
    pub(super) fn simple(&mut self, start: usize, first: Option<Word<'a>>) -> Parse<Command<'a>> {
        let mut simple = Simple::default();
        if let Some(first) = first {
            simple.words.push(first);
        }
        let mut end = self.pos;
        let mut declares = false;
        loop {
            self.blanks();
            let Some(byte) = self.peek() else { break };
            match byte {
                b'\n' | b';' | b'|' | b')' => break,
                b'(' => {
                    let alone = simple.assignments.is_empty() && simple.redirects.is_empty();
                    if alone
                        && simple.words.len() == 1
                        && let Some(name) = simple.words.pop()
                    {
                        return self.function_after_name(start, name);
                    }
                    return Err(self.unexpected());
                }
                b'<' | b'>' | b'&' | b'0'..=b'9' | b'{' => {
                    if let Some(redirect) = self.redirect()? {
                        simple.redirects.push(redirect);
                        end = self.pos;
                        declares = false;
                        continue;
                    }
                    if byte == b'&' {
                        break;
                    }
                }
                _ => {}
            }
            if simple.words.is_empty() {
                // bash 5.2 writes the text of a substitution anew, redirects last, and reads it again: `$(2>&1 ! x)` runs
                // `! x 2>&1`.
                if self.in_substitution && !simple.redirects.is_empty() && self.reserved().is_some() {
                    return Err(self.error(Trouble::Misread));
                }
                match self.assignment_or_word()? {
                    Beginning::Assignment(assignment) => simple.assignments.push(assignment),
                    Beginning::Word(parts) => {
                        let word_start = self.pos;
                        let word = self.first_word(word_start, parts)?;
                        declares = word.plain().is_some_and(takes_arrays);
                        if simple.words.capacity() == 0 {
                            simple.words.reserve_exact(USUAL_WORDS);
                        }
                        simple.words.push(word);
                    }
                }
            } else {
                let word = self.argument(declares)?;
                simple.words.push(word);
            }
            end = self.pos;
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
            return Err(self.unexpected());
        }
        self.pos = end;
        Ok(Command { kind: CommandKind::Simple(simple), span: self.span(start, end) })
    }

    fn first_word(&mut self, start: usize, mut parts: Few<Part<'a>>) -> Parse<Word<'a>> {
        if parts.is_empty() {
            return self.word(Mode::Word);
        }
        let start = parts.first().map_or_else(|| self.origin(start), |part| part.span().start);
        self.parts_into(Mode::Word, &mut parts)?;
        let end = self.span(self.pos.saturating_sub(1), self.pos).end;
        Ok(Word { parts, span: super::tree::Span { start, end } })
    }

    /// An argument. Those of declaration builtins may be array assignments.
    fn argument(&mut self, declares: bool) -> Parse<Word<'a>> {
        let mut word = self.word(Mode::Word)?;
        if declares && self.raw() == Some(b'(') && word.plain().is_some_and(ends_as_assignment) {
            let array = self.array()?;
            word.span.end = array.span.end;
            word.parts.push(Part::Array(Box::new(array)));
        }
        Ok(word)
    }

    /// An assignment, if one stands here; else nothing is read but `name[...]`, which is one word whatever is in the
    /// brackets.
    fn assignment_or_word(&mut self) -> Parse<Beginning<'a>> {
        let start = self.pos;
        if !self.raw().is_some_and(is_name_start) {
            return Ok(Beginning::Word(Few::new()));
        }
        let (name, end) = self.name();
        self.pos = end;
        let subscript = match self.peek() {
            Some(b'=' | b'+') => None,
            Some(b'[') => {
                let open = self.pos;
                self.pos += 1;
                let close = self.skip_bracket(Bracket::SUBSCRIPT)?;
                if !self.at_assignment_operator() {
                    return self.bracketed_word(start, open, close);
                }
                self.differs(start, close);
                let subscript = self.arithmetic_between(open + 1, close)?;
                self.pos = close + 1;
                Some(subscript)
            }
            _ => {
                self.pos = start;
                return Ok(Beginning::Word(Few::new()));
            }
        };
        if !self.at_assignment_operator() {
            self.pos = start;
            return Ok(Beginning::Word(Few::new()));
        }
        let append = self.eat(b'+');
        self.eat(b'=');
        if append {
            self.differs(start, self.pos);
        }
        let value = self.assignment_value()?;
        let span = self.span(start, self.pos);
        Ok(Beginning::Assignment(Assignment { name, subscript, append, value, span }))
    }

    fn at_assignment_operator(&mut self) -> bool {
        match self.peek() {
            Some(b'=') => true,
            Some(b'+') => self.peek_second().is_some_and(|(b, _)| b == b'='),
            _ => false,
        }
    }

    /// `name[...]` that is no assignment.
    fn bracketed_word(&mut self, start: usize, open: usize, close: usize) -> Parse<Beginning<'a>> {
        let mut parts = Few::new();
        self.push_text(Mode::Word, &mut parts, start, open + 1);
        self.pos = open + 1;
        self.deeper(|p| p.within(close, |p| p.parts_into(Mode::Text, &mut parts)))?;
        self.pos = close + 1;
        self.push_text(Mode::Word, &mut parts, close, self.pos);
        Ok(Beginning::Word(parts))
    }

    fn assignment_value(&mut self) -> Parse<AssignmentValue<'a>> {
        if self.peek() == Some(b'(') {
            return Ok(AssignmentValue::Array(self.array()?));
        }
        Ok(AssignmentValue::Scalar(self.text_word(Mode::Word)?))
    }

    /// `( ... )`, `pos` at the parenthesis.
    fn array(&mut self) -> Parse<Array<'a>> {
        let start = self.pos;
        self.pos += 1;
        self.differs(start, self.pos);
        let elements = self.deeper(|p| {
            let mut elements = Vec::new();
            loop {
                p.blanks();
                match p.peek() {
                    Some(b')') => break,
                    // Bash loses its place if a here-document waits for its text here.
                    Some(b'\n') if !p.pending.is_empty() => return Err(p.unexpected()),
                    Some(b'\n') => p.newline()?,
                    Some(b'[') => elements.push(p.subscripted_element()?),
                    _ => {
                        elements.push(ArrayElement { subscript: None, append: false, value: p.word(Mode::Word)? });
                    }
                }
            }
            Ok(elements)
        })?;
        self.pos += 1;
        // In `$( )` bash reads an array once more with its backslashes removed: `$(a=(\'x)); y \'))` hides `y`.
        let escaped = |part: &Part<'_>| matches!(part, Part::Quoted { quote: Quote::Backslash, .. });
        if self.in_substitution && elements.iter().any(|element| element.value.parts.iter().any(escaped)) {
            return Err(self.error(Trouble::Misread));
        }
        // Bash takes `a=(b)c` for a word, and reads it again later by other rules.
        if self.peek().is_some_and(|byte| !is_meta(byte)) {
            return Err(self.error(Trouble::Misread));
        }
        Ok(Array { elements, span: self.span(start, self.pos) })
    }

    /// `[subscript]=value`, or a word that begins with a bracket.
    fn subscripted_element(&mut self) -> Parse<ArrayElement<'a>> {
        let open = self.pos;
        self.pos += 1;
        let close = self.skip_bracket(Bracket::SUBSCRIPT)?;
        if !self.at_assignment_operator() {
            let Beginning::Word(parts) = self.bracketed_word(open, open, close)? else { return Err(self.unexpected()) };
            return Ok(ArrayElement { subscript: None, append: false, value: self.first_word(open, parts)? });
        }
        let after = self.pos;
        if self.in_substitution && self.slice(open, close).contains(&b'\\') {
            return Err(self.error(Trouble::Misread));
        }
        let subscript: Subscript<'a> = self.arithmetic_between(open + 1, close)?;
        self.pos = after;
        let append = self.eat(b'+');
        self.eat(b'=');
        Ok(ArrayElement { subscript: Some(subscript), append, value: self.text_word(Mode::Word)? })
    }
}

/// Builtins whose arguments may be array assignments. (`eval` and `let` too: bash wants it so.)
fn takes_arrays(name: &[u8]) -> bool {
    matches!(name, b"declare" | b"typeset" | b"local" | b"export" | b"readonly" | b"alias" | b"eval" | b"let")
}

/// `name=`, `name+=`, `name[..]=`.
fn ends_as_assignment(text: &[u8]) -> bool {
    let Some(left) = text.strip_suffix(b"=") else { return false };
    let left = left.strip_suffix(b"+").unwrap_or(left);
    let name = match left.strip_suffix(b"]") {
        Some(inside) => inside.iter().position(|b| *b == b'[').and_then(|at| inside.get(..at)).unwrap_or_default(),
        None => left,
    };
    is_identifier(name)
}
