//! Whatever bytes come in, what goes out is something that the agent understands; and about a call it is never
//! silence that nobody earned.

use crate::answer::meaning;
use crate::session::Session;
use proptest::prelude::*;
use sayso_agents::{Agent, LARGEST_INPUT};
use serde_json::{Value, json};

fn agents() -> impl Iterator<Item = Agent> {
    Agent::ALL.iter().copied().filter(|agent| agent.has_hooks())
}

/// An event about a call that a person would be asked about, in each agent's shape.
fn event(agent: Agent, tool: &str, arguments: Value) -> Value {
    match agent.name() {
        "claude-code" | "codex" => json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p",
            "tool_name": tool, "tool_input": arguments, "tool_use_id": "t"}),
        "gemini" => json!({"hook_event_name": "BeforeTool", "session_id": "s", "cwd": "/p", "tool_name": tool,
            "tool_input": arguments}),
        "copilot" => {
            json!({"sessionId": "s", "timestamp": 1, "cwd": "/p", "toolName": tool, "toolArgs": arguments})
        }
        "cursor" => {
            json!({"hook_event_name": "preToolUse", "conversation_id": "s", "cwd": "/p", "tool_name": tool,
            "tool_input": arguments, "tool_use_id": "t", "workspace_roots": ["/p"]})
        }
        "opencode" | "openclaw" => {
            json!({"event": "tool.before", "sessionID": "s", "callID": "c", "cwd": "/p",
            "directory": "/p", "tool": tool, "args": arguments})
        }
        other => panic!("{other} has no hooks"),
    }
}

/// Values of every kind.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!("PreToolUse")),
        Just(json!("{\"command\":\"x\"}")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_bytes_get_an_answer_that_the_agent_understands(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for agent in agents() {
            meaning(agent, &Session::new(agent).hook(&bytes));
        }
    }

    #[test]
    fn an_event_with_anything_in_one_member_is_never_met_with_silence(value in any_value(), at in 0_usize..8, cut in 0_usize..400) {
        for agent in agents() {
            let session = Session::with(agent, "default = \"ask\"\n");
            let mut event = event(agent, "Shell", json!({"command": "unheard-of", "x": value}));
            let whole = event.to_string();
            let key = event.as_object().unwrap().keys().nth(at % event.as_object().unwrap().len()).unwrap().clone();
            event[key.as_str()] = value.clone();
            let (said, why) = meaning(agent, &session.hook(event.to_string().as_bytes()));
            // Without the name of its event, an event may be about nothing; with another one, about what is over.
            let unnamed = matches!(key.as_str(), "hook_event_name" | "event")
                || agent == Agent::COPILOT && key.starts_with("tool");
            if !unnamed {
                prop_assert!(["ask", "deny", "block"].contains(&said), "{agent} {key}: {said} {why}");
            }
            prop_assert_ne!(said, "allow");
            let cut = cut.min(whole.len() - 1);
            let (said, _) = meaning(agent, &session.hook(&whole.as_bytes()[..cut]));
            prop_assert_eq!(said, "block");
        }
    }

    #[test]
    fn no_tool_and_no_arguments_are_met_with_silence(tool in ".{0,16}", key in "[a-zA-Z_]{1,8}", value in any_value()) {
        for agent in agents() {
            let session = Session::with(agent, "default = \"ask\"\n");
            let mut arguments = json!({"command": "unheard-of"});
            arguments[key.as_str()] = value.clone();
            let (said, why) = meaning(agent, &session.hook(event(agent, &tool, arguments).to_string().as_bytes()));
            prop_assert!(["ask", "deny", "block"].contains(&said), "{agent} {tool:?}: {said} {why}");
        }
    }
}

#[test]
fn what_cannot_be_read_blocks_every_agent_and_is_recorded() {
    for agent in agents() {
        let whole = event(agent, "Shell", json!({"command": "touch x"})).to_string();
        let twice = whole.replacen("\"command\":", "\"command\":\"ls\",\"command\":", 1);
        let nested = whole.replacen("\"touch x\"", &format!("{}1{}", "[".repeat(5000), "]".repeat(5000)), 1);
        let inputs: Vec<Vec<u8>> = vec![
            Vec::new(),
            b"null".to_vec(),
            b"[]".to_vec(),
            b"{}".to_vec(),
            b"\xff\xfe{}".to_vec(),
            format!("{whole}{whole}").into_bytes(),
            format!("{whole} trailing").into_bytes(),
            whole.replace("touch x", "touch \\ud800").into_bytes(),
            twice.into_bytes(),
            nested.into_bytes(),
        ];
        let session = Session::new(agent);
        // An empty object names no event of Copilot's, whose events have no names.
        for input in inputs.into_iter().filter(|input| agent != Agent::COPILOT || input != b"{}") {
            let (said, why) = meaning(agent, &session.hook(&input));
            assert_eq!(said, "block", "{agent}: {}", String::from_utf8_lossy(&input[..input.len().min(100)]));
            assert!(why.contains("call-malformed"), "{why}");
        }
        let (said, _) = meaning(agent, &session.hook(&vec![b' '; LARGEST_INPUT + 1]));
        assert_eq!(said, "block");
        assert!(session.records().iter().all(|record| record.verdict == sayso_policy::Verdict::Deny));
        assert!(session.records().len() >= 9);
    }
}
