//! Words that bash and zsh both accept, and read otherwise.

use crate::syntax::tree::{Operation, Parameter, Part, Word};
use crate::word;

pub(super) const NAMES_COMMAND: &str = "zsh puts the path of a command for `=name`.";

/// `=ls` is the path of `ls`. `==` and `=~` are an error, after which zsh stops; `=` alone is itself.
pub(super) fn names_command(word: &Word<'_>) -> bool {
    // `""=ls` and `$x=ls` are it as well, and so is `""~`.
    let vanishes = |part: &Part<'_>| match part {
        Part::Literal { text, .. } | Part::Quoted { text, .. } => text.is_empty(),
        _ => true,
    };
    let leading = word.parts.iter().take_while(|part| vanishes(part)).count();
    if leading > 0
        && let Some(Part::Literal { text, .. }) = word.parts.get(leading)
    {
        return matches!(text.first(), Some(b'=' | b'~'));
    }
    match &*word.parts {
        [Part::Literal { text, .. }] => text.starts_with(b"=") && !matches!(&**text, b"=" | b"==" | b"=~"),
        [Part::Literal { text, .. }, ..] => text.starts_with(b"="),
        _ => false,
    }
}

/// What zsh may start for redirects without a command: `cat`, or for a lone `<f` what shows a file.
pub(crate) fn started_for_redirects(shows: bool) -> &'static [&'static [u8]] {
    if shows { &[b"more", b"pager"] } else { &[b"cat"] }
}

/// `1=x`.
pub(super) fn assigns_positional(word: &Word<'_>) -> bool {
    let Some(Part::Literal { text, .. }) = word.parts.first() else { return false };
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    digits > 0 && matches!(text.get(digits), Some(b'=' | b'['))
}

/// In the value of an assignment also behind a colon.
pub(super) fn names_command_in_value(word: &Word<'_>) -> bool {
    word.parts.iter().enumerate().any(|(at, part)| match part {
        Part::Literal { text, .. } => {
            at == 0 && text.starts_with(b"=") || text.windows(2).any(|pair| pair == b":=") || text.ends_with(b":=")
        }
        _ => false,
    })
}

/// `$=x`, `$~x`, `$^x`, `$+x`, `$#x`, `$12`: to bash a dollar and text, or a parameter and text.
pub(super) fn begins_expansion(part: &Part<'_>, next: Option<&Part<'_>>) -> Option<&'static str> {
    let following = match next {
        Some(Part::Literal { text, .. } | Part::Quoted { text, .. }) => text.first().copied(),
        _ => None,
    };
    match part {
        Part::Literal { text, .. } | Part::Quoted { text, quote: crate::syntax::tree::Quote::Double, .. } => {
            let mut rest = &**text;
            while let Some(at) = rest.iter().position(|b| *b == b'$') {
                rest = rest.get(at + 1..).unwrap_or_default();
                let marks = rest.iter().take_while(|b| b"=~^+".contains(b)).count();
                let after = rest.get(marks).copied();
                let name = after.is_some_and(|b| b.is_ascii_alphanumeric() || b"_{@*".contains(&b));
                let open = after.is_none() && matches!(next, Some(Part::Variable { .. } | Part::Parameter(_)));
                // `$+` is text unless a name follows, the others are gone even so.
                let gone = rest.iter().take(marks).any(|b| *b != b'+');
                if marks > 0 && (name || open || gone) {
                    return Some("zsh reads a flag between `$` and a name.");
                }
            }
            None
        }
        Part::Variable { name, span } => {
            let unbraced = span.end.saturating_sub(span.start) as usize == name.len() + 1;
            let named = following.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
            let more = match (&**name, following) {
                (b"#", _) => named || next.is_some_and(|next| matches!(next, Part::Variable { .. })),
                ([digit], Some(b)) if digit.is_ascii_digit() => b.is_ascii_digit(),
                _ => false,
            };
            (unbraced && more).then_some("zsh reads a longer name behind `$`.")
        }
        _ => None,
    }
}

/// Whether the walker must not take what follows `$name` for text: `$x[1]` and `$x:h` are more than `$x`.
pub(crate) fn goes_on(part: &Part<'_>, next: Option<&Part<'_>>) -> bool {
    let Part::Variable { name, span } = part else { return false };
    if span.end.saturating_sub(span.start) as usize != name.len() + 1 {
        return false;
    }
    let text: &[u8] = match next {
        Some(Part::Literal { text, .. } | Part::Quoted { text, .. }) => text,
        _ => return false,
    };
    match text {
        [b'[', ..] => true,
        [b':', letter, ..] => letter.is_ascii_alphabetic() || *letter == b'&',
        _ => false,
    }
}

/// Whether a word holds a pattern or a folder's name: where there is no such file or folder, zsh stops.
pub(crate) fn may_find_nothing(word: &Word<'_>) -> bool {
    let named = matches!(word.parts.first(), Some(Part::Literal { text, .. })
        if text.first() == Some(&b'~') && text.get(1).is_some_and(|b| *b != b'/'));
    named
        || word.parts.iter().any(|part| match part {
            Part::Literal { text, .. } => text.iter().any(|b| b"*?[".contains(b)),
            Part::ExtendedGlob(_) => true,
            _ => false,
        })
}

/// `${...}` with an operation that zsh does not know, or knows as another.
pub(super) fn reads_otherwise(parameter: &Parameter<'_>) -> Option<&'static str> {
    if parameter.indirect {
        return Some("zsh does not know `${!name}`.");
    }
    match &parameter.operation {
        Operation::Case { .. } | Operation::Transform(_) | Operation::Names => {
            Some("zsh does not know this `${...}`, and stops there.")
        }
        // `${x:h}` is the folder of `x`.
        Operation::Substring { offset, .. } => {
            let number = match offset.parts.first() {
                Some(Part::Quoted { text, .. }) => {
                    matches!(text.first(), Some(b' ' | b'0'..=b'9')) && text.iter().all(|b| b" 0123456789-".contains(b))
                }
                Some(Part::Variable { .. }) => true,
                _ => false,
            };
            (!number).then_some("zsh reads letters behind `:` as changes to the value.")
        }
        _ => None,
    }
}

/// Escapes in `$'..'` that are the same in both.
pub(super) fn has_odd_escape(text: &[u8]) -> bool {
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'\\' {
            continue;
        }
        match bytes.next() {
            Some(b'a' | b'b' | b'e' | b'E' | b'f' | b'n' | b'r' | b't' | b'v' | b'\\' | b'\'' | b'"') => {}
            // Two digits, as is usual.
            Some(b'x') if bytes.as_slice().iter().take(2).all(u8::is_ascii_hexdigit) => {}
            Some(b'0'..=b'3') if bytes.as_slice().iter().take(2).all(|b| matches!(b, b'0'..=b'7')) => {}
            _ => return true,
        }
    }
    false
}

/// `010` is ten, and `#` means the code of a character.
pub(super) fn has_odd_number(text: &[u8]) -> bool {
    text.contains(&b'#')
        || text.iter().enumerate().any(|(at, byte)| {
            let begins =
                at == 0 || text.get(at - 1).is_some_and(|b| !b.is_ascii_alphanumeric() && *b != b'_' && *b != b'.');
            *byte == b'0' && begins && text.get(at + 1).is_some_and(u8::is_ascii_digit)
        })
}

/// In zsh a value may hold a NUL, and a program is given what stands before it: whatever follows something unknown in a
/// word may not be there.
pub(crate) fn cut_at_nul(word: &mut word::Word) {
    match word {
        word::Word::Exact(text) if text.as_bytes().contains(&0) => *word = crate::script::unknown(),
        word::Word::Dynamic(shape) if !shape.origin.is_number() => {
            let hole = shape.parts.iter().position(|part| matches!(part, word::Part::Hole));
            if let Some(hole) = hole.filter(|hole| hole + 1 < shape.parts.len()) {
                shape.parts.truncate(hole + 1);
                // With what follows it is another name than the one that was listed.
                shape.origin = word::Origin::Unknown;
            }
        }
        _ => {}
    }
}

/// Whether something is written here that ends or begins more than arithmetic.
pub(crate) fn may_end_arithmetic(part: &Part<'_>) -> bool {
    matches!(part, Part::Literal { text, .. } | Part::Quoted { text, .. } if text.iter().any(|b| b"[]{};#\"'`".contains(b)))
}
