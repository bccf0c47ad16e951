//! Modes: an agent in "accept everything" asks nobody, and then a proxy sees nothing.
//!
//! A mode that is known to ask at least as much as the agent's default may be chosen freely. Every other one needs a
//! rule that allows the tool `acp:set_mode` (or `acp:set_config_option`), and until there is one the session is kept
//! out of it.

use super::judge::AcpCall;
use crate::Agent;
use serde_json::{Value, json};

/// The tool that a change of mode is judged as.
pub(super) const SET_MODE: &str = "acp:set_mode";
/// The tool that a change of another setting is judged as.
pub(super) const SET_OPTION: &str = "acp:set_config_option";

/// Modes that ask at least as much as the agent's default, in the order in which a session is put back into them.
const ASKING: &[&str] = &["default", "ask", "manual", "read-only", "readonly", "plan", "dontAsk"];

/// Options that do not bear on what is asked.
const HARMLESS_OPTIONS: &[&str] =
    &["model", "effort", "thought_level", "reasoning", "reasoning_effort", "verbosity", "model_config", "language"];

/// Keys in a session's `_meta` through which agents take a mode, or rules of their own, from the client.
const META_KEYS: &[&str] = &[
    "permissionmode",
    "permissionprompttoolname",
    "defaultmode",
    "approvalmode",
    "approvalpolicy",
    "sandboxmode",
    "sandbox",
    "mode",
    "modeid",
    "yolo",
    "bypasspermissions",
    "dangerouslyskippermissions",
    "allowdangerouslyskippermissions",
    "allowedtools",
    "settings",
    "managedsettings",
    "hooks",
    "canusetool",
    "mcpservers",
    "extraargs",
    "settingsources",
    "pathtoclaudecodeexecutable",
];

/// Whether a mode is known to ask.
pub(super) fn asks(mode: &str, agent: Option<Agent>) -> bool {
    ASKING.contains(&mode) || agent.is_some_and(|agent| agent.row().acp.asking_modes.contains(&mode))
}

/// The mode to go back to, of those that there are.
pub(super) fn fallback(available: &[String], agent: Option<Agent>) -> Option<String> {
    let known = ASKING.iter().find_map(|mode| available.iter().find(|one| one == mode));
    known.or_else(|| available.iter().find(|one| asks(one, agent))).cloned()
}

/// A change of mode as a call.
pub(super) fn set_mode(mode: &str) -> AcpCall {
    AcpCall::tool(SET_MODE, json!({"mode": mode}), None)
}

/// What a change of a setting is judged as; `None`: it does not bear on what is asked.
pub(super) fn set_option(option: &str, value: &Value, mode_options: &[String]) -> Option<Chosen> {
    let named_mode = option.eq_ignore_ascii_case("mode") || mode_options.iter().any(|known| known == option);
    match value {
        Value::String(mode) if named_mode => Some(Chosen::Mode(mode.clone())),
        _ if named_mode || !HARMLESS_OPTIONS.contains(&option) => {
            Some(Chosen::Option(AcpCall::tool(SET_OPTION, json!({"option": option, "value": value}), None)))
        }
        _ => None,
    }
}

/// What a client chose.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Chosen {
    Mode(String),
    Option(AcpCall),
}

/// What an agent tells of its modes when a session begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) current: Option<String>,
    pub(super) available: Vec<String>,
    /// The options that are its mode.
    pub(super) options: Vec<String>,
    /// Where the current mode stands in what was told.
    pub(super) places: Vec<Vec<String>>,
}

/// Reads the modes out of an answer to `session/new` and the like.
pub(super) fn told(result: &Value) -> Told {
    let mut told = Told::default();
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(modes) = result.get("modes").filter(|modes| modes.is_object()) {
        told.current = text(modes, "currentModeId");
        told.available = list(modes, "availableModes").filter_map(|mode| text(mode, "id")).collect();
        told.places.push(vec!["modes".to_owned(), "currentModeId".to_owned()]);
    }
    for option in list(result, "configOptions") {
        let Some(id) = text(option, "id") else { continue };
        let category = option.get("category").and_then(Value::as_str);
        if category != Some("mode") && !id.eq_ignore_ascii_case("mode") {
            continue;
        }
        told.current = told.current.or_else(|| text(option, "currentValue"));
        if told.available.is_empty() {
            told.available = list(option, "options").filter_map(|one| text(one, "value")).collect();
        }
        told.options.push(id);
    }
    told
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// What a client's `_meta` would set, by the key's name.
pub(super) fn in_meta(params: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Some(meta) = params.get("_meta") {
        look(meta, &mut found);
    }
    found
}

fn look(value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let plain: String = key.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
                if META_KEYS.contains(&plain.to_ascii_lowercase().as_str()) && !is_nothing(inner) {
                    let text = inner.as_str().map_or_else(|| inner.to_string(), str::to_owned);
                    found.push((key.clone(), text));
                } else {
                    look(inner, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| look(item, found)),
        _ => {}
    }
}

fn is_nothing(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false))
        || value.as_array().is_some_and(Vec::is_empty)
        || value.as_object().is_some_and(serde_json::Map::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_modes_that_are_known_to_ask_ask() {
        for mode in ["acceptEdits", "auto", "bypassPermissions", "yolo", "autoEdit", "full-access", "Default", "build"]
        {
            assert!(!asks(mode, None), "{mode}");
        }
        assert!(asks("default", None) && asks("plan", None) && asks("build", Some(Agent::OPENCODE)));
        let copilot = |mode: &str| {
            asks(&format!("https://agentclientprotocol.com/protocol/session-modes#{mode}"), Some(Agent::COPILOT))
        };
        assert!(copilot("agent") && copilot("plan") && !copilot("autopilot"));
        assert!(!asks("https://agentclientprotocol.com/protocol/session-modes#agent", None));
    }

    #[test]
    fn the_modes_of_a_session_are_found_in_both_places() {
        let told = told(
            &json!({"modes": {"currentModeId": "yolo", "availableModes": [{"id": "default"}, {"id": "yolo"}]},
            "configOptions": [{"id": "model", "currentValue": "x"}, {"id": "m", "category": "mode", "currentValue": "y"}]}),
        );
        assert_eq!(told.current.as_deref(), Some("yolo"));
        assert_eq!(fallback(&told.available, None).as_deref(), Some("default"));
        assert_eq!(told.options, ["m"]);
    }

    #[test]
    fn an_option_is_harmless_only_by_its_name() {
        assert_eq!(set_option("model", &json!("x"), &[]), None);
        assert!(matches!(set_option("model", &json!("x"), &["model".to_owned()]), Some(Chosen::Mode(_))));
        assert!(matches!(set_option("allow_all", &json!(true), &[]), Some(Chosen::Option(_))));
        assert_eq!(set_option("mode", &json!("yolo"), &[]), Some(Chosen::Mode("yolo".to_owned())));
        assert!(matches!(set_option("mode", &json!(true), &[]), Some(Chosen::Option(_))));
    }

    #[test]
    fn what_a_client_hides_in_meta_is_found() {
        let params =
            json!({"_meta": {"claudeCode": {"options": {"permissionMode": "bypassPermissions", "allowedTools": []}}}});
        assert_eq!(in_meta(&params), [("permissionMode".to_owned(), "bypassPermissions".to_owned())]);
        assert!(in_meta(&json!({"_meta": {"trace": {"id": "x"}}})).is_empty());
    }
}
