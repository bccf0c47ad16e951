//! man and its like: they show text, by a pager or browser that an option may choose.

use crate::effect::NamedBy;
use crate::program::{Code, View};

/// `man -l file` shows a file of this machine. groff may do what it says only with its unsafe mode, which man never sets.
pub(crate) fn man(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        if view.has("--local-file") || word.exact().is_none_or(|word| word.contains(&b'/')) {
            view.reads(word, at);
        }
    }
    // `-P ''` falls back to the default pager.
    if view.has("--pager") {
        view.named(Code::RunsCommand, NamedBy::Flag("--pager".to_owned()), 0);
    }
}
