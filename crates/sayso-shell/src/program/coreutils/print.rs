//! Programs that print what they are told, and nothing else.

use crate::effect::NamedBy;
use crate::program::{Code, View};
use crate::word::Word;

/// Joins exact words with blanks. `None`: a word is not certain.
fn joined(view: &View<'_>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for (n, at) in view.operands().into_iter().enumerate() {
        if n > 0 {
            text.push(b' ');
        }
        text.extend_from_slice(view.word(at)?.exact()?);
    }
    Some(text)
}

pub(crate) fn echo(view: &mut View<'_>) {
    // `--` is a word to echo, not an end of options.
    if view.has("-e") || view.terminator.is_some() {
        return;
    }
    if let Some(mut text) = joined(view) {
        if text.contains(&b'\\') {
            return; // `xpg_echo` and other shells read escapes
        }
        if !view.has("-n") {
            text.push(b'\n');
        }
        view.prints(text);
    }
}

pub(crate) fn printf(view: &mut View<'_>) {
    let Some(format) = view.operand(0).and_then(Word::exact) else { return };
    let text = match (format, view.operand_count()) {
        (b"%s", 2) => view.operand(1).and_then(Word::exact).map(<[u8]>::to_vec),
        (b"%s\\n", 2) => view.operand(1).and_then(Word::exact).map(|t| [t, b"\n"].concat()),
        (plain, 1) if !plain.contains(&b'%') && !plain.contains(&b'\\') => Some(plain.to_vec()),
        _ => None,
    };
    if let Some(text) = text
        && !view.has("-v")
    {
        view.prints(text);
    }
}

pub(crate) fn pwd(view: &mut View<'_>) {
    if let Some(cwd) = view.inv.cwd {
        let mut text = cwd.as_os_str().as_encoded_bytes().to_vec();
        text.push(b'\n');
        view.prints(text);
    }
}

pub(crate) fn basename(view: &mut View<'_>) {
    if view.operand_count() == 1
        && !view.has_any(&["--suffix", "--zero"])
        && let Some(path) = view.operand(0).and_then(Word::exact)
        && let Some(name) = path.rsplit(|&b| b == b'/').next().filter(|n| !n.is_empty())
    {
        view.prints([name, b"\n"].concat());
    }
}

pub(crate) fn dirname(view: &mut View<'_>) {
    if view.operand_count() == 1
        && !view.has("--zero")
        && let Some(path) = view.operand(0).and_then(Word::exact)
        && !path.ends_with(b"/")
    {
        let folder = match path.iter().rposition(|&b| b == b'/') {
            None => b".",
            Some(0) => &b"/"[..],
            Some(at) => path.get(..at).unwrap_or_default(),
        };
        view.prints([folder, b"\n"].concat());
    }
}

/// `date 010203042025` sets the clock.
pub(crate) fn date(view: &mut View<'_>) {
    for at in view.operands() {
        let prints = view.word(at).is_none_or(|w| match w {
            Word::Exact(text) => text.as_bytes().first() == Some(&b'+'),
            Word::Dynamic(shape) => {
                matches!(shape.parts.first(), Some(crate::word::Part::Literal(t)) if t.as_bytes().starts_with(b"+"))
            }
            Word::Opaque => false,
        });
        if !prints && !view.has("-j") {
            view.named(Code::ChangesSystem, NamedBy::Flag("--set".to_owned()), at);
        }
    }
}

/// Without a template the file is made in the temporary folder.
pub(crate) fn mktemp(view: &mut View<'_>) {
    if view.has("--dry-run") {
        return;
    }
    match view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w))) {
        Some((at, word)) if !view.has_any(&["-p", "--tmpdir", "-t"]) => view.writes(word, at),
        _ => {
            if view.value("--tmpdir").is_none() && view.value("-p").is_none() {
                view.touches(crate::effect::Verb::Write, "/tmp", true);
            }
        }
    }
}
