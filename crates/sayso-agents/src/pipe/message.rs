//! One message, as the strict scanner sees it: where its members stand, and nothing else.

use super::id::Id;
use super::scan::{Fault, Work, scan};
use super::skim::{Skimmed, skim};
use super::splice::unescaped;
use std::borrow::Cow;

/// The outermost keys of JSON-RPC.
const KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Reads one line after the other, in the same memory.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    work: Work,
}

/// A message. Its members are the raw bytes of the line.
#[derive(Clone, Debug)]
pub(crate) struct Message<'a> {
    /// The line without its end.
    pub(crate) line: &'a [u8],
    /// The id's JSON.
    pub(crate) id: Option<&'a [u8]>,
    /// The method's name, decoded.
    pub(crate) method: Option<Cow<'a, str>>,
    /// The parameters' JSON.
    pub(crate) params: Option<&'a [u8]>,
    /// The result's JSON.
    pub(crate) result: Option<&'a [u8]>,
    /// The error's JSON.
    pub(crate) error: Option<&'a [u8]>,
}

/// A line that is not passed on, and what its sender is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// JSON-RPC's number.
    pub(crate) code: i64,
    /// A sentence.
    pub(crate) why: String,
    /// Whom it was for.
    pub(crate) skimmed: Skimmed,
}

impl Refused {
    /// A line that was too long to be looked at.
    pub(crate) fn too_long(skimmed: Skimmed, longest: usize) -> Self {
        Self { code: -32600, why: format!("The message is longer than {longest} bytes."), skimmed }
    }

    fn of(line: &[u8], fault: Fault) -> Self {
        Self { code: fault.code(), why: fault.sentence().to_owned(), skimmed: skim(line) }
    }

    fn unfit(line: &[u8], why: &str) -> Self {
        Self { code: -32600, why: why.to_owned(), skimmed: skim(line) }
    }
}

impl Reader {
    /// Reads a line, its end included. `Ok(None)` for an empty one.
    pub(crate) fn read<'a>(&mut self, line: &'a [u8]) -> Result<Option<Message<'a>>, Refused> {
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        if body.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return Ok(None);
        }
        scan(body, &mut self.work).map_err(|fault| Refused::of(body, fault))?;
        let mut message = Message { line: body, id: None, method: None, params: None, result: None, error: None };
        for member in &self.work.members {
            let raw = body.get(member.key.clone()).unwrap_or_default();
            let key: Cow<'_, [u8]> = if member.escaped { unescaped(raw).into() } else { raw.into() };
            let value = body.get(member.value.clone()).unwrap_or_default();
            match key.as_ref() {
                b"id" => message.id = Some(value),
                b"method" => {
                    message.method = Some(
                        name(value).ok_or_else(|| Refused::unfit(body, "The message's `method` is not a string."))?,
                    )
                }
                b"params" => message.params = Some(value),
                b"result" => message.result = Some(value),
                b"error" => message.error = Some(value),
                b"jsonrpc" => {}
                other if KEYS.iter().any(|known| folds_to(other, known)) => {
                    return Err(Refused::unfit(body, "A key of the message differs from a known one only in case."));
                }
                _ => {}
            }
        }
        message.fits()?;
        Ok(Some(message))
    }
}

impl Message<'_> {
    /// The id, where there is one that can be remembered.
    pub(crate) fn key(&self) -> Option<Id> {
        Id::read(self.id?)
    }

    fn fits(&self) -> Result<(), Refused> {
        let refuse = |why: &str| Err(Refused::unfit(self.line, why));
        if self.method.is_some() && (self.result.is_some() || self.error.is_some()) {
            return refuse("The message is both a request and a response.");
        }
        if self.result.is_some() && self.error.is_some() {
            return refuse("The message is both a result and an error.");
        }
        if self.id.is_some_and(|id| matches!(id.first(), Some(b'{' | b'[' | b't' | b'f'))) {
            return refuse("The message's `id` is neither a string nor a number.");
        }
        Ok(())
    }
}

/// A JSON string as text.
fn name(raw: &[u8]) -> Option<Cow<'_, str>> {
    let inside = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inside.contains(&b'\\') {
        return String::from_utf8(unescaped(inside)).ok().map(Cow::Owned);
    }
    std::str::from_utf8(inside).ok().map(Cow::Borrowed)
}

/// Whether a reader that ignores case takes this key for that one. Such readers fold the long s and the Kelvin sign
/// too.
pub(crate) fn folds_to(key: &[u8], known: &str) -> bool {
    if key.len() < known.len() || key.len() > known.len() * 3 {
        return false;
    }
    let Ok(key) = std::str::from_utf8(key) else { return false };
    key.chars().map(folded).eq(known.chars().map(folded))
}

fn folded(c: char) -> char {
    match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    }
}

/// Whether an object at any depth has two keys that a reader that ignores case takes for one.
pub(crate) fn folds_together(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Object(fields) => {
            let mut keys: Vec<String> = fields.keys().map(|key| key.chars().map(folded).collect()).collect();
            keys.sort_unstable();
            keys.windows(2).any(|pair| matches!(pair, [one, two] if one == two)) || fields.values().any(folds_together)
        }
        serde_json::Value::Array(items) => items.iter().any(folds_together),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_found_however_it_is_written() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"fs/write_text_file","params":{"method":"x"},"id":1}"#,
            r#"{"params":{"method":"x"},"id":1,"m\u0065thod":"fs\/write_text_file"}"#,
            "\t{\"id\" : 1 , \"method\" : \"\\u0066s/write_text_file\" }\r\n",
        ] {
            let mut reader = Reader::default();
            let message = reader.read(line.as_bytes()).unwrap().unwrap();
            assert_eq!(message.method.as_deref(), Some("fs/write_text_file"), "{line}");
            assert_eq!(message.key(), Id::read(b"1"));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_id() {
        for line in [
            r#"{"id":1,"method":"a","Method":"b"}"#,
            r#"{"id":1,"method":"a","param\u017f":{}}"#,
            r#"{"id":1,"method":7}"#,
            r#"{"id":1,"method":null}"#,
            r#"{"id":1,"method":"a","result":{}}"#,
            r#"{"id":1,"result":{},"error":{}}"#,
            r#"{"id":1,"method":"a","params":{"x":1,"x":2}}"#,
        ] {
            let refused = Reader::default().read(line.as_bytes()).unwrap_err();
            assert_eq!(refused.skimmed.id.as_deref(), Some(b"1".as_slice()), "{line}");
        }
        assert!(Reader::default().read(br#"{"id":[1],"method":"a"}"#).is_err());
        assert!(Reader::default().read(b"  \n").unwrap().is_none());
    }
}
