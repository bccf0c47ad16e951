//! Whether a command runs code of the project: a fact that tables state and rules ask about, as the option `--runs-project`
//! that nobody writes.
//!
//! Some programs do so even when they are asked for a list or their version: the project's settings name the program that
//! answers (`yarnPath`), its plugins (`.mvn/extensions.xml`, a `Gemfile`, which is Ruby) or its options.

use super::{Act, Code, Description, Invocation, Spec, View, index};
use crate::effect::{Opt, Span};
use crate::files::Kind;
use crate::option::{Does, Seen};
use crate::word::Word;

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
    if here || of_any_use(view.root, view.inv) || of_any_use(view.spec, view.inv) {
        view.seen.push(Seen { opt: fact(), does: Does::Nothing, at: 0 });
    }
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
