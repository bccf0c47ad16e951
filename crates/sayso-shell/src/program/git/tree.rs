//! Subcommands that change the index and the work tree.

use super::pathspec::{self, changes, whole};
use crate::effect::{Sieve, Verb};
use crate::files::Kind;
use crate::program::inside::{self, Headers};
use crate::program::{Code, View};

pub(crate) fn rm(view: &mut View<'_>) {
    if view.has_any(&["--cached", "--dry-run"]) {
        return;
    }
    let deep = view.deep;
    for at in view.operands() {
        changes(view, Verb::Delete, at, deep);
    }
}

fn overwrite(view: &mut View<'_>, at: usize) {
    changes(view, Verb::Write, at, true);
}

/// What is chosen piece by piece is shown first.
fn shows_pieces(view: &mut View<'_>, pathspecs: &[usize]) {
    if view.has_any(&["--patch", "--interactive", "--edit"]) {
        super::revision::shows_tracked(view, pathspecs);
    }
}

pub(crate) fn reset(view: &mut View<'_>) {
    let behind: Vec<usize> =
        view.operands().into_iter().filter(|at| view.terminator.is_some_and(|end| *at > end)).collect();
    shows_pieces(view, &behind);
}

pub(crate) fn restore(view: &mut View<'_>) {
    shows_pieces(view, &view.operands());
    if view.has("--staged") && !view.has("--worktree") {
        return;
    }
    for at in view.operands() {
        overwrite(view, at);
    }
}

/// `git checkout -- path`, `git checkout rev -- path`, `git checkout path`: the file loses what was not committed.
/// Implies `--restore`, so that rules can speak of it.
pub(crate) fn checkout(view: &mut View<'_>) {
    if view.has_any(&["-b", "-B", "--orphan", "--detach"]) {
        return;
    }
    let operands = view.operands();
    let behind = view.terminator;
    let mut restored = None;
    for (n, &at) in operands.iter().enumerate() {
        let is_path = match behind {
            Some(terminator) => at > terminator,
            None => n > 0 || is_file(view, at),
        };
        if is_path {
            overwrite(view, at);
            restored = restored.or(Some(at));
        }
    }
    if view.has_any(&["--pathspec-from-file", "--patch"]) {
        restored = restored.or(Some(0));
        shows_pieces(view, &[]);
    }
    match restored {
        Some(at) => view.imply("--restore", None, at),
        None => view.touches(Verb::Write, ".", false),
    }
}

/// Without `--`, git takes a word for a path if it is no revision.
fn is_file(view: &View<'_>, at: usize) -> bool {
    let Some(word) = view.word(at) else { return false };
    let Some(bytes) = word.exact() else { return false };
    if matches!(bytes, b"." | b".." | b"*")
        || bytes.starts_with(b"./")
        || bytes.starts_with(b"../")
        || bytes.starts_with(b":")
    {
        return true;
    }
    match view.path_of(word, false) {
        crate::effect::PathTarget::Exact(path) if path.is_absolute() => {
            !matches!(view.inv.files.kind(&path), Kind::Missing | Kind::Unknown)
        }
        _ => false,
    }
}

pub(crate) fn clean(view: &mut View<'_>) {
    if view.has("--dry-run") {
        return;
    }
    let operands = view.operands();
    if operands.is_empty() {
        view.touches(Verb::Delete, ".", true);
    }
    for at in operands {
        changes(view, Verb::Delete, at, true);
    }
}

/// What a patch changes stands in the patch.
pub(crate) fn apply(view: &mut View<'_>) {
    if !view.has_any(&["--stat", "--numstat", "--summary", "--check", "--cached"]) || view.has("--apply") {
        patched(view);
    }
    // `--unsafe-paths` lets it leave the folder.
    if view.has("--unsafe-paths") {
        view.named_by_flag(Code::ChangesFiles, "--unsafe-paths", 0);
    }
}

/// The same for patches that came by mail, and the mails may come on standard input.
pub(crate) fn am(view: &mut View<'_>) {
    if !view.has_any(&["--abort", "--quit", "--show-current-patch"]) {
        patched(view);
    }
}

/// The files that the patches name, if all of them can be read; else any.
fn patched(view: &mut View<'_>) {
    const HARMLESS: &[&str] = &[
        "-p",
        "--directory",
        "--index",
        "--apply",
        "--stat",
        "--numstat",
        "--summary",
        "--recount",
        "--reverse",
        "--verbose",
        "--quiet",
        "--whitespace",
        "--signoff",
        "--keep",
        "-C",
        "--no-pager",
    ];
    let plain = inside::has_only(view, HARMLESS);
    let strip = match view.value("-p") {
        Some(number) => number.exact_str().and_then(|number| number.parse().ok()),
        None => Some(1),
    };
    let folder = match view.value("--directory") {
        Some(folder) => folder.exact().map(|folder| crate::program::join(Some(&view.here()), folder)),
        None => Some(view.here()),
    };
    let texts: Option<Vec<Vec<u8>>> = match view.operand_count() {
        0 => inside::on_stdin(view).map(|text| vec![text]),
        _ => view.operands().into_iter().map(|at| view.word(at).and_then(|word| inside::text(view, word))).collect(),
    };
    let names = texts.filter(|_| plain).zip(strip).and_then(|(texts, strip)| {
        let each = texts.iter().map(|text| inside::of_patch(text, Headers::Git(strip)).map(|patch| patch.names));
        each.collect::<Option<Vec<_>>>().map(|all| all.concat())
    });
    let told = names.zip(folder).is_some_and(|(names, folder)| inside::written(view, &folder, &names, 0));
    if !told {
        view.touches(Verb::Write, ".", true);
    }
}

/// What is staged can be shown and committed, so it is read; what is ignored is left out unless it is forced.
pub(crate) fn add(view: &mut View<'_>) {
    let sieve = if view.has("--force") { Sieve::All } else { Sieve::Unignored };
    if view.operand_count() == 0 && view.has("--all") || view.has("--pathspec-from-file") {
        whole(view, &sieve);
    }
    pathspec::reads(view, &view.operands(), &sieve);
    shows_pieces(view, &view.operands());
}

/// What is stashed can be shown: with these options also what git does not know, or ignores.
pub(crate) fn stash(view: &mut View<'_>) {
    shows_pieces(view, &[]);
    if view.has("--all") {
        whole(view, &Sieve::All);
    } else if view.has("--include-untracked") {
        whole(view, &Sieve::Unignored);
    }
}
