//! Subcommands that tell about the repository.

use super::pathspec::{self, Place, at_top};
use super::revision::revisions_and_paths;
use crate::effect::{Sieve, Verb};
use crate::program::View;
use crate::word::Word;

/// `--no-index`, and `git diff` outside a repository, compare any two files.
pub(crate) fn diff(view: &mut View<'_>) {
    if view.has("--no-index") {
        for at in view.operands() {
            if let Some(word) = view.word(at) {
                view.reads_below(word, at);
            }
        }
    } else {
        revisions_and_paths(view);
    }
    if view.has("--name-only") {
        // Names that are no longer tracked are in other revisions, and all begin at the top.
        let operands = view.operands();
        let behind = |at: &&usize| view.terminator.is_some_and(|end| **at > end);
        let elsewhere = view.out.open_options || operands.iter().any(|at| !behind(&at));
        let moves = ["--cached", "--no-index", "--merge-base", "--relative", "--stdin", "-R"];
        let specs: Vec<usize> = operands.iter().filter(behind).copied().collect();
        let tracked = !elsewhere && !view.has_any(&moves) && at_top(view);
        pathspec::names(view, &specs, tracked);
    }
}

pub(crate) fn ls_files(view: &mut View<'_>) {
    status(view);
    if !view.has_any(&["--stage", "-t", "-v", "-f", "--unmerged", "--debug", "--eol", "--format"]) {
        let others = ["--others", "--killed", "--resolve-undo", "--with-tree", "--recurse-submodules"];
        let tracked = !view.out.open_options && !view.has_any(&others) && (!view.has("--full-name") || at_top(view));
        pathspec::names(view, &view.operands(), tracked);
    }
}

/// The first operand is a pattern unless `-e` or `-f` gives one; then revisions and paths.
pub(crate) fn grep(view: &mut View<'_>) {
    let given = view.has_any(&["-e", "-f"]);
    let words: Vec<usize> = view.operands().into_iter().skip(usize::from(!given)).collect();
    // Revisions stand before paths, and are searched as a whole if no path follows.
    let only_paths = view.has_any(&["--untracked", "--no-index"]);
    let is_path = |at: &usize| match view.terminator {
        _ if only_paths => true,
        Some(end) => *at > end,
        None => view.word(*at).is_none_or(|word| may_be_path(view, word)),
    };
    let (specs, revisions): (Vec<usize>, Vec<usize>) = words.iter().partition(|at| is_path(at));
    // With these it looks at files that git does not know, as any other search.
    let known = !view.has_any(&["--untracked", "--no-index"]);
    let ignored = view.has("--no-exclude-standard") || view.has("--no-index") && !view.has("--exclude-standard");
    let sieve = match (known, ignored) {
        (true, _) => Sieve::Tracked,
        (false, true) => Sieve::All,
        (false, false) => Sieve::Unignored,
    };
    // A word of which nobody knows whether such a file is there may be a revision.
    let unsure =
        view.terminator.is_none() && specs.iter().any(|at| view.word(*at).is_none_or(|word| is_unknown(view, word)));
    if specs.is_empty() || unsure {
        view.reads_sifted(&Word::Exact(".".into()), 0, &sieve);
    }
    pathspec::reads(view, &specs, &sieve);
    for at in revisions.iter().copied() {
        if let Some(bytes) = view.word(at).and_then(Word::exact) {
            super::revision::reads_file_of_revision(view, bytes, at);
        }
    }
    if view.has_any(&["--files-with-matches", "--files-without-match"]) {
        let others = ["--untracked", "--no-index", "--recurse-submodules", "--full-name"];
        let tracked = words.is_empty() && !view.out.open_options && !view.has_any(&others);
        pathspec::names(view, &words, tracked);
    }
}

fn is_unknown(view: &View<'_>, word: &Word) -> bool {
    let path = word.exact().map(|bytes| crate::program::join(view.base.as_deref(), bytes));
    path.is_some_and(|path| !path.is_absolute() || view.inv.files.kind(&path) == crate::files::Kind::Unknown)
}

/// Whether git would take a word for a path where it may be a revision too: it is one if such a file is there.
fn may_be_path(view: &View<'_>, word: &Word) -> bool {
    let Some(bytes) = word.exact() else { return true };
    let magic = bytes.starts_with(b":")
        || bytes.starts_with(b".")
        || bytes.starts_with(b"/")
        || bytes.iter().any(|b| b"*?[".contains(b));
    let path = crate::program::join(view.base.as_deref(), bytes);
    magic || !path.is_absolute() || view.inv.files.kind(&path) != crate::files::Kind::Missing
}

/// Tells names, and what files hold only with `-v`.
pub(crate) fn status(view: &mut View<'_>) {
    if view.path.last() == Some(&"status") && view.has("--verbose") {
        super::revision::shows_tracked(view, &view.operands());
    }
    for at in view.operands() {
        match view.word(at).map(|word| pathspec::place(view, word)) {
            Some(Place::At(path)) => view.tells(&path, at, true),
            Some(_) => view.touches(Verb::Read, ".", false),
            None => {}
        }
    }
}
