//! Shell patterns matched against known text: for `${x#..}`, `${x/..}` and the like.

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Byte(u8),
    AnyByte,
    AnyBytes,
    Class { negated: bool, ranges: Vec<(u8, u8)> },
}

/// Reads a pattern from unquoted text. `None`: it holds something that is not modelled (extended globs, named classes,
/// bytes beyond ASCII in a class or next to `?`, where bash counts characters).
pub(crate) fn parse(text: &[u8], into: &mut Vec<Piece>) -> Option<()> {
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'*' => into.push(Piece::AnyBytes),
            b'?' => into.push(Piece::AnyByte),
            b'[' => match class(rest) {
                Some((piece, tail)) => {
                    into.push(piece);
                    rest = tail;
                }
                None if rest.contains(&b']') => return None,
                None => into.push(Piece::Byte(b'[')),
            },
            b'\\' => return None,
            _ => into.push(Piece::Byte(byte)),
        }
    }
    Some(())
}

fn class(text: &[u8]) -> Option<(Piece, &[u8])> {
    let (negated, mut rest) = match text.split_first() {
        Some((b'!' | b'^', tail)) => (true, tail),
        _ => (false, text),
    };
    let mut ranges = Vec::new();
    loop {
        let (&low, tail) = rest.split_first()?;
        if low == b']' && !ranges.is_empty() {
            return Some((Piece::Class { negated, ranges }, tail));
        }
        if !low.is_ascii() || low == b'[' || low == b'\\' {
            return None;
        }
        match tail {
            [b'-', high, more @ ..] if *high != b']' && high.is_ascii_alphanumeric() => {
                ranges.push((low, *high));
                rest = more;
            }
            _ => {
                ranges.push((low, low));
                rest = tail;
            }
        }
    }
}

impl Piece {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Self::Byte(own) => *own == byte,
            Self::AnyByte | Self::AnyBytes => true,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&byte)) != *negated
            }
        }
    }
}

/// Whether the pattern matches all of the text. Linear in `pattern * text`.
pub(crate) fn matches(pattern: &[Piece], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(p), text.get(t)) {
            (Some(Piece::AnyBytes), _) => {
                back = Some((p + 1, t));
                p += 1;
            }
            (Some(piece), Some(byte)) if piece.takes(*byte) => {
                p += 1;
                t += 1;
            }
            (None, None) => return true,
            _ => match back {
                Some((after, from)) if from < text.len() => {
                    back = Some((after, from + 1));
                    p = after;
                    t = from + 1;
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_bash() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abb", false),
            ("?", "a", true),
            ("?", "", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a]", "b", true),
            ("[]a]", "]", true),
            ("[", "[", true),
            ("*.tar.*", "x.tar.gz", true),
            ("a**b", "ab", true),
        ] {
            let mut pieces = Vec::new();
            assert_eq!(parse(pattern.as_bytes(), &mut pieces), Some(()), "{pattern}");
            assert_eq!(matches(&pieces, text.as_bytes()), expected, "{pattern} {text}");
        }
        assert_eq!(parse(b"[[:alpha:]]", &mut Vec::new()), None);
    }
}
