//! Subcommands that walk history.

use super::GIT;
use super::revision::{DIFF, REVISIONS, revisions_and_paths};
use crate::effect::{NamedBy, Verb};
use crate::option::{Style, options};
use crate::program::{Act, Code, Operands, Spec, View};

pub(super) const SUBS: &[Spec] = &[
    Spec::new(&["log"]).style(GIT).options(&[REVISIONS, DIFF]).judge(revisions_and_paths),
    Spec::new(&["show"]).style(GIT).options(&[REVISIONS, DIFF]).judge(revisions_and_paths),
    Spec::new(&["whatchanged"])
        .style(GIT)
        .options(&[REVISIONS, DIFF, options!("--i-still-use-this")])
        .judge(revisions_and_paths),
    Spec::new(&["rev-list"]).style(GIT).options(&[REVISIONS, DIFF]).judge(revisions_and_paths),
    Spec::new(&["shortlog"])
        .style(GIT)
        .options(&[
            options!("-n --numbered, -s --summary, -e --email, --group TYPE, -c --committer, -w [SPEC], --format F, --date F"),
            REVISIONS,
            DIFF,
        ])
        .judge(revisions_and_paths),
    Spec::new(&["reflog"])
        .style(GIT.and(Style::FREE))
        .options(&[REVISIONS, DIFF])
        .subs(&[
            Spec::new(&["show"]).style(GIT).options(&[REVISIONS, DIFF]).judge(revisions_and_paths),
            Spec::new(&["list", "exists"]).style(GIT),
            Spec::new(&["expire", "delete", "drop", "write"])
                .style(GIT.and(Style::HARMLESS))
                .options(&[options!("
                    --all, --expire T, --expire-unreachable T, --stale-fix, --rewrite, --updateref, --dry-run, -n, --verbose
                    --single-worktree
                ")])
                .acts(&[Act::Named(Code::ChangesRepository)]),
        ])
        .judge(revisions_and_paths),
    Spec::new(&["format-patch"])
        .style(GIT)
        .options(&[REVISIONS, DIFF, options!("
            --stdout, -n --numbered, -N --no-numbered, -s --signoff, --suffix SFX, --start-number N, -v --reroll-count N
            --filename-max-length N, --rfc [R], --cover-from-description M, --subject-prefix P, -k --keep-subject, --no-binary
            --zero-commit, --ignore-if-in-upstream, -p --no-stat, --add-header H, --to E, --cc E, --from [I], --in-reply-to ID
            --attach [B], --inline [B], --thread [S], --signature S, --base C, --quiet, --progress, --interdiff R, --range-diff R
            --creation-factor N, --cover-letter, --numbered-files, --force-in-body-from
            --signature-file FILE : reads
            --description-file FILE : reads
            -o --output-directory DIR : makes-below
        ")])
        .judge(format_patch),
    Spec::new(&["bisect"])
        .style(GIT)
        .subs(&[
            Spec::new(&["log", "terms", "help"]).style(GIT.and(Style::HARMLESS)),
            // Words behind it are options of `git log`, a command of git, or a program whose name begins with `git`.
            Spec::new(&["view", "visualize"]).style(Style::LEADING).judge(shows_by),
            Spec::new(&["start", "bad", "new", "good", "old", "skip", "reset", "next"])
                .style(GIT.and(Style::HARMLESS))
                .acts(&[Act::Named(Code::ChangesRepository)]),
            Spec::new(&["replay"])
                .style(GIT)
                .operands(Operands::READ)
                .acts(&[Act::Named(Code::ChangesRepository)]),
            Spec::new(&["run"])
                .style(Style::LEADING)
                .acts(&[Act::Named(Code::ChangesRepository)])
                .judge(runs_operands),
        ]),
    Spec::new(&["notes"])
        .style(GIT.and(Style::FREE))
        .options(&[options!("--ref REF")])
        .subs(&[
            Spec::new(&["list", "show", "get-ref"]).style(GIT),
            Spec::new(&["add", "append", "edit", "copy", "merge", "remove", "prune"])
                .style(GIT)
                .options(&[options!("
                    -f --force, -m --message M, -c --reedit-message O, -C --reuse-message O, --allow-empty, --separator [S]
                    --stripspace, --stdin, --for-rewrite C, --ignore-missing, -n --dry-run, -v --verbose, -q --quiet
                    -s --strategy S, --commit, --abort, -e --edit
                    -F --file FILE : reads
                ")])
                .acts(&[Act::Named(Code::ChangesRepository)]),
        ]),
];

/// `bisect run cmd...` starts the words behind it.
pub(super) fn runs_operands(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.starts_words(at);
    }
}

fn shows_by(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.named(Code::RunsCommand, NamedBy::Nothing, at);
    }
}

fn format_patch(view: &mut View<'_>) {
    revisions_and_paths(view);
    if !view.has_any(&["--stdout", "--output-directory", "--output"]) {
        view.touches(Verb::Write, ".", true);
    }
}
