//! The fields of an object, read into a type. Whatever is wrong is said of the key that it is wrong with.

use sayso_gate::wire::line::Fields;
use sayso_policy::explain::visible;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, Visitor, value::StrDeserializer};
use serde::forward_to_deserialize_any;

/// Reads fields into a struct, which has no others than these may be.
///
/// # Errors
/// A sentence that says what is wrong.
pub(crate) fn typed<T: DeserializeOwned>(fields: &Fields) -> Result<T, String> {
    T::deserialize(Typed(fields)).map_err(|Wrong(why)| why)
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Wrong(String);

impl serde::de::Error for Wrong {
    fn custom<T: std::fmt::Display>(why: T) -> Self {
        Self(format!("Invalid request: {}.", visible(&why.to_string())))
    }

    fn missing_field(field: &'static str) -> Self {
        Self(format!("`{field}` is missing."))
    }
}

struct Typed<'de>(&'de Fields);

impl<'de> Deserializer<'de> for Typed<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_map(Pairs { left: self.0.said(), value: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.0.only(known).map_err(Wrong)?;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Pairs<'de, I> {
    left: I,
    value: Option<(&'de str, &'de str)>,
}

impl<'de, I: Iterator<Item = (&'de str, &'de str)>> MapAccess<'de> for Pairs<'de, I> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        self.value = self.left.next();
        self.value.map(|(key, _)| seed.deserialize(StrDeserializer::new(key))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let (key, raw) = self.value.take().unwrap_or_default();
        let read = seed.deserialize(&mut serde_json::Deserializer::from_str(raw));
        read.map_err(|error| {
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            Wrong(format!("`{key}` is invalid: {}.", visible(why)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sayso_gate::wire::line;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Given {
        verdict: Word,
        count: Option<u64>,
        text: Option<String>,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Allow,
        Deny,
    }

    fn read(text: &str) -> Result<Given, String> {
        typed(&line::read(text.as_bytes()).1.unwrap())
    }

    #[test]
    fn fields_become_their_type_and_null_is_nothing() {
        let given = Given { verdict: Word::Allow, count: Some(3), text: None };
        assert_eq!(read(r#"{"verdict":"allow","count":3,"text":null}"#).unwrap(), given);
        assert_eq!(read(r#"{"verdict":"deny"}"#).unwrap().verdict, Word::Deny);
    }

    #[test]
    fn what_is_wrong_is_said_of_its_key() {
        for (text, said) in [
            ("{}", "`verdict` is missing."),
            (r#"{"verdict":null}"#, "`verdict` is missing."),
            (r#"{"verdict":"maybe"}"#, "`verdict` is invalid: unknown variant `maybe`, expected `allow` or `deny`."),
            (r#"{"verdict":"allow","count":-1}"#, "`count` is invalid: invalid value: integer `-1`, expected u64."),
            (r#"{"verdict":"allow","count":"1"}"#, "`count` is invalid: invalid type: string \"1\", expected u64."),
            (
                r#"{"verdict":"allow","text":["\u202e"]}"#,
                "`text` is invalid: invalid type: sequence, expected a string.",
            ),
            (r#"{"verdict":"allow","Text":"x"}"#, "`Text` is not a known field; use one of: verdict, count, text."),
        ] {
            assert_eq!(read(text).unwrap_err(), said, "{text}");
        }
        assert!(!read("{\"verdict\":\"\u{202e}\"}").unwrap_err().contains('\u{202e}'));
    }
}
