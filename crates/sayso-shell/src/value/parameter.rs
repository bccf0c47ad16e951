//! What `${x...}` makes of a known value.

use super::pattern::{Piece, matches};

/// `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`.
pub(crate) fn trim<'v>(value: &'v [u8], pattern: &[Piece], suffix: bool, longest: bool) -> &'v [u8] {
    let ends = 0..=value.len();
    let fits = |at: &usize| {
        let piece = if suffix { value.get(*at..) } else { value.get(..*at) };
        piece.is_some_and(|piece| matches(pattern, piece))
    };
    // The shortest suffix begins last, the shortest prefix ends first.
    let at = if suffix == longest { ends.into_iter().find(fits) } else { ends.rev().find(fits) };
    match at {
        Some(at) if suffix => value.get(..at).unwrap_or(value),
        Some(at) => value.get(at..).unwrap_or(value),
        None => value,
    }
}

/// Where a replacement is anchored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// `${x/p/r}`, `${x//p/r}`.
    Anywhere,
    /// `${x/#p/r}`.
    Start,
    /// `${x/%p/r}`.
    End,
}

/// `${x/p/r}`: the longest match at the first place, or at each place.
pub(crate) fn replace(value: &[u8], pattern: &[Piece], with: &[u8], anchor: Anchor, all: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut at = 0;
    if pattern.is_empty() {
        return match anchor {
            Anchor::Start => [with, value].concat(),
            Anchor::End => [value, with].concat(),
            Anchor::Anywhere => value.to_vec(),
        };
    }
    while at <= value.len() {
        let longest = (at..=value.len()).rev().find(|end| {
            let anchored = match anchor {
                Anchor::Anywhere => true,
                Anchor::Start => at == 0,
                Anchor::End => *end == value.len(),
            };
            anchored && value.get(at..*end).is_some_and(|piece| matches(pattern, piece))
        });
        match longest {
            Some(end) if end > at || anchor != Anchor::Anywhere || value.is_empty() => {
                out.extend_from_slice(with);
                at = end;
                if !all || at >= value.len() {
                    break;
                }
            }
            _ => {
                out.extend(value.get(at));
                at += 1;
            }
        }
    }
    out.extend_from_slice(value.get(at..).unwrap_or_default());
    out
}

/// `${x:offset:length}` of text in which one byte is one character.
pub(crate) fn substring(value: &[u8], offset: i64, length: Option<i64>) -> Option<&[u8]> {
    let size = i64::try_from(value.len()).ok()?;
    let start = if offset < 0 { size + offset } else { offset };
    if start < 0 || start > size {
        return Some(b"");
    }
    let end = match length {
        None => size,
        Some(length) if length < 0 => size + length,
        Some(length) => start.saturating_add(length).min(size),
    };
    if end < start {
        return None;
    }
    value.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// `${x^^}` and its kin, without a pattern.
pub(crate) fn change_case(value: &[u8], operator: u8, all: bool) -> Vec<u8> {
    let mut out = value.to_vec();
    let count = if all { out.len() } else { 1 };
    for byte in out.iter_mut().take(count) {
        *byte = match operator {
            b'^' => byte.to_ascii_uppercase(),
            b',' => byte.to_ascii_lowercase(),
            _ if byte.is_ascii_lowercase() => byte.to_ascii_uppercase(),
            _ => byte.to_ascii_lowercase(),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::pattern::parse;
    use super::*;

    fn pattern(text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        parse(text.as_bytes(), &mut pieces).unwrap();
        pieces
    }

    #[test]
    fn trims_agree_with_bash() {
        let value = b"a/b/c.tar.gz";
        for (text, suffix, longest, expected) in [
            ("*/", false, false, "b/c.tar.gz"),
            ("*/", false, true, "c.tar.gz"),
            (".*", true, false, "a/b/c.tar"),
            (".*", true, true, "a/b/c"),
            ("nope", true, true, "a/b/c.tar.gz"),
            ("*", false, true, ""),
            ("*", false, false, "a/b/c.tar.gz"),
            ("", true, false, "a/b/c.tar.gz"),
        ] {
            assert_eq!(trim(value, &pattern(text), suffix, longest), expected.as_bytes(), "{text}");
        }
    }

    #[test]
    fn replacements_agree_with_bash() {
        for (value, text, with, anchor, all, expected) in [
            ("banana", "an", "X", Anchor::Anywhere, false, "bXana"),
            ("banana", "an", "X", Anchor::Anywhere, true, "bXXa"),
            ("banana", "a*", "X", Anchor::Anywhere, false, "bX"),
            ("banana", "b", "X", Anchor::Start, false, "Xanana"),
            ("banana", "a", "X", Anchor::End, false, "bananX"),
            ("banana", "x", "X", Anchor::End, false, "banana"),
            ("banana", "?", "-", Anchor::Anywhere, true, "------"),
            ("", "*", "x", Anchor::Anywhere, false, "x"),
        ] {
            let out = replace(value.as_bytes(), &pattern(text), with.as_bytes(), anchor, all);
            assert_eq!(String::from_utf8_lossy(&out), expected, "{value} {text}");
        }
    }

    #[test]
    fn substrings_count_from_either_end() {
        assert_eq!(substring(b"abcdef", 2, None), Some(&b"cdef"[..]));
        assert_eq!(substring(b"abcdef", -2, None), Some(&b"ef"[..]));
        assert_eq!(substring(b"abcdef", 1, Some(2)), Some(&b"bc"[..]));
        assert_eq!(substring(b"abcdef", 1, Some(-1)), Some(&b"bcde"[..]));
        assert_eq!(substring(b"abc", 9, None), Some(&b""[..]));
        assert_eq!(substring(b"abc", 2, Some(-2)), None);
    }

    #[test]
    fn case_changes_one_or_all() {
        assert_eq!(change_case(b"abC", b'^', false), b"AbC");
        assert_eq!(change_case(b"abC", b'^', true), b"ABC");
        assert_eq!(change_case(b"ABc", b',', true), b"abc");
        assert_eq!(change_case(b"ABc", b'~', true), b"abC");
    }
}
