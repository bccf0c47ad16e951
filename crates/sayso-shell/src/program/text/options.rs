//! Tables of options: from lines to spellings that are found without a look at all of them.

use super::does::{Does, Takes};
use super::line::Token;
use super::problem::{Problems, shown};
use std::collections::HashSet;

/// One spelling of an option. Offsets into the table's text instead of references: tables stay small and need no
/// relocation when the process starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    pub(crate) at: u16,
    pub(crate) len: u8,
    pub(crate) canonical_at: u16,
    pub(crate) canonical_len: u8,
    pub(crate) takes: Takes,
    pub(crate) does: Does,
    /// One more than the index of the next spelling of the same [`heap`]; 0: there is none.
    pub(crate) next: u16,
}

/// Into how many heaps a table's spellings are sorted.
pub(crate) const HEAPS: usize = 16;

/// The heap of a spelling, by its length and last byte.
pub(crate) const fn heap(len: usize, last: u8) -> usize {
    (last as usize + 5 * len) % HEAPS
}

/// What a table of options is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// All spellings, one behind the other.
    pub text: String,
    /// Where they stand in it, and what they are.
    pub spellings: Vec<Spelling>,
}

impl Options {
    /// One more than the index of the first spelling of each heap; 0: it is empty.
    #[must_use]
    pub fn heaps(&self) -> [u16; HEAPS] {
        let mut heaps = [0; HEAPS];
        for (index, spelling) in self.spellings.iter().enumerate().rev() {
            if let Some(first) = heaps.get_mut(self.heap_of(spelling)) {
                *first = index as u16 + 1;
            }
        }
        heaps
    }

    fn heap_of(&self, spelling: &Spelling) -> usize {
        let last = usize::from(spelling.at) + usize::from(spelling.len);
        heap(usize::from(spelling.len), self.text.as_bytes().get(last.wrapping_sub(1)).copied().unwrap_or_default())
    }

    /// Leads each spelling to the next of its heap, in their order.
    pub(super) fn sort_into_heaps(&mut self) {
        let mut heaps = [0; HEAPS];
        for index in (0..self.spellings.len()).rev() {
            let Some(spelling) = self.spellings.get(index).copied() else { continue };
            let heap = self.heap_of(&spelling);
            if let (Some(first), Some(spelling)) = (heaps.get_mut(heap), self.spellings.get_mut(index)) {
                spelling.next = std::mem::replace(first, index as u16 + 1);
            }
        }
    }

    pub(super) fn spelled(&self, spelling: &Spelling) -> &str {
        let at = usize::from(spelling.at);
        self.text.get(at..at + usize::from(spelling.len)).unwrap_or_default()
    }

    /// Adds the options of a line: `-o --output FILE, --append : writes`. `seen` are the spellings that the table has.
    pub(super) fn add_line(&mut self, tokens: &[Token], seen: &mut HashSet<String>, problems: &mut Problems) {
        let colon = tokens.iter().position(|token| token.is(":")).unwrap_or(tokens.len());
        let (options, behind) = tokens.split_at(colon);
        let does = match behind {
            [] => Does::Nothing,
            [_, word] => Does::named(&word.text).unwrap_or_else(|| {
                let text =
                    format!("{} is not something that an option can do; see `Does` and `Code`", shown(&word.text));
                problems.add(word.at, text);
                Does::Nothing
            }),
            [colon, ..] => {
                problems.add(colon.at, "one word stands behind the colon of options");
                Does::Nothing
            }
        };
        let mut option = Open { first: self.spellings.len(), takes: Takes::Nothing };
        for token in options {
            for (index, piece) in token.text.split(',').enumerate() {
                if index > 0 {
                    option = self.finish(&option, does);
                }
                self.add_piece(piece, token, &mut option, seen, problems);
            }
        }
        self.finish(&option, does);
    }

    fn add_piece(
        &mut self,
        piece: &str,
        token: &Token,
        option: &mut Open,
        seen: &mut HashSet<String>,
        problems: &mut Problems,
    ) {
        match piece.as_bytes().first() {
            None => {}
            Some(b'-' | b'+') if option.takes != Takes::Nothing => {
                problems.add(token.at, "a spelling behind the option's value; write a comma before another option");
            }
            Some(b'-' | b'+') => {
                if !seen.insert(piece.to_owned()) {
                    problems.add(token.at, format!("{} stands twice in these options", shown(piece)));
                }
                let (at, len) = (self.text.len(), piece.len());
                let (Ok(at), Ok(len)) = (u16::try_from(at), u8::try_from(len)) else {
                    problems.add(token.at, "these options are too long");
                    return;
                };
                self.text.push_str(piece);
                self.spellings.push(Spelling {
                    at,
                    len,
                    canonical_at: at,
                    canonical_len: len,
                    takes: Takes::Nothing,
                    does: Does::Nothing,
                    next: 0,
                });
            }
            Some(b'[' | b'A'..=b'Z') if option.first == self.spellings.len() => {
                problems.add(token.at, format!("{} is a value without an option before it", shown(piece)));
            }
            Some(b'[') => option.takes = Takes::Joined,
            Some(b'A'..=b'Z') => {
                option.takes = if option.takes == Takes::Value { Takes::Two } else { Takes::Value };
            }
            Some(_) => {
                let text = format!("{} is no option; values are written in capitals: `--output FILE`", shown(piece));
                problems.add(token.at, text);
            }
        }
    }

    /// Ends an option: its first long spelling, or else its first one, is its name.
    fn finish(&mut self, option: &Open, does: Does) -> Open {
        let spellings = self.spellings.get(option.first..).unwrap_or_default();
        let long = spellings.iter().find(|spelling| self.spelled(spelling).as_bytes().get(1) == Some(&b'-'));
        if let Some((at, len)) = long.or(spellings.first()).map(|canonical| (canonical.at, canonical.len)) {
            for spelling in self.spellings.iter_mut().skip(option.first) {
                spelling.canonical_at = at;
                spelling.canonical_len = len;
                spelling.takes = option.takes;
                spelling.does = does;
            }
        }
        Open { first: self.spellings.len(), takes: Takes::Nothing }
    }
}

/// An option whose words are being read.
struct Open {
    /// The index of its first spelling.
    first: usize,
    takes: Takes,
}
