//! Filters whose output is known when their input is.

use crate::program::{Facets, Prints};
use crate::word::{Text, Word};

/// What a program makes of known input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// It prints what it reads.
    Copy,
    /// It decodes base64: the usual way to hide a command.
    Base64,
    /// It encodes.
    ToBase64,
    /// Not followed.
    Unknown,
}

impl Filter {
    pub(crate) fn of(facets: Facets, argv: &[Word]) -> Self {
        if !facets.has(Facets::COPIES_INPUT.and(Facets::BASE64)) {
            return Self::Unknown;
        }
        let words: Option<Vec<&[u8]>> = argv.iter().skip(1).map(Word::exact).collect();
        match (facets.has(Facets::BASE64), words.as_deref()) {
            (false, Some([] | [b"-"])) => Self::Copy,
            (true, Some([b"-d" | b"-D" | b"--decode" | b"-di"])) => Self::Base64,
            (true, Some([])) => Self::ToBase64,
            _ => Self::Unknown,
        }
    }

    /// What it prints.
    pub(crate) fn apply(self, input: &[u8]) -> Option<Prints> {
        match self {
            Self::Copy => Some(Prints::Exact(Text::from(input))),
            Self::Base64 => decode(input).map(|bytes| Prints::Exact(Text::from(bytes))),
            Self::ToBase64 => Some(Prints::Exact(Text::from(encode(input)))),
            Self::Unknown => None,
        }
    }
}

/// As `base64` prints it: lines of 76 characters.
fn encode(input: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::with_capacity(input.len() / 3 * 4 + 4);
    for (at, group) in input.chunks(3).enumerate() {
        if at > 0 && at.is_multiple_of(19) {
            out.push(b'\n');
        }
        let bits = group.iter().enumerate().fold(0_u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for place in 0..4 {
            let digit = DIGITS.get((bits >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'=');
            out.push(if place <= group.len() { digit } else { b'=' });
        }
    }
    out.push(b'\n');
    out
}

/// Strict base64 with line breaks; anything odd is not known.
fn decode(input: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(input.len() / 4 * 3);
    let mut bits = 0_u32;
    let mut count = 0_u32;
    let mut padding = 0;
    for &byte in input.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        bits = bits << 6 | u32::from(value);
        count += 1;
        if count.is_multiple_of(4) {
            out.extend_from_slice(bits.to_be_bytes().get(1..)?);
            bits = 0;
        }
    }
    match (count % 4, padding) {
        (0, 0) => {}
        (2, 2) => out.push(u8::try_from(bits >> 4 & 0xff).ok()?),
        (3, 1) => out.extend_from_slice((bits >> 2).to_be_bytes().get(2..)?),
        _ => return None,
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_strictly() {
        for (text, expected) in [
            ("cm0geA==", Some("rm x")),
            ("cm0geHk=\n", Some("rm xy")),
            ("cm0g\neHl6", Some("rm xyz")),
            ("", Some("")),
            ("cm0geA", None),
            ("cm0geA==cm0geA==", None),
            ("c!", None),
        ] {
            assert_eq!(decode(text.as_bytes()).as_deref(), expected.map(str::as_bytes), "{text}");
        }
        for text in [&b""[..], b"r", b"rm", b"rm x", &[0xff; 100]] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        }
        assert_eq!(encode(b"rm x"), b"cm0geA==\n");
    }
}
