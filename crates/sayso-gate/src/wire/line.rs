//! A line of `check --jsonl` and `analyze --jsonl`: an object of which each key stands once.

use super::json_string::{JsonBytes, inexact_number, with_lone_surrogates_written_out};
use sayso_policy::Strict;
use sayso_policy::explain::visible;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// The id of a line, given back exactly as it was written; `null` where it is not known.
#[derive(Clone, Debug, Default)]
pub struct Id(Option<Box<RawValue>>);

impl serde::Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(raw) => raw.serialize(serializer),
            None => serializer.serialize_none(),
        }
    }
}

/// The keys of a line, values still as text.
#[derive(Debug)]
pub struct Fields(BTreeMap<String, Box<RawValue>>);

/// Reads a line. The id is known even where what follows it is broken.
pub fn read(line: &[u8]) -> (Id, Result<Fields, String>) {
    let mut id = Id::default();
    let Ok(text) = std::str::from_utf8(line) else {
        return (id, Err("The line is not UTF-8. Write other bytes in a command as \\udc80 to \\udcff.".to_owned()));
    };
    let mut json = serde_json::Deserializer::from_str(text);
    let fields = Object { id: &mut id }.deserialize(&mut json).and_then(|fields| json.end().map(|()| fields));
    (id, fields.map_err(|error| format!("This is not a valid JSON object: {error}.")))
}

impl Fields {
    /// Whether the key is there and not `null`.
    pub fn has(&self, key: &str) -> bool {
        self.raw(key).is_some()
    }

    /// Everything that is said, as keys and the JSON of their values.
    pub fn said(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, raw)| (key.as_str(), raw.get())).filter(|(_, raw)| *raw != "null")
    }

    /// Refuses what is not one of these. A word that is not understood may be one that was meant to hold something
    /// back.
    ///
    /// # Errors
    /// A sentence that names the first that is not known.
    pub fn only(&self, known: &[&str]) -> Result<(), String> {
        match self.0.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(not_known(key, known)),
        }
    }

    /// A string.
    pub fn string(&self, key: &str) -> Result<Option<String>, String> {
        let read = |raw| serde_json::from_str::<String>(raw).map_err(|_| format!("`{key}` must be a string."));
        self.raw(key).map(read).transpose()
    }

    /// A string that may carry raw bytes.
    pub fn bytes(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        let read = |raw| serde_json::from_str::<JsonBytes>(raw).map_err(|_| format!("`{key}` must be a string."));
        Ok(self.raw(key).map(read).transpose()?.map(|bytes| bytes.0))
    }

    /// Any value whose objects have no member twice, and whose numbers are kept as they are written. Raw bytes in its
    /// strings are written out behind a NUL.
    pub fn value(&self, key: &str) -> Result<Option<Value>, String> {
        let read = |raw: &str| {
            if let Some(number) = inexact_number(raw) {
                return Err(format!(
                    "`{key}` has a number that cannot be represented exactly: {number}. Send it as a string."
                ));
            }
            serde_json::from_str(raw)
                .or_else(|error: serde_json::Error| match with_lone_surrogates_written_out(raw) {
                    Some(text) => serde_json::from_str(&text),
                    None => Err(error),
                })
                .map(|Strict(value)| value)
                .map_err(|error| format!("`{key}` is invalid: {error}."))
        };
        self.raw(key).map(read).transpose()
    }

    fn raw(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|raw| raw.get()).filter(|raw| *raw != "null")
    }
}

/// Says which key is not known, and which are.
pub(super) fn not_known(key: &str, known: &[&str]) -> String {
    let short: String = key.chars().take(40).collect();
    format!("`{}` is not a known field; use one of: {}.", visible(&short), known.join(", "))
}

struct Object<'i> {
    id: &'i mut Id,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Fields;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Fields, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
            if key == "id" && self.id.0.is_none() {
                self.id.0 = Some(value.clone());
            }
            // Two readers of a doubled key may see two different commands.
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} appears twice")));
            }
            fields.insert(key, value);
        }
        Ok(Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_of(line: &str) -> String {
        serde_json::to_string(&read(line.as_bytes()).0).unwrap()
    }

    #[test]
    fn the_id_comes_back_as_written_even_from_a_broken_line() {
        for (line, id) in [
            (r#"{"id":"a\u0041","command":"ls"}"#, r#""a\u0041""#),
            (r#"{"id":1.50}"#, "1.50"),
            (r#"{"id":{"b":1,"a":2}}"#, r#"{"b":1,"a":2}"#),
            (r#"{"id":7,"command":"#, "7"),
            (r#"{"command":"ls"}"#, "null"),
            ("nonsense", "null"),
            ("", "null"),
            ("[1]", "null"),
        ] {
            assert_eq!(id_of(line), id, "{line}");
        }
    }

    #[test]
    fn a_doubled_key_and_trailing_text_are_refused() {
        assert!(read(br#"{"command":"ls","command":"rm x"}"#).1.unwrap_err().contains("twice"));
        assert!(read(br#"{"command":"ls"} {}"#).1.is_err());
        assert!(read(b"{\"command\":\"\xff\"}").1.unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn values_have_their_types() {
        let fields = read(br#"{"command":"a\udcff","args":{"p":"\udcff"},"cwd":3,"home":null}"#).1.unwrap();
        assert_eq!(fields.bytes("command").unwrap().unwrap(), b"a\xff");
        assert_eq!(fields.value("args").unwrap().unwrap(), serde_json::json!({"p": "\0udcff"}));
        assert!(fields.string("cwd").is_err());
        assert_eq!(fields.string("home").unwrap(), None);
        assert!(!fields.has("home"));
    }
}
