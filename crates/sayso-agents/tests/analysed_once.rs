//! A hook event and an ACP request are each analysed once. One test, so that nobody else counts in its process.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_agents::acp::{Proxy, Setting, Side};
use sayso_agents::{Agent, HookSetting, run_hook};
use sayso_gate::{Places, analysed};
use sayso_policy::{Layer, PolicyText};
use serde_json::{Value, json};
use std::path::Path;

const POLICY: &str = r#"
[allow]
run = ["touch"]
read = ["./**"]
write = ["./**"]

[ask]
run = ["mkdir"]
read = ["./asked"]

[deny]
run = ["rm"]
"#;

fn given(text: &str) -> Option<Vec<PolicyText>> {
    Some(vec![PolicyText { layer: Layer::Given, name: "test.toml".into(), text: text.into(), trusted: true }])
}

/// How often a call is analysed, at the least: a machine that stands still for longer than what was seen of files is good
/// for has it analysed again, rightly.
fn analyses(mut call: impl FnMut()) -> u64 {
    let one = |_| {
        let before = analysed();
        call();
        analysed() - before
    };
    (0..5).map(one).min().unwrap()
}

#[test]
fn every_call_is_analysed_once() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&project).unwrap();
    let places = Places::below(&folder.path().join("home"), folder.path());

    let limits = format!("{POLICY}[limits.session]\ncalls = 1000\n");
    for policy in [POLICY, &limits] {
        let setting = HookSetting::new(Agent::CLAUDE_CODE, places.clone(), given(policy));
        for command in ["touch a", "mkdir b", "rm c", "unheard-of d"] {
            assert_eq!(analyses(|| hook(&setting, &project, command)), 1, "a hook event: {command}");
        }
        let mut setting = Setting::new(places.clone());
        setting.given = given(policy);
        let proxy = Proxy::new(setting);
        let route = |side, message: Value| proxy.route(side, format!("{message}\n").as_bytes());
        let new =
            json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": project, "mcpServers": []}});
        route(Side::Client, new);
        route(Side::Agent, json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s"}}));
        let mut id = 10;
        for command in ["touch a", "mkdir b", "rm c", "unheard-of d"] {
            let permission = || {
                id += 1;
                drop(route(Side::Agent, permission(id, command)));
            };
            assert_eq!(analyses(permission), 1, "an ACP permission request: {command}");
        }
        for file in ["free", "asked"] {
            let read = || {
                id += 1;
                let params = json!({"sessionId": "s", "path": project.join(file)});
                drop(route(
                    Side::Agent,
                    json!({"jsonrpc": "2.0", "id": id, "method": "fs/read_text_file", "params": params}),
                ));
            };
            assert_eq!(analyses(read), 1, "an ACP request to the client: {file}");
        }
        let mut modes = 0;
        let mode = || {
            modes += 1;
            let params = json!({"sessionId": "s", "modeId": "default"});
            drop(route(
                Side::Client,
                json!({"jsonrpc": "2.0", "id": 900 + modes, "method": "session/set_mode", "params": params}),
            ));
        };
        assert_eq!(analyses(mode), 1, "a change of the mode");
    }
}

fn hook(setting: &HookSetting, project: &Path, command: &str) {
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": project, "tool_name": "Bash",
        "tool_input": {"command": command}, "permission_mode": "default", "tool_use_id": "t"});
    let _ = run_hook(Agent::CLAUDE_CODE, event.to_string().as_bytes(), setting);
}

fn permission(id: u64, command: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": {"sessionId": "s",
        "toolCall": {"toolCallId": format!("c{id}"), "name": "Bash", "title": "t", "rawInput": {"command": command}},
        "options": [{"optionId": "a1", "name": "Yes", "kind": "allow_once"},
            {"optionId": "r1", "name": "No", "kind": "reject_once"}]}})
}
