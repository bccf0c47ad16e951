//! Pagers: programs that show text page by page, and run commands if told to.

use super::{Code, View};
use crate::effect::NamedBy;
use crate::script;
use crate::word::{Part, Word};

/// `+cmd` and `++cmd` are commands to begin with: `+!rm x` runs one.
pub(crate) fn pager(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        match word {
            Word::Exact(text) if text.as_bytes().starts_with(b"+") && view.terminator.is_none_or(|t| at < t) => {
                let command = text.as_bytes().trim_ascii_start();
                let command =
                    command.iter().position(|&b| b != b'+').and_then(|n| command.get(n..)).unwrap_or_default();
                let findings = script::pager(command);
                view.findings(findings, &NamedBy::Nothing, at);
            }
            Word::Dynamic(shape)
                if may_begin_with_plus(shape.parts.first()) && view.terminator.is_none_or(|t| at < t) =>
            {
                view.named(Code::DynamicOption, NamedBy::Nothing, at);
                view.reads(word, at);
            }
            _ => view.reads(word, at),
        }
    }
}

fn may_begin_with_plus(first: Option<&Part>) -> bool {
    match first {
        Some(Part::Literal(text)) => text.as_bytes().starts_with(b"+"),
        _ => true,
    }
}
