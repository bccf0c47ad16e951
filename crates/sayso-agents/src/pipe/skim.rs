//! Whom a refused line was for: a glance at the outermost members of a text that may be anything, of any length.
//!
//! Nothing is judged by it. It only finds the id that an error has to carry, so that nobody waits for an answer that
//! will never come.

use super::id::Id;
use super::splice::unescaped;

/// Longer ids than this are not repeated.
const LONGEST_ID: usize = 256;

/// What a glance at a refused line shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skimmed {
    /// The raw id, if there is exactly one.
    pub(crate) id: Option<Vec<u8>>,
    /// It names a method: the sender waits.
    pub(crate) request: bool,
    /// It holds a result or an error: the other side waits.
    pub(crate) answer: bool,
}

/// A glance at a whole line.
pub(crate) fn skim(line: &[u8]) -> Skimmed {
    let mut glance = Glance::default();
    glance.feed(line);
    glance.end()
}

/// The same for a line that comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct Glance {
    depth: usize,
    in_string: bool,
    escape: bool,
    too_long: bool,
    key: Vec<u8>,
    text: Vec<u8>,
    ids: usize,
    found: Skimmed,
}

impl Glance {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.byte(byte);
        }
    }

    pub(crate) fn end(mut self) -> Skimmed {
        if self.ids != 1 {
            self.found.id = None;
        }
        self.found
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            let closed = byte == b'"' && !self.escape;
            self.escape = byte == b'\\' && !self.escape;
            self.in_string = !closed;
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.key = std::mem::take(&mut self.text);
                self.too_long = false;
            }
            b',' if self.depth == 1 => self.end_member(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth != 1 {
            return;
        }
        if self.text.len() < LONGEST_ID {
            self.text.push(byte);
        } else {
            self.too_long = true;
        }
    }

    fn end_member(&mut self) {
        let value = std::mem::take(&mut self.text);
        let key = std::mem::take(&mut self.key);
        let key = key.strip_prefix(b"\"").and_then(|key| key.strip_suffix(b"\"")).map(unescaped);
        match key.as_deref() {
            Some(b"id") => {
                self.ids += 1;
                let fits = !self.too_long && serde_json::from_slice::<serde_json::Value>(&value).is_ok();
                self.found.id = Some(value).filter(|value| fits && Id::read(value).is_some());
            }
            Some(b"method") => self.found.request = true,
            Some(b"result" | b"error") => self.found.answer = true,
            _ => {}
        }
        self.too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        for (line, id, request, answer) in [
            (r#"{"id":7,"method":"x","method":"y"}"#, Some("7"), true, false),
            (r#"{"method":"x","params":{"id":1,"x":["}",{"id":2}]},"id":"a\"b"}"#, Some(r#""a\"b""#), true, false),
            (r#"{"result":{"a":1,"a":2},"\u0069d":3}"#, Some("3"), false, true),
            (r#"{"id":1,"id":2,"method":"x"}"#, None, true, false),
            (r#"{"id":{"x":1},"method":"x"}"#, None, true, false),
            (r#"{"id":null,"error":1}"#, None, false, true),
            (r#"[{"id":1,"method":"x"}]"#, None, false, false),
            ("plain words: 1", None, false, false),
            (r#"{"id":5"#, None, false, false),
        ] {
            let found = skim(line.as_bytes());
            let expected = Skimmed { id: id.map(|id| id.as_bytes().to_owned()), request, answer };
            assert_eq!(found, expected, "{line}");
        }
    }
}
