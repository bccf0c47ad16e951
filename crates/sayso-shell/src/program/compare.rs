//! Programs that compare files, and those that apply what was found.

use super::inside::{self, Headers};
use super::{Code, View};
use crate::effect::{Carry, NamedBy, PathTarget, Target, Verb};
use crate::script::{self, Change};
use crate::word::{Text, Word};

/// Which files a patch changes stands in the patch; an ed script in it runs commands.
pub(crate) fn patch(view: &mut View<'_>) {
    if view.has("--dry-run") {
        return;
    }
    let strip = view.value("--strip").map(|value| value.exact_str().and_then(|number| number.parse().ok()));
    let file = view.value("--input").or_else(|| view.operand(1)).cloned();
    let text = match file {
        Some(file) => inside::text(view, &file),
        None => inside::on_stdin(view),
    };
    // How many components go is not known where the number is none.
    let headers = match strip {
        Some(Some(strip)) => Some(Headers::Patch(Some(strip))),
        Some(None) => None,
        None => Some(Headers::Patch(None)),
    };
    let found = text.zip(headers).and_then(|(text, headers)| inside::of_patch(&text, headers));
    if found.as_ref().is_some_and(|found| found.is_script) {
        view.named_by_flag(Code::RunsCommand, "--ed", 0);
    }
    const HARMLESS: &[&str] = &[
        "--strip",
        "--input",
        "--directory",
        "--forward",
        "--reverse",
        "--batch",
        "--force",
        "--quiet",
        "--verbose",
        "--unified",
        "--ignore-whitespace",
        "--fuzz",
        "--no-backup-if-mismatch",
    ];
    if view.operand_count() == 0 && !view.has("--output") {
        let here = view.here();
        let told = found
            .filter(|_| inside::has_only(view, HARMLESS))
            .is_some_and(|found| inside::written(view, &here, &found.names, 0));
        if !told {
            view.touches(Verb::Write, ".", true);
        }
    }
}

/// The patch is the only argument, or standard input. It does nothing but what the patch says, so that decides.
pub(crate) fn apply_patch(view: &mut View<'_>) {
    let text = match (view.operand_count(), view.operand(0)) {
        (1, Some(word)) => script::text_of(word).map(|text| text.into_owned()),
        (0, None) => view.inv.stdin_text.map(<[u8]>::to_owned),
        _ => None,
    };
    let at = view.operand_at(0).unwrap_or(0);
    let changes = text.as_deref().map_or_else(|| vec![Change::Unclear], script::envelope);
    view.out.transparent = !changes.contains(&Change::Unclear);
    for change in changes {
        let word = |path: &[u8]| Word::Exact(Text::from(path));
        match change {
            Change::Add(path) => view.path_effect(Verb::Write, &word(path), at, false, Carry::Plain),
            Change::Update(path) => {
                view.path_effect(Verb::Read, &word(path), at, false, Carry::Plain);
                view.path_effect(Verb::Write, &word(path), at, false, Carry::Plain);
            }
            Change::Delete(path) => view.path_effect(Verb::Delete, &word(path), at, false, Carry::Plain),
            Change::Move { from, to } => {
                view.path_effect(Verb::Write, &word(to), at, false, Carry::Plain);
                view.path_effect(Verb::Delete, &word(from), at, false, Carry::Plain);
            }
            Change::Unclear => {
                let carry = Carry::Named { code: Code::UnclearScript, by: NamedBy::Nothing };
                view.effect(Verb::Write, Target::Path(PathTarget::Unknown(None)), at, carry);
                view.doubt(Code::UnclearScript, "a patch of unknown text may change any file".to_owned(), at);
            }
        }
    }
}
