//! The options of a permission request, chosen by their kind and never by their id.

use serde_json::Value;

/// One option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) id: String,
    pub(super) kind: String,
}

/// All options of a request. `None` if they do not fit: one without an id or a kind, or two with the same id, of
/// which nobody can tell which one an answer means.
pub(super) fn read(options: &Value) -> Option<Vec<Choice>> {
    let mut choices: Vec<Choice> = Vec::new();
    for option in options.as_array()? {
        let text = |key: &str| option.get(key)?.as_str().map(str::to_owned);
        let choice = Choice { id: text("optionId")?, kind: text("kind")? };
        if choices.iter().any(|known| known.id == choice.id) {
            return None;
        }
        choices.push(choice);
    }
    Some(choices)
}

/// The first option of a kind.
pub(super) fn of_kind<'c>(choices: &'c [Choice], kind: &str) -> Option<&'c str> {
    choices.iter().find(|choice| choice.kind == kind).map(|choice| choice.id.as_str())
}

/// Whether an answer of this kind counts once. The agent itself remembers the others, and would not ask again.
pub(super) fn counts_once(kind: &str) -> bool {
    matches!(kind, "allow_once" | "reject_once")
}

/// Whether an option lets the call run.
pub(super) fn allows(kind: &str) -> bool {
    matches!(kind, "allow_once" | "allow_always")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_found_by_kind() {
        let options =
            json!([{"optionId": "reject", "kind": "allow_once"}, {"optionId": "allow", "kind": "reject_once"}]);
        let choices = read(&options).unwrap();
        assert_eq!(of_kind(&choices, "allow_once"), Some("reject"));
        assert_eq!(of_kind(&choices, "reject_always"), None);
    }

    #[test]
    fn an_id_that_means_two_options_does_not_fit() {
        let twice = json!([{"optionId": "x", "kind": "allow_once"}, {"optionId": "x", "kind": "reject_once"}]);
        for options in
            [twice, json!([{"kind": "allow_once"}]), json!([{"optionId": 1, "kind": "allow_once"}]), json!({})]
        {
            assert_eq!(read(&options), None, "{options}");
        }
    }
}
