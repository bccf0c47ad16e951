//! Programs that change the machine, and the few of their kind that only tell.

use crate::program::{Code, View};

/// Without operands it lists.
pub(crate) fn mount(view: &mut View<'_>) {
    let lists = view.operand_count() == 0 && !view.has_any(&["-a", "--all"]);
    if !lists {
        view.imply("--mount", Some(Code::ChangesSystem), 0);
    }
}

/// `key=value` sets.
pub(crate) fn sysctl(view: &mut View<'_>) {
    for at in view.operands() {
        if view.word(at).and_then(crate::word::Word::exact).is_none_or(|w| w.contains(&b'=')) {
            view.imply("--write", Some(Code::ChangesSystem), at);
        }
    }
}

/// Words that are not known to tell only.
pub(crate) fn ctl(view: &mut View<'_>) {
    if let Some(word) = view.operand_str(0) {
        let by = crate::effect::NamedBy::Words(vec![word.to_owned()]);
        view.named(Code::ChangesSystem, by, 0);
    } else if view.operand_count() > 0 {
        view.named(Code::DynamicOption, crate::effect::NamedBy::Nothing, 0);
    }
}

/// `service x status` tells.
pub(crate) fn service(view: &mut View<'_>) {
    let tells = view.operand_str(1) == Some("status") || view.has_any(&["--status-all", "--version", "--help"]);
    if !tells {
        view.named_by_words(Code::ChangesSystem);
    }
}
