//! Subcommands that list and change branches, tags, worktrees and other refs.

use super::GIT;
use crate::effect::{Carry, Target, Verb};
use crate::files::Kind;
use crate::option::{Style, options};
use crate::program::{Act, Code, Operands, Role, Spec, View};
use crate::word::Word;

pub(super) const SUBS: &[Spec] = &[
    Spec::new(&["branch"])
        .style(GIT)
        .options(&[options!("
            -v --verbose, -q --quiet, --abbrev [N], --color [WHEN], -r --remotes, --contains C, --no-contains C, -a --all
            --show-current, --list, -l, --merged [C], --no-merged [C], --column [O], --sort KEY, --points-at OBJ, -i --ignore-case
            --format F, --omit-empty, --no-column, --no-abbrev
            --create : changes-repository
            -t --track [M], --no-track : changes-repository
            --recurse-submodules, --create-reflog : changes-repository
            -u --set-upstream-to --set-upstream UPSTREAM : changes-repository
            --unset-upstream : changes-repository
            -d --delete : changes-repository
            -D : changes-repository
            -m --move : changes-repository
            -M : changes-repository
            -c --copy : changes-repository
            -C : changes-repository
            -f --force : changes-repository
            --edit-description : changes-repository
        ")])
        .judge(branch),
    Spec::new(&["tag"])
        .style(GIT)
        .options(&[options!("
            -l --list, -n [N], --contains C, --no-contains C, --merged [C], --no-merged [C], --sort KEY, --points-at O, --format F
            --color [WHEN], -i --ignore-case, --column [O], --no-column, --omit-empty
            -v --verify : runs-command
            --create : changes-repository
            -a --annotate : changes-repository
            -m --message M : changes-repository
            -F --file FILE : changes-repository
            --trailer T : changes-repository
            -e --edit, --cleanup MODE : changes-repository
            -s --sign : changes-repository
            -u --local-user K : changes-repository
            -f --force : changes-repository
            -d --delete : changes-repository
            --create-reflog : changes-repository
        ")])
        .judge(tag),
    Spec::new(&["symbolic-ref"])
        .style(GIT)
        .options(&[options!("
            -q --quiet, --short, --recurse, --no-recurse
            --set : changes-repository
            -d --delete : changes-repository
            -m REASON : changes-repository
        ")])
        .judge(symbolic_ref),
    Spec::new(&["update-ref", "pack-refs", "replace", "mktag", "commit-tree", "refs"])
        .style(GIT.and(Style::HARMLESS))
        .acts(&[Act::Named(Code::ChangesRepository)]),
    Spec::new(&["worktree"])
        .style(GIT)
        .subs(&[
            Spec::new(&["list"]).style(GIT).options(&[options!("--porcelain, -v --verbose, -z, --expire T")]),
            Spec::new(&["add"])
                .style(GIT)
                .options(&[options!("
                    -f --force, -b BRANCH, -B BRANCH, -d --detach, --checkout, --lock, --reason R, -q --quiet, --track
                    --guess-remote, --orphan, --relative-paths
                    --beside : changes-repository
                ")])
                .operands(Operands::TEXT)
                .acts(&[Act::Named(Code::ChangesRepository)])
                .judge(add_worktree),
            Spec::new(&["remove"])
                .style(GIT)
                .options(&[options!("-f --force")])
                .acts(&[Act::Named(Code::ChangesRepository)])
                .judge(remove_worktree),
            Spec::new(&["move"])
                .style(GIT)
                .options(&[options!("-f --force, --relative-paths")])
                .operands(Operands::then(&[Role::Move], Role::WriteBelow))
                .acts(&[Act::Named(Code::ChangesRepository)]),
            Spec::new(&["prune", "lock", "unlock", "repair"])
                .style(GIT)
                .options(&[options!("-n --dry-run, -v --verbose, --expire T, --reason R, --relative-paths")])
                .acts(&[Act::NamedUnless(Code::ChangesRepository, &["--dry-run"])]),
        ]),
];

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
fn branch(view: &mut View<'_>) {
    creates(view);
}

fn tag(view: &mut View<'_>) {
    creates(view);
    if let Some((at, file)) = view.values("--file").pop() {
        view.reads(&file, at);
    }
}

/// `git symbolic-ref HEAD refs/heads/x` sets it.
fn symbolic_ref(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(1) {
        view.imply("--set", Some(Code::ChangesRepository), at);
    }
}

/// Where the new working tree goes. Beside the repository, in a folder that is not there yet and is called like one of a
/// project, it can overwrite and steer nothing: a flag names that, and rules against the place still see it.
fn add_worktree(view: &mut View<'_>) {
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
        name.len() > 2
            && !name.eq_ignore_ascii_case("node_modules")
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

fn remove_worktree(view: &mut View<'_>) {
    for at in view.operands() {
        if let Some(word) = view.word(at) {
            view.path_effect(crate::effect::Verb::Delete, word, at, true, crate::effect::Carry::Plain);
        }
    }
}
