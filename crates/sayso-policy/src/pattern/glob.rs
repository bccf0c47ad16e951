//! `*` and `?` over one piece of text: a name, a path component, a host label.

use sayso_shell::{Part, Shape};

/// A compiled glob. `*` is any run of characters, `?` any one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    text: Box<str>,
    wild: Wild,
}

/// Where its wildcards stand: many thousands of names may be compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wild {
    /// Nowhere.
    No,
    /// It is a lone `*`.
    All,
    /// Before and behind a literal text, each a `*`.
    Around,
    /// Anywhere else.
    Somewhere,
}

impl Glob {
    pub(crate) fn new(text: &str) -> Self {
        let is_wild = |b: &u8| matches!(b, b'*' | b'?');
        let wild = match text.as_bytes() {
            [b'*'] => Wild::All,
            [b'*', inner @ .., b'*'] if !inner.iter().any(is_wild) => Wild::Around,
            bytes if bytes.iter().any(is_wild) => Wild::Somewhere,
            _ => Wild::No,
        };
        Self { text: text.into(), wild }
    }

    /// The text, if it holds no wildcard.
    pub(crate) fn literal(&self) -> Option<&str> {
        if self.wild == Wild::No { Some(&self.text) } else { None }
    }

    /// The literal text before the first wildcard.
    pub(crate) fn literal_prefix(&self) -> &[u8] {
        let end = self.text.as_bytes().iter().position(|b| matches!(b, b'*' | b'?')).unwrap_or(self.text.len());
        self.text.as_bytes().get(..end).unwrap_or_default()
    }

    /// The text with its wildcards.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The same as bytes.
    pub(crate) fn literal_text(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// As tokens.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = Token> + '_ {
        self.text.as_bytes().iter().map(|b| match b {
            b'*' => Token::Many,
            b'?' => Token::One,
            byte => Token::Byte(*byte),
        })
    }

    /// Whether it says something of its own: at least two characters that are no wildcards.
    pub(crate) fn is_specific(&self) -> bool {
        self.text.as_bytes().iter().filter(|b| !matches!(b, b'*' | b'?')).count() >= 2
    }

    /// The literal text from the last dot on, behind all wildcards: `.pem` for `*.pem`.
    pub(crate) fn ending(&self) -> Option<&[u8]> {
        let from = self.text.as_bytes().iter().rposition(|b| matches!(b, b'*' | b'?' | b'.'))?;
        self.text.as_bytes().get(from..).filter(|text| text.first() == Some(&b'.'))
    }

    /// Whether it is a lone `*`.
    pub(crate) fn is_any(&self) -> bool {
        self.wild == Wild::All
    }

    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        let own = self.text.as_bytes();
        match (self.wild, own) {
            (Wild::No, _) => own == text,
            (Wild::All, _) => true,
            (Wild::Around, [_, inner @ .., _]) => holds(text, inner),
            _ => wild_match(own, text, |a, b| a == b),
        }
    }

    /// As `matches`, without regard to ASCII case.
    pub(crate) fn matches_folded(&self, text: &[u8]) -> bool {
        wild_match(self.text.as_bytes(), text, |a, b| a.eq_ignore_ascii_case(b))
    }

    /// Whether some value of this shape matches.
    pub(crate) fn may_match(&self, shape: &Shape) -> bool {
        if shape.splits() {
            return true;
        }
        overlap(&self.tokens().collect::<Vec<_>>(), &shape_tokens(shape))
    }
}

/// One step of a pattern over bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// This byte.
    Byte(u8),
    /// Any one byte.
    One,
    /// Any bytes, none too.
    Many,
}

/// A shape as tokens. Classes count as any byte: wider, which is what asking and denying want.
pub(crate) fn shape_tokens(shape: &Shape) -> Vec<Token> {
    let mut out = Vec::new();
    for part in &shape.parts {
        match part {
            Part::Literal(text) => out.extend(text.as_bytes().iter().map(|b| Token::Byte(*b))),
            Part::Hole | Part::AnyBytes => out.push(Token::Many),
            Part::AnyByte | Part::Class(_) => out.push(Token::One),
        }
    }
    out
}

/// Whether two token patterns have a text in common. Work is the product of their lengths.
pub(crate) fn overlap(a: &[Token], b: &[Token]) -> bool {
    // reachable[j]: some text is matched by a[..i] and b[..j].
    let mut reachable = vec![false; b.len() + 1];
    let mut first = true;
    for i in 0..=a.len() {
        let mut next = vec![false; b.len() + 1];
        for j in 0..=b.len() {
            let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or(false);
            let mut yes = first && i == 0 && j == 0;
            let ai = i.checked_sub(1).and_then(|k| a.get(k));
            let bj = j.checked_sub(1).and_then(|k| b.get(k));
            // A Many matches nothing, or grows over the other's next token.
            if ai == Some(&Token::Many) && (at(&reachable, j) || (j > 0 && at(&next, j - 1))) {
                yes = true;
            }
            if bj == Some(&Token::Many) && (at(&next, j.saturating_sub(1)) && j > 0 || (i > 0 && at(&reachable, j))) {
                yes = true;
            }
            if let (Some(x), Some(y)) = (ai, bj)
                && at(&reachable, j - 1)
                && single(*x, *y)
            {
                yes = true;
            }
            if let Some(slot) = next.get_mut(j) {
                *slot = yes;
            }
        }
        first = false;
        reachable = next;
    }
    reachable.last().copied().unwrap_or(false)
}

fn single(a: Token, b: Token) -> bool {
    match (a, b) {
        (Token::Byte(x), Token::Byte(y)) => x == y,
        _ => true,
    }
}

/// Whether a text holds another. Both are short: names and parts of names.
fn holds(text: &[u8], part: &[u8]) -> bool {
    let Some((first, rest)) = part.split_first() else { return true };
    let mut left = text;
    while let Some((byte, behind)) = left.split_first() {
        if byte == first && behind.starts_with(rest) {
            return true;
        }
        left = behind;
    }
    false
}

/// The classic two-pointer match: on a mismatch go back to the last `*` and let it take one more byte.
fn wild_match(pattern: &[u8], text: &[u8], same: impl Fn(&u8, &u8) -> bool) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match (pattern.get(p), text.get(t)) {
            (Some(b'*'), _) => {
                star = Some((p, t));
                p += 1;
            }
            (Some(x), Some(y)) if *x == b'?' || same(x, y) => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|b| *b == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use sayso_shell::{Origin, Single, Text};

    #[test]
    fn wildcards_match_runs_and_single_characters() {
        for (pattern, text, expected) in [
            ("file_*", "file_read", true),
            ("file_*", "xfile_read", false),
            ("*.pem", "a.pem", true),
            ("*.pem", "a.pem.txt", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xaxbx", true),
            ("*ab*", "xaab", true),
            ("*ab*", "abx", true),
            ("*ab*", "a", false),
            ("*ab*", "axb", false),
            ("**", "", true),
            ("**", "a", true),
            ("*", "", true),
            ("", "", true),
            ("abc", "abcd", false),
        ] {
            assert_eq!(Glob::new(pattern).matches(text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn shapes_may_match_only_what_they_can_become() {
        let shape = |parts: Vec<Part>| Shape::single(parts, Origin::Unknown, Single::Quoted);
        let lit = |s: &str| Part::Literal(Text::from(s));
        assert!(Glob::new("*.env").may_match(&shape(vec![Part::Hole])));
        assert!(!Glob::new("*.env").may_match(&shape(vec![Part::Hole, lit(".rs")])));
        assert!(Glob::new(".env").may_match(&shape(vec![lit(".e"), Part::Hole])));
        assert!(!Glob::new(".env").may_match(&shape(vec![lit("src"), Part::Hole])));
        assert!(Glob::new("a?c").may_match(&shape(vec![lit("a"), Part::AnyByte, lit("c")])));
        assert!(Glob::new("ab*").may_match(&shape(vec![Part::Hole, lit("bcd")])));
    }
}
