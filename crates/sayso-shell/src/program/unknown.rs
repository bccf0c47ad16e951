//! A program without a table: nothing is known, so everything that looks like a path or a URL may be one.

use super::path::{is_stream, path_target};
use super::{Description, Invocation, host};
use crate::effect::{Carry, Effect, Opt, Span, Target, Verb};
use crate::files::Kind;
use crate::word::Word;

pub(super) fn describe(inv: &Invocation<'_>) -> Description {
    let mut out = Description::default();
    let mut ended = false;
    for (at, word) in inv.argv.iter().enumerate().skip(1) {
        let span = inv.spans.get(at).copied().unwrap_or_default();
        let Some(bytes) = word.exact() else {
            out.open_options |= !ended && word.may_be_option();
            out.words.push(u16::try_from(at).unwrap_or(u16::MAX));
            continue;
        };
        if bytes == b"--" && !ended {
            ended = true;
        } else if !ended && bytes.len() > 1 && bytes.starts_with(b"-") {
            option(inv, bytes, span, &mut out);
        } else {
            out.words.push(u16::try_from(at).unwrap_or(u16::MAX));
            maybe(inv, word, bytes, span, &mut out);
        }
    }
    out.starts.extend(crate::program::wrapper::guessed(inv));
    if out.starts.is_empty() {
        out.guesses = crate::program::wrapper::perhaps(inv);
    }
    out
}

/// As written; short ones a letter each, because nobody knows whether they are clustered.
fn option(inv: &Invocation<'_>, bytes: &[u8], span: Span, out: &mut Description) {
    let mut add = |name: String, value: Option<Word>| {
        out.options.push(Opt { name, value, span, known: false, implied: false });
    };
    let mut halves = bytes.splitn(2, |&b| b == b'=');
    let name = String::from_utf8_lossy(halves.next().unwrap_or_default()).into_owned();
    let value = halves.next().map(|v| Word::Exact(v.into()));
    if bytes.starts_with(b"--") {
        add(name, value.clone());
    } else {
        for letter in name.chars().skip(1) {
            add(format!("-{letter}"), None);
        }
    }
    if let Some(value) = value
        && let Some(bytes) = value.exact().map(<[u8]>::to_vec)
    {
        maybe(inv, &value, &bytes, span, out);
    }
}

/// A word that looks like a path or URL, or names a file that exists, counts against denies and asks.
pub(super) fn maybe(inv: &Invocation<'_>, word: &Word, bytes: &[u8], span: Span, out: &mut Description) {
    if bytes.is_empty() || is_stream(bytes) || bytes.len() > 4096 {
        return;
    }
    let mut add = |verb, target| {
        out.effects.push(Effect { verb, target, span, run: Some(inv.run), carry: Carry::Plain, certain: false });
    };
    if bytes.windows(3).any(|w| w == b"://") {
        add(Verb::Connect, Target::Host(host::of_word(word)));
        return;
    }
    let looks = bytes.contains(&b'/') || bytes.contains(&b'.') || bytes.starts_with(b"~");
    let plain = !bytes.iter().any(|b| matches!(b, b'\n' | b'\t'));
    let target = path_target(word, inv.cwd, true);
    let exists = || match &target {
        crate::effect::PathTarget::Below(path) => {
            path.is_absolute() && !matches!(inv.files.kind(path), Kind::Missing | Kind::Unknown)
        }
        _ => false,
    };
    if plain && (looks || exists()) {
        add(Verb::Read, Target::Path(target.clone()));
        add(Verb::Write, Target::Path(target));
    }
}
