//! One call of which two hooks are told is recorded once, and judged twice.

use crate::answer::meaning;
use crate::session::Session;
use sayso_agents::{Agent, run_hook};
use serde_json::json;

/// Cursor runs Sayso's hook and, for the same call, the one in Claude Code's settings.
fn events(command: &str, id: &str) -> (String, String) {
    let input = json!({"command": command});
    let cursor = json!({"hook_event_name": "preToolUse", "conversation_id": "s", "workspace_roots": ["$P"], "cwd": "$P",
        "tool_name": "Shell", "tool_input": input, "tool_use_id": id});
    let claude = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "$P", "tool_name": "Bash",
        "tool_input": input, "tool_use_id": id});
    (cursor.to_string(), claude.to_string())
}

fn both(session: &Session, command: &str, id: &str) -> (&'static str, &'static str) {
    let (cursor, claude) = events(command, id);
    let (first, _) = meaning(Agent::CURSOR, &session.hook(session.here(&cursor).as_bytes()));
    let mut other = session.setting.clone();
    other.told_twice = true;
    let (second, _) =
        meaning(Agent::CLAUDE_CODE, &run_hook(Agent::CLAUDE_CODE, session.here(&claude).as_bytes(), &other));
    (first, second)
}

#[test]
fn two_hooks_of_one_call_make_one_record_and_say_the_same() {
    let session = Session::new(Agent::CURSOR);
    for (id, command, said) in [("1", "touch a", "allow"), ("2", "git push --force", "deny"), ("3", "mkdir d", "ask")] {
        assert_eq!(both(&session, command, id), (said, said));
    }
    let told: Vec<_> = session.records().into_iter().map(|record| record.call_id.unwrap()).collect();
    assert_eq!(told, ["1", "2", "3"]);
}

#[test]
fn another_call_with_the_same_id_is_judged_and_recorded_on_its_own() {
    let session = Session::new(Agent::CURSOR);
    assert_eq!(both(&session, "touch a", "1").0, "allow");
    // The id of a call that was allowed makes nothing else allowed, and hides nothing.
    assert_eq!(both(&session, "git push --force", "1"), ("deny", "deny"));
    assert_eq!(both(&session, "touch b", "1").0, "allow");
    let commands: Vec<_> = session.records().into_iter().map(|record| record.command.unwrap()).collect();
    assert_eq!(commands, ["touch a", "git push --force", "touch b"]);
}

#[test]
fn the_same_call_is_recorded_again_where_the_answer_is_another() {
    let mut session = Session::new(Agent::CURSOR);
    both(&session, "touch a", "1");
    session.setting.given.as_mut().unwrap()[0].text = "default = \"deny\"\n".into();
    assert_eq!(both(&session, "touch a", "1"), ("deny", "deny"));
    assert_eq!(session.records().len(), 2);
}

#[test]
fn without_an_id_every_call_is_recorded() {
    let session = Session::new(Agent::COPILOT);
    let event = session.here(
        &json!({"sessionId": "s", "cwd": "$P", "toolName": "bash", "toolArgs": {"command": "touch a"}}).to_string(),
    );
    session.hook(event.as_bytes());
    session.hook(event.as_bytes());
    assert_eq!(session.records().len(), 2);
}

#[test]
fn a_mark_whose_maker_wrote_no_record_hides_nothing() {
    let session = Session::new(Agent::CURSOR);
    both(&session, "touch a", "1");
    let folder = session.setting.places.state.join("told");
    for entry in std::fs::read_dir(&folder).unwrap() {
        std::fs::write(entry.unwrap().path(), "").unwrap();
    }
    both(&session, "touch a", "1");
    assert_eq!(session.records().len(), 3, "the first of them again, and its double left to it or recorded");
}

#[test]
fn what_cannot_be_recorded_does_not_run_and_leaves_no_mark() {
    let session = Session::new(Agent::CURSOR);
    std::fs::create_dir_all(session.setting.places.state.join("spool/current.jsonl")).unwrap();
    assert_eq!(both(&session, "touch a", "1"), ("deny", "deny"));
    assert_eq!(std::fs::read_dir(session.setting.places.state.join("told")).unwrap().count(), 0);
}

const LIMITED: &str =
    "[allow]\nrun = [\"touch\"]\nwrite = [\"./**\"]\n[limits.session]\ncalls = 2\nat_limit = \"deny\"\n";

#[test]
fn a_call_that_two_events_tell_of_counts_once() {
    let session = Session::with(Agent::CLAUDE_CODE, LIMITED);
    let tell = |event: &str, command: &str, id: Option<&str>| {
        let event = json!({"hook_event_name": event, "session_id": "s", "cwd": "$P", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": id});
        meaning(Agent::CLAUDE_CODE, &session.hook(session.here(&event.to_string()).as_bytes())).0
    };
    for (command, id) in [("touch a", "1"), ("touch b", "2")] {
        assert_eq!(tell("PreToolUse", command, Some(id)), "allow");
        assert_eq!(tell("PermissionRequest", command, None), "allow");
    }
    assert_eq!(tell("PreToolUse", "touch c", Some("3")), "deny");
}

#[test]
fn a_later_event_counts_where_no_earlier_one_did() {
    let session = Session::with(Agent::CLAUDE_CODE, LIMITED);
    let tell = |event: &str, command: &str| {
        let event = json!({"hook_event_name": event, "session_id": "s", "cwd": "$P", "tool_name": "Bash",
            "tool_input": {"command": command}});
        meaning(Agent::CLAUDE_CODE, &session.hook(session.here(&event.to_string()).as_bytes())).0
    };
    assert_eq!(tell("PreToolUse", "touch a"), "allow");
    // The first is given back by what the earlier event left; for the second nothing is left.
    assert_eq!(tell("PermissionRequest", "touch a"), "allow");
    assert_eq!(tell("PermissionRequest", "touch a"), "allow");
    assert_eq!(tell("PermissionRequest", "touch a"), "deny");
}

#[test]
fn cursors_events_of_one_command_count_it_once() {
    let session = Session::with(Agent::CURSOR, LIMITED);
    for (command, id, said) in [("touch a", "1", "allow"), ("touch b", "2", "allow"), ("touch c", "3", "deny")] {
        let (cursor, _) = events(command, id);
        let shell = json!({"hook_event_name": "beforeShellExecution", "conversation_id": "s", "workspace_roots": ["$P"],
            "cwd": "$P", "command": command});
        for event in [&cursor, &shell.to_string()] {
            assert_eq!(meaning(Agent::CURSOR, &session.hook(session.here(event).as_bytes())).0, said, "{event}");
        }
    }
}

#[test]
fn an_agent_that_gives_every_call_the_same_id_is_counted_all_the_same() {
    let session = Session::with(Agent::CURSOR, LIMITED);
    let (cursor, _) = events("touch a", "1");
    for said in ["allow", "allow", "deny"] {
        assert_eq!(meaning(Agent::CURSOR, &session.hook(session.here(&cursor).as_bytes())).0, said);
    }
}

#[test]
fn what_a_call_used_is_counted_when_it_ended() {
    let policy = LIMITED.replace("calls = 2", "tokens = 100");
    let session = Session::with(Agent::CLAUDE_CODE, &policy);
    let tell = |event: serde_json::Value| {
        let mut event = event;
        event["session_id"] = "s".into();
        event["cwd"] = "$P".into();
        meaning(Agent::CLAUDE_CODE, &session.hook(session.here(&event.to_string()).as_bytes())).0
    };
    let before = |id: &str| json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "touch a"}, "tool_use_id": id});
    assert_eq!(tell(before("1")), "allow");
    let usage = json!({"usage": {"input_tokens": 60, "output_tokens": 60}});
    tell(
        json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "tool_use_id": "1", "tool_response": usage}),
    );
    assert_eq!(tell(before("2")), "deny");
}

/// What Copilot tells of a write and of a call of an MCP server: before the tool, and where its permission is asked for.
fn copilot(session: &Session, event: serde_json::Value) -> &'static str {
    meaning(Agent::COPILOT, &session.hook(session.here(&event.to_string()).as_bytes())).0
}

fn before(tool: &str, arguments: serde_json::Value) -> serde_json::Value {
    json!({"sessionId": "s", "cwd": "$P", "toolName": tool, "toolArgs": arguments})
}

fn permission(tool: &str, input: serde_json::Value) -> serde_json::Value {
    json!({"hookName": "permissionRequest", "sessionId": "s", "cwd": "$P", "toolName": tool, "toolInput": input})
}

fn write(name: &str) -> [serde_json::Value; 2] {
    let path = format!("$P/{name}");
    [
        before("create", json!({"path": path, "file_text": "x"})),
        permission("edit", json!({"file_path": path, "diff": "+x"})),
    ]
}

const FOUR: &str = "[allow]\nread = [\"./**\"]\nwrite = [\"./**\"]\ntool = [\"mcp:demo/echo\"]\n[deny]\nwrite = [\"./no*\"]\n[limits.session]\ncalls = 4\nat_limit = \"deny\"\n";

#[test]
fn copilots_writes_and_mcp_calls_count_and_are_recorded_once() {
    let session = Session::with(Agent::COPILOT, FOUR);
    let echo =
        |text: &str| [before("demo-echo", json!({"text": text})), permission("demo/echo", json!({"text": text}))];
    for events in [write("a"), echo("1"), write("b"), echo("2")] {
        for event in events {
            assert_eq!(copilot(&session, event.clone()), "allow", "{event}");
        }
    }
    assert_eq!(session.records().len(), 4);
    assert_eq!(copilot(&session, write("c")[0].clone()), "deny");
}

#[test]
fn a_second_write_of_the_same_file_counts_and_is_recorded() {
    let session = Session::with(Agent::COPILOT, FOUR);
    for _ in 0..4 {
        for event in write("a") {
            assert_eq!(copilot(&session, event), "allow");
        }
    }
    assert_eq!(session.records().len(), 4);
    assert_eq!(copilot(&session, write("a")[0].clone()), "deny");
}

#[test]
fn a_permission_that_no_call_came_before_counts_and_what_is_denied_there_is_recorded() {
    let session = Session::with(Agent::COPILOT, FOUR);
    let [_, asked] = write("a");
    for _ in 0..4 {
        assert_eq!(copilot(&session, asked.clone()), "allow");
    }
    assert_eq!(copilot(&session, asked), "deny");
    assert_eq!(session.records().len(), 5);
    // The same path, and another answer by then.
    let mut session = Session::with(Agent::COPILOT, FOUR);
    let [first, later] = write("a");
    assert_eq!(copilot(&session, first), "allow");
    session.setting.given.as_mut().unwrap()[0].text = "default = \"deny\"\n".into();
    assert_eq!(copilot(&session, later), "deny");
    assert_eq!(session.records().len(), 2);
}

#[test]
fn a_subagent_of_copilots_is_of_the_session_that_started_it() {
    let session = Session::with(Agent::COPILOT, FOUR);
    for (number, agent) in ["x", "y", "z", "w"].iter().enumerate() {
        let path = format!("$P/{number}");
        let mut event = before("create", json!({"path": path, "file_text": "x"}));
        event["sessionId"] = json!(agent);
        event["agentId"] = json!(agent);
        event["parentAgentId"] = json!("s");
        assert_eq!(copilot(&session, event), "allow");
    }
    // The budget is the session's.
    assert_eq!(copilot(&session, write("c")[0].clone()), "deny");
    let actors: Vec<_> = session.records().into_iter().map(|record| record.actor).collect();
    assert!(actors.iter().all(|actor| actor.session.as_deref() == Some("s")), "{actors:?}");
    assert!(actors.iter().take(4).all(|actor| actor.subagent), "{actors:?}");
}
