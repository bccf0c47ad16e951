//! What `sayso hook claude-code` says to what Claude Code sends.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_agents::{Agent, HookOutput, HookSetting, LARGEST_INPUT, run_hook};
use sayso_gate::Places;
use sayso_gate::audit::{Log, Order, Query, Stored};
use sayso_policy::{Answer, Layer, PolicyText, Verdict};
use serde_json::{Value, json};
use std::path::PathBuf;

const POLICY: &str = r#"
[allow]
run = ["touch", "echo", "git status"]
read = ["./**"]
write = ["./**"]
connect = ["docs.example.org"]
tool = ["mcp:demo/echo", "ask_user_question", "askuserquestion"]

[ask]
run = ["mkdir"]

[deny]
run = ["git push --force"]
read = ["@secrets"]
"#;

struct Session {
    _dir: tempfile::TempDir,
    project: PathBuf,
    setting: HookSetting,
}

fn session() -> Session {
    session_with(POLICY)
}

fn session_with(policy: &str) -> Session {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (home, project) = (base.join("home"), base.join("project"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir_all(project.join("sub")).unwrap();
    let text = PolicyText { layer: Layer::Given, name: "test.toml".into(), text: policy.into(), trusted: true };
    let mut setting = HookSetting::new(Agent::CLAUDE_CODE, Places::below(&home, &base), Some(vec![text]));
    setting.project_folder = None;
    setting.told_twice = false;
    Session { project, setting, _dir: dir }
}

impl Session {
    /// An event as Claude Code 2.1.325 sends it.
    fn event(&self, name: &str, tool: &str, input: Value) -> Value {
        json!({
            "session_id": "26173ec1-5892-49b8-8414-cfc86d07ba2b",
            "transcript_path": "/home/x/.claude/projects/p/26173ec1.jsonl",
            "cwd": self.project,
            "prompt_id": "bc28f86a-f38e-45c9-85f5-c0007b65ae19",
            "permission_mode": "default",
            "effort": {"level": "medium"},
            "hook_event_name": name,
            "tool_name": tool,
            "tool_input": input,
            "tool_use_id": "toolu_01",
        })
    }

    fn bash(&self, command: &str) -> Value {
        self.event("PreToolUse", "Bash", json!({"command": command, "description": "test"}))
    }

    fn hook(&self, event: &Value) -> HookOutput {
        self.raw(event.to_string().as_bytes())
    }

    fn raw(&self, input: &[u8]) -> HookOutput {
        let output = run_hook(Agent::CLAUDE_CODE, input, &self.setting);
        assert!(output.exit == 0 && output.stderr.is_empty() || output.exit == 2 && !output.stderr.is_empty());
        assert!(output.stdout.is_empty() || output.stdout.ends_with(b"}\n"));
        output
    }

    /// `allow`, `ask`, `deny`, `none` or `block`, and the reason.
    fn said(&self, event: &Value) -> (String, String) {
        let output = self.hook(event);
        if output.exit == 2 {
            return ("block".into(), output.stderr);
        }
        if output.stdout.is_empty() {
            return ("none".into(), String::new());
        }
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let answer = &answer["hookSpecificOutput"];
        assert_eq!(answer["hookEventName"], event["hook_event_name"]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match answer.get("decision") {
            Some(decision) => (text(&decision["behavior"]), text(&decision["message"])),
            None => (text(&answer["permissionDecision"]), text(&answer["permissionDecisionReason"])),
        }
    }

    fn log(&self) -> Vec<Stored> {
        let all = Query { order: Order::OldestFirst, ..Query::default() };
        Log::open(&self.setting.places).unwrap().query(&all).unwrap()
    }
}

#[test]
fn every_kind_of_call_gets_its_answer() {
    let s = session();
    let inside = |name: &str| s.project.join(name).display().to_string();
    let cases = [
        ("allow", "Bash", json!({"command": "touch proof", "description": "scripted command"})),
        ("allow", "Bash", json!({"command": "echo hi > out.txt && git status"})),
        ("ask", "Bash", json!({"command": "mkdir new"})),
        ("deny", "Bash", json!({"command": "echo a; git push --force"})),
        ("deny", "Bash", json!({"command": "touch x < .env"})),
        ("ask", "Bash", json!({"command": "python3 -c 'print(1)'"})),
        ("ask", "Bash", json!({"command": "echo 'unclosed"})),
        ("ask", "Bash", json!({"command": 7})),
        ("ask", "Bash", json!({})),
        ("allow", "Write", json!({"file_path": inside("a.txt"), "content": "hello\n"})),
        ("ask", "Write", json!({"file_path": "/etc/hosts", "content": "x"})),
        (
            "allow",
            "Edit",
            json!({"file_path": inside("a.txt"), "old_string": "a", "new_string": "b", "replace_all": false}),
        ),
        ("allow", "Read", json!({"file_path": inside("a.txt"), "offset": 1, "limit": 2})),
        ("deny", "Read", json!({"file_path": inside(".env")})),
        ("allow", "NotebookEdit", json!({"notebook_path": inside("n.ipynb"), "new_source": "x"})),
        ("allow", "WebFetch", json!({"url": "https://docs.example.org/x", "prompt": "summarize"})),
        ("ask", "WebFetch", json!({"url": "http://169.254.169.254/latest", "prompt": "summarize"})),
        ("allow", "mcp__demo__echo", json!({"text": "yo"})),
        ("ask", "mcp__demo__other", json!({"text": "yo"})),
        ("ask", "ToolOfTheFuture", json!({"x": 1})),
    ];
    for (wanted, tool, input) in cases {
        let (said, why) = s.said(&s.event("PreToolUse", tool, input.clone()));
        assert_eq!(said, wanted, "{tool} {input}: {why}");
        assert!(why.contains(&format!("Sayso: {wanted}.")) && why.contains('['), "{why}");
    }
}

#[test]
fn a_denial_tells_the_agent_why_and_what_next() {
    let s = session();
    let (said, why) = s.said(&s.bash("git push --force origin main"));
    assert_eq!(said, "deny");
    assert!(why.contains("test.toml:") && why.contains("another way"), "{why}");
}

#[test]
fn a_permission_request_is_answered_from_the_policy_and_an_ask_is_left_to_the_person() {
    let s = session();
    let request = |command: &str| {
        let mut event = s.event("PermissionRequest", "Bash", json!({"command": command, "description": "x"}));
        event["permission_suggestions"] =
            json!([{"type": "addDirectories", "directories": ["/x"], "destination": "session"}]);
        s.said(&event)
    };
    assert_eq!(request("touch proof").0, "allow");
    assert_eq!(request("mkdir d").0, "none");
    let (said, why) = request("git push --force");
    assert_eq!(said, "deny");
    assert!(why.contains("Sayso: deny."), "{why}");
}

#[test]
fn a_question_to_a_person_is_never_answered_in_its_place() {
    let s = session();
    for event in ["PreToolUse", "PermissionRequest"] {
        let (said, why) = s.said(&s.event(event, "AskUserQuestion", json!({"questions": []})));
        assert!(said == "none" || said == "ask", "{event}: {said} {why}");
    }
}

#[test]
fn what_cannot_be_read_blocks_and_says_why() {
    let s = session();
    let whole = s.bash("touch proof").to_string();
    let mut inputs: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"\"PreToolUse\"".to_vec(),
        b"{}".to_vec(),
        b"{\"hook_event_name\": 5}".to_vec(),
        b"{\"hook_event_name\": \"PreToolUse\"} trailing".to_vec(),
        b"\xff\xfe{}".to_vec(),
        whole.replace("touch proof", "touch \\ud800").into_bytes(),
        format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes(),
        vec![b' '; LARGEST_INPUT + 1],
    ];
    inputs.extend((1..whole.len()).step_by(7).map(|end| whole.as_bytes()[..end].to_vec()));
    for input in inputs {
        let output = s.raw(&input);
        assert_eq!(output.exit, 2, "{}", String::from_utf8_lossy(&input[..input.len().min(200)]));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn wrong_types_are_denied() {
    let s = session();
    for (key, value) in [
        ("tool_name", json!(5)),
        ("tool_name", json!(null)),
        ("tool_name", json!("  ")),
        ("tool_input", json!("touch proof")),
        ("tool_input", json!(["touch proof"])),
        ("tool_input", json!(null)),
        ("tool_use_id", json!({})),
        ("mcp_server", json!("demo")),
        ("mcp_server", json!({"name": 7})),
        ("session_id", json!(5)),
        ("cwd", json!(["/"])),
        ("agent_id", json!(true)),
    ] {
        for name in ["PreToolUse", "PermissionRequest"] {
            let mut event = s.event(name, "Bash", json!({"command": "touch proof"}));
            event[key] = value.clone();
            let (said, why) = s.said(&event);
            assert!(said == "deny" || said == "block", "{key} = {value}: {said}");
            assert!(why.contains("call-malformed"), "{why}");
        }
    }
}

#[test]
fn new_fields_are_tolerated() {
    let s = session();
    let mut event = s.bash("touch proof");
    event["from_the_future"] = json!({"deep": [1, 2]});
    event["effort"] = json!("high");
    assert_eq!(s.said(&event).0, "allow");
}

#[test]
fn events_about_nothing_that_can_be_decided_get_no_opinion() {
    let s = session();
    for name in ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "SubagentStart", "Newest"] {
        let event = json!({"session_id": "s", "cwd": s.project, "hook_event_name": name, "agent_id": "a1"});
        assert_eq!(s.hook(&event), HookOutput { stdout: vec![], stderr: String::new(), exit: 0 }, "{name}");
    }
    for name in ["PostToolUse", "PostToolUseFailure", "PermissionDenied"] {
        assert_eq!(s.said(&s.event(name, "Bash", json!({"command": "touch x"}))).0, "none");
    }
}

#[test]
fn an_unknown_event_about_a_tool_blocks() {
    let s = session();
    assert_eq!(s.said(&s.event("PreToolUseV2", "Bash", json!({"command": "touch x"}))).0, "block");
    assert_eq!(s.said(&json!({"hook_event_name": "PreTool", "tool_input": {}})).0, "block");
}

#[test]
fn the_workspace_is_fixed_when_the_session_starts() {
    let s = session();
    let start = json!({"session_id": "s", "cwd": s.project, "hook_event_name": "SessionStart", "source": "startup"});
    s.hook(&start);
    let mut event = s.bash("touch ../outside");
    event["session_id"] = "s".into();
    event["transcript_path"] = Value::Null;
    event["cwd"] = json!(s.project.join("sub"));
    assert_eq!(s.said(&event).0, "allow"); // still inside
    event["cwd"] = json!(s.project.parent().unwrap().join("home"));
    assert_eq!(s.said(&event).0, "ask");
    let of_sub = |event: &Stored| event.record.workspace.clone();
    let workspaces: Vec<_> = s.log().iter().map(of_sub).collect();
    assert_eq!(workspaces, [Some(s.project.display().to_string()), Some(s.project.display().to_string())]);
    // `compact` tells where the session is now, not what it is about.
    let mut compact = start.clone();
    compact["source"] = "compact".into();
    compact["cwd"] = "/".into();
    s.hook(&compact);
    s.said(&event);
    assert_eq!(s.log()[2].record.workspace, Some(s.project.display().to_string()));
}

#[test]
fn the_project_folder_that_claude_names_is_the_workspace_if_the_session_is_in_it() {
    let mut s = session();
    s.setting.project_folder = Some(s.project.clone());
    let mut event = s.bash("touch ../x");
    event["cwd"] = json!(s.project.join("sub"));
    assert_eq!(s.said(&event).0, "allow");
    assert_eq!(s.log()[0].record.workspace, Some(s.project.display().to_string()));

    let mut elsewhere = session();
    elsewhere.setting.project_folder = Some("/usr".into());
    assert_eq!(elsewhere.said(&elsewhere.bash("touch x")).0, "allow");
    assert_eq!(elsewhere.log()[0].record.workspace, Some(elsewhere.project.display().to_string()));
}

#[test]
fn subagents_and_servers_are_recorded_as_such() {
    let s = session();
    let mut event = s.event("PreToolUse", "mcp__demo__echo", json!({"text": "yo"}));
    event["agent_id"] = "a391".into();
    event["agent_type"] = "general-purpose".into();
    event["mcp_server"] = json!({"name": "demo", "source": "dynamic"});
    assert_eq!(s.said(&event).0, "allow");
    let record = &s.log()[0].record;
    assert!(record.actor.subagent);
    assert_eq!(record.actor.run.as_deref(), Some("a391"));
    assert_eq!(record.actor.parent.as_ref().unwrap().agent.as_deref(), Some("claude-code"));
    assert_eq!(record.tool, "mcp:demo/echo");
    assert_eq!(record.call_id.as_deref(), Some("toolu_01"));
}

#[test]
fn every_answer_is_on_record_and_holds_no_secret() {
    let s = session();
    s.said(&s.bash("touch a"));
    s.said(&s.bash("GITHUB_TOKEN=hunter2 git push --force https://me:hunter2@example.org/x"));
    s.said(&s.event("PreToolUse", "Bash", json!("not an object")));
    let log = s.log();
    let verdicts: Vec<_> = log.iter().map(|stored| stored.record.verdict).collect();
    assert_eq!(verdicts, [Verdict::Allow, Verdict::Deny, Verdict::Deny]);
    assert_eq!(log[0].record.answer, Answer::Allow);
    assert_eq!(log[0].record.command.as_deref(), Some("touch a"));
    assert_eq!(log[0].record.way_in, "hook claude-code");
    assert_eq!(log[2].record.reasons[0].code, "call-malformed");
    assert!(!serde_json::to_string(&log).unwrap().contains("hunter2"));
}

#[test]
fn what_cannot_be_recorded_does_not_run() {
    let s = session();
    std::fs::create_dir_all(s.setting.places.state.join("spool/current.jsonl")).unwrap();
    let (said, why) = s.said(&s.bash("touch a"));
    assert_eq!(said, "deny");
    assert!(why.contains("record-failed"), "{why}");
}

#[test]
fn a_policy_with_an_error_allows_nothing() {
    let s = session_with("[alow]\nrun = [\"touch\"]\n");
    let (said, why) = s.said(&s.bash("touch a"));
    assert_eq!(said, "deny");
    assert!(why.contains("internal-error"), "{why}");
}

#[test]
fn agent_text_in_a_reason_moves_no_cursor() {
    let s = session();
    for command in ["mkdir '\u{1b}[2Kx\u{202e}'", "git push --force '\u{7}'", "\u{9b}x"] {
        let (_, why) = s.said(&s.bash(command));
        assert!(!why.chars().any(|c| c.is_control() || c == '\u{202e}'), "{why:?}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_an_agent_sends_is_met_with_silence_where_a_tool_is_meant(
        name in ".{0,12}", command in ".{0,24}", key in "[a-z_]{1,8}",
    ) {
        let s = session_with("default = \"ask\"\n");
        let (said, _) = s.said(&s.event("PreToolUse", &name, json!({"command": command, key: name})));
        proptest::prop_assert!(said == "ask" || said == "deny", "{said}");
    }
}
