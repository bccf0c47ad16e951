//! Changing single members of an object in place: every other byte stays as it came.

use super::scan::{Work, scan};
use std::ops::Range;

/// The text of a JSON string's inside, as bytes. A lone surrogate becomes the three bytes that UTF-8 would have for
/// it, so that two spellings of one are still the same.
pub(crate) fn unescaped(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some((&letter, after)) = rest.split_first() else { break };
        rest = after;
        match letter {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let first = unit(rest);
                rest = rest.get(4..).unwrap_or_default();
                let second = rest.strip_prefix(b"\\u").map(unit);
                match second {
                    Some(low) if (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&low) => {
                        rest = rest.get(6..).unwrap_or_default();
                        push(&mut out, 0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00));
                    }
                    _ => push(&mut out, first),
                }
            }
            other => out.push(other),
        }
    }
    out
}

fn unit(digits: &[u8]) -> u32 {
    digits.iter().take(4).fold(0, |value, digit| value * 16 + char::from(*digit).to_digit(16).unwrap_or(0))
}

fn push(out: &mut Vec<u8>, point: u32) {
    match char::from_u32(point) {
        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => {
            let low = |shift: u32| u8::try_from(0x80 | (point >> shift) & 0x3f).unwrap_or(0x80);
            out.extend_from_slice(&[0xe0 | u8::try_from(point >> 12 & 0xf).unwrap_or(0), low(6), low(0)]);
        }
    }
}

/// The text with some parts replaced. Parts must not overlap; one that does not lie in the text is left out.
pub(crate) fn spliced(text: &[u8], mut parts: Vec<(Range<usize>, Vec<u8>)>) -> Vec<u8> {
    parts.sort_by_key(|(range, _)| range.start);
    let mut out = Vec::with_capacity(text.len() + 64);
    let mut at = 0;
    for (range, new) in parts {
        let Some(kept) = text.get(at..range.start) else { continue };
        out.extend_from_slice(kept);
        out.extend_from_slice(&new);
        at = range.end;
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    out
}

/// The object with the value at this path of keys replaced; a last key that is missing is added. `None` if the path
/// does not lead through objects.
pub(crate) fn replaced(object: &[u8], path: &[&str], value: &[u8]) -> Option<Vec<u8>> {
    let (range, missing) = place(object, path)?;
    let new = match missing {
        None => value.to_vec(),
        Some(Missing { key, alone }) => {
            let key = serde_json::to_string(key).ok()?;
            let comma = if alone { "" } else { "," };
            [comma.as_bytes(), key.as_bytes(), b":", value].concat()
        }
    };
    Some(spliced(object, vec![(range, new)]))
}

struct Missing<'k> {
    key: &'k str,
    alone: bool,
}

fn place<'k>(object: &[u8], path: &[&'k str]) -> Option<(Range<usize>, Option<Missing<'k>>)> {
    let mut within = 0..object.len();
    let (last, above) = path.split_last()?;
    for key in above {
        within = member(object, &within, key)?.0?;
    }
    let (found, end) = member(object, &within, last)?;
    match found {
        Some(range) => Some((range, None)),
        None => {
            let end = end?;
            let inside = object.get(within.start..end.start)?;
            let alone = inside.iter().skip_while(|b| **b != b'{').skip(1).all(u8::is_ascii_whitespace);
            Some((end, Some(Missing { key: last, alone })))
        }
    }
}

/// Where a member's value stands, and the place before the closing brace. `None` if this is no object.
#[expect(clippy::type_complexity, reason = "two places, either of which may be missing")]
fn member(text: &[u8], within: &Range<usize>, key: &str) -> Option<(Option<Range<usize>>, Option<Range<usize>>)> {
    let inner = text.get(within.clone())?;
    let mut work = Work::default();
    scan(inner, &mut work).ok()?;
    let at = |range: &Range<usize>| range.start + within.start..range.end + within.start;
    let found = work.members.iter().find(|member| {
        let raw = inner.get(member.key.clone()).unwrap_or_default();
        if member.escaped { unescaped(raw) == key.as_bytes() } else { raw == key.as_bytes() }
    });
    let end = inner.iter().rposition(|byte| *byte == b'}').map(|end| end + within.start);
    Some((found.map(|member| at(&member.value)), end.map(|end| end..end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_changes_and_every_other_byte_stays() {
        let text = r#" {"b" : 1,"a":{ "x":[1, 2],"\u0079":"é" } , "z":null}"#;
        let changed = |path: &[&str], value: &str| {
            replaced(text.as_bytes(), path, value.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(changed(&["a", "y"], "7").unwrap(), text.replace("\"é\"", "7"));
        assert_eq!(changed(&["a", "x"], "[]").unwrap(), text.replace("[1, 2]", "[]"));
        assert_eq!(changed(&["a", "new"], "7").unwrap(), text.replace(" } ,", " ,\"new\":7} ,"));
        assert_eq!(changed(&["b", "new"], "7"), None);
        assert_eq!(replaced(b"{ }", &["k"], b"1").unwrap(), b"{ \"k\":1}");
        assert_eq!(replaced(b"[]", &["k"], b"1"), None);
    }

    #[test]
    fn escapes_are_read_as_every_reader_reads_them() {
        for (raw, text) in [
            (r"a\/b", "a/b".as_bytes()),
            (r"\u0041\n\t\\\u00e9", "A\n\t\\é".as_bytes()),
            (r"\ud83d\ude00", "😀".as_bytes()),
            (r"\ud83d", b"\xed\xa0\xbd"),
        ] {
            assert_eq!(unescaped(raw.as_bytes()), text, "{raw}");
        }
    }
}
