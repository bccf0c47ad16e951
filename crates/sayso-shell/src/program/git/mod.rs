//! git. The subcommands stand in the files beside this one; here are the options before the subcommand.

pub(crate) mod change;
pub(crate) mod config;
pub(crate) mod history;
mod nested;
pub(crate) mod pathspec;
pub(crate) mod read;
pub(crate) mod refs;
pub(crate) mod remote;
pub(crate) mod revision;
pub(crate) mod store;
pub(crate) mod top;
pub(crate) mod tree;

use crate::effect::{Carry, NamedBy};
use crate::program::{Code, View};
use crate::word::{Text, Word};

/// What settings before the subcommand make git connect to (`-c url.https://x/.insteadOf=https://y/`).
pub(crate) fn of_every_subcommand(view: &mut View<'_>) {
    store::check(view);
    if changes(view) {
        crate::program::project::elsewhere(view);
    }
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

/// Whether the subcommand changes a repository, and runs its hooks by that.
fn changes(view: &View<'_>) -> bool {
    let named = |carry: &Carry| matches!(carry, Carry::Named { code, .. } if *code == Code::ChangesRepository);
    view.path.first().is_some_and(|sub| {
        matches!(
            *sub,
            "add" | "am" | "apply" | "commit" | "cherry-pick" | "gc" | "merge" | "mv" | "pull" | "push" | "rebase"
        ) || matches!(*sub, "reset" | "revert" | "rm" | "switch")
    }) || view.out.effects.iter().any(|effect| named(&effect.carry))
}

fn is_of_setting(carry: &Carry) -> bool {
    let by_flag = |by: &NamedBy| matches!(by, NamedBy::Flag(flag) if flag == "-c");
    matches!(carry, Carry::Named { code, by } if *code == Code::RunsCommand && by_flag(by))
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
pub(crate) fn alias(view: &mut View<'_>) {
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
