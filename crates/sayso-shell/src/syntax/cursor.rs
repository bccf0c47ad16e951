//! The parser's place in the text, and its limits.
//!
//! The grammar itself is spread over the sibling files, one for each subject; all of them are methods of [`Parser`].

use super::tree::{Bytes, HereDocument, List, Span};
use super::{Options, SyntaxError, Trouble};
use crate::limit::MAX_DEPTH;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What every rule of the grammar answers.
pub(super) type Parse<T> = Result<T, SyntaxError>;

/// Reads one buffer: the source itself, or a text made from it (the inside of backticks, a here-document whose tabs
/// and continued lines had to go).
///
/// `'s` is the buffer, `'a` the source. Only text of the source itself can be lent to the tree.
pub(super) struct Parser<'s, 'a> {
    pub(super) src: &'s [u8],
    /// The source, if the buffer is the source.
    lend: Option<&'a [u8]>,
    /// For each byte of a made-up buffer, where it stands in the source.
    map: Option<&'s [u32]>,
    pub(super) pos: usize,
    /// INVARIANT: at most `src.len()`. Less while the inside of a bracket whose end is already known is read.
    pub(super) end: usize,
    pub(super) options: Options,
    pub(super) shared: Shared<'a>,
    /// Here-documents whose text has not come yet.
    pub(super) pending: Vec<super::heredoc::Pending<'a>>,
    /// The line end at which the text of here-documents left open by a `$( )` must begin.
    pub(super) overdue: Option<usize>,
    /// Inside `$( )`, where a here-document may also end at its delimiter followed by `)` on the line.
    pub(super) in_substitution: bool,
    /// Where the first command of the innermost `$( )` begins.
    pub(super) substitution_start: usize,
    /// A here-document was seen in the innermost `$( )`.
    pub(super) after_here_document: bool,
    /// Inside the text of a here-document, where `$'..'` is not known even in `${}`.
    pub(super) in_here_document: bool,
    /// Brackets whose end was found while looking for the end of one around them: by the position of their `$`.
    /// Without this memory nested brackets would be read twice for each level.
    pub(super) seen: BTreeMap<usize, Seen<'a>>,
}

/// What is counted and collected over all buffers.
pub(super) struct Shared<'a> {
    pub(super) depth: usize,
    pub(super) steps: u64,
    pub(super) budget: u64,
    pub(super) here_documents: Vec<HereDocument<'a>>,
    /// The first thing that POSIX does not know.
    pub(super) differs: Option<Span>,
}

/// A bracket that was read ahead.
pub(super) struct Seen<'a> {
    /// One past its closing byte.
    pub(super) end: usize,
    /// Its commands, if it is a command substitution.
    pub(super) body: Option<List<'a>>,
}

impl<'a> Parser<'a, 'a> {
    pub(super) fn new(source: &'a [u8], options: Options) -> Self {
        // Each byte may be read once for each of the few rules that look ahead; nesting multiplies that, but the
        // memory of `seen` keeps the factor small. Real commands need about three steps for a byte.
        let budget = 10_000 + 100 * u64::try_from(source.len()).unwrap_or(u64::MAX / 200);
        let shared = Shared { depth: 0, steps: 0, budget, here_documents: Vec::new(), differs: None };
        Self { lend: Some(source), ..Parser::over(source, None, options, shared) }
    }
}

impl<'s, 'a> Parser<'s, 'a> {
    /// A parser of a buffer that is not the source.
    pub(super) fn over(src: &'s [u8], map: Option<&'s [u32]>, options: Options, shared: Shared<'a>) -> Self {
        Self {
            src,
            lend: None,
            map,
            pos: 0,
            end: src.len(),
            options,
            shared,
            pending: Vec::new(),
            overdue: None,
            in_substitution: false,
            substitution_start: usize::MAX,
            after_here_document: false,
            in_here_document: false,
            seen: BTreeMap::new(),
        }
    }

    /// The byte at `pos`, exactly.
    pub(super) fn raw(&self) -> Option<u8> {
        if self.pos < self.end { self.src.get(self.pos).copied() } else { None }
    }

    /// The byte at any place before the end.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        if at < self.end { self.src.get(at).copied() } else { None }
    }

    /// The byte at `pos` once `\<newline>` pairs are gone.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = self.raw()?;
            if byte == b'\\' && self.byte(self.pos + 1) == Some(b'\n') {
                self.pos += 2;
                self.shared.steps += 1;
            } else {
                return Some(byte);
            }
        }
    }

    /// The byte after the one at `pos`, `\<newline>` pairs gone, and where it stands.
    pub(super) fn peek_second(&mut self) -> Option<(u8, usize)> {
        self.peek()?;
        let mut at = self.pos + 1;
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        Some((self.byte(at)?, at))
    }

    /// Goes past `byte` if it is next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.pos += 1;
        }
        found
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'s [u8] {
        self.src.get(start..end).unwrap_or_default()
    }

    /// Text of the buffer for the tree: lent if that is possible.
    pub(super) fn text(&self, start: usize, end: usize) -> Bytes<'a> {
        match self.lend {
            Some(source) => Cow::Borrowed(source.get(start..end).unwrap_or_default()),
            None => Cow::Owned(self.slice(start, end).to_vec()),
        }
    }

    /// A range of the buffer as a range of the source.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let Some(map) = self.map else { return Span { start: offset(start), end: offset(end) } };
        let mapped = |at: usize| map.get(at).copied();
        let last = end.checked_sub(1).and_then(mapped);
        let first = mapped(start).or(last.map(|l| l + 1)).unwrap_or_default();
        Span { start: first, end: if end > start { last.map_or(first, |l| l + 1) } else { first } }
    }

    /// Where a byte of the buffer stands in the source.
    pub(super) fn origin(&self, at: usize) -> u32 {
        self.span(at, at).start
    }

    pub(super) fn error(&self, trouble: Trouble) -> SyntaxError {
        SyntaxError { trouble, span: self.span(self.pos, (self.pos + 1).min(self.end.max(self.pos))) }
    }

    /// Something else was expected at `pos`.
    pub(super) fn unexpected(&self) -> SyntaxError {
        self.error(if self.pos >= self.end { Trouble::Unterminated } else { Trouble::Unexpected })
    }

    /// Counts work; an error when there was too much of it.
    pub(super) fn step(&mut self, steps: usize) -> Parse<()> {
        self.shared.steps += u64::try_from(steps).unwrap_or(u64::MAX / 2);
        if self.shared.steps > self.shared.budget { Err(self.error(Trouble::TooMuchWork)) } else { Ok(()) }
    }

    /// Reads something one level deeper. All recursion of the parser goes through here.
    pub(super) fn deeper<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.shared.depth >= MAX_DEPTH {
            return Err(self.error(Trouble::TooDeep));
        }
        self.step(1)?;
        self.shared.depth += 1;
        let result = rule(self);
        self.shared.depth -= 1;
        result
    }

    /// Reads with the text ending at `end`; afterwards it ends where it did.
    pub(super) fn within<T>(&mut self, end: usize, rule: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let outer = self.end;
        self.end = end.min(outer);
        let result = rule(self);
        self.end = outer;
        result
    }

    /// Notes something that POSIX does not know: dash and ash read it otherwise, or not at all.
    pub(super) fn differs(&mut self, start: usize, end: usize) {
        if self.shared.differs.is_none() {
            self.shared.differs = Some(self.span(start, end));
        }
    }
}
