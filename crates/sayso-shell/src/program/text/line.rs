//! From a text to lines with what stands indented below each.

use super::problem::{Place, Problems};

/// The most that a text may hold, and how deep its lines may be indented into each other.
pub(super) const MOST_BYTES: usize = 512 * 1024;
const MOST_LINES: usize = 20_000;
const DEEPEST: usize = 8;

/// A word of a line.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) at: Place,
    /// It stood in quotes, and is a word whatever it looks like.
    pub(super) quoted: bool,
}

impl Token {
    /// Whether it is this sign of the language.
    pub(super) fn is(&self, sign: &str) -> bool {
        !self.quoted && self.text == sign
    }
}

/// A line, with those that are indented below it.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) at: Place,
    pub(super) tokens: Vec<Token>,
    /// The line as it is written, without what it is indented by.
    pub(super) raw: String,
    pub(super) below: Vec<Line>,
}

impl Line {
    pub(super) fn first(&self) -> &str {
        self.tokens.first().map_or("", |token| if token.quoted { "" } else { token.text.as_str() })
    }
}

/// A line before it is known what stands below it.
struct Flat {
    indent: usize,
    line: Line,
}

/// The lines of a text. Blank ones and those that begin with `#` are left out; one that ends with `\` goes on in the next,
/// but for those below `verbatim` headings, which are kept as they are.
pub(super) fn lines(file: usize, text: &str, verbatim: &[&str], problems: &mut Problems) -> Vec<Line> {
    let start = Place { file, line: 1, column: 1, length: 1 };
    if text.len() > MOST_BYTES {
        problems.add(start, format!("the text is longer than {} KiB", MOST_BYTES / 1024));
        return Vec::new();
    }
    if text.lines().count() > MOST_LINES {
        problems.add(start, format!("the text has more than {MOST_LINES} lines"));
        return Vec::new();
    }
    nested(flat(file, text, verbatim, problems), problems)
}

fn flat(file: usize, text: &str, verbatim: &[&str], problems: &mut Problems) -> Vec<Flat> {
    let mut flat: Vec<Flat> = Vec::new();
    let mut goes_on = false;
    let mut as_written = false;
    for (number, written) in text.lines().enumerate() {
        let content = written.trim_start_matches(' ');
        let indent = written.len() - content.len();
        let at = Place { file, line: number + 1, column: indent + 1, length: content.chars().count().max(1) };
        if content.trim_end().is_empty() || content.starts_with('#') {
            goes_on = false;
            continue;
        }
        if let Some(bad) = content.chars().position(|c| c.is_control()) {
            let at = Place { column: indent + 1 + bad, length: 1, ..at };
            problems.add(at, "a tab or another control character; indent with blanks");
            continue;
        }
        if indent == 0 && !goes_on {
            as_written = verbatim.iter().any(|heading| content.trim_end() == *heading);
        }
        let more = if as_written { None } else { content.trim_end().strip_suffix(" \\") };
        let tokens = tokens(more.unwrap_or(content), at, problems);
        match flat.last_mut().filter(|_| goes_on) {
            Some(last) => last.line.tokens.extend(tokens),
            None => {
                let line = Line { at, tokens, raw: content.trim_end().to_owned(), below: Vec::new() };
                flat.push(Flat { indent, line });
            }
        }
        goes_on = more.is_some();
    }
    flat
}

fn nested(flat: Vec<Flat>, problems: &mut Problems) -> Vec<Line> {
    // The lines that are open, from the outermost, with how far they are indented.
    let mut open: Vec<Flat> = Vec::new();
    let mut done = Vec::new();
    for next in flat {
        let mut deeper = None;
        while let Some(last) = open.pop_if(|last| last.indent >= next.indent) {
            deeper = Some(last.indent);
            close(last.line, &mut open, &mut done);
        }
        if deeper.is_some_and(|indent| indent != next.indent) || deeper.is_none() && open.is_empty() && next.indent > 0
        {
            problems.add(next.line.at, "indented differently from the lines that it stands beside");
        }
        if open.len() >= DEEPEST {
            problems.add(next.line.at, format!("indented more than {DEEPEST} levels deep"));
            continue;
        }
        open.push(next);
    }
    while let Some(last) = open.pop() {
        close(last.line, &mut open, &mut done);
    }
    done
}

fn close(line: Line, open: &mut [Flat], done: &mut Vec<Line>) {
    match open.last_mut() {
        Some(parent) => parent.line.below.push(line),
        None => done.push(line),
    }
}

/// The words of a line. `"two words"` is one.
fn tokens(content: &str, at: Place, problems: &mut Problems) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = content.chars().enumerate().peekable();
    while let Some((begin, c)) = chars.next() {
        if c == ' ' {
            continue;
        }
        let quoted = c == '"';
        let mut text = String::new();
        if quoted {
            let mut closed = false;
            for (_, c) in chars.by_ref() {
                closed = c == '"';
                if closed {
                    break;
                }
                text.push(c);
            }
            if !closed {
                problems.add(Place { column: at.column + begin, length: 1, ..at }, "a quote that does not end");
            }
        } else {
            text.push(c);
            while let Some((_, c)) = chars.next_if(|(_, c)| *c != ' ') {
                text.push(c);
            }
        }
        let length = text.chars().count() + if quoted { 2 } else { 0 };
        tokens.push(Token { text, at: Place { column: at.column + begin, length, ..at }, quoted });
    }
    tokens
}
