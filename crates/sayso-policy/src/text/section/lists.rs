//! `[allow]`, `[ask]`, `[deny]`, `default`, and the verbs they are keyed by.

use super::VERDICTS;
use crate::text::file::{Defaults, Listed, Spanned};
use crate::text::keys;
use crate::text::read::{DocValue, Reader};
use crate::word::Verdict;
use sayso_shell::Verb;

/// The words of the language. Calling a tool is `tool` there, because a call is of a tool.
pub(super) const VERBS: &[(&str, Verb)] = &[
    ("run", Verb::Run),
    ("read", Verb::Read),
    ("write", Verb::Write),
    ("delete", Verb::Delete),
    ("connect", Verb::Connect),
    ("tool", Verb::Call),
];

/// A table of patterns by verb.
pub(super) fn lists(reader: &mut Reader, value: &DocValue<'_>, verdict: Verdict) -> Vec<Listed> {
    let Some(table) = value.get_ref().as_table() else {
        let message = format!("`{verdict}` is a table of patterns by verb");
        let suggestion = format!("write [{verdict}] and, below it, for example run = [\"git status\"]");
        reader.advise("wrong-type", value.span(), message, suggestion);
        return Vec::new();
    };
    let fields = reader.fields(table, value.span(), &keys::LISTS);
    let mut lists = Vec::new();
    for (word, verb) in VERBS {
        if let Some((key, value)) = fields.entry(word) {
            let patterns = reader.patterns(value);
            lists.push(Listed { verdict, verb: Spanned::new(*verb, key.span()), patterns });
        }
    }
    lists
}

/// `default`.
pub(super) fn defaults(reader: &mut Reader, value: &DocValue<'_>) -> Defaults {
    if value.get_ref().is_str() {
        return Defaults { every: reader.word(value, "unknown-verdict", VERDICTS), by_verb: Vec::new() };
    }
    let Some(table) = reader.table(value, "allow, ask or deny, or a table of these by verb") else {
        return Defaults::default();
    };
    let fields = reader.fields(table, value.span(), &keys::DEFAULTS);
    let mut by_verb = Vec::new();
    for (word, verb) in VERBS {
        if let Some(verdict) = fields.get(word).and_then(|value| reader.word(value, "unknown-verdict", VERDICTS)) {
            by_verb.push((*verb, verdict));
        }
    }
    Defaults { every: None, by_verb }
}

/// A list of verbs.
pub(super) fn verbs(reader: &mut Reader, value: &DocValue<'_>) -> Vec<Spanned<Verb>> {
    match value.get_ref().as_array() {
        Some(items) if !items.is_empty() => {
            items.iter().filter_map(|item| reader.word(item, "unknown-verb", VERBS)).collect()
        }
        Some(_) => {
            reader.texts(value);
            Vec::new()
        }
        None => reader.word(value, "unknown-verb", VERBS).into_iter().collect(),
    }
}
