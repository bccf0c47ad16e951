//! Whether a command runs code of the project: a fact that tables state and rules ask about, as the option `--runs-project`
//! that nobody writes.
//!
//! Some programs do so even when they are asked for a list or their version: the project's settings name the program that
//! answers (`yarnPath`), its plugins (`.mvn/extensions.xml`, a `Gemfile`, which is Ruby) or its options.

use super::{Act, Code, Description, Invocation, Spec, View, goes_by, index};
use crate::canonical::canonical;
use crate::effect::{Carry, Effect, NamedBy, Opt, PathTarget, Span, Target, Verb};
use crate::files::Kind;
use crate::option::{Does, Seen};
use crate::word::Word;
use std::path::{Path, PathBuf};

/// The option that rules see.
const FLAG: &str = "--runs-project";

/// Whether an option in a pattern is a fact of the command, which no word of it can be.
#[must_use]
pub fn is_fact(option: &str) -> bool {
    option == FLAG
}

/// Whether the program of this name, with these subcommands, runs code of the project by its table. What files decide
/// does not count.
#[must_use]
pub fn runs_project_code(name: &str, words: &[&str]) -> bool {
    let Some(root) = index::spec(name) else { return false };
    let mut node = root;
    for word in words {
        let Some((sub, _)) = node.sub(word) else { break };
        node = sub;
    }
    let question = !words.is_empty() && words.iter().all(|word| is_question(word.as_bytes()));
    let always = |spec: &Spec| spec.acts.iter().any(|act| matches!(act, Act::Project));
    always(root) || always(node) || !question && node.acts.iter().any(builds)
}

fn builds(act: &Act) -> bool {
    matches!(act, Act::Builds | Act::Code(_) | Act::Named(Code::RunsCode) | Act::NamedUnless(Code::RunsCode, _))
}

/// Adds the fact to a command that was read by its table.
pub(super) fn add(view: &mut View<'_>) {
    let question = is_question_alone(view.inv);
    let here = !question && view.spec.acts.iter().any(|act| matches!(act, Act::Builds));
    let fact_holds = here || of_any_use(view.root, view.inv) || of_any_use(view.spec, view.inv);
    if fact_holds {
        view.seen.push(Seen { opt: fact(), does: Does::Nothing, at: 0 });
    }
    let steered = || {
        let taught = view.inv.programs.taught(view.name).and_then(|taught| taught.goes_by());
        let known = goes_by::of(view.name).filter(|_| view.root.subs.is_empty());
        known.into_iter().chain(taught).any(|files| !files.names.is_empty())
    };
    if !question && (fact_holds || view.spec.acts.iter().any(builds) || steered()) {
        elsewhere(view);
    }
}

/// Whoever may build this project may not run the code of another: a build writes where it begins, and in the folders
/// that it is led to.
pub(super) fn elsewhere(view: &mut View<'_>) {
    let Some(workspace) = view.inv.workspace else { return };
    match view.base.as_deref().filter(|base| base.is_absolute()) {
        None => {
            view.named(Code::RunsCode, NamedBy::Nothing, 0);
            view.doubt(Code::RunsCode, format!("{} runs code of a folder that is not known", view.name), 0);
        }
        Some(base) if is_outside(view, base, workspace) => view.touches(Verb::Write, ".", true),
        Some(_) => {}
    }
    let led_to = |effect: &Effect| match &effect.target {
        Target::Path(PathTarget::Below(path)) => Some(path.clone()),
        Target::Path(PathTarget::Exact(path)) if !matches!(view.inv.files.kind(path), Kind::File { .. }) => {
            Some(path.clone())
        }
        Target::Path(PathTarget::Sifted(listing)) => Some(listing.folder.clone()),
        _ => None,
    };
    let read = view.out.effects.iter().filter(|effect| effect.verb == Verb::Read && effect.certain);
    let outside = |path: &PathBuf| path.is_absolute() && !is_system(path) && is_outside(view, path, workspace);
    let others: Vec<PathBuf> = read.filter_map(led_to).filter(outside).collect();
    for path in others {
        view.effect(Verb::Write, Target::Path(PathTarget::Below(path)), 0, Carry::Plain);
    }
}

/// Operands are code that runs: tests of another project are not this one's.
pub(super) fn runs_operands(view: &mut View<'_>) {
    let Some(workspace) = view.inv.workspace else { return };
    for at in view.operands() {
        let Some(word) = view.word(at).filter(|word| word.exact().is_some_and(|text| text.contains(&b'/'))) else {
            continue;
        };
        if let PathTarget::Exact(path) | PathTarget::Below(path) = view.path_of(word, false)
            && path.is_absolute()
            && is_outside(view, &path, workspace)
        {
            view.named(Code::RunsCode, NamedBy::Nothing, at);
        }
    }
}

/// Whether a folder does not lie in the workspace.
fn is_outside(view: &View<'_>, folder: &Path, workspace: &Path) -> bool {
    if folder == workspace {
        return false;
    }
    let real = canonical(view.inv.files, folder).path;
    !real.starts_with(workspace) && !real.starts_with(canonical(view.inv.files, workspace).path)
}

/// Folders that hold libraries and headers, and no project of anybody.
fn is_system(folder: &Path) -> bool {
    ["/usr", "/lib", "/lib64", "/etc", "/dev", "/proc", "/sys", "/nix", "/Library"]
        .iter()
        .any(|of| folder.starts_with(of))
}

/// Adds the fact to a command that only asks for help or the version.
pub(super) fn asked(root: &Spec, inv: &Invocation<'_>, out: &mut Description) {
    if of_any_use(root, inv) {
        out.options.push(fact());
    }
}

/// It stands in no word.
fn fact() -> Opt {
    Opt { name: FLAG.to_owned(), value: None, span: Span::default(), known: true, implied: true }
}

fn of_any_use(spec: &Spec, inv: &Invocation<'_>) -> bool {
    spec.acts.iter().any(|act| match act {
        Act::Project => true,
        Act::ProjectIf(files) => is_there(inv, files),
        _ => false,
    })
}

/// Whether one of these files is in the working directory or above it; where that is not known, it may be.
fn is_there(inv: &Invocation<'_>, files: &[&str]) -> bool {
    let Some(cwd) = inv.cwd.filter(|cwd| cwd.is_absolute()) else { return true };
    cwd.ancestors().take(64).any(|folder| files.iter().any(|file| inv.files.kind(&folder.join(file)) != Kind::Missing))
}

fn is_question_alone(inv: &Invocation<'_>) -> bool {
    inv.argv.len() > 1 && inv.argv.iter().skip(1).all(|word: &Word| word.exact().is_some_and(is_question))
}

fn is_question(word: &[u8]) -> bool {
    matches!(word, b"--version" | b"-v" | b"-V" | b"-version" | b"--help" | b"-h" | b"-help")
}
