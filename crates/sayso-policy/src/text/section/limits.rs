//! `[limits]`.

use crate::state::Scope;
use crate::text::file::{Limit, Spanned};
use crate::text::read::{DocValue, Reader};
use crate::text::{keys, units};
use crate::word::Verdict;
use toml::de::DeValue;

const SCOPES: &[(&str, Scope)] = &[
    ("session", Scope::Session),
    ("run", Scope::Run),
    ("agent", Scope::Agent),
    ("tenant", Scope::Tenant),
    ("day", Scope::Day),
];

/// All scopes.
pub(super) fn limits(reader: &mut Reader, value: &DocValue<'_>) -> Vec<Limit> {
    let Some(table) = reader.table(value, "tables such as [limits.session]") else { return Vec::new() };
    let fields = reader.fields(table, value.span(), &keys::LIMITS);
    let mut found = Vec::new();
    for (word, scope) in SCOPES {
        if let Some((key, value)) = fields.entry(word) {
            found.extend(limit(reader, Spanned::new(*scope, key.span()), value));
        }
    }
    found
}

fn limit(reader: &mut Reader, scope: Spanned<Scope>, value: &DocValue<'_>) -> Option<Limit> {
    let table = reader.table(value, "a table of limits")?;
    if table.is_empty() {
        reader.advise("blank", scope.span.clone(), "this sets no limit", "for example: calls = 400");
    }
    let fields = reader.fields(table, value.span(), &keys::LIMIT);
    let count = |reader: &mut Reader, key| fields.get(key).and_then(|value| reader.count(value));
    let (blocked, blocked_per) = match fields.get("blocked") {
        Some(value) if value.get_ref().as_str().is_some() => {
            let rate = reader.notation(value, "bad-rate", units::rate, "3/1h");
            (
                rate.as_ref().map(|rate| Spanned::new(rate.value.count, rate.span.clone())),
                rate.map(|rate| rate.value.per),
            )
        }
        Some(value) => (reader.count(value), None),
        None => (None, None),
    };
    let limit = Limit {
        calls: count(reader, "calls"),
        tokens: count(reader, "tokens"),
        input_tokens: count(reader, "input_tokens"),
        output_tokens: count(reader, "output_tokens"),
        cost: fields.get("cost").and_then(|value| reader.notation(value, "bad-cost", units::cost, "5.00 USD")),
        wall: fields.get("wall").and_then(|value| reader.notation(value, "bad-duration", units::duration, "2h")),
        blocked,
        blocked_per,
        deletes: count(reader, "deletes"),
        bytes_written: fields.get("bytes_written").and_then(|value| match value.get_ref() {
            DeValue::Integer(_) => reader.count(value),
            _ => reader.notation(value, "bad-size", units::bytes, "10MB"),
        }),
        hosts: count(reader, "hosts"),
        repeats: count(reader, "repeats"),
        rate: fields.get("rate").and_then(|value| reader.notation(value, "bad-rate", units::rate, "30/1m")),
        at_limit: fields
            .get("at_limit")
            .and_then(|value| reader.word(value, "unknown-verdict", &[("ask", Verdict::Ask), ("deny", Verdict::Deny)])),
        scope,
    };
    if table.len() == 1 && limit.at_limit.is_some() {
        let message = "this sets no limit";
        reader.advise("blank", limit.scope.span.clone(), message, "for example: calls = 400");
    }
    Some(limit)
}
