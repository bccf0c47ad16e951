//! Here-documents: the delimiter now, the text after the line.

use super::Trouble;
use super::cursor::{Parse, Parser};
use super::quote::unescape;
use super::tree::{Bytes, Few, HereDocument, HereId, Part, Quote, RedirectTarget, Word};
use super::word::{Mode, is_limit};

/// As many may wait for their text in bash.
const MOST_PENDING: usize = 16;

/// A here-document whose text has not come yet.
pub(super) struct Pending<'a> {
    id: usize,
    delimiter: Bytes<'a>,
    quoted: bool,
    strip_tabs: bool,
}

/// Where the text of a here-document ends, and what the search for it noticed.
struct Extent {
    end: usize,
    /// Where reading goes on.
    after: usize,
    terminated: bool,
    /// Tabs or `\<newline>` must go, so the text cannot be read in place.
    changed: bool,
}

impl<'a> Parser<'_, 'a> {
    /// The delimiter after `<<` or `<<-`, `pos` before it.
    pub(super) fn here_document(&mut self, strip_tabs: bool) -> Parse<RedirectTarget<'a>> {
        if self.pending.len() >= MOST_PENDING {
            return Err(self.error(Trouble::Unexpected));
        }
        self.blanks();
        let start = self.pos;
        self.word(Mode::Word)?;
        let (delimiter, quoted) = self.delimiter(start, self.pos)?;
        self.after_here_document = true;
        let id = self.shared.here_documents.len();
        let body = Word::default();
        let delimiter: Bytes<'a> = delimiter.into();
        let document = HereDocument { delimiter: delimiter.clone(), quoted, strip_tabs, body, terminated: false };
        self.shared.here_documents.push(document);
        self.pending.push(Pending { id, delimiter, quoted, strip_tabs });
        Ok(RedirectTarget::HereDocument(HereId(u32::try_from(id).unwrap_or(u32::MAX))))
    }

    /// The raw text of a delimiter without its quotes, and whether there were any. Expansions are text here.
    fn delimiter(&self, start: usize, end: usize) -> Parse<(Vec<u8>, bool)> {
        let raw = self.joined_text(start, end);
        let mut out = Vec::with_capacity(raw.len());
        let mut quoted = false;
        let mut nested = false;
        let mut in_double = false;
        let mut rest: &[u8] = &raw;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'\\' => {
                    quoted = true;
                    let Some((&next, after)) = rest.split_first() else { break };
                    if in_double && !matches!(next, b'$' | b'`' | b'"' | b'\\') {
                        out.push(b'\\');
                    }
                    out.push(next);
                    rest = after;
                }
                b'"' => {
                    quoted = true;
                    in_double = !in_double;
                }
                b'\'' if !in_double => {
                    quoted = true;
                    let length = rest.iter().position(|b| *b == b'\'').unwrap_or(rest.len());
                    out.extend_from_slice(rest.get(..length).unwrap_or_default());
                    rest = rest.get(length + 1..).unwrap_or_default();
                }
                b'$' if !in_double && rest.first() == Some(&b'\'') => {
                    quoted = true;
                    let length = ansi_c_length(rest.get(1..).unwrap_or_default());
                    out.extend(unescape(rest.get(1..=length).unwrap_or_default()));
                    rest = rest.get(length + 2..).unwrap_or_default();
                }
                b'$' if !in_double && rest.first() == Some(&b'"') => {}
                _ => {
                    let quotes = in_double && rest.iter().any(|b| matches!(b, b'\'' | b'\\'));
                    nested |= byte == b'$' && rest.first() == Some(&b'{') && quotes;
                    nested |= byte == b'`' || (byte == b'$' && matches!(rest.first(), Some(b'(' | b'[')));
                    out.push(byte);
                }
            }
        }
        // A substitution in a delimiter is read by the grammar and never run. Nobody writes one but to hide something.
        if nested { Err(self.error(Trouble::Unexpected)) } else { Ok((out, quoted)) }
    }

    /// A `$( )` was closed before the text of its here-document came. Bash then takes the text from the next line,
    /// whatever stands on the rest of this one; that is followed here only if the next line is also where the grammar
    /// expects it.
    pub(super) fn expect_here_documents_at_line_end(&mut self) -> Parse<()> {
        let rest = self.src.get(self.pos..).unwrap_or_default();
        let line_end = rest.iter().position(|b| *b == b'\n').map(|length| self.pos + length);
        self.step(line_end.map_or(rest.len(), |end| end - self.pos))?;
        match (self.overdue, line_end) {
            (Some(overdue), _) if Some(overdue) != line_end => Err(self.error(Trouble::Unexpected)),
            _ => {
                self.overdue = line_end;
                Ok(())
            }
        }
    }

    /// A line end, `pos` at it: reads the text of the here-documents that wait for it.
    pub(super) fn newline(&mut self) -> Parse<()> {
        if self.overdue.take().is_some_and(|line_end| line_end != self.pos) {
            return Err(self.error(Trouble::Unexpected));
        }
        self.pos += 1;
        if self.pending.is_empty() {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        self.deeper(|p| pending.iter().try_for_each(|document| p.here_document_text(document)))
    }

    /// The end of the text: here-documents that still wait are empty.
    pub(super) fn finish_here_documents(&mut self) -> Parse<()> {
        if self.overdue.is_some() {
            return Err(self.error(Trouble::Unexpected));
        }
        self.pending.clear();
        Ok(())
    }

    fn here_document_text(&mut self, document: &Pending<'a>) -> Parse<()> {
        let start = self.pos;
        let extent = self.here_document_extent(document)?;
        let span = self.span(start, extent.end);
        let parts = if document.quoted {
            let text: Bytes<'a> = if extent.changed {
                self.here_document_copy(start, extent.end, document).0.into()
            } else {
                self.text(start, extent.end)
            };
            if text.is_empty() { Few::new() } else { Few::one(Part::Quoted { text, quote: Quote::Single, span }) }
        } else {
            self.here_document_parts(start, &extent, document)?
        };
        self.pos = extent.after;
        if let Some(slot) = self.shared.here_documents.get_mut(document.id) {
            slot.body = Word { parts, span };
            slot.terminated = extent.terminated;
        }
        Ok(())
    }

    /// The text of an unquoted here-document. It is read by bash only when the command runs: an error in it is no
    /// error of the whole.
    fn here_document_parts(&mut self, start: usize, extent: &Extent, document: &Pending<'a>) -> Parse<Few<Part<'a>>> {
        let read = if extent.changed {
            let (text, map) = self.here_document_copy(start, extent.end, document);
            self.inner_text(&text, &map, |inner| {
                inner.in_here_document = true;
                inner.parts(Mode::Here)
            })?
        } else {
            let substitution = std::mem::replace(&mut self.in_substitution, false);
            let here = std::mem::replace(&mut self.in_here_document, true);
            let pending = std::mem::take(&mut self.pending);
            let overdue = self.overdue.take();
            let read = self.within(extent.end, |p| p.parts(Mode::Here));
            self.in_substitution = substitution;
            self.in_here_document = here;
            self.pending = pending;
            self.overdue = overdue;
            read
        };
        match read {
            Err(error) if is_limit(error.trouble) => Err(error),
            Err(error) => {
                let span = self.span(start, extent.end);
                Ok(Few::one(Part::Opaque { why: error.trouble, span }))
            }
            Ok(parts) => Ok(parts),
        }
    }

    /// Looks for the delimiter, line by line.
    fn here_document_extent(&mut self, document: &Pending<'a>) -> Parse<Extent> {
        let mut changed = false;
        let mut at = self.pos;
        while at < self.end {
            let begin = at;
            if document.strip_tabs {
                while self.byte(at) == Some(b'\t') {
                    at += 1;
                }
            }
            let stripped = at;
            let (line_end, joined) = self.here_document_line(at, document.quoted);
            self.step(line_end - begin + 1)?;
            let line = if joined { self.joined_text(at, line_end) } else { self.slice(at, line_end).into() };
            if *line == *document.delimiter {
                return Ok(Extent { end: begin, after: (line_end + 1).min(self.end), terminated: true, changed });
            }
            // In `$( )` the delimiter may be followed by the closing parenthesis, and by anything else: bash goes on
            // with commands right after the delimiter.
            if self.in_substitution
                && let Some(rest) = line.strip_prefix(&*document.delimiter)
                && rest.contains(&b')')
            {
                if joined {
                    return Err(self.error(Trouble::Unexpected));
                }
                let after = at + document.delimiter.len();
                return Ok(Extent { end: begin, after, terminated: true, changed });
            }
            changed |= joined || stripped > begin;
            at = (line_end + 1).min(self.end);
        }
        Ok(Extent { end: self.end, after: self.end, terminated: false, changed })
    }

    /// The end of a line that begins at `start`, and whether `\<newline>` joined several to it.
    fn here_document_line(&self, start: usize, quoted: bool) -> (usize, bool) {
        let mut at = start;
        let mut joined = false;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\n' => break,
                b'\\' if !quoted => {
                    joined |= self.byte(at + 1) == Some(b'\n');
                    at += 2;
                }
                _ => at += 1,
            }
        }
        (at.min(self.end), joined)
    }

    /// The text without leading tabs and `\<newline>`, and where each byte of it stands in the source.
    fn here_document_copy(&self, start: usize, end: usize, document: &Pending<'a>) -> (Vec<u8>, Vec<u32>) {
        let mut text = Vec::with_capacity(end - start);
        let mut map = Vec::with_capacity(end - start);
        let mut at = start;
        let mut line_start = true;
        while at < end {
            let byte = self.byte(at).unwrap_or_default();
            if line_start && document.strip_tabs && byte == b'\t' {
                at += 1;
                continue;
            }
            line_start = byte == b'\n';
            if byte == b'\\' && !document.quoted && at + 1 < end {
                let next = self.byte(at + 1).unwrap_or_default();
                if next != b'\n' {
                    text.extend([byte, next]);
                    map.extend([self.origin(at), self.origin(at + 1)]);
                }
                at += 2;
                continue;
            }
            text.push(byte);
            map.push(self.origin(at));
            at += 1;
        }
        (text, map)
    }
}

/// Length of the inside of `$'..'`, given the text after its opening quote.
fn ansi_c_length(text: &[u8]) -> usize {
    let mut escaped = false;
    text.iter()
        .position(|byte| {
            let closes = *byte == b'\'' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            closes
        })
        .unwrap_or(text.len())
}
