//! terraform and opentofu.

use crate::effect::{Carry, NamedBy};
use crate::program::{Code, View};

/// What the formatter looks at.
const SOURCES: &str = "tf tfvars tofu tftest.hcl tfmock.hcl tofutest.hcl";

/// They are written over, which a rule for the subcommand names.
fn writes(view: &mut View<'_>, word: &crate::word::Word, at: usize) {
    let before = view.out.effects.len();
    view.writes_sources(word, at, SOURCES);
    for effect in view.out.effects.iter_mut().skip(before) {
        effect.carry = Carry::Named { code: Code::ChangesFiles, by: NamedBy::Words(vec!["fmt".to_owned()]) };
    }
}

/// It rewrites files unless it only checks.
pub(crate) fn fmt(view: &mut View<'_>) {
    let checks = view.has("-check") || view.value("-write").is_some_and(|value| value.exact() == Some(b"false"));
    let targets = view.operands();
    if targets.is_empty() {
        view.reads_sources(&crate::word::Word::Exact(".".into()), 0, SOURCES);
        if !checks {
            writes(view, &crate::word::Word::Exact(".".into()), 0);
        }
    }
    for at in targets {
        let Some(word) = view.word(at) else { continue };
        view.reads_sources(word, at, SOURCES);
        if !checks && word.exact() != Some(b"-") {
            writes(view, word, at);
        }
    }
}
