//! Subcommands that change the index and the work tree.

use super::pathspec::{self, changes, whole};
use super::revision::{DIFF, REVISIONS};
use super::{CHANGES_TREE, GIT};
use crate::effect::{Sieve, Verb};
use crate::files::Kind;
use crate::option::{Style, Table, options};
use crate::program::inside::{self, Headers};
use crate::program::{Act, Code, Operands, Role, Spec, View};

const PATHSPEC_FILE: &Table = options!("--pathspec-file-nul", "--pathspec-from-file FILE : reads");

const STASH_PUSH: &Table = options!(
    "
    -p --patch, -S --staged, -k --keep-index, -u --include-untracked, -a --all, -q --quiet, -m --message M
    -U --unified N, --inter-hunk-context N
"
);

pub(super) const SUBS: &[Spec] = &[
    Spec::new(&["add", "stage"])
        .aliased()
        .style(GIT)
        .options(&[PATHSPEC_FILE, options!("
            -n --dry-run, -v --verbose, -f --force, -i --interactive, -p --patch, -e --edit, -A --all --no-ignore-removal
            --ignore-removal, -u --update, -N --intent-to-add, --refresh, --ignore-errors, --ignore-missing, --sparse, --renormalize
            --chmod MODE, -U --unified N, --inter-hunk-context N, --auto-advance
        ")])
        .judge(add),
    Spec::new(&["rm"])
        .style(GIT)
        .options(&[PATHSPEC_FILE, options!("
            -n --dry-run, -q --quiet, --cached, -f --force, --ignore-unmatch, --sparse
            -r : deep
        ")])
        .judge(rm),
    Spec::new(&["mv"])
        .style(GIT)
        .options(&[options!("-v --verbose, -n --dry-run, -f --force, -k, --sparse")])
        .operands(Operands::all(Role::Move).last(Role::WriteBelow)),
    Spec::new(&["restore"])
        .style(GIT)
        .options(&[PATHSPEC_FILE, options!("
            -s --source TREE, -S --staged, -W --worktree, --ignore-unmerged, --overlay, -q --quiet, --recurse-submodules [M]
            --progress, -m --merge, --conflict STYLE, -2 --ours, -3 --theirs, -p --patch, --ignore-skip-worktree-bits
            -U --unified N, --inter-hunk-context N
        ")])
        .judge(restore),
    Spec::new(&["checkout"])
        .style(GIT)
        .options(&[PATHSPEC_FILE, options!("
            -b BRANCH, -B BRANCH, -l, --guess, --overlay, -q --quiet, --recurse-submodules [M], --progress, -m --merge
            --conflict STYLE, -d --detach, -t --track [M], -f --force, --orphan BRANCH, --overwrite-ignore, --ignore-other-worktrees
            -2 --ours, -3 --theirs, -p --patch, --ignore-skip-worktree-bits, --restore, -U --unified N, --inter-hunk-context N
        ")])
        .judge(checkout),
    Spec::new(&["switch"])
        .style(GIT)
        .options(&[options!("
            -c --create BRANCH, -C --force-create BRANCH, --guess, --discard-changes, -q --quiet, --recurse-submodules [M]
            --progress, -m --merge, --conflict STYLE, -d --detach, -t --track [M], -f --force, --orphan BRANCH
            --overwrite-ignore, --ignore-other-worktrees
        ")])
        .acts(CHANGES_TREE),
    Spec::new(&["clean"])
        .style(GIT)
        .options(&[options!("
            -q --quiet, -n --dry-run, -f --force, -i --interactive, -d, -e --exclude P, -x, -X
        ")])
        .judge(clean),
    Spec::new(&["reset"])
        .style(GIT)
        .options(&[PATHSPEC_FILE, options!("
            -q --quiet, --refresh, --mixed, --soft, --hard, --merge, --keep, --recurse-submodules [M], -p --patch
            -N --intent-to-add, -z, --stdin, -U --unified N, --inter-hunk-context N
        ")]),
    Spec::new(&["apply"])
        .style(GIT)
        .options(&[options!("
            --exclude P, --include P, -p N, --no-add, --stat, --numstat, --summary, --check, --index, -N --intent-to-add, --cached
            --unsafe-paths, --apply, -3 --3way, --ours, --theirs, --union, -z, -C N, --whitespace A, --ignore-space-change
            --ignore-whitespace, -R --reverse, --unidiff-zero, --reject, --allow-overlap, -v --verbose, -q --quiet
            --inaccurate-eof, --recount, --directory ROOT, --allow-empty, --allow-binary-replacement --binary
            --build-fake-ancestor FILE : writes
        ")])
        .operands(Operands::READ)
        .judge(apply),
    Spec::new(&["am"])
        .style(GIT)
        .options(&[options!("
            -i --interactive, -n --no-verify, -b, -3 --3way, -q --quiet, -s --signoff, -u --utf8, -k --keep, --keep-non-patch
            -m --message-id, --keep-cr, -c --scissors, --quoted-cr A, --whitespace A, --ignore-space-change, --ignore-whitespace
            --directory ROOT, --exclude P, --include P, -C N, -p N, --patch-format F, --reject, --resolvemsg M, --continue --resolved
            -r, --skip, --abort, --quit, --show-current-patch [M], --retry, --allow-empty, --committer-date-is-author-date
            --ignore-date, --rerere-autoupdate, -S --gpg-sign [K], --empty M
        ")])
        .operands(Operands::READ)
        .judge(am),
    Spec::new(&["stash"])
        .style(GIT.and(Style::FREE))
        .options(&[STASH_PUSH, PATHSPEC_FILE])
        .subs(&[
            Spec::new(&["list"]).style(GIT).options(&[REVISIONS, DIFF]),
            Spec::new(&["show"])
                .style(GIT)
                .options(&[REVISIONS, DIFF, options!("--include-untracked, --only-untracked, -u")]),
            Spec::new(&["push", "save"])
                .style(GIT)
                .options(&[STASH_PUSH, PATHSPEC_FILE])
                .acts(&[Act::Named(Code::ChangesRepository)])
                .judge(stash),
            Spec::new(&["pop", "apply", "drop", "clear", "branch", "store", "create", "export", "import"])
                .style(GIT)
                .options(&[options!("--index, -q --quiet, -m --message M, --print, --to-ref R")])
                .acts(&[Act::Named(Code::ChangesRepository)]),
        ])
        .acts(&[Act::Named(Code::ChangesRepository)])
        .judge(stash),
    Spec::new(&[
        "checkout-index", "read-tree", "update-index", "write-tree", "mktree", "unpack-file", "merge-index",
        "merge-one-file",
    ])
        .style(GIT.and(Style::HARMLESS))
        .acts(&[Act::Named(Code::ChangesRepository)]),
    Spec::new(&["sparse-checkout"])
        .style(GIT)
        .subs(&[
            Spec::new(&["list", "check-rules"])
                .style(GIT)
                .options(&[options!("-z, --cone, --no-cone", "--rules-file FILE : reads")]),
            Spec::new(&["init", "set", "add", "reapply", "disable", "clean"])
                .style(GIT)
                .options(&[options!("--cone, --no-cone, --sparse-index, --no-sparse-index, --skip-checks, --stdin, -f --force, -n --dry-run, -v --verbose")])
                .acts(&[Act::Named(Code::ChangesRepository)]),
        ]),
    Spec::new(&["rerere"])
        .style(GIT.and(Style::FREE))
        .options(&[options!("--rerere-autoupdate")])
        .subs(&[
            Spec::new(&["status", "remaining", "diff"]).style(GIT),
            Spec::new(&["clear", "forget", "gc"]).style(GIT).acts(&[Act::Named(Code::ChangesRepository)]),
        ])
        .acts(&[Act::Named(Code::ChangesRepository)]),
    Spec::new(&["mergetool"])
        .style(GIT)
        .options(&[options!("--tool-help, -y --no-prompt, --prompt, -g --gui", "-t --tool TOOL : runs", "-O FILE : reads")])
        .acts(&[Act::Named(Code::RunsCommand)]),
];

fn rm(view: &mut View<'_>) {
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

fn restore(view: &mut View<'_>) {
    if view.has("--staged") && !view.has("--worktree") {
        return;
    }
    for at in view.operands() {
        overwrite(view, at);
    }
}

/// `git checkout -- path`, `git checkout rev -- path`, `git checkout path`: the file loses what was not committed.
/// Implies `--restore`, so that rules can speak of it.
fn checkout(view: &mut View<'_>) {
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

fn clean(view: &mut View<'_>) {
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
fn apply(view: &mut View<'_>) {
    if !view.has_any(&["--stat", "--numstat", "--summary", "--check", "--cached"]) || view.has("--apply") {
        patched(view);
    }
    // `--unsafe-paths` lets it leave the folder.
    if view.has("--unsafe-paths") {
        view.named_by_flag(Code::ChangesFiles, "--unsafe-paths", 0);
    }
}

/// The same for patches that came by mail, and the mails may come on standard input.
fn am(view: &mut View<'_>) {
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
fn add(view: &mut View<'_>) {
    let sieve = if view.has("--force") { Sieve::All } else { Sieve::Unignored };
    if view.operand_count() == 0 && view.has("--all") || view.has("--pathspec-from-file") {
        whole(view, &sieve);
    }
    pathspec::reads(view, &view.operands(), &sieve);
}

/// What is stashed can be shown: with these options also what git does not know, or ignores.
fn stash(view: &mut View<'_>) {
    if view.has("--all") {
        whole(view, &Sieve::All);
    } else if view.has("--include-untracked") {
        whole(view, &Sieve::Unignored);
    }
}
