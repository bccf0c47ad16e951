//! JSON from an agent, read strictly.
//!
//! Of two members with the same name one parser takes the first and another the last, so an object that has both could
//! be judged as one thing and run as another: such an object is refused, at any depth.

use sayso_policy::Strict;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Reads one object, and nothing after it.
pub(crate) fn object(input: &[u8]) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(input) {
        Ok(Strict(Value::Object(object))) => Ok(object),
        Ok(Strict(_)) => Err("The agent's message is not an object".to_owned()),
        Err(error) => Err(format!("The agent's message is not strict JSON ({error})")),
    }
}

/// An object that is there as one, or as a string of JSON that holds one.
pub(crate) fn object_or_text(value: &Value) -> Option<Value> {
    match value {
        Value::Object(_) => Some(value.clone()),
        Value::String(text) => object(text.as_bytes()).ok().map(Value::Object),
        _ => None,
    }
}

/// A member that is a string, if it is there at all.
pub(crate) fn text(object: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("The agent's message has a `{key}` that is not a string")),
    }
}

/// The first of several spellings that is there.
pub(crate) fn text_of(object: &Map<String, Value>, keys: &[&str]) -> Result<Option<String>, String> {
    for key in keys {
        if let Some(found) = text(object, key)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// A member that is an absolute path; another path says nothing.
pub(crate) fn folder(object: &Map<String, Value>, key: &str) -> Result<Option<PathBuf>, String> {
    Ok(text(object, key)?.map(PathBuf::from).filter(|path| path.is_absolute()))
}

/// A member that is a count; anything else says nothing, for it decides nothing.
pub(crate) fn count(object: &Map<String, Value>, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| {
        let value = object.get(*key)?;
        value.as_u64().or_else(|| {
            let whole = value.as_f64().filter(|number| (0.0..1e15).contains(number))?.round();
            format!("{whole:.0}").parse().ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_read_is_what_was_written() {
        let text = r#"{"a":[1,-2,3.5,1e400,null,true,"\u00e4\ud83d\ude00"],"b":{"c":{}}}"#.replace("1e400", "1e40");
        let read = Value::Object(object(text.as_bytes()).unwrap());
        assert_eq!(read, serde_json::from_str::<Value>(&text).unwrap());
    }

    #[test]
    fn a_member_that_is_there_twice_is_refused_at_any_depth() {
        for text in
            [r#"{"a":1,"a":1}"#, r#"{"x":{"command":"ls","command":"rm -rf /"}}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#]
        {
            assert!(object(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(object_or_text(&json!(r#"{"a":1,"a":2}"#)), None);
    }

    #[test]
    fn only_one_whole_object_is_read() {
        for text in ["", " ", "[]", "null", "{", "{} {}", "{}x", "\u{feff}{}", r#"{"a":"\ud800"}"#, "{\"a\":1e999}"] {
            assert!(object(text.as_bytes()).is_err(), "{text}");
        }
        assert!(object(b" {} \n").is_ok());
        let deep = format!("{}{}", "{\"a\":".repeat(100_000), "1".to_owned() + &"}".repeat(100_000));
        assert!(object(deep.as_bytes()).is_err());
    }

    #[test]
    fn counts_are_read_leniently() {
        let of = |value: Value| count(json!({ "n": value }).as_object().unwrap(), &["m", "n"]);
        assert_eq!(of(json!(7)), Some(7));
        assert_eq!(of(json!(7.6)), Some(8));
        assert_eq!(of(json!(-1)), None);
        assert_eq!(of(json!("7")), None);
        assert_eq!(of(json!(1e300)), None);
    }
}
