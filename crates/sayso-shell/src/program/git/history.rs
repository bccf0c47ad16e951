//! Subcommands that walk history.

use super::revision::revisions_and_paths;
use crate::effect::{NamedBy, Verb};
use crate::program::{Code, View};

/// `bisect run cmd...` starts the words behind it.
pub(crate) fn runs_operands(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.starts_words(at);
    }
}

pub(crate) fn shows_by(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.named(Code::RunsCommand, NamedBy::Nothing, at);
    }
}

pub(crate) fn format_patch(view: &mut View<'_>) {
    revisions_and_paths(view);
    if !view.has_any(&["--stdout", "--output-directory", "--output"]) {
        view.touches(Verb::Write, ".", true);
    }
}
