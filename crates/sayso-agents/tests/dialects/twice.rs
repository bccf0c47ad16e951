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
    let (first, _) = meaning(Agent::Cursor, &session.hook(session.here(&cursor).as_bytes()));
    let mut other = session.setting.clone();
    other.told_twice = true;
    let (second, _) =
        meaning(Agent::ClaudeCode, &run_hook(Agent::ClaudeCode, session.here(&claude).as_bytes(), &other));
    (first, second)
}

#[test]
fn two_hooks_of_one_call_make_one_record_and_say_the_same() {
    let session = Session::new(Agent::Cursor);
    for (id, command, said) in [("1", "touch a", "allow"), ("2", "git push --force", "deny"), ("3", "mkdir d", "ask")] {
        assert_eq!(both(&session, command, id), (said, said));
    }
    let told: Vec<_> = session.records().into_iter().map(|record| record.call_id.unwrap()).collect();
    assert_eq!(told, ["1", "2", "3"]);
}

#[test]
fn another_call_with_the_same_id_is_judged_and_recorded_on_its_own() {
    let session = Session::new(Agent::Cursor);
    assert_eq!(both(&session, "touch a", "1").0, "allow");
    // The id of a call that was allowed makes nothing else allowed, and hides nothing.
    assert_eq!(both(&session, "git push --force", "1"), ("deny", "deny"));
    assert_eq!(both(&session, "touch b", "1").0, "allow");
    let commands: Vec<_> = session.records().into_iter().map(|record| record.command.unwrap()).collect();
    assert_eq!(commands, ["touch a", "git push --force", "touch b"]);
}

#[test]
fn the_same_call_is_recorded_again_where_the_answer_is_another() {
    let mut session = Session::new(Agent::Cursor);
    both(&session, "touch a", "1");
    session.setting.given.as_mut().unwrap()[0].text = "default = \"deny\"\n".into();
    assert_eq!(both(&session, "touch a", "1"), ("deny", "deny"));
    assert_eq!(session.records().len(), 2);
}

#[test]
fn without_an_id_every_call_is_recorded() {
    let session = Session::new(Agent::Copilot);
    let event = session.here(
        &json!({"sessionId": "s", "cwd": "$P", "toolName": "bash", "toolArgs": {"command": "touch a"}}).to_string(),
    );
    session.hook(event.as_bytes());
    session.hook(event.as_bytes());
    assert_eq!(session.records().len(), 2);
}

#[test]
fn a_mark_whose_maker_wrote_no_record_hides_nothing() {
    let session = Session::new(Agent::Cursor);
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
    let session = Session::new(Agent::Cursor);
    std::fs::create_dir_all(session.setting.places.state.join("spool/current.jsonl")).unwrap();
    assert_eq!(both(&session, "touch a", "1"), ("deny", "deny"));
    assert_eq!(std::fs::read_dir(session.setting.places.state.join("told")).unwrap().count(), 0);
}
