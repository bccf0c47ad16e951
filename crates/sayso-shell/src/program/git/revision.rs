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
    let (mut narrowed, mut whole, mut id) = (false, view.operand_count() == 0, false);
    for n in 0..view.operand_count() {
        let Some(at) = view.operand_at(n) else { continue };
        if at > end {
            paths.push(at);
        } else if let Some(word) = view.word(at) {
            match revision_or_path(view, word, at) {
                Means::Path => narrowed = true,
                Means::File => {}
                Means::Revision => {
                    whole = true;
                    id |= word.exact().is_some_and(is_id);
                }
            }
        }
    }
    pathspec::reads(view, &paths, &Sieve::Tracked);
    if whole && !narrowed && paths.is_empty() && shows_contents(view, id) {
        pathspec::whole(view, &Sieve::Tracked);
    }
}

/// What files hold is shown, of those that these pathspecs stand for, or of all that git tracks.
pub(super) fn shows_tracked(view: &mut View<'_>, pathspecs: &[usize]) {
    if pathspecs.is_empty() {
        pathspec::whole(view, &Sieve::Tracked);
    }
    pathspec::reads(view, pathspecs, &Sieve::Tracked);
}

/// Options that make a command show what files hold.
const PATCH: &[&str] = &[
    "--patch",
    "--unified",
    "--patch-with-raw",
    "--patch-with-stat",
    "--word-diff",
    "--word-diff-regex",
    "--color-words",
    "--binary",
    "--check",
    "--cc",
    "--dd",
    "--remerge-diff",
];

/// Options with which names or numbers are shown instead.
const SUMMARY: &[&str] = &[
    "--no-patch",
    "--stat",
    "--numstat",
    "--shortstat",
    "--dirstat",
    "--dirstat-by-file",
    "--summary",
    "--compact-summary",
    "--name-only",
    "--name-status",
    "--raw",
    "--quiet",
    "-q",
];

/// Whether a command on revisions shows what files hold. With an `id` it may be given one of a file's contents.
fn shows_contents(view: &View<'_>, id: bool) -> bool {
    // Before the subcommand, `-c` is a setting.
    let combined = view.seen.iter().any(|seen| seen.opt.name == "-c" && seen.opt.value.is_none());
    let patch = combined || view.has_any(PATCH);
    match view.path.last().copied() {
        Some("diff" | "show" | "range-diff" | "difftool" | "format-patch") if view.path.len() == 1 => {
            // `--stat --no-stat` is as neither of them.
            let taken_back = |name: &str| {
                let name = name.trim_start_matches("--no-");
                SUMMARY.iter().any(|summary| summary.trim_start_matches('-') == name)
            };
            let back = view.seen.iter().any(|seen| {
                seen.opt.name.starts_with("--no-") && seen.opt.name != "--no-patch" && taken_back(&seen.opt.name)
            });
            patch || back || !view.has_any(SUMMARY)
        }
        Some("cat-file") => {
            let asks = view.has_any(&["-t", "-s", "-e"]);
            let batch = view.has_any(&["--batch", "--batch-command"]) && view.has("--batch-all-objects");
            batch || id && !asks
        }
        Some("blame" | "annotate") => false,
        _ => patch,
    }
}

/// Whether a word is an object's name in hexadecimal digits, shortened or not.
fn is_id(word: &[u8]) -> bool {
    word.len() >= 4 && word.iter().all(u8::is_ascii_hexdigit)
}

/// What an operand before `--` stands for.
enum Means {
    /// Files of the work tree, by their place.
    Path,
    /// One file as the repository holds it.
    File,
    /// A revision, as far as can be told.
    Revision,
}

/// `HEAD:src/lib.rs` and `:0:.env`: a file as the repository holds it, from its top unless it says otherwise.
pub(super) fn reads_file_of_revision(view: &mut View<'_>, bytes: &[u8], at: usize) {
    // `HEAD:a..HEAD:b` names two.
    for (colon, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b':') {
        let path = bytes.get(colon + 1..).unwrap_or_default();
        let range = path.windows(2).position(|two| two == b"..").and_then(|end| path.get(..end));
        for path in [Some(path), range].into_iter().flatten() {
            if path.is_empty() || path.starts_with(b"/") {
                continue;
            }
            let here = path.starts_with(b"./") || path.starts_with(b"../");
            match pathspec::top(view).filter(|_| !here) {
                Some(top) => view.reads_below(&pathspec::exact(&join(Some(&top), path)), at),
                None => view.reads_below(&Word::Exact(Text::from(path)), at),
            }
        }
    }
}

fn revision_or_path(view: &mut View<'_>, word: &Word, at: usize) -> Means {
    let Some(bytes) = word.exact() else {
        if let Word::Dynamic(shape) = word
            && !shape.parts.iter().any(|p| matches!(p, crate::word::Part::Hole))
        {
            view.reads_below(word, at);
            return Means::Path;
        }
        return Means::Revision;
    };
    // `:/x` is the last commit that says so, or a path from the top.
    if matches!(bytes, [b':', b'/' | b'(' | b'!' | b'^', ..]) {
        pathspec::reads(view, &[at], &Sieve::Tracked);
        return Means::Revision;
    }
    if bytes.contains(&b':') {
        reads_file_of_revision(view, bytes, at);
        return Means::File;
    }
    let target = view.path_of(word, true);
    let PathTarget::Below(path) = &target else { return Means::Revision };
    let exists = match path.is_absolute() {
        true => view.inv.files.kind(path),
        false => Kind::Unknown,
    };
    let named_like_a_file = !bytes.windows(2).any(|w| w == b"..")
        && !bytes.iter().any(|b| matches!(b, b'~' | b'^' | b'@' | b'{'))
        && (bytes.contains(&b'.') || bytes.ends_with(b"/"));
    match exists {
        Kind::Missing => return Means::Revision,
        Kind::Unknown if !named_like_a_file => return Means::Revision,
        _ => view.reads_sifted_target(target, word, at, &Sieve::Tracked),
    }
    Means::Path
}
