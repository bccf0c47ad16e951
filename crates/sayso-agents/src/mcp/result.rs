//! What a server answers: bounded, and without keys.

use super::answer::tool_error;
use crate::pipe::{Message, replaced};
use sayso_gate::audit::{redact_keys, redact_text};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// How much of a result that is too large is still shown.
const SHOWN: usize = 16 * 1024;

/// What is taken out of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redact {
    /// Nothing.
    Nothing,
    /// Private keys, and keys and tokens of well-known formats.
    #[default]
    Keys,
    /// Also whatever a secret's name is written in front of. Takes out too much rather than too little, so it is not
    /// for servers through which files are edited.
    Secrets,
}

/// The members of a result that are looked at.
#[derive(Deserialize)]
pub(crate) struct Shape<'a> {
    /// A list of tools.
    #[serde(borrow, default)]
    pub(crate) tools: Option<&'a RawValue>,
    /// A server's words to the model, in its greeting.
    #[serde(borrow, default)]
    pub(crate) instructions: Option<&'a RawValue>,
    /// What a tool gave.
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    /// The same for programs.
    #[serde(borrow, default, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
}

impl<'a> Shape<'a> {
    /// INVARIANT: told by its shape and not by what was asked, so that no stream, replay or forgotten id shows what is
    /// to be hidden.
    pub(crate) fn of(result: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(result).ok()
    }

    fn is_of_call(&self) -> bool {
        self.content.is_some() || self.structured.is_some()
    }
}

/// The line to pass on instead of a call's result; `None`: as it is.
pub(crate) fn checked(message: &Message<'_>, shape: &Shape<'_>, largest: usize, redact: Redact) -> Option<Vec<u8>> {
    if !shape.is_of_call() {
        return None;
    }
    let result = message.result?;
    let id = message.id?;
    if result.len() > largest {
        return Some(too_large(id, shape, result.len(), largest, redact));
    }
    if redact == Redact::Nothing || redact == Redact::Keys && !may_hold_keys(result) {
        return None;
    }
    let mut line = None;
    for (key, raw) in [("content", shape.content), ("structuredContent", shape.structured)] {
        let Some(value) = raw.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()) else { continue };
        let clean = cleaned(&value, redact);
        if clean != value {
            let current = line.as_deref().unwrap_or(message.line);
            line = Some(replaced(current, &["result", key], clean.to_string().as_bytes())?);
        }
    }
    line.map(|mut line| {
        line.push(b'\n');
        line
    })
}

fn too_large(id: &[u8], shape: &Shape<'_>, size: usize, largest: usize, redact: Redact) -> Vec<u8> {
    let mut text = format!(
        "Sayso: the result has {size} bytes, and {largest} are the most [mcp-result-too-large]. Ask for less: a part, a \
         range, a filter."
    );
    let content = shape.content.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let texts = content.as_ref().and_then(Value::as_array).into_iter().flatten();
    let head: String = texts
        .filter_map(|item| item.get("text").and_then(Value::as_str))
        .flat_map(|text| text.chars().take(SHOWN))
        .take(SHOWN)
        .collect();
    if !head.is_empty() {
        text.push_str(" It begins:\n");
        text.push_str(&cleaned_text(&head, redact));
    }
    tool_error(id, &text)
}

fn cleaned(value: &Value, redact: Redact) -> Value {
    match value {
        Value::String(text) => Value::String(cleaned_text(text, redact)),
        Value::Array(items) => Value::Array(items.iter().map(|item| cleaned(item, redact)).collect()),
        Value::Object(fields) => {
            // Pictures and sound are no text, and would look like keys.
            let binary = |key: &str| matches!(key, "data" | "blob") && fields.contains_key("mimeType");
            let clean = |(key, value): (&String, &Value)| {
                (key.clone(), if binary(key) { value.clone() } else { cleaned(value, redact) })
            };
            Value::Object(fields.iter().map(clean).collect())
        }
        other => other.clone(),
    }
}

fn cleaned_text(text: &str, redact: Redact) -> String {
    match redact {
        Redact::Nothing => text.to_owned(),
        Redact::Keys => redact_keys(text),
        Redact::Secrets => redact_text(text),
    }
}

/// A quick look: nearly no result holds a key.
fn may_hold_keys(result: &[u8]) -> bool {
    sayso_gate::audit::may_hold_keys(result) || memchr::memmem::find(result, b"\\u").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::Reader;

    fn checked_line(result: &str, largest: usize, redact: Redact) -> Option<String> {
        let line = format!(r#"{{"jsonrpc":"2.0", "id":7,"result":{result}}}"#);
        let mut reader = Reader::default();
        let message = reader.read(line.as_bytes()).unwrap().unwrap();
        let shape = Shape::of(message.result.unwrap()).unwrap();
        checked(&message, &shape, largest, redact).map(|line| String::from_utf8(line).unwrap())
    }

    #[test]
    fn keys_are_taken_out_and_every_other_byte_stays() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let result = format!(
            r#"{{ "content" :[{{"type":"text","text":"key {key} end"}}],"structuredContent":{{"k":"{key}"}}, "x":1.0}}"#
        );
        let line = checked_line(&result, 10_000, Redact::Keys).unwrap();
        assert!(!line.contains("ghp_a") && line.contains("key [redacted] end"), "{line}");
        assert!(
            line.starts_with(r#"{"jsonrpc":"2.0", "id":7,"result":{ "content" :["#) && line.contains(r#", "x":1.0}"#),
            "{line}"
        );
        assert_eq!(checked_line(&result, 10_000, Redact::Nothing), None);
        let private = r#"{"content":[{"type":"text","text":"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n"}]}"#;
        assert!(!checked_line(private, 10_000, Redact::Keys).unwrap().contains("abc"));
        let source = r#"{"content":[{"type":"text","text":"let password = read(); token: String,"}]}"#;
        assert_eq!(checked_line(source, 10_000, Redact::Keys), None, "source text stays as it is");
        assert!(checked_line(source, 10_000, Redact::Secrets).is_some());
        let image =
            format!(r#"{{"content":[{{"type":"image","mimeType":"image/png","data":"AKIA{}"}}]}}"#, "A".repeat(40));
        assert_eq!(checked_line(&image, 10_000, Redact::Keys), None);
        assert_eq!(checked_line(r#"{"contents":[{"text":"x"}]}"#, 3, Redact::Keys), None, "not a call's result");
    }

    #[test]
    fn a_result_that_is_too_large_becomes_a_tool_error_that_shows_its_beginning() {
        let result = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "long ".repeat(10_000));
        let line = checked_line(&result, 1_000, Redact::Keys).unwrap();
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["result"]["isError"], true);
        let text = value["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("mcp-result-too-large") && text.contains("long long") && text.len() < 20_000);
    }
}
