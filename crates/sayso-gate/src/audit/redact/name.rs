//! Names that secrets have.

use super::table::{ANYWHERE, AT_END, NEVER};

/// Whether a variable, option, header or argument of this name holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    if !may_name_secret(name) {
        return false;
    }
    let mut letters = String::with_capacity(name.len());
    letters.extend(name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()));
    // `--pwd` is an option and no variable of the shell.
    if NEVER.contains(&letters.as_str()) && !(letters == "pwd" && name.starts_with('-')) {
        return false;
    }
    ANYWHERE.iter().any(|part| letters.contains(part))
        || AT_END.iter().any(|end| letters.ends_with(end) && (letters == *end || ends_as_word(name, end)))
}

/// The same for a member of an object, where `pwd` is no variable.
pub(super) fn is_secret_key(name: &str) -> bool {
    is_secret_name(name) || name.eq_ignore_ascii_case("pwd")
}

/// Whether a name is a secret's only because it ends in `key`, which names files and columns too.
pub(super) fn is_some_key(name: &str) -> bool {
    let letters = || name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
    letters().rev().take(3).eq(*b"yek") && {
        let letters = String::from_utf8(letters().collect()).unwrap_or_default();
        !ANYWHERE.iter().any(|part| letters.contains(part))
    }
}

/// Whether a word, or a part of it, may be such a name. Every word of a record is looked at, and most are none: one pass
/// for the beginnings of what the table holds, with nothing copied.
pub(super) fn may_name_secret(word: &str) -> bool {
    let mut last = 0_u16;
    word.bytes().filter(u8::is_ascii_alphanumeric).any(|byte| {
        last = last << 5 & 0x3ff | letter(byte);
        let (at, bit) = (usize::from(last >> 6), last & 63);
        BEGINNINGS.get(at).is_some_and(|bits| bits >> bit & 1 == 1)
    })
}

/// A letter in five bits, digits as one more.
const fn letter(byte: u8) -> u16 {
    let [low, high] = [if byte.is_ascii_alphabetic() { byte.to_ascii_lowercase() - b'a' } else { 31 }, 0];
    u16::from_le_bytes([low, high])
}

/// The first two letters of everything in the table, a bit for each pair.
const BEGINNINGS: [u64; 16] = [
    pairs(0),
    pairs(1),
    pairs(2),
    pairs(3),
    pairs(4),
    pairs(5),
    pairs(6),
    pairs(7),
    pairs(8),
    pairs(9),
    pairs(10),
    pairs(11),
    pairs(12),
    pairs(13),
    pairs(14),
    pairs(15),
];

/// Those whose number begins like this.
const fn pairs(row: u16) -> u64 {
    let (mut bits, mut lists) = (0_u64, [ANYWHERE, AT_END].as_slice());
    while let [list, others @ ..] = lists {
        let mut words = *list;
        while let [word, rest @ ..] = words {
            if let [one, two, ..] = word.as_bytes() {
                let pair = letter(*one) << 5 | letter(*two);
                if pair >> 6 == row {
                    bits |= 1 << (pair & 63);
                }
            }
            words = rest;
        }
        lists = others;
    }
    bits
}

/// `GH_TOKEN` and `ghToken` end in the word token; `compat` does not end in the word pat.
fn ends_as_word(name: &str, end: &str) -> bool {
    let Some(split) = name.len().checked_sub(end.len()) else { return false };
    let (Some(head), Some(tail)) = (name.get(..split), name.get(split..)) else { return false };
    let camel = head.ends_with(|c: char| c.is_ascii_lowercase()) && tail.starts_with(|c: char| c.is_ascii_uppercase());
    tail.eq_ignore_ascii_case(end) && (camel || !head.ends_with(|c: char| c.is_ascii_alphabetic()))
}
