//! Agent text made safe for a person's eyes.
//!
//! A command is an attack on whoever approves it: escape codes repaint the terminal, bidirectional overrides show
//! `exe.txt` where `txt.exe` stands, zero-width and blank characters hide words. All of these become visible
//! escapes; nothing is dropped, so that two texts that differ also look different.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text on one line, with everything that a terminal or a page would act on or hide written as an escape.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push_visible(&mut out, c);
    }
    Cow::Owned(out)
}

/// As [`visible`], for bytes: what is not UTF-8 becomes `\xff`.
#[must_use]
pub(super) fn visible_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(&visible(chunk.valid()));
        for byte in chunk.invalid() {
            push_byte(&mut out, *byte);
        }
    }
    out
}

/// As `visible_bytes`, for a text of several lines: line feeds stay.
#[must_use]
pub fn visible_lines(bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes.split(|b| *b == b'\n').map(visible_bytes).collect();
    lines.join("\n")
}

/// Appends one character as [`visible`] shows it.
pub fn push_visible(out: &mut String, c: char) {
    match c {
        c if is_plain(c) => out.push(c),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if u32::from(c) < 0x80 => push_byte(out, u8::try_from(u32::from(c)).unwrap_or(b'?')),
        c => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// Appends one byte as `\xff`.
pub fn push_byte(out: &mut String, byte: u8) {
    let _ = write!(out, "\\x{byte:02x}");
}

/// Whether a character shows itself, takes its place on the line and does nothing else.
fn is_plain(c: char) -> bool {
    match u32::from(c) {
        0x20..=0x7e => true,
        // C0, DEL, C1, NBSP: to bash an NBSP is a letter, to a reader a blank.
        0x00..=0x1f | 0x7f..=0xa0 => false,
        // Soft hyphen, Arabic letter mark, grapheme joiner, Hangul and Mongolian fillers.
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x1680 => false,
        // Odd blanks, zero-width characters, bidirectional marks, overrides and isolates, invisible operators.
        0x2000..=0x200f | 0x2028..=0x202f | 0x205f..=0x206f => false,
        // Braille blank, ideographic blank, Hangul fillers.
        0x2800 | 0x3000 | 0x3164 | 0xffa0 => false,
        // Variation selectors, which can smuggle text, and the byte-order mark.
        0xfe00..=0xfe0f | 0xfeff | 0xfff0..=0xfffb => false,
        // Musical invisible controls, tags, more variation selectors.
        0x1d173..=0x1d17a | 0xe0000..=0xe0fff => false,
        // Private use: a font may draw anything, or nothing.
        0xe000..=0xf8ff | 0xf0000.. => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_text_is_borrowed_and_unchanged() {
        let text = "git push --force 'Grüße, 世界'";
        assert!(matches!(visible(text), Cow::Borrowed(t) if t == text));
    }

    #[test]
    fn what_a_terminal_acts_on_or_hides_becomes_an_escape() {
        for (text, expected) in [
            ("a\x1b[2Kb", "a\\x1b[2Kb"),
            ("a\u{9b}2J", "a\\u{9b}2J"),
            ("one\ntwo\r\tthree\0", "one\\ntwo\\r\\tthree\\x00"),
            ("rm \u{202e}fr-", "rm \\u{202e}fr-"),
            ("pay\u{200b}pal", "pay\\u{200b}pal"),
            ("echo\u{a0}x\u{3000}y", "echo\\u{a0}x\\u{3000}y"),
            ("ok\u{e0041}\u{fe0f}\u{2066}", "ok\\u{e0041}\\u{fe0f}\\u{2066}"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_bytes() {
        assert_eq!(visible_bytes(b"a\xff\xc3(b\x7f"), "a\\xff\\xc3(b\\x7f");
        assert_eq!(visible_lines(b"a\n\x07b\n"), "a\n\\x07b\n");
    }

    proptest! {
        #[test]
        fn no_control_character_survives(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(visible_bytes(&bytes).chars().all(is_plain));
        }
    }
}
