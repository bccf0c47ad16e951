//! Subcommands that list and change branches, tags, worktrees and other refs.

use crate::effect::{Carry, Target, Verb};
use crate::files::Kind;
use crate::program::{Code, View};
use crate::word::Word;

/// Options that make `git branch` or `git tag` list, so that operands are patterns.
const LISTS: &[&str] = &[
    "--list",
    "-l",
    "--contains",
    "--no-contains",
    "--merged",
    "--no-merged",
    "--points-at",
    "--show-current",
    "--remotes",
    "--all",
    "--sort",
    "--format",
    "--column",
    "-n",
    "--verify",
];

/// Options that act on the operands in their own way.
const ACTS: &[&str] =
    &["--delete", "-D", "--move", "-M", "--copy", "-C", "--set-upstream-to", "--unset-upstream", "--edit-description"];

fn creates(view: &mut View<'_>) {
    if view.has_any(ACTS) || view.has("--verify") {
        return;
    }
    // `git branch -l x` created a reflog in old versions; `--sort` and `--format` alone list too.
    if let Some(at) = view.operand_at(0)
        && (!view.has_any(LISTS) || view.has("--force"))
    {
        view.imply("--create", Some(Code::ChangesRepository), at);
    }
}

/// `git branch new`. With `-r` or `-a` and a name git refuses.
pub(crate) fn branch(view: &mut View<'_>) {
    creates(view);
}

pub(crate) fn tag(view: &mut View<'_>) {
    creates(view);
    if let Some((at, file)) = view.values("--file").pop() {
        view.reads(&file, at);
    }
}

/// `git symbolic-ref HEAD refs/heads/x` sets it.
pub(crate) fn symbolic_ref(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(1) {
        view.imply("--set", Some(Code::ChangesRepository), at);
    }
}

/// Where the new working tree goes. Beside the repository, in a folder that is not there yet and is called like one of a
/// project, it can overwrite and steer nothing: a flag names that, and rules against the place still see it.
pub(crate) fn add_worktree(view: &mut View<'_>) {
    let Some((at, word)) = view.operand_at(0).and_then(|at| view.word(at).map(|word| (at, word))) else { return };
    if is_beside(view, word) {
        view.imply("--beside", Some(Code::ChangesRepository), at);
        let target = Target::Path(view.path_of(word, true));
        view.effect(Verb::Write, target, at, Carry::Plain);
        if let Some(effect) = view.out.effects.last_mut() {
            effect.certain = false;
        }
    } else {
        view.writes_below(word, at);
    }
}

fn is_beside(view: &View<'_>, word: &Word) -> bool {
    let files = view.inv.files;
    let Some(name) = word.exact_str().and_then(|text| text.strip_prefix("../")) else { return false };
    let Some(here) = view.base.as_deref().filter(|here| here.is_absolute()) else { return false };
    let (Some(above), Some(own)) = (here.parent(), here.file_name().and_then(|own| own.to_str())) else { return false };
    let plain = |name: &str| {
        // Tools look for this one in every folder above a project.
        !name.eq_ignore_ascii_case("node_modules")
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let is_home = view.inv.home.is_none_or(|home| home == above);
    // Folders of a home have meanings: `../bin` is one of programs.
    plain(name)
        && above.parent().is_some()
        && (!is_home || name.strip_prefix(own).is_some_and(|rest| rest.starts_with(['-', '_', '.'])))
        && matches!(files.kind(&here.join(".git")), Kind::Folder { .. })
        && files.kind(&above.join(name)) == Kind::Missing
}

pub(crate) fn remove_worktree(view: &mut View<'_>) {
    for at in view.operands() {
        if let Some(word) = view.word(at) {
            view.path_effect(crate::effect::Verb::Delete, word, at, true, crate::effect::Carry::Plain);
        }
    }
}
