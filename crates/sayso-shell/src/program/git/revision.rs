//! Options and operands that many subcommands share: revisions, differences, paths.

use super::pathspec;
use crate::effect::{PathTarget, Sieve};
use crate::files::Kind;
use crate::program::View;
use crate::program::path::join;
use crate::word::{Text, Word};

/// Words that are revisions or paths; behind `--` they are paths.
pub(crate) fn revisions_and_paths(view: &mut View<'_>) {
    // `-L1,5:file` shows lines of a file.
    for (at, range) in view.values("-L") {
        let file = range.exact().and_then(|range| range.rsplit(|b| *b == b':').next());
        view.reads_below(&file.map_or(Word::Opaque, |file| Word::Exact(Text::from(file))), at);
    }
    // What is shown is named on standard input.
    if view.has_any(&["--batch", "--batch-command"]) && !view.has("--batch-all-objects") {
        view.reads_below(&Word::Opaque, 0);
    }
    let end = view.terminator.unwrap_or(usize::MAX);
    let mut paths = Vec::new();
    for n in 0..view.operand_count() {
        let Some(at) = view.operand_at(n) else { continue };
        if at > end {
            paths.push(at);
        } else if let Some(word) = view.word(at) {
            revision_or_path(view, word, at);
        }
    }
    pathspec::reads(view, &paths, &Sieve::Tracked);
}

fn revision_or_path(view: &mut View<'_>, word: &Word, at: usize) {
    let Some(bytes) = word.exact() else {
        if let Word::Dynamic(shape) = word
            && !shape.parts.iter().any(|p| matches!(p, crate::word::Part::Hole))
        {
            view.reads_below(word, at);
        }
        return;
    };
    // `:/x` is the last commit that says so, or a path from the top.
    if matches!(bytes, [b':', b'/' | b'(' | b'!' | b'^', ..]) {
        return pathspec::reads(view, &[at], &Sieve::Tracked);
    }
    // `HEAD:src/lib.rs`, `:0:.env`: a file as the repository holds it, from its top unless it says otherwise.
    if let Some(colon) = bytes.iter().rposition(|&b| b == b':') {
        let path = bytes.get(colon + 1..).unwrap_or_default();
        if path.is_empty() || path.starts_with(b"/") {
            return;
        }
        let here = path.starts_with(b"./") || path.starts_with(b"../");
        match pathspec::top(view).filter(|_| !here) {
            Some(top) => view.reads_below(&pathspec::exact(&join(Some(&top), path)), at),
            None => view.reads_below(&Word::Exact(Text::from(path)), at),
        }
        return;
    }
    let target = view.path_of(word, true);
    let PathTarget::Below(path) = &target else { return };
    let exists = match path.is_absolute() {
        true => view.inv.files.kind(path),
        false => Kind::Unknown,
    };
    let named_like_a_file = !bytes.windows(2).any(|w| w == b"..")
        && !bytes.iter().any(|b| matches!(b, b'~' | b'^' | b'@' | b'{'))
        && (bytes.contains(&b'.') || bytes.ends_with(b"/"));
    match exists {
        Kind::Missing => {}
        Kind::Unknown if !named_like_a_file => {}
        _ => view.reads_sifted_target(target, word, at, &Sieve::Tracked),
    }
}
