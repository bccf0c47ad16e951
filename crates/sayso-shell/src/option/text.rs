//! Reads the text of a table. All of this runs in the compiler: a mistake in a table does not build.

use super::{Does, HEAPS, NO_SPELLING, Spelling, Takes, heap};
use crate::program::Code;

/// How many spellings a table's text holds.
#[doc(hidden)]
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
pub const fn count(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut spellings = 0;
    let mut at = 0;
    let mut behind_colon = false;
    while at < bytes.len() {
        let begins = at == 0 || is_gap(bytes[at - 1]);
        match bytes[at] {
            b'\n' => behind_colon = false,
            b':' if begins => behind_colon = true,
            b'-' | b'+' if begins && !behind_colon => spellings += 1,
            _ => {}
        }
        at += 1;
    }
    spellings
}

const fn is_gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b',')
}

/// The spellings in a table's text.
#[doc(hidden)]
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
pub const fn parse<const N: usize>(text: &str) -> [Spelling; N] {
    let bytes = text.as_bytes();
    assert!(bytes.len() < u16::MAX as usize, "a table of options is too long");
    let mut out = [NO_SPELLING; N];
    let mut filled = 0;
    let mut line_first = 0; // first spelling of this line
    let mut option_first = 0; // first spelling of this option
    let mut takes = Takes::Nothing;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b' ' => at += 1,
            b',' | b'\n' => {
                finish_option(&mut out, option_first, filled, takes, bytes);
                option_first = filled;
                takes = Takes::Nothing;
                if bytes[at] == b'\n' {
                    line_first = filled;
                }
                at += 1;
            }
            b':' => {
                let start = skip_blanks(bytes, at + 1);
                let end = token_end(bytes, start);
                let does = does_named(bytes, start, end);
                let mut i = line_first;
                while i < filled {
                    out[i].does = does;
                    i += 1;
                }
                at = end;
                assert!(bytes[skip_blanks(bytes, at)] == b'\n', "one word behind the colon");
            }
            b'-' | b'+' => {
                let end = token_end(bytes, at);
                assert!(end - at < 256, "a spelling is too long");
                out[filled].at = at as u16;
                out[filled].len = (end - at) as u8;
                filled += 1;
                at = end;
            }
            b'[' => {
                takes = Takes::Joined;
                at = token_end(bytes, at);
            }
            b'A'..=b'Z' => {
                takes = if matches!(takes, Takes::Value) { Takes::Two } else { Takes::Value };
                at = token_end(bytes, at);
            }
            _ => panic_at_compile_time(),
        }
    }
    sort_into_heaps(&mut out, bytes);
    out
}

/// Each spelling leads to the next of its heap, in their order.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
const fn sort_into_heaps(out: &mut [Spelling], bytes: &[u8]) {
    let mut heaps = [0; HEAPS];
    let mut at = out.len();
    while at > 0 {
        let heap = heap_of(&out[at - 1], bytes);
        out[at - 1].next = heaps[heap];
        heaps[heap] = at as u16;
        at -= 1;
    }
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
pub(super) const fn heap_of(spelling: &Spelling, bytes: &[u8]) -> usize {
    heap(spelling.len as usize, bytes[spelling.at as usize + spelling.len as usize - 1])
}

#[expect(clippy::panic, reason = "evaluated by the compiler")]
const fn panic_at_compile_time() {
    panic!("a table of options holds a word that is no spelling, no VALUE and no [VALUE]")
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
const fn finish_option(out: &mut [Spelling], first: usize, end: usize, takes: Takes, bytes: &[u8]) {
    if first == end {
        return;
    }
    let mut canonical = first;
    let mut i = first;
    while i < end {
        if bytes[out[i].at as usize + 1] == b'-' {
            canonical = i;
            break;
        }
        i += 1;
    }
    let (at, len) = (out[canonical].at, out[canonical].len);
    i = first;
    while i < end {
        out[i].canonical_at = at;
        out[i].canonical_len = len;
        out[i].takes = takes;
        i += 1;
    }
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
const fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] == b' ' {
        at += 1;
    }
    at
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
const fn token_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && !is_gap(bytes[at]) {
        at += 1;
    }
    at
}

const fn does_named(bytes: &[u8], start: usize, end: usize) -> Does {
    macro_rules! words {
        ($($word:literal => $does:expr),* $(,)?) => {
            $(if is_token(bytes, start, end, $word) { return $does; })*
        };
    }
    words! {
        "reads" => Does::Reads,
        "reads-below" => Does::ReadsBelow,
        "makes" => Does::Makes,
        "makes-below" => Does::MakesBelow,
        "writes" => Does::Writes,
        "writes-below" => Does::WritesBelow,
        "wipes" => Does::Wipes,
        "cd" => Does::Cd,
        "deep" => Does::Deep,
        "connects" => Does::Connects,
        "redirects" => Does::Redirects,
        "runs-path" => Does::RunsPath,
        "recipe" => Does::Recipe,
        "runs" => Does::Runs,
        "shell" => Does::Shell,
        "inline" => Does::Inline,
        "command" => Does::Command,
        "last" => Does::Last,
    }
    let mut i = 0;
    while i < Code::ALL.len() {
        if is_token(bytes, start, end, code_at(i).as_str()) {
            return Does::Named(code_at(i));
        }
        i += 1;
    }
    panic_at_compile_time();
    Does::Nothing
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
const fn code_at(at: usize) -> Code {
    Code::ALL[at]
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
const fn is_token(bytes: &[u8], start: usize, end: usize, word: &str) -> bool {
    let word = word.as_bytes();
    if end - start != word.len() {
        return false;
    }
    let mut i = 0;
    while i < word.len() {
        if bytes[start + i] != word[i] {
            return false;
        }
        i += 1;
    }
    true
}
