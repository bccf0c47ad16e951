//! Asking the client's user, where the client can: MCP's `elicitation/create`.
//!
//! The answer comes from the client's own window. The model sees neither the question nor the answer, so it cannot
//! answer in its user's place.

use super::call::McpCall;
use sayso_policy::explain::visible;
use serde::Deserialize;
use serde_json::{Value, json};

/// How much of the arguments is shown.
const SHOWN: usize = 1_500;
/// How much of the reasons is shown.
const SHOWN_REASONS: usize = 3_000;

/// What a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The call may run, this once.
    Once,
    /// The same, and the tool as its server describes it now is accepted.
    Accept,
    /// The call does not run; also if nothing that can be understood was answered.
    No,
}

/// Whether a client can ask its user, by its capabilities: with forms, which the empty object means too.
pub(crate) fn can_ask(capabilities: &Value) -> bool {
    match capabilities.get("elicitation") {
        Some(Value::Object(kinds)) => kinds.is_empty() || kinds.contains_key("form"),
        _ => false,
    }
}

/// The question.
pub(crate) fn question(server: &str, call: &McpCall, reasons: &[String], open: bool) -> Value {
    let arguments: String = visible(&call.arguments.to_string()).chars().take(SHOWN).collect();
    let reasons: String = reasons.join("\n").chars().take(SHOWN_REASONS).collect();
    let message = format!(
        "Sayso: may the agent use {} of {}?\n\nArguments: {arguments}\n\nWhy you are asked: {reasons}",
        visible(&call.tool),
        visible(server),
    );
    let mut answers =
        vec![json!({"const": "no", "title": "No, do not run it"}), json!({"const": "once", "title": "Yes, this once"})];
    if open {
        answers.push(json!({"const": "accept", "title": "Yes, and accept the tool as it is described now"}));
    }
    let codes: Vec<&Value> = answers.iter().filter_map(|answer| answer.get("const")).collect();
    let titles: Vec<&Value> = answers.iter().filter_map(|answer| answer.get("title")).collect();
    json!({"message": message, "requestedSchema": {
        "type": "object",
        "properties": {"answer": {
            "type": "string", "title": "Your answer", "enum": codes, "enumNames": titles,
        }},
        "required": ["answer"],
    }})
}

/// The same as the result of the call, from 2026-07-28 on: the client asks, and calls again with the answer.
pub(crate) fn question_as_result(question: &Value, state: &str) -> Value {
    json!({
        "resultType": "input_required",
        "inputRequests": {"sayso": {"method": "elicitation/create", "params": question}},
        "requestState": state,
    })
}

/// What the client's answer says. Only a plain yes is one.
pub(crate) fn answered(result: Option<&[u8]>, open: bool) -> Answered {
    #[derive(Deserialize)]
    struct Result<'a> {
        action: &'a str,
        content: Option<Value>,
    }
    let Some(Ok(result)) = result.map(serde_json::from_slice::<Result<'_>>) else { return Answered::No };
    let content = result.content.filter(|_| result.action == "accept");
    match content.as_ref().and_then(|content| content.get("answer")).and_then(Value::as_str) {
        Some("once") => Answered::Once,
        Some("accept") if open => Answered::Accept,
        _ => Answered::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_is_one() {
        for (text, open, expected) in [
            (r#"{"action":"accept","content":{"answer":"once"}}"#, false, Answered::Once),
            (r#"{"action":"accept","content":{"answer":"accept"}}"#, true, Answered::Accept),
            (r#"{"action":"accept","content":{"answer":"accept"}}"#, false, Answered::No),
            (r#"{"action":"accept","content":{"answer":"no"}}"#, true, Answered::No),
            (r#"{"action":"accept","content":{}}"#, true, Answered::No),
            (r#"{"action":"accept"}"#, true, Answered::No),
            (r#"{"action":"decline","content":{"answer":"once"}}"#, true, Answered::No),
            (r#"{"action":"cancel"}"#, true, Answered::No),
            (r#"{"content":{"answer":"once"}}"#, true, Answered::No),
            ("[]", true, Answered::No),
        ] {
            assert_eq!(answered(Some(text.as_bytes()), open), expected, "{text}");
        }
        assert_eq!(answered(None, true), Answered::No);
    }

    #[test]
    fn a_client_is_asked_only_in_a_way_it_has() {
        for (text, expected) in [
            (r#"{"elicitation":{}}"#, true),
            (r#"{"elicitation":{"form":{}}}"#, true),
            (r#"{"elicitation":{"url":{},"form":{}}}"#, true),
            (r#"{"elicitation":{"url":{}}}"#, false),
            (r#"{"elicitation":null}"#, false),
            (r#"{"sampling":{}}"#, false),
        ] {
            assert_eq!(can_ask(&serde_json::from_str(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_shown_moves_no_cursor() {
        let arguments = json!({"a": "\u{202e}b"});
        let call =
            McpCall { tool: "x\u{1b}[2J".into(), arguments, id: None, of_client: Default::default(), answer: None };
        let text = question("s\u{7}", &call, &["why".to_owned()], true)["message"].as_str().unwrap().to_owned();
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text}");
    }
}
