//! Brace expansion: `{a,b}`, `{1..3}`, nested and side by side.

/// A piece of a word in brace expansion: an unquoted byte, or something that braces do not look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atom<P> {
    Byte(u8),
    Whole(P),
}

/// More words than this are not listed one by one.
const MAX_WORDS: usize = 256;
const MAX_ATOMS: usize = 16 * 1024;
const MAX_NESTING: usize = 24;

/// The words that a word becomes; `None` if they are too many.
pub(crate) fn expand<P: Copy>(word: &[Atom<P>]) -> Option<Vec<Vec<Atom<P>>>> {
    let mut budget = MAX_ATOMS;
    let partners = partners(word);
    range(word, &partners, 0, word.len(), 0, &mut budget)
}

/// For each `{` the place of its `}`.
fn partners<P>(word: &[Atom<P>]) -> Vec<Option<usize>> {
    let mut partners = vec![None; word.len()];
    let mut open = Vec::new();
    for (at, atom) in word.iter().enumerate() {
        match atom {
            Atom::Byte(b'{') => open.push(at),
            Atom::Byte(b'}') => {
                if let Some(start) = open.pop()
                    && let Some(slot) = partners.get_mut(start)
                {
                    *slot = Some(at);
                }
            }
            _ => {}
        }
    }
    partners
}

fn range<P: Copy>(
    word: &[Atom<P>],
    partners: &[Option<usize>],
    start: usize,
    end: usize,
    nesting: usize,
    budget: &mut usize,
) -> Option<Vec<Vec<Atom<P>>>> {
    if nesting > MAX_NESTING {
        return None;
    }
    let mut out: Vec<Vec<Atom<P>>> = vec![Vec::new()];
    let mut at = start;
    while at < end {
        let atom = *word.get(at)?;
        let close = partners.get(at).copied().flatten().filter(|close| *close < end);
        let choices = match (atom, close) {
            (Atom::Byte(b'{'), Some(close)) => choices(word, partners, at + 1, close, nesting, budget)?,
            _ => None,
        };
        match (choices, close) {
            (Some(choices), Some(close)) => {
                out = product(&out, &choices, budget)?;
                at = close + 1;
            }
            _ => {
                *budget = budget.checked_sub(out.len())?;
                for word in &mut out {
                    word.push(atom);
                }
                at += 1;
            }
        }
    }
    Some(out)
}

fn product<P: Copy>(heads: &[Vec<Atom<P>>], tails: &[Vec<Atom<P>>], budget: &mut usize) -> Option<Vec<Vec<Atom<P>>>> {
    if heads.len().checked_mul(tails.len())? > MAX_WORDS {
        return None;
    }
    let mut out = Vec::with_capacity(heads.len() * tails.len());
    for head in heads {
        for tail in tails {
            *budget = budget.checked_sub(head.len() + tail.len() + 1)?;
            out.push([head.as_slice(), tail.as_slice()].concat());
        }
    }
    Some(out)
}

/// What stands between two braces: `Some(None)` if these braces are plain text.
#[expect(clippy::option_option, reason = "over the limit, plain text, and alternatives are three answers")]
fn choices<P: Copy>(
    word: &[Atom<P>],
    partners: &[Option<usize>],
    start: usize,
    end: usize,
    nesting: usize,
    budget: &mut usize,
) -> Option<Option<Vec<Vec<Atom<P>>>>> {
    let mut commas = Vec::new();
    let mut at = start;
    while at < end {
        match word.get(at)? {
            Atom::Byte(b'{') => {
                at = partners.get(at).copied().flatten().filter(|close| *close < end).unwrap_or(at);
            }
            Atom::Byte(b',') => commas.push(at),
            _ => {}
        }
        at += 1;
    }
    if commas.is_empty() {
        return sequence(word.get(start..end)?);
    }
    let mut out = Vec::new();
    let mut from = start;
    for comma in commas.into_iter().chain([end]) {
        out.extend(range(word, partners, from, comma, nesting + 1, budget)?);
        if out.len() > MAX_WORDS {
            return None;
        }
        from = comma + 1;
    }
    Some(Some(out))
}

/// `1..5`, `a..e`, `01..10..2`.
#[expect(clippy::option_option, reason = "over the limit, no sequence, and a sequence are three answers")]
fn sequence<P: Copy>(inner: &[Atom<P>]) -> Option<Option<Vec<Vec<Atom<P>>>>> {
    let mut text = Vec::with_capacity(inner.len());
    for atom in inner {
        match atom {
            Atom::Byte(byte) => text.push(*byte),
            Atom::Whole(_) => return Some(None),
        }
    }
    let Ok(text) = std::str::from_utf8(&text) else { return Some(None) };
    let fields: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match fields.as_slice() {
        [first, last] => (*first, *last, 1),
        [first, last, step] => match step.parse::<i64>() {
            Ok(step) => (*first, *last, step),
            Err(_) => return Some(None),
        },
        _ => return Some(None),
    };
    let numbers = (number(first), number(last));
    let letters = (letter(first), letter(last));
    let (low, high) = match (numbers, letters) {
        ((Some(low), Some(high)), _) => (low, high),
        (_, (Some(low), Some(high))) => (i64::from(low), i64::from(high)),
        _ => return Some(None),
    };
    let step = step.unsigned_abs().max(1);
    if low.abs_diff(high) / step >= MAX_WORDS as u64 {
        return None;
    }
    let padded = |text: &str| {
        text.trim_start_matches(['-', '+']).len() > 1 && text.trim_start_matches(['-', '+']).starts_with('0')
    };
    let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
    let step = i64::try_from(step).ok()?;
    let mut out = Vec::new();
    let mut value = low;
    loop {
        let item = match numbers {
            (Some(_), Some(_)) => format!("{value:0width$}"),
            _ => u8::try_from(value).map(|byte| char::from(byte).to_string()).unwrap_or_default(),
        };
        out.push(item.bytes().map(Atom::Byte).collect());
        value = if low <= high { value.checked_add(step)? } else { value.checked_sub(step)? };
        if (low <= high && value > high) || (low > high && value < high) {
            return Some(Some(out));
        }
    }
}

fn number(text: &str) -> Option<i64> {
    text.parse::<i64>().ok()
}

fn letter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<String> {
        let atoms: Vec<Atom<()>> = text.bytes().map(Atom::Byte).collect();
        let words = expand(&atoms)?;
        let text = |word: &Vec<Atom<()>>| -> String {
            word.iter().map(|a| if let Atom::Byte(b) = a { char::from(*b) } else { '?' }).collect()
        };
        Some(words.iter().map(text).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn braces_expand_as_in_bash() {
        for (text, expected) in [
            ("a{b,c}d", "abd acd"),
            ("{a,b}{1,2}", "a1 a2 b1 b2"),
            ("{a,{b,c}}x", "ax bx cx"),
            ("{1..3}", "1 2 3"),
            ("{3..1}", "3 2 1"),
            ("{01..10..3}", "01 04 07 10"),
            ("{a..c}", "a b c"),
            ("{}", "{}"),
            ("{a}", "{a}"),
            ("{a{b,c}}", "{ab} {ac}"),
            ("{a,{b,c}", "{a,b {a,c"),
            ("{a,b", "{a,b"),
            ("a{,}", "a a"),
            ("{a}{b,c}", "{a}b {a}c"),
            ("{1..a}", "{1..a}"),
            ("{-2..1}", "-2 -1 0 1"),
        ] {
            assert_eq!(words(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn too_many_words_are_refused_without_listing_them() {
        assert_eq!(words("{1..1000000000}"), None);
        assert_eq!(words(&"{a,b}".repeat(40)), None);
        assert_eq!(words(&format!("{}x,y{}", "{a,".repeat(3000), "}".repeat(3000))), None);
        assert!(words(&"{".repeat(5000)).is_some());
    }
}
