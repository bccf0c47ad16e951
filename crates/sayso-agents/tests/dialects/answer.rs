//! What an answer means to the agent that gets it, held against what that agent accepts. An answer that the agent
//! would not understand fails the test: most of them would run the call.

use sayso_agents::{Agent, HookOutput};
use serde_json::{Map, Value};

/// `allow`, `deny`, `ask`, `silent`, `nothing` or `block`, and the words that go with it.
pub(crate) fn meaning(agent: Agent, output: &HookOutput) -> (&'static str, String) {
    if output.exit == 2 {
        assert!(!output.stderr.trim().is_empty(), "a block without a reason");
        assert!(output.stdout.is_empty(), "a block says nothing else");
        return ("block", output.stderr.clone());
    }
    assert_eq!(output.exit, 0);
    // Gemini reads it as the answer where there is no other; to Claude Code it is an error.
    assert_eq!(output.stderr, "");
    if output.stdout.is_empty() {
        return ("silent", String::new());
    }
    let text = std::str::from_utf8(&output.stdout).unwrap();
    assert!(text.ends_with("}\n") && text.matches('\n').count() == 1, "one object on one line: {text:?}");
    let Value::Object(object) = serde_json::from_str(text).unwrap() else { panic!("no object: {text}") };
    let (word, why) = match agent.name() {
        "claude-code" if object.contains_key("systemMessage") => {
            only(&object, &["systemMessage"]);
            ("nothing", text_in(&object, "systemMessage"))
        }
        "claude-code" | "codex" => claude(&object),
        "copilot" if object.contains_key("hookSpecificOutput") => claude(&object),
        "copilot" => copilot(&object),
        "gemini" => gemini(&object),
        "cursor" => cursor(&object),
        "opencode" | "openclaw" => plugin(&object),
        other => panic!("{other} has no hooks"),
    };
    if agent == Agent::CODEX {
        assert!(text.contains("PermissionRequest") || word == "deny", "Codex would run the call: {text}");
    }
    if agent == Agent::OPENCODE {
        assert_ne!(word, "ask", "OpenCode's plugin cannot ask");
    }
    assert!(word == "allow" || word == "nothing" || !why.trim().is_empty(), "{word} without a reason");
    assert!(!why.chars().any(|c| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}')), "{why:?}");
    (word, why)
}

fn claude(object: &Map<String, Value>) -> (&'static str, String) {
    only(object, &["hookSpecificOutput"]);
    let inner = object["hookSpecificOutput"].as_object().unwrap();
    match inner["hookEventName"].as_str().unwrap() {
        "PreToolUse" => {
            only(inner, &["hookEventName", "permissionDecision", "permissionDecisionReason"]);
            (word(&inner["permissionDecision"]), text_in(inner, "permissionDecisionReason"))
        }
        "PermissionRequest" => {
            only(inner, &["hookEventName", "decision"]);
            behaviour(inner["decision"].as_object().unwrap())
        }
        other => panic!("an answer to {other}"),
    }
}

fn behaviour(decision: &Map<String, Value>) -> (&'static str, String) {
    only(decision, &["behavior", "message"]);
    let word = word(&decision["behavior"]);
    assert_ne!(word, "ask", "a permission request knows no ask");
    assert_eq!(word == "deny", decision.contains_key("message"));
    (word, text_in(decision, "message"))
}

fn copilot(object: &Map<String, Value>) -> (&'static str, String) {
    if object.contains_key("behavior") {
        return behaviour(object);
    }
    only(object, &["permissionDecision", "permissionDecisionReason"]);
    (word(&object["permissionDecision"]), text_in(object, "permissionDecisionReason"))
}

fn gemini(object: &Map<String, Value>) -> (&'static str, String) {
    only(object, &["decision", "reason"]);
    (word(&object["decision"]), text_in(object, "reason"))
}

fn cursor(object: &Map<String, Value>) -> (&'static str, String) {
    if !object.contains_key("permission") {
        only(object, &["continue"]);
        return ("nothing", String::new());
    }
    only(object, &["permission", "user_message", "agent_message", "userMessage", "agentMessage"]);
    assert_eq!(object.get("user_message"), object.get("userMessage"));
    assert_eq!(object.get("agent_message"), object.get("agentMessage"));
    (word(&object["permission"]), text_in(object, "agent_message"))
}

fn plugin(object: &Map<String, Value>) -> (&'static str, String) {
    only(object, &["decision", "reason"]);
    match object["decision"].as_str() {
        Some("none") => ("nothing", String::new()),
        _ => (word(&object["decision"]), text_in(object, "reason")),
    }
}

fn word(value: &Value) -> &'static str {
    ["allow", "deny", "ask"].into_iter().find(|word| value == word).unwrap_or_else(|| panic!("no such word: {value}"))
}

fn text_in(object: &Map<String, Value>, key: &str) -> String {
    object.get(key).map(|text| text.as_str().unwrap().to_owned()).unwrap_or_default()
}

fn only(object: &Map<String, Value>, keys: &[&str]) {
    for key in object.keys() {
        assert!(keys.contains(&key.as_str()), "the agent does not know {key:?}");
    }
}
