//! Messages of our own.

use serde_json::{Value, json};

/// An error for a request; `id` is the raw JSON of its id, `null` where that is not known.
pub(crate) fn error_line(id: Option<&[u8]>, code: i64, message: &str, data: Option<Value>) -> Vec<u8> {
    let mut error = json!({"code": code, "message": message});
    if let (Some(fields), Some(data)) = (error.as_object_mut(), data) {
        fields.insert("data".to_owned(), data);
    }
    answer(id, "error", &error)
}

/// A result for a request.
pub(crate) fn result_line(id: &[u8], result: &Value) -> Vec<u8> {
    answer(Some(id), "result", result)
}

fn answer(id: Option<&[u8]>, key: &str, value: &Value) -> Vec<u8> {
    let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    line.extend_from_slice(id.unwrap_or(b"null"));
    line.extend_from_slice(format!(",\"{key}\":{value}}}\n").as_bytes());
    line
}

/// A request, or a notification where there is no id. `id` and `params` are raw JSON.
pub(crate) fn message_line(id: Option<&[u8]>, method: &str, params: Option<&[u8]>) -> Vec<u8> {
    let mut line = b"{\"jsonrpc\":\"2.0\"".to_vec();
    if let Some(id) = id {
        line.extend_from_slice(b",\"id\":");
        line.extend_from_slice(id);
    }
    line.extend_from_slice(b",\"method\":");
    line.extend_from_slice(Value::from(method).to_string().as_bytes());
    if let Some(params) = params {
        line.extend_from_slice(b",\"params\":");
        line.extend_from_slice(params);
    }
    line.extend_from_slice(b"}\n");
    line
}
