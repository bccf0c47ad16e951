//! Subcommands that make and rewrite commits, and keep the store.

use super::{CHANGES_TREE, GIT};
use crate::option::{Style, Table, options};
use crate::program::{Act, Code, Operands, Spec, View};

const SEQUENCE: &Table = options!(
    "
    --continue, --skip, --abort, --quit, --cleanup M, -e --edit, -n --no-commit, -m --mainline N, -s --signoff
    --strategy S : runs
    --rerere-autoupdate, -X --strategy-option O, -S --gpg-sign [K], --ff, -x, --allow-empty, --allow-empty-message
    --keep-redundant-commits, --empty M, -r, --reference
"
);

pub(super) const SUBS: &[Spec] = &[
    Spec::new(&["commit"])
        .style(GIT)
        .options(&[options!("
            -q --quiet, -v --verbose, --author A, --date D, -m --message M, -c --reedit-message C, -C --reuse-message C, --fixup C
            --squash C, --reset-author, --trailer T, -s --signoff, -e --edit, --cleanup M, --status, -S --gpg-sign [K]
            -a --all, -i --include, --interactive, -p --patch, -o --only, -n --no-verify, --verify, --dry-run, --short, --branch
            --ahead-behind, --porcelain, --long, -z --null, --amend, --no-post-rewrite, -u --untracked-files [M], --allow-empty
            --allow-empty-message, --pathspec-file-nul, -U --unified N, --inter-hunk-context N
            --pathspec-from-file FILE : reads
            -F --file FILE : reads
            -t --template FILE : reads
            --amends-pushed
        ")])
        .judge(amends),
    Spec::new(&["merge"])
        .style(GIT)
        .options(&[options!("
            -n, --stat, --summary, --compact-summary, --log [N], --squash, --commit, -e --edit, --cleanup M, --ff, --ff-only
            --no-ff, --rerere-autoupdate, --verify-signatures, -X --strategy-option O, -m --message M
            --into-name N, -v --verbose, -q --quiet, --abort, --quit, --continue, --allow-unrelated-histories, --progress
            -S --gpg-sign [K], --autostash, --overwrite-ignore, --signoff, --no-verify, --verify
            -s --strategy S : runs
            -F --file FILE : reads
        ")])
        .acts(CHANGES_TREE),
    Spec::new(&["rebase"])
        .style(GIT)
        .options(&[options!("
            --onto R, --keep-base, --root, --no-verify, --verify, -q --quiet, -v --verbose, -n --no-stat, --stat, --signoff
            --committer-date-is-author-date, --reset-author-date, --ignore-date, -C N, --ignore-whitespace, --whitespace A
            -f --force-rebase, --no-ff, --continue, --skip, --abort, --quit, --edit-todo, --show-current-patch, --apply
            -m --merge, -i --interactive, -p --preserve-merges, --rerere-autoupdate, --empty M, -k --keep-empty, --autosquash
            --update-refs, -S --gpg-sign [K], --autostash, --allow-empty-message, -r --rebase-merges [M], --fork-point
            -X --strategy-option O, --reschedule-failed-exec, --reapply-cherry-picks, --trailer T
            -s --strategy S : runs
            -x --exec COMMAND : shell
        ")])
        .acts(CHANGES_TREE),
    Spec::new(&["cherry-pick"]).style(GIT).options(&[SEQUENCE]).acts(CHANGES_TREE),
    Spec::new(&["revert"]).style(GIT).options(&[SEQUENCE]).acts(CHANGES_TREE),
    Spec::new(&["gc"]).style(GIT).options(&[options!("
        -q --quiet, --prune [D], --aggressive, --auto, --detach, --force, --keep-largest-pack, --cruft, --max-cruft-size N
        --expire-to DIR
    ")]),
    Spec::new(&[
        "prune", "prune-packed", "repack", "multi-pack-index", "commit-graph", "index-pack", "unpack-objects",
        "pack-objects", "pack-redundant", "backfill",
    ])
        .style(GIT.and(Style::HARMLESS))
        .acts(&[Act::Named(Code::ChangesRepository)]),
    Spec::new(&["hash-object"])
        .style(GIT)
        .options(&[options!("
            -t TYPE, --stdin, --stdin-paths, --no-filters, --literally, --path F
            -w : changes-repository
        ")])
        .operands(Operands::READ),
    Spec::new(&["fast-export"]).style(GIT.and(Style::HARMLESS)).options(&[options!("
        --export-marks F : writes
        --import-marks F : reads
    ")]),
    Spec::new(&["fast-import"]).style(GIT.and(Style::HARMLESS)).acts(&[Act::Named(Code::ChangesRepository)]).options(&[options!("
        --export-marks F : writes
        --export-pack-edges F : writes
        --import-marks F : reads
    ")]),
    Spec::new(&["filter-branch"]).style(GIT).options(&[options!("
        --setup CMD : shell
        --env-filter CMD : shell
        --tree-filter CMD : shell
        --index-filter CMD : shell
        --parent-filter CMD : shell
        --msg-filter CMD : shell
        --commit-filter CMD : shell
        --tag-name-filter CMD : shell
        --subdirectory-filter DIR, --prune-empty, --original NS, -d DIR, -f --force, --state-branch B, --all
    ")]),
    Spec::new(&["filter-repo"]).style(GIT.and(Style::HARMLESS)).acts(&[Act::Named(Code::RunsCode)]),
    Spec::new(&["replay", "history"]).style(GIT.and(Style::HARMLESS)).acts(&[Act::Named(Code::ChangesRepository)]),
    Spec::new(&["mailinfo", "mailsplit"]).style(GIT.and(Style::HARMLESS)).operands(Operands::WRITE),
];

/// The last commit is written anew; where others may have it already, that is history which they share.
fn amends(view: &mut View<'_>) {
    let amend = view.seen.iter().find(|seen| seen.opt.name == "--amend").map(|seen| seen.at);
    if let Some(at) = amend
        && super::store::last_commit_is_pushed(view) != Some(false)
    {
        view.imply("--amends-pushed", None, at);
    }
}
