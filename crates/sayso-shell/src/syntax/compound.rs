//! Compound commands, functions and coprocesses.

use super::Trouble;
use super::bracket::Bracket;
use super::cursor::{Parse, Parser};
use super::list::Reserved;
use super::tree::{CaseArm, CaseEnd, Command, CommandKind, Compound, CompoundKind, Coproc, Function, List, Part, Word};
use super::word::Mode;

impl<'a> Parser<'_, 'a> {
    /// One command of a pipeline.
    pub(super) fn command(&mut self) -> Parse<Command<'a>> {
        self.blanks();
        let start = self.pos;
        if let Some(compound) = self.compound()? {
            return Ok(self.finished(start, CommandKind::Compound(Box::new(compound))));
        }
        match self.reserved() {
            Some((Reserved::Function, end)) => self.deeper(|p| p.function_keyword(start, end)),
            Some((Reserved::Coproc, end)) => self.deeper(|p| p.coproc(start, end)),
            // After `|`, `time` is a program like any other.
            Some((Reserved::Time, _)) | None => self.simple(start, None),
            Some(_) => Err(self.unexpected()),
        }
    }

    fn finished(&self, start: usize, kind: CommandKind<'a>) -> Command<'a> {
        Command { kind, span: self.span(start, self.pos) }
    }

    /// A compound command with its redirects, if one begins here.
    fn compound(&mut self) -> Parse<Option<Compound<'a>>> {
        let kind = if self.peek() == Some(b'(') {
            self.deeper(Self::parentheses)?
        } else {
            match self.reserved() {
                Some((word, end)) if begins_compound(word) => {
                    let start = self.pos;
                    self.pos = end;
                    self.deeper(|p| p.compound_after(word, start))?
                }
                _ => return Ok(None),
            }
        };
        Ok(Some(Compound { kind, redirects: self.redirects()? }))
    }

    fn compound_after(&mut self, word: Reserved, start: usize) -> Parse<CompoundKind<'a>> {
        match word {
            Reserved::If => self.if_clause(),
            Reserved::While | Reserved::Until => {
                let condition = self.commands()?;
                Ok(CompoundKind::While { until: word == Reserved::Until, condition, body: self.do_group()? })
            }
            Reserved::For | Reserved::Select => self.for_clause(word == Reserved::Select, start),
            Reserved::Case => self.case_clause(),
            Reserved::Condition => {
                self.differs(start, self.pos);
                Ok(CompoundKind::Condition(self.condition()?))
            }
            _ => {
                let body = self.commands()?;
                self.expect_reserved(Reserved::CloseBrace)?;
                Ok(CompoundKind::Group(body))
            }
        }
    }

    /// `( ... )` or `(( ... ))`, `pos` at the first parenthesis.
    fn parentheses(&mut self) -> Parse<CompoundKind<'a>> {
        let start = self.pos;
        self.pos += 1;
        if self.peek() == Some(b'(') {
            // To `sh` this is a subshell in a subshell.
            self.differs(start, self.pos + 1);
            let inside = self.pos + 1;
            self.pos = inside;
            self.skip_seen(Bracket::PARENTHESES)?;
            let close = self.pos - 1;
            if self.raw() == Some(b')') {
                let after = self.pos + 1;
                let arithmetic = self.arithmetic_between(inside, close)?;
                self.pos = after;
                return Ok(CompoundKind::Arithmetic(arithmetic));
            }
            // Bash reads the text again as a subshell in a subshell, but stumbles over a line end just there. What it
            // reads again has lost each `\<newline>`, those in comments and here-documents too.
            let again = self.slice(inside, close);
            if self.raw() == Some(b'\n') {
                return Err(self.unexpected());
            }
            let matters = again.iter().any(|b| matches!(b, b'#' | b'<'));
            let joins = matters && again.windows(2).any(|pair| pair == b"\\\n");
            let here_document = again.split(|b| *b != b'<').any(|run| run.len() == 2 || run.len() > 3);
            if joins || here_document {
                return Err(self.error(Trouble::Misread));
            }
            self.pos = start + 1;
        }
        let body = self.commands()?;
        if self.eat(b')') { Ok(CompoundKind::Subshell(body)) } else { Err(self.unexpected()) }
    }

    fn if_clause(&mut self) -> Parse<CompoundKind<'a>> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.commands()?;
            self.expect_reserved(Reserved::Then)?;
            branches.push((condition, self.commands()?));
            if self.eat_reserved(Reserved::Elif) {
                continue;
            }
            if self.eat_reserved(Reserved::Else) {
                otherwise = Some(self.commands()?);
            }
            self.expect_reserved(Reserved::Fi)?;
            return Ok(CompoundKind::If { branches, otherwise });
        }
    }

    fn do_group(&mut self) -> Parse<List<'a>> {
        self.expect_reserved(Reserved::Do)?;
        let body = self.commands()?;
        self.expect_reserved(Reserved::Done)?;
        Ok(body)
    }

    /// `do ... done`, or `{ ... }`, which bash takes as well after `for` and `select`.
    fn loop_body(&mut self) -> Parse<List<'a>> {
        if self.eat_reserved(Reserved::OpenBrace) {
            self.differs(self.pos - 1, self.pos);
            let body = self.commands()?;
            self.expect_reserved(Reserved::CloseBrace)?;
            return Ok(body);
        }
        self.do_group()
    }

    fn for_clause(&mut self, select: bool, start: usize) -> Parse<CompoundKind<'a>> {
        self.blanks();
        if select {
            self.differs(start, self.pos);
        } else if self.peek() == Some(b'(') {
            return self.for_arithmetic(start);
        }
        let name = self.word(Mode::Word)?;
        self.blanks();
        let words = if self.eat(b';') {
            None
        } else {
            self.linebreak()?;
            if self.eat_reserved(Reserved::In) { Some(self.for_words()?) } else { None }
        };
        self.linebreak()?;
        let body = self.loop_body()?;
        Ok(CompoundKind::For { select, name, words, body })
    }

    /// The words after `in`, and the line end or semicolon that ends them.
    fn for_words(&mut self) -> Parse<Vec<Word<'a>>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                Some(b';') => {
                    self.pos += 1;
                    return Ok(words);
                }
                Some(b'\n') => return Ok(words),
                _ => words.push(self.word(Mode::Word)?),
            }
        }
    }

    fn for_arithmetic(&mut self, start: usize) -> Parse<CompoundKind<'a>> {
        self.pos += 1;
        if !self.eat(b'(') {
            return Err(self.unexpected());
        }
        self.differs(start, self.pos);
        let inside = self.pos;
        self.skip_seen(Bracket::PARENTHESES)?;
        let close = self.pos - 1;
        // With one parenthesis only bash stops reading here, without a word.
        if self.raw() != Some(b')') {
            return Err(self.error(Trouble::Misread));
        }
        let after = self.pos + 1;
        let header = self.arithmetic_between(inside, close)?;
        let semicolons = header.parts.iter().map(|part| match part {
            Part::Quoted { text, .. } => text.iter().filter(|b| **b == b';').count(),
            _ => 0,
        });
        if semicolons.sum::<usize>() != 2 {
            return Err(self.unexpected());
        }
        self.pos = after;
        self.blanks();
        self.eat(b';');
        self.linebreak()?;
        Ok(CompoundKind::ForArithmetic { header, body: self.loop_body()? })
    }

    fn case_clause(&mut self) -> Parse<CompoundKind<'a>> {
        self.blanks();
        let word = self.word(Mode::Word)?;
        self.linebreak()?;
        self.expect_reserved(Reserved::In)?;
        let mut arms = Vec::new();
        loop {
            self.linebreak()?;
            if self.eat_reserved(Reserved::Esac) {
                return Ok(CompoundKind::Case { word, arms });
            }
            let (arm, last) = self.case_arm()?;
            arms.push(arm);
            if last {
                self.expect_reserved(Reserved::Esac)?;
                return Ok(CompoundKind::Case { word, arms });
            }
        }
    }

    /// An arm, and whether it must be the last one because nothing ends it.
    fn case_arm(&mut self) -> Parse<(CaseArm<'a>, bool)> {
        self.eat(b'(');
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            patterns.push(self.word(Mode::Word)?);
            self.blanks();
            if self.eat(b'|') {
                continue;
            }
            if self.eat(b')') {
                break;
            }
            return Err(self.unexpected());
        }
        let body = self.list()?;
        let start = self.pos;
        if !self.at_case_end() {
            return Ok((CaseArm { patterns, body, end: CaseEnd::Break }, true));
        }
        self.pos += 1;
        let double = self.eat(b';');
        let end = match (double, self.eat(b'&')) {
            (true, false) => CaseEnd::Break,
            (true, true) => CaseEnd::Continue,
            (false, _) => CaseEnd::FallThrough,
        };
        if end != CaseEnd::Break {
            self.differs(start, self.pos);
        }
        Ok((CaseArm { patterns, body, end }, false))
    }

    /// `name ()`, `pos` at the parenthesis.
    pub(super) fn function_after_name(&mut self, start: usize, name: Word<'a>) -> Parse<Command<'a>> {
        self.pos += 1;
        self.blanks();
        if !self.eat(b')') {
            return Err(self.unexpected());
        }
        self.function_body(start, name)
    }

    fn function_keyword(&mut self, start: usize, end: usize) -> Parse<Command<'a>> {
        self.pos = end;
        self.differs(start, end);
        self.blanks();
        let name = self.word(Mode::Word)?;
        self.blanks();
        if self.peek() == Some(b'(') {
            let open = self.pos;
            self.pos += 1;
            self.blanks();
            if !self.eat(b')') {
                // `function f (commands)`: no empty parentheses, but a body in some.
                self.pos = open;
            }
        }
        self.function_body(start, name)
    }

    fn function_body(&mut self, start: usize, name: Word<'a>) -> Parse<Command<'a>> {
        self.linebreak()?;
        let Some(body) = self.deeper(Self::compound)? else { return Err(self.unexpected()) };
        Ok(self.finished(start, CommandKind::Function(Box::new(Function { name, body }))))
    }

    fn coproc(&mut self, start: usize, end: usize) -> Parse<Command<'a>> {
        self.pos = end;
        self.differs(start, end);
        self.blanks();
        let inner = self.pos;
        let (name, command) = if let Some(compound) = self.compound()? {
            (None, self.finished(inner, CommandKind::Compound(Box::new(compound))))
        } else if self.at_plain_word() {
            let word = self.word(Mode::Word)?;
            let after_word = self.pos;
            self.blanks();
            let body = self.pos;
            if let Some(compound) = self.compound()? {
                (Some(word), self.finished(body, CommandKind::Compound(Box::new(compound))))
            } else {
                self.pos = after_word;
                (None, self.simple(inner, Some(word))?)
            }
        } else {
            (None, self.simple(inner, None)?)
        };
        // Bash prints the commands of a substitution and reads them again; on the way a simple coprocess gets the
        // program name `COPROC`.
        if self.in_substitution && matches!(command.kind, CommandKind::Simple(_)) {
            return Err(self.error(Trouble::Misread));
        }
        Ok(self.finished(start, CommandKind::Coproc(Box::new(Coproc { name, command }))))
    }

    /// At a word that could be the name of a coprocess.
    fn at_plain_word(&mut self) -> bool {
        self.peek().is_some() && {
            let (_, end) = self.name();
            let start = self.pos;
            end > start && self.byte(end).is_none_or(|b| matches!(b, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|'))
        }
    }
}

const fn begins_compound(word: Reserved) -> bool {
    matches!(
        word,
        Reserved::If
            | Reserved::While
            | Reserved::Until
            | Reserved::For
            | Reserved::Select
            | Reserved::Case
            | Reserved::Condition
            | Reserved::OpenBrace
    )
}
