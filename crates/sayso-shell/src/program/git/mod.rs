//! git. The subcommands stand in the files beside this one; here are the options before the subcommand.

mod change;
mod config;
mod history;
mod pathspec;
mod read;
mod refs;
mod remote;
mod revision;
mod store;
mod tree;

use crate::effect::{Carry, NamedBy};
use crate::option::{Style, Table, options};
use crate::program::{Code, Spec, View};
use crate::word::{Text, Word};

/// How git's own parser reads options.
const GIT: Style = Style::GNU.and(Style::NEGATES);

/// Files of the work tree become those of another commit. Which ones nobody knows; where they lie is known.
const CHANGES_TREE: &[crate::program::Act] = &[crate::program::Act::Writes(".")];

const GLOBAL: &Table = options!("
    -C PATH : cd
    -c NAME=VALUE : runs-command
    --config-env NAME=VAR : runs-command
    --exec-path [PATH] : runs
    --git-dir PATH : runs
    --work-tree PATH : runs
    --namespace NAME, --super-prefix PATH, -p --paginate, -P --no-pager, --no-replace-objects, --bare, --literal-pathspecs
    --glob-pathspecs, --noglob-pathspecs, --icase-pathspecs, --no-optional-locks, --no-lazy-fetch, --no-advice, --html-path
    --man-path, --info-path, --list-cmds GROUPS, --attr-source TREE, -v --version, -h --help
");

pub(super) const SPECS: &[&[Spec]] = &[
    &[Spec::new(&["git"])
        .style(Style::LEADING.and(Style::NEGATES))
        .options(&[GLOBAL])
        .subs(&SUBS)
        .judge(alias)
        .always(of_every_subcommand)],
    &[Spec::new(&["gitk", "git-gui", "tig", "lazygit", "gitui"]).style(Style::HARMLESS)],
];

const LISTS: [&[Spec]; 7] =
    [read::SUBS, history::SUBS, tree::SUBS, refs::SUBS, change::SUBS, remote::SUBS, config::SUBS];

const COUNT: usize = {
    let mut count = 0;
    let mut list = 0;
    while list < LISTS.len() {
        count += list_at(list).len();
        list += 1;
    }
    count
};

/// One flat list, so that a subcommand is found in one pass.
static SUBS: [Spec; COUNT] = {
    let mut all = [Spec::new(&[]); COUNT];
    let mut filled = 0;
    let mut list = 0;
    while list < LISTS.len() {
        let mut at = 0;
        while at < list_at(list).len() {
            put(&mut all, filled, spec_at(list_at(list), at));
            filled += 1;
            at += 1;
        }
        list += 1;
    }
    all
};

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
const fn list_at(at: usize) -> &'static [Spec] {
    LISTS[at]
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
const fn spec_at(list: &'static [Spec], at: usize) -> Spec {
    list[at]
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
const fn put(all: &mut [Spec; COUNT], at: usize, spec: Spec) {
    all[at] = spec;
}

/// What settings before the subcommand make git connect to (`-c url.https://x/.insteadOf=https://y/`).
fn of_every_subcommand(view: &mut View<'_>) {
    store::check(view);
    for (at, value) in view.values("-c") {
        if let Some((key, value)) = value.exact_str().and_then(|text| text.split_once('=')) {
            config::names_host(view, key, Some(&Word::Exact(Text::from(value))), at);
            if is_tame(key, value) {
                let span = view.span(at);
                view.out.effects.retain(|effect| !(effect.span == span && is_of_setting(&effect.carry)));
            }
        }
    }
}

fn is_of_setting(carry: &Carry) -> bool {
    let by_flag = |by: &NamedBy| matches!(by, NamedBy::Flag(flag) if flag == "-c");
    matches!(carry, Carry::Named { code, by } if *code == Code::RunsCommand.as_str() && by_flag(by))
}

/// Settings that name no program, file or host, and only shape what is printed or written into a commit.
fn is_tame(key: &str, value: &str) -> bool {
    const TAME: &[&str] = &[
        "author.email",
        "author.name",
        "committer.email",
        "committer.name",
        "core.abbrev",
        "core.autocrlf",
        "core.filemode",
        "core.quotepath",
        "core.safecrlf",
        "core.whitespace",
        "diff.algorithm",
        "diff.context",
        "diff.mnemonicprefix",
        "diff.noprefix",
        "diff.renamelimit",
        "diff.renames",
        "fetch.prune",
        "gc.auto",
        "init.defaultbranch",
        "log.date",
        "log.decorate",
        "merge.conflictstyle",
        "merge.renamelimit",
        "pull.ff",
        "pull.rebase",
        "rebase.autosquash",
        "rebase.autostash",
        "user.email",
        "user.name",
    ];
    let key = key.to_ascii_lowercase();
    let silent = matches!(value, "" | "cat" | "false");
    match key.as_str() {
        // An editor or a pager that does nothing.
        "core.editor" | "sequence.editor" => matches!(value, "true" | ":"),
        "core.pager" => silent,
        "commit.gpgsign" | "tag.gpgsign" => value == "false",
        key if key.starts_with("pager.") => silent,
        key => TAME.contains(&key) || ["advice.", "color.", "column."].iter().any(|begin| key.starts_with(begin)),
    }
}

/// A subcommand that git does not have: an alias, perhaps one that this very command defines
/// (`git -c alias.x='!cmd' x`).
fn alias(view: &mut View<'_>) {
    let Some(name) = view.operand_str(0) else { return };
    let key = format!("alias.{name}");
    for (at, value) in view.values("-c") {
        let Some(text) = value.exact_str() else { continue };
        let Some((defined, body)) = text.split_once('=') else { continue };
        if !defined.eq_ignore_ascii_case(&key) {
            continue;
        }
        if let Some(command) = body.strip_prefix('!') {
            view.starts_shell(Word::Exact(Text::from(command)), at);
        } else {
            // Its words are a git command line again; what they do is judged as text of a shell.
            view.starts_shell(Word::Exact(Text::from(format!("git {body}").as_str())), at);
        }
    }
}
