//! Names that secrets have.

use super::table::{ANYWHERE, AT_END, BEHIND, BEHIND_VARIABLE, NEVER};

/// Whether a variable, option, header or argument of this name holds a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    if !may_name_secret(name) {
        return false;
    }
    let mut letters = String::with_capacity(name.len());
    letters.extend(name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()));
    // `--pwd` is an option and no variable of the shell.
    if NEVER.contains(&letters.as_str()) && !(letters == "pwd" && name.starts_with('-')) {
        return false;
    }
    ANYWHERE.iter().any(|part| letters.contains(part)) || names_one_at_end(name, &letters) || {
        // `TOKEN_1`, `GH_TOKEN_PROD`, `auth_header`
        let before = without_ending(name);
        let mut shorter = String::with_capacity(before.len());
        shorter.extend(before.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()));
        shorter.len() < letters.len() && !NEVER.contains(&shorter.as_str()) && names_one_at_end(before, &shorter)
    }
}

/// Whether a name ends in a word that makes a secret of it; `letters` are its own, in lower case.
fn names_one_at_end(name: &str, letters: &str) -> bool {
    AT_END.iter().any(|end| letters.ends_with(end) && (letters == *end || ends_as_word(name, end)))
}

/// A name without what says which of several it is, or how it is written.
fn without_ending(name: &str) -> &str {
    const SIGNS: [char; 3] = ['_', '-', '.'];
    let mut name = name.trim_end_matches(':');
    let is_variable = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    loop {
        let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let endings = BEHIND.iter().chain(BEHIND_VARIABLE.iter().filter(|_| is_variable));
        let mut shorter =
            endings.filter(|end| ends_as_word(name, end)).filter_map(|end| name.get(..name.len() - end.len()));
        let next = shorter.next().unwrap_or(digits).trim_end_matches(SIGNS);
        if next.len() == name.len() || next.is_empty() {
            return name;
        }
        name = next;
    }
}

/// `TOKENS`, `apiTokens`, `max_tokens`: a list of them, or how many there are.
pub(super) fn ends_in_tokens(name: &str) -> bool {
    ends_as_word(name, "tokens") || name.eq_ignore_ascii_case("tokens")
}

/// `--seed`, `-seed`: where it is no number, a wallet's.
pub(super) fn is_seed(name: &str) -> bool {
    matches!(name, "--seed" | "-seed")
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
/// for the first four letters of what the table holds, with nothing copied. What is shorter counts at the end of a part.
pub(super) fn may_name_secret(word: &str) -> bool {
    let bytes = word.as_bytes();
    let mut last = 0_u32;
    bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_alphanumeric()).any(|(at, byte)| {
        last = last << 5 & LAST_FOUR | letter(*byte);
        let ends = || !bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
        is_known(last) || ends() && (is_known(THREE | last & LAST_THREE) || is_known(TWO | last & LAST_TWO))
    })
}

/// Five bits for each letter.
const LAST_FOUR: u32 = (1 << 20) - 1;
const LAST_THREE: u32 = (1 << 15) - 1;
const LAST_TWO: u32 = (1 << 10) - 1;
/// What tells short words from the beginnings of longer ones.
const THREE: u32 = 1 << 20;
const TWO: u32 = 1 << 21;

/// A letter in five bits, digits as one more.
const fn letter(byte: u8) -> u32 {
    let low = if byte.is_ascii_alphabetic() { byte.to_ascii_lowercase() - b'a' } else { 31 };
    u32::from_le_bytes([low, 0, 0, 0])
}

fn is_known(letters: u32) -> bool {
    let bit = bit(letters);
    KNOWN.get(bit / 64).is_some_and(|bits| bits >> (bit % 64) & 1 == 1)
}

const BITS: usize = 8192;

/// Letters spread over all bits.
const fn bit(letters: u32) -> usize {
    (letters.wrapping_mul(0x9E37_79B1) >> 19) as usize % BITS
}

/// How everything in the table begins, a bit for each.
static KNOWN: [u64; BITS / 64] = with(with([0; BITS / 64], ANYWHERE), AT_END);

#[expect(clippy::indexing_slicing, reason = "worked out when this is compiled: no index is beyond the last bit")]
const fn with(mut bits: [u64; BITS / 64], mut words: &[&str]) -> [u64; BITS / 64] {
    while let [word, rest @ ..] = words {
        let bit = bit(match word.as_bytes() {
            [one, two, three, four, ..] => {
                letter(*one) << 15 | letter(*two) << 10 | letter(*three) << 5 | letter(*four)
            }
            [one, two, three] => THREE | letter(*one) << 10 | letter(*two) << 5 | letter(*three),
            [one, two] => TWO | letter(*one) << 5 | letter(*two),
            _ => 0,
        });
        bits[bit / 64] |= 1 << (bit % 64);
        words = rest;
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
