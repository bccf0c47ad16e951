//! A hook that holds what it allows, from the event to the end of the call.

use super::caller::Caller;
use super::proven;
use crate::{Agent, HookSetting, run_hook};
use sayso_gate::Places;
use sayso_gate::audit::{Event as Kept, Kind, Log, Query, What};
use sayso_gate::hold::permit::HoldPermits;
use sayso_gate::hold::proof;
use sayso_policy::CanHold;
use sayso_policy::shell::dialect::Shells;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;

const POLICY: &str = "default = \"ask\"\n\n[allow]\nrun = [\"ls\", \"cd\"]\nread = [\"./**\"]\nwrite = [\"./**\"]\n\n[hold]\nrun = [\"make\", \"ls\"]\nalways = true\n";

struct Room {
    dir: tempfile::TempDir,
    places: Places,
}

impl Room {
    fn new(policy: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        std::fs::create_dir_all(places.user.parent().unwrap()).unwrap();
        std::fs::write(&places.user, policy).unwrap();
        let room = Self { dir, places };
        std::fs::create_dir_all(room.project().join("sub")).unwrap();
        room
    }

    fn project(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("project")
    }

    /// As if the agent had been seen to hold.
    fn proven(self, agent: Agent) -> Self {
        let caller = Caller::find().unwrap();
        proven::keep(agent, &self.places, (&caller.program, &caller.seen), CanHold::Whole).unwrap();
        self
    }

    fn hook(&self, agent: Agent, event: &Value) -> Value {
        let mut setting = HookSetting::new(agent, self.places.clone(), None);
        setting.shells = Shells::named("bash");
        setting.told_twice = false;
        let said = run_hook(agent, event.to_string().as_bytes(), &setting);
        assert_eq!(said.exit, 0, "{}", said.stderr);
        if said.stdout.is_empty() { Value::Null } else { serde_json::from_slice(&said.stdout).unwrap() }
    }

    fn claude(&self, event: &str, command: &str, more: &Value) -> Value {
        let mut all = json!({"session_id": "s", "cwd": self.project(), "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": command, "description": "d", "timeout": 7}, "tool_use_id": "t1"});
        for (key, value) in more.as_object().unwrap() {
            all[key] = value.clone();
        }
        self.hook(Agent::CLAUDE_CODE, &all)
    }

    /// What was taken down beside decisions.
    fn noted(&self, what: What) -> usize {
        let query = Query { kinds: vec![Kind::Happening], ..Query::default() };
        let events = Log::open(&self.places).unwrap().events(&query).unwrap();
        events.iter().filter(|it| matches!(&it.event, Kept::Happening(it) if it.what == what)).count()
    }

    /// Comes for the permit of a rewritten command, as `sayso run` does.
    fn redeem(&self, line: &str) -> bool {
        let words =
            line.rsplit_once("/bin/true run --permit ").or_else(|| line.rsplit_once("true run --permit ")).unwrap().1;
        let (id, rest) = words.split_once(" -- ").unwrap();
        let inside = super::rewrite::original(line).unwrap();
        let shell = rest.split(' ').next().unwrap();
        let words: Vec<OsString> = vec![shell.into(), "-c".into(), inside.into()];
        let folder = if line.starts_with("cd sub") { self.project().join("sub") } else { self.project() };
        HoldPermits::at(&self.places).redeem(id, &words, &folder).is_ok()
    }
}

fn updated(answer: &Value) -> &Value {
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow", "{answer}");
    &answer["hookSpecificOutput"]["updatedInput"]
}

#[test]
fn what_counts_only_under_a_hold_is_rewritten() {
    let room = Room::new(POLICY).proven(Agent::CLAUDE_CODE);
    let answer = room.claude("PreToolUse", "cd sub && make 'a b'", &json!({}));
    let input = updated(&answer);
    // Everything else is as it was.
    assert_eq!((&input["description"], &input["timeout"]), (&json!("d"), &json!(7)));
    let line = input["command"].as_str().unwrap();
    assert!(line.starts_with("cd sub && /") && line.contains(" run --permit "), "{line}");
    assert!(line.ends_with(r"bash -c ' make '\''a b'\'''"), "{line}");
    assert!(room.redeem(line));
    room.claude("PostToolUse", line, &json!({"tool_response": {"interrupted": false}}));
    assert_eq!(room.noted(What::Unheld), 0);
    assert!(proof::load(&room.places, "claude-code").is_some());
}

#[test]
fn a_permit_that_nobody_came_for_ends_held_allows() {
    let room = Room::new(POLICY).proven(Agent::CLAUDE_CODE);
    // Interrupted: nothing can be said of how it ran.
    updated(&room.claude("PreToolUse", "make", &json!({})));
    room.claude("PostToolUse", "make", &json!({"tool_response": {"interrupted": true}}));
    updated(&room.claude("PreToolUse", "make", &json!({})));
    room.claude("PostToolUseFailure", "make", &json!({"is_interrupt": true, "error": "x"}));
    assert_eq!(room.noted(What::Unheld), 0);
    updated(&room.claude("PreToolUse", "make", &json!({})));
    room.claude("PostToolUse", "make", &json!({"tool_response": {"stdout": "x"}}));
    assert_eq!(room.noted(What::Unheld), 1);
    assert!(proven::unheld(Agent::CLAUDE_CODE, &room.places).is_some());
    let answer = room.claude("PreToolUse", "make", &json!({"tool_use_id": "t2"}));
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{answer}");
}

#[test]
fn without_a_proof_it_asks_and_says_how_to_run_it_held() {
    let room = Room::new(POLICY);
    let answer = room.claude("PreToolUse", "make all", &json!({}));
    let said = &answer["hookSpecificOutput"];
    assert_eq!(said["permissionDecision"], "ask", "{answer}");
    assert!(said["permissionDecisionReason"].as_str().unwrap().contains("run -- make all`"), "{answer}");
    assert!(said.get("updatedInput").is_none());
    // A proof of another agent is none.
    let room = Room::new(POLICY).proven(Agent::CODEX);
    let answer = room.claude("PreToolUse", "make all", &json!({}));
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{answer}");
}

#[test]
fn a_permit_that_cannot_be_issued_is_a_question() {
    for command in ["make", "cd sub && make"] {
        let room = Room::new(POLICY).proven(Agent::CLAUDE_CODE);
        std::fs::write(room.places.state.join("hold/permits"), "in the way").unwrap();
        let answer = room.claude("PreToolUse", command, &json!({}));
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{answer}");
        // What is allowed anyway runs, and it is on record that it was not held.
        let answer = room.claude("PreToolUse", "ls", &json!({"tool_use_id": "t2"}));
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow", "{answer}");
        assert!(answer["hookSpecificOutput"].get("updatedInput").is_none(), "{answer}");
        assert_eq!(room.noted(What::NotHeld), 1);
    }
}

#[test]
fn settings_that_changed_void_the_proof() {
    let other = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "rtk rewrite"}]}]}});
    let ours =
        json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "/x/sayso hook claude-code"}]}]}});
    let verdict = |room: &Room| {
        let answer = room.claude("PreToolUse", "make", &json!({}));
        answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
    };
    for (file, text, expected) in [
        (".claude/settings.json", other.to_string(), "ask"),
        (".claude/settings.json", json!({"model": "x"}).to_string(), "allow"),
        ("project/.claude/settings.json", other.to_string(), "ask"),
        ("project/.claude/settings.local.json", "{not json".to_owned(), "ask"),
        ("project/.claude/settings.json", ours.to_string(), "allow"),
        ("project/.claude/settings.json", json!({"permissions": {}}).to_string(), "allow"),
    ] {
        let room = Room::new(POLICY).proven(Agent::CLAUDE_CODE);
        let path = room.dir.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if !file.starts_with("project") && expected == "allow" {
            // It is there before, and changes in what decides nothing.
            std::fs::write(&path, "{}").unwrap();
            let caller = Caller::find().unwrap();
            proven::keep(Agent::CLAUDE_CODE, &room.places, (&caller.program, &caller.seen), CanHold::Whole).unwrap();
        }
        std::fs::write(&path, &text).unwrap();
        assert_eq!(verdict(&room), expected, "{file} {text}");
    }
    // And nothing is proven where another hook is registered already.
    let room = Room::new(POLICY);
    std::fs::create_dir_all(room.dir.path().join(".claude")).unwrap();
    std::fs::write(room.dir.path().join(".claude/settings.json"), other.to_string()).unwrap();
    let caller = Caller::find().unwrap();
    let kept = proven::keep(Agent::CLAUDE_CODE, &room.places, (&caller.program, &caller.seen), CanHold::Whole);
    assert!(matches!(kept, Err(proven::Doubt::OtherHook(_))));
}

#[test]
fn another_program_is_not_the_one_that_was_seen() {
    let room = Room::new(POLICY);
    let caller = Caller::find().unwrap();
    for (program, seen) in
        [(PathBuf::from("/bin/sh"), caller.seen.clone()), (caller.program.clone(), format!("{} ", caller.seen))]
    {
        proven::keep(Agent::CLAUDE_CODE, &room.places, (&program, &seen), CanHold::Whole).unwrap();
        let answer = room.claude("PreToolUse", "make", &json!({}));
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{answer}");
    }
}

#[test]
fn less_than_the_policy_needs_is_not_enough() {
    let room = Room::new(POLICY);
    let caller = Caller::find().unwrap();
    proven::keep(Agent::CLAUDE_CODE, &room.places, (&caller.program, &caller.seen), CanHold::Files).unwrap();
    let answer = room.claude("PreToolUse", "make", &json!({}));
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{answer}");
}

#[test]
fn a_policy_that_holds_nothing_rewrites_nothing() {
    let room = Room::new("default = \"ask\"\n\n[allow]\nrun = [\"make\"]\n").proven(Agent::CLAUDE_CODE);
    let answer = room.claude("PreToolUse", "make", &json!({}));
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow", "{answer}");
    assert!(answer["hookSpecificOutput"].get("updatedInput").is_none(), "{answer}");
}

#[test]
fn sayso_run_itself_is_not_wrapped_again() {
    let room = Room::new(POLICY);
    let sayso = super::sayso().unwrap();
    assert!(super::is_held_itself(&format!("{sayso} run -- make all")));
    for other in ["sayso run -- make", "/x/sayso run -- make"] {
        assert!(!super::is_held_itself(other), "{other}");
    }
    for more in ["&& evil", "> x", "| x", "; x", "& "] {
        assert!(!super::is_held_itself(&format!("{sayso} run -- make {more}")), "{more}");
    }
    assert!(!super::is_held_itself(&format!("HOME=/x {sayso} run -- make")));
    assert!(!super::is_held_itself(&format!("{sayso} run --permit 7 -- make")));
    drop(room);
}

#[test]
fn each_agent_is_told_in_its_own_words() {
    let room = |agent| Room::new(POLICY).proven(agent);
    let held = |input: &Value| {
        let line = input["command"].as_str().unwrap_or_default();
        assert!(line.contains(" run --permit ") && line.ends_with(" -c make"), "{input}");
    };

    let codex = room(Agent::CODEX);
    let event = json!({"session_id": "s", "turn_id": "u", "cwd": codex.project(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t"});
    let answer = codex.hook(Agent::CODEX, &event);
    held(&answer["hookSpecificOutput"]["updatedInput"]);
    // It takes any other field for a failure of the hook.
    let fields: Vec<&String> = answer["hookSpecificOutput"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["hookEventName", "permissionDecision", "updatedInput"], "{answer}");

    let gemini = room(Agent::GEMINI);
    let event = json!({"session_id": "s", "cwd": gemini.project(), "hook_event_name": "BeforeTool",
        "tool_name": "run_shell_command", "tool_input": {"command": "make", "is_background": false}});
    let answer = gemini.hook(Agent::GEMINI, &event);
    assert_eq!(answer["decision"], "allow", "{answer}");
    held(&answer["hookSpecificOutput"]["tool_input"]);
    // It gives calls no ids: the end is known by what ran.
    let line = answer["hookSpecificOutput"]["tool_input"]["command"].clone();
    let mut after = event.clone();
    after["hook_event_name"] = json!("AfterTool");
    after["tool_input"]["command"] = line;
    after["tool_response"] = json!({"llmContent": "x"});
    gemini.hook(Agent::GEMINI, &after);
    assert_eq!(gemini.noted(What::Unheld), 1);

    let copilot = room(Agent::COPILOT);
    let event = json!({"sessionId": "s", "timestamp": 1, "cwd": copilot.project(), "toolName": "bash",
        "toolArgs": "{\"command\": \"make\", \"description\": \"d\"}"});
    let answer = copilot.hook(Agent::COPILOT, &event);
    assert_eq!(answer["permissionDecision"], "allow", "{answer}");
    held(&answer["modifiedArgs"]);
    let mut after = event.clone();
    after["toolResult"] = json!({"resultType": "success"});
    copilot.hook(Agent::COPILOT, &after);
    assert_eq!(copilot.noted(What::Unheld), 1);

    let opencode = room(Agent::OPENCODE);
    let event = json!({"event": "tool.before", "sessionID": "s", "callID": "c", "cwd": opencode.project(),
        "directory": opencode.project(), "tool": "bash", "args": {"command": "make", "description": "d"}});
    let answer = opencode.hook(Agent::OPENCODE, &event);
    assert_eq!(answer["decision"], "allow", "{answer}");
    held(&answer["args"]);
}
