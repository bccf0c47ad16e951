//! Single quotes, `$'..'` and double quotes.

use super::Trouble;
use super::bracket::Bracket;
use super::cursor::{Parse, Parser};
use super::tree::{Part, Quote};
use super::word::Mode;
use std::borrow::Cow;

impl<'a> Parser<'_, 'a> {
    /// `'...'`, `pos` at the quote. Nothing is special inside, not even `\<newline>`.
    pub(super) fn single_quotes(&mut self) -> Parse<Part<'a>> {
        let open = self.pos;
        let rest = self.slice(open + 1, self.end);
        let Some(length) = rest.iter().position(|b| *b == b'\'') else {
            self.pos = self.end;
            return Err(self.error(Trouble::Unterminated));
        };
        self.step(length)?;
        self.pos = open + length + 2;
        let text = self.text(open + 1, open + 1 + length);
        Ok(Part::Quoted { text, quote: Quote::Single, span: self.span(open, self.pos) })
    }

    /// `$'...'`, `pos` at the quote, `start` at the dollar.
    pub(super) fn ansi_c_quotes(&mut self, start: usize) -> Parse<Part<'a>> {
        let open = self.pos + 1;
        self.pos = open;
        let close = self.skip_bracket(Bracket::ANSI_C_QUOTES)?;
        self.differs(start, self.pos);
        let inside = self.slice(open, close);
        let text = if inside.contains(&b'\\') { Cow::Owned(unescape(inside)) } else { self.text(open, close) };
        Ok(Part::Quoted { text, quote: Quote::AnsiC, span: self.span(start, self.pos) })
    }

    /// `"..."`, `pos` at the quote, `start` there or at the dollar before it.
    pub(super) fn double_quotes(&mut self, start: usize) -> Parse<Part<'a>> {
        self.pos += 1;
        let parts = self.deeper(|p| p.parts(Mode::Double))?;
        if self.raw() != Some(b'"') {
            return Err(self.error(Trouble::Unterminated));
        }
        self.pos += 1;
        let span = self.span(start, self.pos);
        Ok(match parts.into_one() {
            Ok(Part::Quoted { text, .. }) => Part::Quoted { text, quote: Quote::Double, span },
            Ok(part) => Part::DoubleQuoted { parts: vec![part], span },
            Err(none) if none.is_empty() => Part::Quoted { text: Cow::Borrowed(b""), quote: Quote::Double, span },
            Err(parts) => Part::DoubleQuoted { parts: parts.into_vec(), span },
        })
    }
}

/// The escapes of `$'..'`. What is no escape keeps its backslash. A NUL ends the text, as in bash.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some((&letter, after)) = rest.split_first() else {
            out.push(b'\\');
            break;
        };
        rest = after;
        let plain = match letter {
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => letter,
            b'0'..=b'7' => {
                let (low, tail) = number(rest, 8, 2);
                let digits = rest.len() - tail.len();
                let high = u32::from(letter - b'0') << (3 * digits);
                rest = tail;
                low_byte(high + low)
            }
            b'x' => {
                let braces = rest.first() == Some(&b'{');
                let digits = if braces { rest.get(1..).unwrap_or_default() } else { rest };
                let (value, tail) = number(digits, 16, if braces { usize::MAX } else { 2 });
                if !braces && tail.len() == rest.len() {
                    out.push(b'\\');
                    b'x'
                } else {
                    rest = if braces { tail.strip_prefix(b"}").unwrap_or(tail) } else { tail };
                    low_byte(value)
                }
            }
            b'u' | b'U' => {
                let (value, tail) = number(rest, 16, if letter == b'u' { 4 } else { 8 });
                if tail.len() == rest.len() {
                    out.extend([b'\\', letter]);
                    continue;
                }
                rest = tail;
                if value == 0 {
                    break;
                }
                push_code_point(&mut out, value);
                continue;
            }
            b'c' => match rest.split_first() {
                Some((&b'\\', after)) => {
                    rest = after.strip_prefix(b"\\").unwrap_or(after);
                    0x1c
                }
                Some((&b'?', after)) => {
                    rest = after;
                    0x7f
                }
                Some((&key, after)) => {
                    rest = after;
                    key.to_ascii_uppercase() & 0x1f
                }
                None => {
                    out.push(b'\\');
                    b'c'
                }
            },
            other => {
                out.push(b'\\');
                other
            }
        };
        if plain == 0 {
            break;
        }
        out.push(plain);
    }
    out
}

fn low_byte(value: u32) -> u8 {
    u8::try_from(value & 0xff).unwrap_or_default()
}

/// Up to `most` digits.
fn number(text: &[u8], radix: u32, most: usize) -> (u32, &[u8]) {
    let digits = text.iter().take(most).take_while(|b| char::from(**b).is_digit(radix)).count();
    let (digits, rest) = text.split_at_checked(digits).unwrap_or((text, b""));
    let value = digits.iter().fold(0_u32, |value, digit| {
        value.wrapping_mul(radix).wrapping_add(char::from(*digit).to_digit(radix).unwrap_or_default())
    });
    (value, rest)
}

/// UTF-8, also of what is no code point, as bash writes it.
fn push_code_point(out: &mut Vec<u8>, value: u32) {
    if let Some(char) = char::from_u32(value) {
        out.extend(char.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let tail = |shift: u32| 0x80 | low_byte((value >> shift) & 0x3f);
    match value {
        0..=0xffff => out.extend([0xe0 | low_byte(value >> 12), tail(6), tail(0)]),
        0x1_0000..=0x1f_ffff => out.extend([0xf0 | low_byte(value >> 18), tail(12), tail(6), tail(0)]),
        0x20_0000..=0x3ff_ffff => {
            out.extend([0xf8 | low_byte(value >> 24), tail(18), tail(12), tail(6), tail(0)]);
        }
        0x400_0000..=0x7fff_ffff => {
            out.extend([0xfc | low_byte(value >> 30), tail(24), tail(18), tail(12), tail(6), tail(0)]);
        }
        _ => {}
    }
}
