//! What agents tell besides calls: it is kept, and it decides nothing.

use crate::answer::meaning;
use crate::session::Session;
use sayso_agents::Agent;
use sayso_gate::audit::{Ended, What};
use serde_json::{Value, json};

fn told(agent: Agent, event: &Value) -> (sayso_gate::audit::Happening, &'static str) {
    let session = Session::new(agent);
    let (said, _) = meaning(agent, &session.hook(session.here(&event.to_string()).as_bytes()));
    assert!(said == "silent" || said == "nothing", "{agent}: {said}");
    assert!(session.records().is_empty(), "it is no decision");
    let mut all = session.happenings();
    assert_eq!(all.len(), 1, "{agent} {event}");
    let happening = all.remove(0);
    assert_eq!(happening.way_in, format!("hook {agent}"));
    assert_eq!(happening.workspace.as_deref(), session.project.to_str());
    (happening, said)
}

#[test]
fn how_a_call_ended_is_kept() {
    for (agent, event, expected, error) in [
        (
            Agent::CLAUDE_CODE,
            json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "$P", "tool_name": "Agent", "tool_use_id": "c1",
                "tool_input": {}, "tool_response": {"usage": {"input_tokens": 10, "output_tokens": 20}}, "duration_ms": 111}),
            Ended { ok: Some(true), duration_ms: Some(111), input_tokens: Some(10), output_tokens: Some(20) },
            None,
        ),
        (
            Agent::CLAUDE_CODE,
            json!({"hook_event_name": "PostToolUseFailure", "session_id": "s", "cwd": "$P", "tool_name": "Bash", "tool_use_id": "c1",
                "tool_input": {}, "error": "Exit code 3", "is_interrupt": false}),
            Ended { ok: Some(false), ..Ended::default() },
            Some("Exit code 3"),
        ),
        (
            Agent::CLAUDE_CODE,
            json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "$P", "tool_name": "mcp__a__b", "tool_use_id": "c1",
                "tool_input": {}, "tool_response": "text"}),
            Ended { ok: Some(true), ..Ended::default() },
            None,
        ),
        (
            Agent::CODEX,
            json!({"hook_event_name": "PostToolUse", "session_id": "s", "turn_id": "t", "cwd": "$P", "tool_name": "Bash",
                "tool_use_id": "c1", "tool_input": {"command": "ls"}, "tool_response": "x"}),
            Ended::default(),
            None,
        ),
        (
            Agent::GEMINI,
            json!({"hook_event_name": "AfterTool", "session_id": "s", "cwd": "$P", "tool_name": "read_file", "tool_input": {},
                "tool_response": {"llmContent": "x", "returnDisplay": "x", "error": {"message": "no such file"}}}),
            Ended { ok: Some(false), ..Ended::default() },
            Some("no such file"),
        ),
        (
            Agent::COPILOT,
            json!({"sessionId": "s", "timestamp": 1, "cwd": "$P", "toolName": "bash", "toolArgs": {"command": "ls"},
                "toolResult": {"resultType": "success", "textResultForLlm": "x"}}),
            Ended { ok: Some(true), ..Ended::default() },
            None,
        ),
        (
            Agent::COPILOT,
            json!({"sessionId": "s", "timestamp": 1, "cwd": "$P", "toolName": "bash", "toolArgs": "{}", "error": "boom"}),
            Ended { ok: Some(false), ..Ended::default() },
            Some("boom"),
        ),
        (
            Agent::CURSOR,
            json!({"hook_event_name": "postToolUseFailure", "conversation_id": "s", "cwd": "$P", "tool_name": "Shell",
                "tool_input": {}, "tool_use_id": "c1", "error_message": "timed out", "failure_type": "timeout", "duration": 5000}),
            Ended { ok: Some(false), duration_ms: Some(5000), ..Ended::default() },
            Some("timed out"),
        ),
        (
            Agent::OPENCODE,
            json!({"event": "tool.after", "sessionID": "s", "callID": "c1", "cwd": "$P", "directory": "$P", "tool": "bash", "ok": true,
                "durationMs": 7, "tokens": {"input": 1, "output": 2}}),
            Ended { ok: Some(true), duration_ms: Some(7), input_tokens: Some(1), output_tokens: Some(2) },
            None,
        ),
    ] {
        let (happening, _) = told(agent, &event);
        assert_eq!(happening.what, What::CallEnded, "{agent}");
        assert_eq!(happening.ended, Some(expected), "{agent}");
        assert_eq!(happening.text.as_deref(), error, "{agent}");
        assert!(happening.tool.is_some(), "{agent}");
    }
}

#[test]
fn sessions_and_subagents_are_kept() {
    for (agent, event, what) in [
        (Agent::CLAUDE_CODE, json!({"hook_event_name": "SessionStart", "source": "startup"}), What::SessionStarted),
        (Agent::CLAUDE_CODE, json!({"hook_event_name": "SessionEnd", "reason": "exit"}), What::SessionEnded),
        (
            Agent::CLAUDE_CODE,
            json!({"hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": "x"}),
            What::SubagentStarted,
        ),
        (Agent::CODEX, json!({"hook_event_name": "SessionStart", "source": "startup"}), What::SessionStarted),
        (
            Agent::CODEX,
            json!({"hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": "x"}),
            What::SubagentStarted,
        ),
        (Agent::GEMINI, json!({"hook_event_name": "SessionStart", "source": "startup"}), What::SessionStarted),
        (Agent::GEMINI, json!({"hook_event_name": "SessionEnd", "reason": "exit"}), What::SessionEnded),
        (Agent::COPILOT, json!({"timestamp": 1, "source": "new", "initialPrompt": "x"}), What::SessionStarted),
        (Agent::COPILOT, json!({"timestamp": 1, "reason": "complete"}), What::SessionEnded),
        (
            Agent::COPILOT,
            json!({"timestamp": 1, "agentName": "explore", "transcriptPath": "/t"}),
            What::SubagentStarted,
        ),
        (Agent::COPILOT, json!({"hook_event_name": "SessionStart", "source": "new"}), What::SessionStarted),
        (Agent::CURSOR, json!({"hook_event_name": "sessionStart", "workspace_roots": ["$P"]}), What::SessionStarted),
        (Agent::CURSOR, json!({"hook_event_name": "sessionEnd", "reason": "completed"}), What::SessionEnded),
        (Agent::OPENCODE, json!({"event": "session.start", "directory": "$P"}), What::SessionStarted),
        (Agent::OPENCODE, json!({"event": "subagent.start", "parentSessionID": "p"}), What::SubagentStarted),
        (Agent::OPENCLAW, json!({"event": "session.end"}), What::SessionEnded),
    ] {
        let mut event = event;
        event["cwd"] = "$P".into();
        for key in ["session_id", "sessionId", "sessionID"] {
            event[key] = "s".into();
        }
        assert_eq!(told(agent, &event).0.what, what, "{agent} {event}");
    }
}

#[test]
fn settings_that_change_while_an_agent_runs_are_told_loudly() {
    let event = json!({"hook_event_name": "ConfigChange", "session_id": "s", "cwd": "$P", "source": "user_settings",
        "file_path": "/home/x/.claude/settings.json"});
    let (happening, said) = told(Agent::CLAUDE_CODE, &event);
    assert_eq!(happening.what, What::SettingsChanged);
    assert_eq!(happening.text.as_deref(), Some("user_settings: /home/x/.claude/settings.json"));
    // Claude Code shows it to whoever sits before it.
    assert_eq!(said, "nothing");
    let event =
        json!({"event": "config.change", "sessionID": "s", "cwd": "$P", "directory": "$P", "file": "opencode.json"});
    assert_eq!(told(Agent::OPENCODE, &event).0.what, What::SettingsChanged);
}
