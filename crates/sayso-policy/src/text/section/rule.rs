//! `[[rule]]`.

use super::VERDICTS;
use super::arguments::json;
use super::lists::{VERBS, lists};
use super::when::{self, When};
use crate::text::file::{Example, ExampleValue, RuleText, Spanned, Text};
use crate::text::keys;
use crate::text::read::{DocValue, Fields, Reader};
use crate::word::Verdict;
use std::collections::HashMap;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// All of them, in the order of the file. Ids are unique.
pub(super) fn rules(reader: &mut Reader, tables: &[(&DeTable<'_>, Range<usize>)]) -> Vec<RuleText> {
    let mut rules: Vec<RuleText> = Vec::with_capacity(tables.len());
    let mut ids: HashMap<String, u32> = HashMap::new();
    for (table, span) in tables {
        let fields = reader.fields(table, span.clone(), &keys::RULE);
        if let Some(id) = fields.get("id").and_then(|value| value.get_ref().as_str().map(|id| (id, value.span()))) {
            let line = reader.lines.place(id.1.start).0;
            if let Some(first) = ids.insert(id.0.to_owned(), line) {
                let message = format!("the rule on line {first} already has the id `{}`", id.0);
                reader.advise("duplicate-id", id.1, message, "ids must be unique; change one of them");
            }
        }
        rules.extend(rule(reader, fields, span.clone()));
    }
    rules
}

fn rule(reader: &mut Reader, fields: Fields<'_, '_>, span: Range<usize>) -> Option<RuleText> {
    // Everything is read before anything is given up, so that all problems of a rule are seen at once.
    let id = fields.get("id").and_then(|value| id(reader, value));
    let effect = effect(reader, fields, &span);
    let when = fields.get("when").and_then(|value| when::read(reader, value));
    let approver = fields.get("approver").and_then(|value| reader.text(value));
    let because = fields.get("because").and_then(|value| reader.text(value));
    let always = fields.get("always").and_then(|value| reader.flag(value));
    let held = fields.get("held").and_then(|value| reader.word(value, "unknown-verdict", &[("allow", ())]));
    let hits = fields.get("hits").map(|value| examples(reader, value)).unwrap_or_default();
    let misses = fields.get("misses").map(|value| examples(reader, value)).unwrap_or_default();

    let (verdict, verb, patterns) = effect?;
    if verdict.value != Verdict::Ask {
        let only = [("approver", approver.is_some()), ("always", always.is_some()), ("held", held.is_some())];
        for (key, present) in only {
            if let Some((key, _)) = fields.entry(key).filter(|_| present) {
                let message = format!("`{}` is only for rules that ask, and this one says {}", key, verdict.value);
                reader.advise("not-an-ask", key.span(), message, "take it out, or make the rule an ask");
            }
        }
    }
    if let Some(when) = &when {
        past_only_tightens(reader, when, verdict.value, &verb);
    }
    let always = always.is_some_and(|always| always.value);
    let held = held.map(|held| held.span);
    Some(RuleText { span, id, verdict, verb, patterns, when, approver, because, always, held, hits, misses })
}

/// What a session did may make a rule ask or deny, never allow; and only programs go by files.
fn past_only_tightens(reader: &mut Reader, when: &When, verdict: Verdict, verb: &Spanned<sayso_shell::Verb>) {
    let written = when.self_written.as_ref().map(|flag| ("self_written", flag.span.clone()));
    let after = when.after.iter().map(|(verb, _)| ("after", verb.span.clone()));
    for (key, span) in written.clone().into_iter().chain(after) {
        if verdict == Verdict::Allow {
            let message = format!("`{key}` is only for rules that ask or deny, and this one says allow");
            reader.advise(
                "past-allows",
                span,
                message,
                "what a session did before never makes a call safer; take it out",
            );
        }
    }
    if let Some((key, span)) = written.filter(|_| verb.value != sayso_shell::Verb::Run) {
        let message = format!("`{key}` is about programs, and this rule is about {}", verb.value.gerund());
        reader.advise("not-a-run", span, message, "write it in a rule with the verb `run`");
    }
}

fn id(reader: &mut Reader, value: &DocValue<'_>) -> Option<Text> {
    let id = reader.text(value)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
    if id.value.chars().all(plain) {
        return Some(id);
    }
    let kebab: Vec<String> =
        id.value.split(|c| !plain(c)).filter(|part| !part.is_empty()).map(str::to_lowercase).collect();
    let message = "an id is a single word of letters, digits and `-`";
    let suggestion = if kebab.is_empty() { "no-force-push".to_owned() } else { kebab.join("-") };
    reader.advise("bad-name", id.span, message, format!("for example `{suggestion}`"));
    None
}

/// Exactly one verdict with exactly one verb.
fn effect(
    reader: &mut Reader,
    fields: Fields<'_, '_>,
    span: &Range<usize>,
) -> Option<(Spanned<Verdict>, Spanned<sayso_shell::Verb>, Vec<Text>)> {
    let mut given = Vec::new();
    for (word, verdict) in VERDICTS {
        if let Some((key, value)) = fields.entry(word) {
            given.push((Spanned::new(*verdict, key.span()), value, lists(reader, value, *verdict)));
        }
    }
    given.sort_by_key(|(verdict, _, _)| verdict.span.start);
    if let Some((second, _, _)) = given.get(1) {
        let message = "a rule has exactly one verdict; this is a second one";
        reader.advise("two-verdicts", second.span.clone(), message, "write two rules");
    }
    let Some((verdict, value, lists)) = given.into_iter().next() else {
        let message = "a rule needs one of `allow`, `ask` or `deny`";
        reader.advise("no-verdict", span.clone(), message, "for example: deny = { run = \"git push --force\" }");
        return None;
    };
    if let Some(second) = lists.get(1) {
        let message = "a rule has exactly one verb; this is a second one";
        reader.advise("two-verbs", second.verb.span.clone(), message, "write two rules");
    }
    let Some(list) = lists.into_iter().next() else {
        if value.get_ref().as_table().is_some_and(DeTable::is_empty) {
            let verbs: Vec<&str> = VERBS.iter().map(|(word, _)| *word).collect();
            let message = "a rule needs a verb and its patterns";
            reader.advise("no-verb", value.span(), message, format!("one of: {}", verbs.join(", ")));
        }
        return None;
    };
    Some((verdict, list.verb, list.patterns))
}

/// `hits` and `misses`: a list of texts and tables, or one of them.
fn examples(reader: &mut Reader, value: &DocValue<'_>) -> Vec<Example> {
    match value.get_ref() {
        DeValue::Array(items) if items.is_empty() => {
            reader.texts(value);
            Vec::new()
        }
        DeValue::Array(items) => items.iter().filter_map(|item| example(reader, item)).collect(),
        _ => example(reader, value).into_iter().collect(),
    }
}

fn example(reader: &mut Reader, value: &DocValue<'_>) -> Option<Example> {
    match value.get_ref() {
        DeValue::String(_) => reader.text(value).map(|text| Spanned::new(ExampleValue::Text(text.value), text.span)),
        DeValue::Table(_) => json(reader, value).map(|args| Spanned::new(ExampleValue::Arguments(args), value.span())),
        _ => {
            reader.wrong_type(value, "a string, or a table of arguments");
            None
        }
    }
}
