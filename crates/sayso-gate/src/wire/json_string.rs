//! A JSON string as bytes.
//!
//! A command is bytes, JSON is text. Where a byte is not UTF-8, senders write the lone surrogate U+DC80 to U+DCFF
//! (Python's `surrogateescape`), which no ordinary JSON string can hold.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The bytes of a JSON string; `"\udcff"` is the byte 0xFF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonBytes(pub(crate) Vec<u8>);

impl<'de> Deserialize<'de> for JsonBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(Bytes).map(Self)
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        Ok(text.as_bytes().to_vec())
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(escaped_bytes(bytes))
    }
}

/// The JSON parser hands lone surrogates over as three bytes each (WTF-8), which valid UTF-8 never holds: those of
/// escaped bytes become the byte, others stay what they are, and are no UTF-8 either.
fn escaped_bytes(wtf8: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(wtf8.len());
    let mut rest = wtf8;
    loop {
        match rest {
            [0xed, 0xb2, low @ 0x80..=0xbf, tail @ ..] => {
                out.push(*low);
                rest = tail;
            }
            [0xed, 0xb3, low @ 0x80..=0xbf, tail @ ..] => {
                out.push(low + 0x40);
                rest = tail;
            }
            [byte, tail @ ..] => {
                out.push(*byte);
                rest = tail;
            }
            [] => return out,
        }
    }
}

/// Bytes as a JSON string: what is not UTF-8 is written as lone surrogates, as they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonText(pub Vec<u8>);

impl serde::Serialize for JsonText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error as _;
        if let Ok(text) = std::str::from_utf8(&self.0) {
            return serializer.serialize_str(text);
        }
        let mut json = String::from("\"");
        for chunk in self.0.utf8_chunks() {
            let valid = serde_json::to_string(chunk.valid()).map_err(S::Error::custom)?;
            json.push_str(valid.trim_start_matches('"').strip_suffix('"').unwrap_or_default());
            for byte in chunk.invalid() {
                json.push_str(&format!("\\udc{byte:02x}"));
            }
        }
        json.push('"');
        RawValue::from_string(json).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// The text of a JSON value with every lone surrogate escape written out behind a `\u0000`; `None`: there is none.
///
/// Arguments of tools are text all the way down and cannot hold a raw byte. Standing before one, a NUL is in no path
/// and makes a command opaque, so that such a call is never allowed by mistake for another; and two of them that differ
/// stay different, so that a yes to one is none to the other.
pub(crate) fn with_lone_surrogates_written_out(json: &str) -> Option<String> {
    let mut found = false;
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (text, used) = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (Some(Half::High), Some(Half::Low)) => (escape.get(..12).unwrap_or_default(), 12),
            (Some(_), _) => {
                found = true;
                out.push_str("\\u0000");
                // The digits alone: `u` and four of them.
                (escape.get(1..6).unwrap_or_default(), 6)
            }
            // A backslash and what it escapes: two characters.
            (None, _) => {
                let used = escape.chars().take(2).map(char::len_utf8).sum();
                (escape.get(..used).unwrap_or_default(), used)
            }
        };
        out.push_str(text);
        rest = escape.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    found.then_some(out)
}

/// The first number of a JSON text that would not come back as it is written: two that differ would be taken for one.
pub(crate) fn inexact_number(json: &str) -> Option<&str> {
    let mut rest = json;
    loop {
        let at = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
        rest = rest.get(at..)?;
        if let Some(text) = rest.strip_prefix('"') {
            rest = behind_string(text);
            continue;
        }
        let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')));
        let (number, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        let whole = number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
        if !whole {
            let digits = number.split(['e', 'E']).next().unwrap_or_default();
            let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
            let significant = digits.trim_start_matches('0').trim_end_matches('0').len();
            let finite =
                number.parse::<f64>().is_ok_and(|number| number.is_finite() && (number != 0.0 || significant == 0));
            // So many digits always come back from a number of 64 bits.
            if significant > 15 || !finite || !number.contains(['.', 'e', 'E']) {
                return Some(number);
            }
        }
        rest = after;
    }
}

fn behind_string(text: &str) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return text.get(at + 1..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}

enum Half {
    High,
    Low,
}

fn surrogate(escape: &str) -> Option<Half> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(json: &str) -> Vec<u8> {
        serde_json::from_str::<JsonBytes>(json).unwrap().0
    }

    #[test]
    fn escaped_bytes_come_back_as_bytes() {
        assert_eq!(bytes(r#""a\udcffb""#), b"a\xffb");
        assert_eq!(bytes(r#""\udc80\udcbf\udcc0\udcff""#), [0x80, 0xbf, 0xc0, 0xff]);
        assert_eq!(bytes(r#""caf\u00e9 \ud83d\ude00""#), "café 😀".as_bytes());
        assert_eq!(bytes(r#""nul\u0000""#), b"nul\0");
    }

    #[test]
    fn other_lone_surrogates_are_kept_apart_from_all_text() {
        assert!(std::str::from_utf8(&bytes(r#""\ud800""#)).is_err());
        assert!(std::str::from_utf8(&bytes(r#""\udc41""#)).is_err());
        assert_ne!(bytes(r#""\ud800""#), bytes(r#""\ud801""#));
    }

    #[test]
    fn bytes_go_out_as_they_came_in() {
        for bytes_in in
            [&b"plain"[..], b"a\xffb", b"\"\xc3\"", b"\"", b"\xed\xb3\xbf", b"tab\t\\u \xe9", b"\xf0\x9f\x98\x80\xf0"]
        {
            let json = serde_json::to_string(&JsonText(bytes_in.to_vec())).unwrap();
            assert_eq!(bytes(&json), bytes_in, "{json}");
        }
        assert_eq!(serde_json::to_string(&JsonText(b"caf\xe9".to_vec())).unwrap(), r#""caf\udce9""#);
    }

    #[test]
    fn only_strings_are_bytes() {
        assert!(serde_json::from_str::<JsonBytes>("[65]").is_err());
        assert!(serde_json::from_str::<JsonBytes>("65").is_err());
        assert!(serde_json::from_str::<JsonBytes>("null").is_err());
    }

    #[test]
    fn only_lone_surrogates_are_replaced_in_arguments() {
        for (json, expected) in [
            (r#"{"a":"x\udcffy"}"#, Some(r#"{"a":"x\u0000udcffy"}"#)),
            (r#""\ud83d\ude00""#, None),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\u0000ud83d\ud83d\ude00""#)),
            (r#""\\udcff""#, None),
            (r#""\\\udcff""#, Some(r#""\\\u0000udcff""#)),
            (r#""é\"""#, None),
            (r#""\é\u12"#, None),
            ("\"\\", None),
        ] {
            assert_eq!(with_lone_surrogates_written_out(json).as_deref(), expected, "{json}");
        }
    }

    #[test]
    fn numbers_that_would_not_come_back_as_written_are_found() {
        for good in [
            "0",
            "-1",
            "18446744073709551615",
            "1.5",
            "1e40",
            "-0.0",
            "0.1",
            "[1,2]",
            r#"{"a":"1e999 10000000000000000000001"}"#,
        ] {
            assert_eq!(inexact_number(good), None, "{good}");
        }
        for bad in ["10000000000000000000001", "9007199254740993.0", "1e400", "1e-400", "0.12345678901234567"] {
            assert_eq!(inexact_number(&format!("{{\"a\": [\"\\\"\", {bad}]}}")), Some(bad));
        }
    }
}
