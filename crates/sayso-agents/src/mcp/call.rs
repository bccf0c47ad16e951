//! A `tools/call`, read strictly.

use crate::pipe::{Message, folds_to, folds_together};
use serde_json::{Map, Value};

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct McpCall {
    /// The tool, as the server calls it.
    pub(crate) tool: String,
    /// The arguments: an object.
    pub(crate) arguments: Value,
    /// The caller's own id of the call, where its client tells one.
    pub(crate) id: Option<String>,
    /// What the client says of itself with every request, from 2026-07-28 on.
    pub(crate) of_client: Map<String, Value>,
    /// The answer to a question of ours, from 2026-07-28 on: what it was asked with, and the answer.
    pub(crate) answer: Option<(String, Option<Value>)>,
}

/// How the protocol's own entries in `_meta` begin.
const OF_PROTOCOL: &str = "io.modelcontextprotocol/";

impl McpCall {
    /// Reads the parameters. What two readers could understand differently is an error.
    pub(crate) fn read(message: &Message<'_>) -> Result<Self, String> {
        let params = message.params.ok_or("The call has no parameters.")?;
        let Ok(Value::Object(params)) = serde_json::from_slice(params) else {
            return Err("The call's parameters are not a strict JSON object.".to_owned());
        };
        for key in params.keys() {
            let folds = |known: &str| key != known && folds_to(key.as_bytes(), known);
            if ["name", "arguments", "_meta", "task", "inputResponses", "requestState"].into_iter().any(folds) {
                return Err(format!("The call's `{key}` differs from a known parameter only in case."));
            }
        }
        let Some(Value::String(tool)) = params.get("name") else {
            return Err("The call does not name a tool.".to_owned());
        };
        if tool.trim().is_empty() {
            return Err("The call does not name a tool.".to_owned());
        }
        let arguments = match params.get("arguments") {
            None => Value::Object(Map::new()),
            Some(arguments @ Value::Object(_)) => arguments.clone(),
            Some(_) => return Err("The call's arguments are not an object.".to_owned()),
        };
        if folds_together(&arguments) {
            return Err("Two of the call's arguments differ only in case.".to_owned());
        }
        let meta = params.get("_meta").and_then(Value::as_object);
        let id = meta.and_then(|meta| meta.get("claudecode/toolUseId")).and_then(Value::as_str);
        let id = id
            .map_or_else(|| message.id.map(|raw| String::from_utf8_lossy(raw).into_owned()), |id| Some(id.to_owned()));
        let of_protocol = meta.into_iter().flatten().filter(|(key, _)| key.starts_with(OF_PROTOCOL));
        let of_client = of_protocol.map(|(key, value)| (key.clone(), value.clone())).collect();
        let state = params.get("requestState").and_then(Value::as_str).filter(|state| state.starts_with("sayso:"));
        let answer = state.map(|state| {
            let said = params.get("inputResponses").and_then(|said| said.get("sayso")).cloned();
            (state.to_owned(), said)
        });
        Ok(Self { tool: tool.clone(), arguments, id, of_client, answer })
    }

    /// Whether questions are put into the answer and answered with a second request: from 2026-07-28 on.
    pub(crate) fn asks_in_rounds(&self) -> bool {
        let version = self.of_client.get("io.modelcontextprotocol/protocolVersion").and_then(Value::as_str);
        version.is_some_and(|version| version >= "2026-07-28")
    }

    /// Whether the client can ask its user, as it says with this very call.
    pub(crate) fn client_can_ask(&self) -> bool {
        self.of_client.get("io.modelcontextprotocol/clientCapabilities").is_some_and(super::elicit::can_ask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::Reader;

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for (params, fine) in [
            (r#"{"name":"a"}"#, true),
            (r#"{"name":"a","arguments":{"x":1},"_meta":{"progressToken":1}}"#, true),
            (r#"{"name":"a","arguments":null}"#, false),
            (r#"{"name":"a","arguments":[]}"#, false),
            (r#"{"name":"a","arguments":"{}"}"#, false),
            (r#"{"name":"a","Name":"b"}"#, false),
            (r#"{"name":"a","Arguments":{}}"#, false),
            (r#"{"name":"a","arguments":{"path":"x","Path":"y"}}"#, false),
            (r#"{"name":7}"#, false),
            (r#"{"name":" "}"#, false),
            (r#"{"arguments":{}}"#, false),
            (r#"["a"]"#, false),
            (r#"{"name":"a","arguments":{"x":"\ud800"}}"#, false),
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
            let mut reader = Reader::default();
            let message = reader.read(line.as_bytes()).unwrap().unwrap();
            assert_eq!(McpCall::read(&message).is_ok(), fine, "{params}");
        }
    }
}
