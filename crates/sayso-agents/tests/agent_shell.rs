//! Which shell an agent uses is what its registration says, whatever a call says.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_agents::{Agent, HookSetting, run_hook};
use sayso_gate::Places;
use sayso_policy::shell::dialect::Shells;
use sayso_policy::{Layer, PolicyText};
use serde_json::{Value, json};

const POLICY: &str = "[allow]\nrun = [\"echo\", \"ls\", \"read\", \"declare\"]\nread = [\"./**\"]\n";

/// To bash this lists a folder; zsh runs the last part of a pipe in the shell itself, so that `x` becomes `touch`.
const LAST_OF_PIPE: &str = "x=ls; echo touch | read x; $x sub";
/// To bash this lists a folder; dash has no `declare`.
const DECLARED: &str = "x=touch; declare x=ls; $x sub";

fn said(agent: Agent, shells: Option<&str>, input: &Value) -> String {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (home, project) = (base.join("home"), base.join("project"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir_all(project.join("sub")).unwrap();
    let text = PolicyText { layer: Layer::Given, name: "test.toml".into(), text: POLICY.into(), trusted: true };
    let mut setting = HookSetting::new(agent, Places::below(&home, &base), Some(vec![text]));
    setting.project_folder = None;
    setting.told_twice = false;
    setting.shells = shells.map(|shells| Shells::named(shells).unwrap());
    let event = json!({
        "session_id": "s1", "transcript_path": home.join("t.jsonl"), "cwd": project, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input, "tool_use_id": "t1",
    });
    let output = run_hook(agent, event.to_string().as_bytes(), &setting);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none").to_owned()
}

fn claude(shells: Option<&str>, command: &str) -> String {
    said(Agent::CLAUDE_CODE, shells, &json!({"command": command}))
}

#[test]
fn a_command_is_read_as_the_registered_shell_reads_it() {
    assert_eq!(claude(Some("bash"), LAST_OF_PIPE), "allow");
    assert_eq!(claude(Some("zsh"), LAST_OF_PIPE), "ask");
    assert_eq!(claude(Some("bash"), DECLARED), "allow");
    assert_eq!(claude(Some("zsh"), DECLARED), "allow");
    assert_eq!(claude(Some("sh"), DECLARED), "ask");
}

#[test]
fn where_several_shells_may_run_it_the_strictest_reading_counts() {
    assert_eq!(claude(Some("bash,zsh"), LAST_OF_PIPE), "ask");
    assert_eq!(claude(Some("bash,zsh"), DECLARED), "allow");
    assert_eq!(claude(Some("bash,sh"), DECLARED), "ask");
}

#[test]
fn a_call_that_names_a_shell_changes_nothing_for_the_better() {
    for shell in ["bash", "/bin/bash", "zsh"] {
        let input = json!({"command": LAST_OF_PIPE, "shell": shell});
        assert_ne!(said(Agent::CLAUDE_CODE, Some("zsh"), &input), "allow", "{shell}");
    }
    let input = json!({"command": LAST_OF_PIPE, "shell": "zsh"});
    assert_ne!(said(Agent::CLAUDE_CODE, Some("bash"), &input), "allow");
}

#[test]
fn a_registration_of_an_older_version_names_no_shell_and_still_works() {
    for command in ["ls sub", "x=sub; ls $x", "for d in sub; do ls \"$d\"; done | read y"] {
        assert_eq!(claude(None, command), "allow", "{command}");
    }
}
