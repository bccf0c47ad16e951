//! terraform and opentofu.

use crate::effect::{Carry, NamedBy, Verb};
use crate::program::{Code, View};

/// It rewrites files unless it only checks.
pub(crate) fn fmt(view: &mut View<'_>) {
    let checks = view.has("-check") || view.value("-write").is_some_and(|value| value.exact() == Some(b"false"));
    let carry = || Carry::Named { code: Code::ChangesFiles, by: NamedBy::Words(vec!["fmt".to_owned()]) };
    let targets = view.operands();
    if targets.is_empty() {
        view.touches(Verb::Read, ".", true);
        if !checks {
            view.path_effect(Verb::Write, &crate::word::Word::Exact(".".into()), 0, true, carry());
        }
    }
    for at in targets {
        let Some(word) = view.word(at) else { continue };
        view.reads_below(word, at);
        if !checks && word.exact() != Some(b"-") {
            view.path_effect(Verb::Write, word, at, true, carry());
        }
    }
}
