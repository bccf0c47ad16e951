//! Traffic through the ACP proxy: recorded sessions of real agents, and whatever else may come.
//!
//! What must hold: a line goes on byte for byte unless it is governed; nothing goes on that could not be judged; and
//! no line is without an answer where somebody waits for one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use proptest::prelude::*;
use sayso_agents::acp::{Onward, Proxy, Setting, Side};
use sayso_gate::Places;
use sayso_policy::{Layer, PolicyText};
use serde_json::{Value, json};
use std::sync::Arc;

fn proxy(folder: &tempfile::TempDir, policy: &str) -> Arc<Proxy> {
    let mut setting = Setting::new(Places::below(folder.path(), folder.path()));
    let given = PolicyText { layer: Layer::Given, name: "p".to_owned(), text: policy.to_owned(), trusted: true };
    setting.given = Some(vec![given]);
    // The recorded Codex tells of no mode: its settings made it ask about everything.
    let settings = folder.path().join(".codex");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("config.toml"), "approval_policy = \"untrusted\"\n").unwrap();
    setting.settings_count = true;
    Proxy::new(setting)
}

#[test]
fn recorded_sessions_pass_byte_for_byte_but_for_their_permission_requests() {
    let sessions = [
        ("claude", include_str!("acp_captures/claude.txt")),
        ("codex", include_str!("acp_captures/codex.txt")),
        ("gemini", include_str!("acp_captures/gemini.txt")),
        ("opencode", include_str!("acp_captures/opencode.txt")),
    ];
    for (agent, session) in sessions {
        for (policy, chosen) in [
            ("[allow]\nrun = [\"touch\"]\nwrite = [\"/tmp/**\"]\n", Some("allow_once")),
            ("[deny]\nrun = [\"touch\"]\n", Some("reject_once")),
            ("[ask]\nrun = [\"touch\"]\n", None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let proxy = proxy(&folder, policy);
            let (mut asked, mut passed) = (0, 0);
            for line in session.lines() {
                let (side, text) = line.split_once(' ').unwrap();
                let side = if side == "client" { Side::Client } else { Side::Agent };
                let message: Value = serde_json::from_str(text).unwrap();
                let routed = proxy.route(side, format!("{text}\n").as_bytes());
                if message["method"] != "session/request_permission" {
                    assert_eq!(routed.onward, Onward::AsItCame, "{agent} {policy} {text}");
                    passed += 1;
                    continue;
                }
                asked += 1;
                let Some(kind) = chosen else {
                    assert!(matches!(routed.onward, Onward::Instead(_)), "{agent} {text} gave {routed:?}");
                    continue;
                };
                assert_eq!(routed.onward, Onward::Nothing, "{agent} {policy} {text}");
                let answer: Value = serde_json::from_slice(&routed.said[0].1).unwrap();
                let options = message["params"]["options"].as_array().unwrap();
                let expected = options.iter().find(|option| option["kind"] == kind).unwrap();
                assert_eq!(answer["result"]["outcome"]["optionId"], expected["optionId"], "{agent} {policy}");
                assert_eq!(answer["id"], message["id"]);
            }
            assert!(asked > 0 && passed > 8, "{agent}: {asked} {passed}");
        }
    }
}

/// Methods that are governed, by side: written down here once more, so that a slip in the proxy shows.
fn governed(side: Side, method: &str) -> bool {
    match side {
        Side::Agent => {
            method == "session/request_permission"
                || method == "terminal/create"
                || method == "mcp/message"
                || method.starts_with("fs/")
                || method.contains("proxy/")
        }
        Side::Client => {
            matches!(
                method,
                "session/set_mode"
                    | "session/set_config_option"
                    | "session/new"
                    | "session/load"
                    | "session/resume"
                    | "session/fork"
            ) || method.contains("proxy/")
        }
    }
}

fn method() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("session/request_permission".to_owned()),
        Just("fs/read_text_file".to_owned()),
        Just("fs/write_text_file".to_owned()),
        Just("terminal/create".to_owned()),
        Just("session/set_mode".to_owned()),
        Just("session/set_config_option".to_owned()),
        Just("session/update".to_owned()),
        Just("session/prompt".to_owned()),
        Just("session/cancel".to_owned()),
        Just("$/cancel_request".to_owned()),
        Just("proxy/successor".to_owned()),
        Just("_vendor/x".to_owned()),
        "[a-z/_]{0,12}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_u32..9).prop_map(Value::from),
        "[ -~é😀]{0,10}".prop_map(Value::from),
        Just(json!("s")),
        Just(json!("/etc/passwd")),
        method().prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("sessionId".to_owned()),
        Just("path".to_owned()),
        Just("content".to_owned()),
        Just("command".to_owned()),
        Just("toolCall".to_owned()),
        Just("toolCallId".to_owned()),
        Just("rawInput".to_owned()),
        Just("options".to_owned()),
        Just("optionId".to_owned()),
        Just("kind".to_owned()),
        Just("modeId".to_owned()),
        Just("configId".to_owned()),
        Just("value".to_owned()),
        Just("update".to_owned()),
        Just("sessionUpdate".to_owned()),
        Just("status".to_owned()),
        Just("method".to_owned()),
        "[a-zA-Z]{1,3}",
    ];
    leaf.prop_recursive(4, 30, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map(key.clone(), inner, 0..8).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// A message, written in one of many ways.
fn line() -> impl Strategy<Value = String> {
    let id = prop_oneof![
        Just(None),
        (0_u32..4).prop_map(|id| Some(json!(id))),
        Just(Some(json!("x"))),
        Just(Some(Value::Null))
    ];
    let body = prop_oneof![
        (method(), value()).prop_map(|(method, params)| json!({"method": method, "params": params})),
        value().prop_map(|result| json!({"result": result})),
        value().prop_map(|error| json!({"error": error})),
        (method(), value()).prop_map(|(method, x)| json!({"x": x, "method": method})),
    ];
    (id, body, any::<bool>(), any::<bool>()).prop_map(|(id, mut body, escape, pretty)| {
        if let Some(id) = id {
            body["id"] = id;
        }
        let text =
            if pretty { serde_json::to_string_pretty(&body).unwrap().replace('\n', " ") } else { body.to_string() };
        if escape { text.replace('/', "\\/").replace("\"method\"", "\"m\\u0065thod\"") } else { text }
    })
}

/// The same with something broken.
fn broken() -> impl Strategy<Value = Vec<u8>> {
    (line(), any::<prop::sample::Index>(), any::<u8>(), 0..4).prop_map(|(line, at, byte, how)| {
        let mut bytes = line.into_bytes();
        let at = at.index(bytes.len().max(1));
        match how {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, byte),
            2 => bytes[at] = byte,
            _ => bytes = [b"[".as_slice(), &bytes, b"]"].concat(),
        }
        bytes.retain(|byte| *byte != b'\n');
        bytes
    })
}

/// What an ordinary reader finds: the method, if it is one JSON object without a doubled key.
fn ordinary(line: &[u8]) -> Option<(Option<String>, bool)> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let object = value.as_object()?;
    Some((object.get("method").and_then(Value::as_str).map(str::to_owned), object.contains_key("id")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn under_a_policy_that_denies_nothing_governed_goes_on(
        traffic in proptest::collection::vec((any::<bool>(), prop_oneof![3 => line().prop_map(String::into_bytes), 1 => broken()]), 1..12)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let proxy = proxy(&folder, "[deny]\nrun = [\"*\"]\nread = [\"**\"]\nwrite = [\"**\"]\nconnect = [\"*\"]\ntool = [\"*\"]\n");
        for (client, line) in traffic {
            let side = if client { Side::Client } else { Side::Agent };
            let routed = proxy.route(side, &[&line, b"\n".as_slice()].concat());
            let shown = String::from_utf8_lossy(&line).into_owned();
            match ordinary(&line) {
                None => {
                    let empty = line.iter().all(|byte| matches!(byte, b' ' | b'\t'));
                    // What no ordinary reader takes for a message may only pass if it has lone surrogates in it.
                    let lone = shown.contains("\\ud") || shown.contains("\\uD");
                    prop_assert!(routed.onward == Onward::Nothing || empty || lone, "{} gave {:?}", shown, routed);
                }
                Some((Some(method), id)) if governed(side, &method) => {
                    let chunk = method == "mcp/message" && routed.onward == Onward::AsItCame;
                    prop_assert!(routed.onward != Onward::AsItCame || chunk, "{} passed", shown);
                    if routed.onward == Onward::Nothing {
                        prop_assert!(!routed.said.is_empty() || !id, "{} is dropped", shown);
                    }
                }
                Some(_) => {
                    prop_assert!(!matches!(routed.onward, Onward::Instead(_)) || side == Side::Client, "{}", shown);
                }
            }
            for (_, said) in &routed.said {
                prop_assert!(said.ends_with(b"\n") && said.iter().filter(|b| **b == b'\n').count() == 1);
                prop_assert!(serde_json::from_slice::<Value>(said).is_ok());
            }
        }
    }

    #[test]
    fn what_is_not_governed_goes_on_byte_for_byte(text in value(), name in "_[a-z]{1,9}/[a-z]{1,9}", id in 0_u32..9, pretty in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let proxy = proxy(&folder, "default = \"deny\"\n");
        for message in [json!({"jsonrpc": "2.0", "method": name, "params": text, "id": id}), json!({"id": id, "result": text}), json!({"method": name})] {
            let line = if pretty { serde_json::to_string_pretty(&message).unwrap().replace('\n', "  ") } else { message.to_string() };
            for side in [Side::Client, Side::Agent] {
                let routed = proxy.route(side, format!("{line}\n").as_bytes());
                prop_assert_eq!(routed.onward, Onward::AsItCame, "{}", line);
                prop_assert!(routed.said.is_empty());
            }
        }
    }
}
