//! Arguments of tool calls: as patterns by path, and as values.

use crate::text::file::{Arg, Spanned, Text};
use crate::text::read::{DocValue, Reader};
use serde_json::{Map, Number, Value};
use toml::de::DeValue;

/// Deeper arguments are not written by people. Also bounds the recursion here.
const MAX_DEPTH: usize = 32;

/// `when.arg`: nested tables that end in patterns.
pub(super) fn argument_patterns(reader: &mut Reader, value: &DocValue<'_>) -> Vec<Arg> {
    let mut found = Vec::new();
    match value.get_ref() {
        DeValue::Table(table) if table.is_empty() => {
            reader.advise(
                "blank",
                value.span(),
                "`arg` does not name an argument",
                "for example: arg.repo = \"prod-*\"",
            );
        }
        DeValue::Table(_) => collect(reader, value, &mut Vec::new(), &mut found),
        _ => {
            let message = "`arg` must be followed by the name of an argument";
            reader.advise("wrong-type", value.span(), message, "for example: when = { arg.repo = \"prod-*\" }");
        }
    }
    found.sort_by_key(|arg| arg.path.span.start);
    found
}

fn collect(reader: &mut Reader, value: &DocValue<'_>, path: &mut Vec<String>, found: &mut Vec<Arg>) {
    let Some(table) = value.get_ref().as_table() else { return };
    if path.len() >= MAX_DEPTH {
        too_deep(reader, value);
        return;
    }
    for (key, value) in table {
        path.push(key.get_ref().clone().into_owned());
        if value.get_ref().as_table().is_some_and(|table| !table.is_empty()) {
            collect(reader, value, path, found);
        } else {
            let patterns = values(reader, value);
            found.push(Arg { path: Spanned::new(path.clone(), key.span()), patterns });
        }
        path.pop();
    }
}

/// Patterns, or numbers and truth values, which stand for their text.
fn values(reader: &mut Reader, value: &DocValue<'_>) -> Vec<Text> {
    let scalar = |value: &DocValue<'_>| match value.get_ref() {
        DeValue::Boolean(yes) => Some(Spanned::new(yes.to_string(), value.span())),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(|number| Spanned::new(number.to_string(), value.span())),
        _ => None,
    };
    match value.get_ref() {
        DeValue::Array(items) if items.iter().any(|item| scalar(item).is_some()) => {
            items.iter().filter_map(|item| scalar(item).or_else(|| reader.text(item))).collect()
        }
        _ => match scalar(value) {
            Some(text) => vec![text],
            None => reader.patterns(value),
        },
    }
}

fn too_deep(reader: &mut Reader, value: &DocValue<'_>) {
    let message = format!("arguments are nested more than {MAX_DEPTH}");
    reader.advise("too-deep", value.span(), message, "match a part of them instead");
}

/// A value as JSON.
pub(super) fn json(reader: &mut Reader, value: &DocValue<'_>) -> Option<Value> {
    convert(reader, value, 0)
}

fn convert(reader: &mut Reader, value: &DocValue<'_>, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        too_deep(reader, value);
        return None;
    }
    Some(match value.get_ref() {
        DeValue::String(text) => Value::String(text.clone().into_owned()),
        DeValue::Boolean(yes) => Value::Bool(*yes),
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Integer(_) | DeValue::Float(_) => match number(value) {
            Some(number) => Value::Number(number),
            None => {
                let message = "arguments are JSON, which cannot represent this number";
                reader.advise("bad-number", value.span(), message, "use a number that fits in 64 bits");
                return None;
            }
        },
        DeValue::Array(items) => {
            let items = items.iter().map(|item| convert(reader, item, depth + 1));
            Value::Array(items.collect::<Option<Vec<Value>>>()?)
        }
        DeValue::Table(table) => {
            let mut entries: Vec<_> = table.iter().collect();
            entries.sort_by_key(|(key, _)| key.span().start);
            let mut object = Map::new();
            for (key, value) in entries {
                object.insert(key.get_ref().clone().into_owned(), convert(reader, value, depth + 1)?);
            }
            Value::Object(object)
        }
    })
}

fn number(value: &DocValue<'_>) -> Option<Number> {
    match value.get_ref() {
        DeValue::Integer(number) => {
            let number = i128::from_str_radix(number.as_str(), number.radix()).ok()?;
            i64::try_from(number).map(Number::from).ok().or_else(|| u64::try_from(number).map(Number::from).ok())
        }
        DeValue::Float(number) => Number::from_f64(number.as_str().parse().ok()?),
        _ => None,
    }
}
