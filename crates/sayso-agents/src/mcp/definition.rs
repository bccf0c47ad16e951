//! A tool as its server describes it, and what makes it the same tool tomorrow.

use sayso_policy::explain::visible;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Larger definitions than this are not taken: a model would drown in them.
const LARGEST: usize = 256 * 1024;
/// How many differences are shown.
const SHOWN: usize = 12;
/// How much of one value is shown.
const SHOWN_TEXT: usize = 400;

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    /// Its name, as the server writes it.
    pub(crate) name: String,
    /// Everything that is pinned: the whole object but `_meta`, which is for programs and may change every time.
    pub(crate) value: Value,
    /// The hash of that.
    pub(crate) hash: String,
}

impl Definition {
    /// Reads one entry of a list of tools.
    pub(crate) fn read(raw: &RawValue) -> Result<Self, &'static str> {
        if raw.get().len() > LARGEST {
            return Err("its definition is too large");
        }
        let value: Value = serde_json::from_str(raw.get()).map_err(|_| "its definition is not JSON")?;
        let Value::Object(mut fields) = value else { return Err("its definition is not an object") };
        fields.remove("_meta");
        let name = match fields.get("name") {
            Some(Value::String(name)) if !name.is_empty() => name.clone(),
            _ => return Err("it has no name"),
        };
        let value = sorted(Value::Object(fields));
        let hash = blake3::hash(value.to_string().as_bytes()).to_hex().to_string();
        Ok(Self { name, value, hash })
    }

    /// What its arguments must look like.
    pub(crate) fn input_schema(&self) -> Option<&Value> {
        self.value.get("inputSchema")
    }
}

/// The same value with the keys of every object in order: how a server happens to write them says nothing.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let ordered: BTreeMap<String, Value> =
                fields.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(ordered.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// What is different between two definitions, a line each, safe to show: `- description: ...`, `+ description: ...`.
pub(crate) fn difference(old: &Value, new: &Value) -> Vec<String> {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    flatten(old, &mut String::new(), &mut before);
    flatten(new, &mut String::new(), &mut after);
    let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut lines = Vec::new();
    let mut more = 0_usize;
    for path in paths {
        let (was, is) = (before.get(path), after.get(path));
        if was == is {
            continue;
        }
        if lines.len() >= SHOWN {
            more += 1;
            continue;
        }
        let mut line = |sign: char, value: Option<&String>| {
            if let Some(value) = value {
                lines.push(format!("{sign} {}: {}", visible(path), cut(&visible(value))));
            }
        };
        line('-', was);
        line('+', is);
    }
    if more > 0 {
        lines.push(format!("... and {more} more differences"));
    }
    lines
}

fn flatten(value: &Value, path: &mut String, into: &mut BTreeMap<String, String>) {
    let length = path.len();
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                let dot = if length == 0 { "" } else { "." };
                let _ = write!(path, "{dot}{key}");
                flatten(value, path, into);
                path.truncate(length);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, value) in items.iter().enumerate() {
                let _ = write!(path, "[{at}]");
                flatten(value, path, into);
                path.truncate(length);
            }
        }
        Value::String(text) => {
            into.insert(path.clone(), text.clone());
        }
        other => {
            into.insert(path.clone(), other.to_string());
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_TEXT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} ...", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Definition {
        Definition::read(&RawValue::from_string(text.to_owned()).unwrap()).unwrap()
    }

    #[test]
    fn the_order_of_keys_and_what_is_for_programs_say_nothing() {
        let one = read(r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":{}}}"#);
        let two =
            read(r#"{"inputSchema":{"properties":{},"type":"object"},"_meta":{"n":1},"description":"d","name":"a"}"#);
        assert_eq!(one.hash, two.hash);
        for other in [
            r#"{"name":"a","description":"e","inputSchema":{"type":"object","properties":{}}}"#,
            r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{}}}}"#,
            r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true}}"#,
        ] {
            assert_ne!(one.hash, read(other).hash, "{other}");
        }
    }

    #[test]
    fn differences_are_shown_by_their_place_and_safely() {
        let old = serde_json::json!({"description": "Adds.", "inputSchema": {"properties": {"a": {"type": "number"}}}});
        let new = serde_json::json!({"description": "Adds.\u{1b}[2J\u{202e}", "inputSchema": {"properties": {"b": {"type": "number"}}}});
        let lines = difference(&old, &new);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert_eq!(lines[0], "- description: Adds.");
        assert!(
            lines[1].starts_with("+ description: Adds.") && !lines[1].contains(['\u{1b}', '\u{202e}']),
            "{lines:?}"
        );
        assert!(lines.contains(&"+ inputSchema.properties.b.type: number".to_owned()));
    }
}
