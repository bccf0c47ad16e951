//! Lists, pipelines, and the words that bash reserves.

use super::Trouble;
use super::byte::{is_meta, is_special_in_word};
use super::cursor::{Parse, Parser};
use super::tree::{
    AndOr, Command, CommandKind, Connector, Descriptor, Few, Item, List, Part, Pipeline, Redirect, RedirectOperator,
    RedirectTarget, Word,
};
use std::borrow::Cow;

/// Words that mean something where a command may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reserved {
    If,
    Then,
    Else,
    Elif,
    Fi,
    Case,
    Esac,
    For,
    Select,
    While,
    Until,
    Do,
    Done,
    In,
    Function,
    Time,
    OpenBrace,
    CloseBrace,
    Bang,
    Condition,
    Coproc,
    /// `]]`, which is nothing but an error where a command may begin.
    ConditionEnd,
}

impl Reserved {
    fn of(text: &[u8]) -> Option<Self> {
        Some(match text {
            b"if" => Self::If,
            b"then" => Self::Then,
            b"else" => Self::Else,
            b"elif" => Self::Elif,
            b"fi" => Self::Fi,
            b"case" => Self::Case,
            b"esac" => Self::Esac,
            b"for" => Self::For,
            b"select" => Self::Select,
            b"while" => Self::While,
            b"until" => Self::Until,
            b"do" => Self::Do,
            b"done" => Self::Done,
            b"in" => Self::In,
            b"function" => Self::Function,
            b"time" => Self::Time,
            b"{" => Self::OpenBrace,
            b"}" => Self::CloseBrace,
            b"!" => Self::Bang,
            b"[[" => Self::Condition,
            b"coproc" => Self::Coproc,
            b"]]" => Self::ConditionEnd,
            _ => return None,
        })
    }

    /// It ends the list before it.
    const fn closes(self) -> bool {
        matches!(
            self,
            Self::Then | Self::Else | Self::Elif | Self::Fi | Self::Esac | Self::Do | Self::Done | Self::CloseBrace
        )
    }
}

impl<'a> Parser<'_, 'a> {
    /// Commands up to the end of the text, all of it.
    pub(super) fn whole(&mut self) -> Parse<List<'a>> {
        let list = self.list()?;
        if self.pos < self.end {
            return Err(self.unexpected());
        }
        self.finish_here_documents()?;
        Ok(list)
    }

    /// At least one command.
    pub(super) fn commands(&mut self) -> Parse<List<'a>> {
        let list = self.list()?;
        if list.items.is_empty() { Err(self.unexpected()) } else { Ok(list) }
    }

    /// Commands, perhaps none, up to something that cannot belong to them.
    pub(super) fn list(&mut self) -> Parse<List<'a>> {
        let mut items = Few::new();
        let mut semicolon = false;
        loop {
            self.linebreak()?;
            if self.at_list_end() {
                break;
            }
            // Bash prints the commands of a substitution and reads them again. After a here-document it forgets to
            // print a `;`, so that `rm a; echo b` becomes `rm a echo b`.
            if semicolon && self.in_substitution && self.after_here_document {
                return Err(self.error(Trouble::Misread));
            }
            let and_or = self.and_or()?;
            let end = self.pos;
            self.blanks();
            let background = self.peek() == Some(b'&');
            semicolon = self.peek() == Some(b';');
            match self.peek() {
                Some(b'&') => self.pos += 1,
                Some(b';') if !self.at_case_end() => self.pos += 1,
                Some(b'\n') => self.newline()?,
                _ => {
                    self.pos = end;
                    items.push(Item { and_or, background });
                    break;
                }
            }
            items.push(Item { and_or, background });
        }
        self.blanks();
        Ok(List { items })
    }

    fn at_list_end(&mut self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => self.at_case_end(),
            _ => self.reserved().is_some_and(|(word, _)| word.closes()),
        }
    }

    /// At `;;`, `;&` or `;;&`.
    pub(super) fn at_case_end(&mut self) -> bool {
        self.peek() == Some(b';') && self.peek_second().is_some_and(|(b, _)| matches!(b, b';' | b'&'))
    }

    fn and_or(&mut self) -> Parse<AndOr<'a>> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            let end = self.pos;
            self.blanks();
            let connector = match (self.peek(), self.peek_second()) {
                (Some(b'&'), Some((b'&', at))) => (Connector::And, at),
                (Some(b'|'), Some((b'|', at))) => (Connector::Or, at),
                _ => {
                    self.pos = end;
                    return Ok(AndOr { first, rest });
                }
            };
            self.pos = connector.1 + 1;
            self.linebreak()?;
            rest.push((connector.0, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Parse<Pipeline<'a>> {
        self.blanks();
        let start = self.pos;
        let (mut negated, mut timed) = (false, false);
        let mut prefix_end = None;
        while let Some((word @ (Reserved::Bang | Reserved::Time), end)) = self.reserved() {
            if word == Reserved::Time && self.is_timing_program(end)? {
                break;
            }
            self.pos = end;
            self.step(1)?;
            if word == Reserved::Bang {
                negated = !negated;
            } else {
                timed = true;
                self.time_options();
            }
            prefix_end = Some(self.pos);
            self.blanks();
        }
        if let Some(end) = prefix_end
            && matches!(self.peek(), None | Some(b'\n' | b';'))
            && !self.at_case_end()
        {
            self.pos = end;
            return Ok(Pipeline { negated, timed, commands: Few::new(), span: self.span(start, end) });
        }
        // Nor does it find the end of a compound command there, behind `time -p`, `time !` or `! time`.
        let first = self.in_substitution && start == self.substitution_start;
        if timed && first && (self.peek() == Some(b'(') || self.reserved().is_some()) {
            return Err(self.error(Trouble::Misread));
        }
        let mut commands = Few::one(self.command()?);
        loop {
            let end = self.pos;
            self.blanks();
            let second = self.peek_second().map(|(b, _)| b);
            if self.peek() != Some(b'|') || second == Some(b'|') {
                self.pos = end;
                break;
            }
            let bar = self.pos;
            self.pos += 1;
            if self.eat(b'&') {
                self.differs(bar, self.pos);
                let span = self.span(bar, self.pos);
                if let Some(command) = commands.last_mut() {
                    join_outputs(command, span);
                }
            }
            self.linebreak()?;
            commands.push(self.command()?);
        }
        Ok(Pipeline { negated, timed, commands, span: self.span(start, self.pos) })
    }

    /// Just after `$(` bash 5.2 does not yet take `time` for a keyword, though it does when the command runs. As long as
    /// it makes no difference to what follows, it is shown as the program that it seems to be.
    fn is_timing_program(&mut self, end: usize) -> Parse<bool> {
        if !self.in_substitution || self.pos != self.substitution_start {
            return Ok(false);
        }
        let start = std::mem::replace(&mut self.pos, end);
        self.blanks();
        let reserved = self.reserved().map(|(word, _)| word);
        if self.peek() == Some(b'(') || reserved.is_some_and(|word| word != Reserved::Bang && word != Reserved::Time) {
            return Err(self.error(Trouble::Misread));
        }
        // An assignment, an option or a quote would make a difference.
        let word = self.slice(self.pos, self.end);
        let length = word.iter().position(|b| is_special_in_word(*b)).unwrap_or(word.len());
        let plain = reserved.is_none()
            && word.first().is_some_and(u8::is_ascii_alphanumeric)
            && word.iter().take(length).all(|b| !matches!(b, b'=' | b'['))
            && word.get(length).is_none_or(|b| is_meta(*b));
        self.pos = start;
        Ok(plain)
    }

    /// `-p` and `--` after `time`.
    fn time_options(&mut self) {
        for option in [b"-p", b"--"] {
            let before = self.pos;
            self.blanks();
            let start = self.pos;
            let matches = option.iter().all(|byte| self.eat(*byte));
            if !matches || self.pos == start || self.peek().is_some_and(|byte| !is_meta(byte)) {
                self.pos = before;
            }
        }
    }

    /// Blanks, `\<newline>` and a comment, up to the line end.
    pub(super) fn blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' => self.pos += 1,
                b'#' => {
                    let rest = self.slice(self.pos, self.end);
                    let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                    self.shared.steps += u64::try_from(length).unwrap_or_default();
                    self.pos += length;
                }
                _ => break,
            }
        }
    }

    /// Blanks and line ends.
    pub(super) fn linebreak(&mut self) -> Parse<()> {
        self.blanks();
        while self.peek() == Some(b'\n') {
            self.newline()?;
            self.blanks();
        }
        Ok(())
    }

    /// The reserved word here, and where it ends.
    pub(super) fn reserved(&mut self) -> Option<(Reserved, usize)> {
        let first = self.peek()?;
        if !matches!(
            first,
            b'i' | b't' | b'e' | b'f' | b'c' | b's' | b'w' | b'u' | b'd' | b'{' | b'}' | b'!' | b'[' | b']'
        ) {
            return None;
        }
        let mut text = [0_u8; 8];
        let mut length = 0;
        let mut at = self.pos;
        while let Some(byte) = self.byte(at) {
            if byte == b'\\' && self.byte(at + 1) == Some(b'\n') {
                at += 2;
                continue;
            }
            if is_special_in_word(byte) {
                let substitution = matches!(byte, b'<' | b'>') && self.byte(at + 1) == Some(b'(');
                let glob = byte == b'(' && first == b'!' && self.options.extended_globs;
                if !is_meta(byte) || substitution || glob {
                    return None;
                }
                break;
            }
            *text.get_mut(length)? = byte;
            length += 1;
            at += 1;
        }
        Some((Reserved::of(text.get(..length)?)?, at))
    }

    /// Goes past this reserved word if it is next.
    pub(super) fn eat_reserved(&mut self, word: Reserved) -> bool {
        match self.reserved() {
            Some((found, end)) if found == word => {
                self.pos = end;
                true
            }
            _ => false,
        }
    }

    /// Goes past this reserved word, or fails.
    pub(super) fn expect_reserved(&mut self, word: Reserved) -> Parse<()> {
        if self.eat_reserved(word) { Ok(()) } else { Err(self.unexpected()) }
    }
}

/// `|&`: the command's standard error goes where its output goes.
fn join_outputs(command: &mut Command<'_>, span: super::tree::Span) {
    let word = Word { parts: Few::one(Part::Literal { text: Cow::Borrowed(b"1"), span }), span };
    let redirect = Redirect {
        descriptor: Descriptor::Number(2),
        operator: RedirectOperator::CopyOutput,
        target: RedirectTarget::Word(word),
        span,
    };
    match &mut command.kind {
        CommandKind::Simple(simple) => simple.redirects.push(redirect),
        CommandKind::Compound(compound) => compound.redirects.push(redirect),
        // Defining a function prints nothing; a coprocess has its own pipe.
        CommandKind::Function(_) | CommandKind::Coproc(_) => {}
    }
}
