//! Calls in transcripts, as the real agents leave them, against decisions on record.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_agents::Agent;
use sayso_agents::reconcile::{Read, TranscriptCall, Transcripts, uncovered};
use sayso_gate::Record;
use serde_json::{Value, json};
use std::path::Path;

const SESSION: &str = "5e551011";

fn transcripts(home: &Path) -> Transcripts {
    Transcripts { home: home.to_owned(), variable: |_| None, since_ms: 0 }
}

fn put(home: &Path, path: &str, lines: &[Value]) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(path, text).unwrap();
}

fn record(agent: Agent, call_id: Option<&str>, name: &str, arguments: Value) -> Record {
    serde_json::from_value(json!({
        "id": "1", "time_ms": 1, "way_in": format!("hook {agent}"), "call_id": call_id,
        "actor": {"agent": agent.name(), "session": SESSION}, "tool": "bash_execute", "arguments": arguments,
        "called_as": {"name": name}, "verdict": "allow", "answer": "allow", "reasons": [], "effects": [],
        "policy": "", "micros": 0}))
    .unwrap()
}

/// Writes two calls of an agent's shell as that agent writes them down. -> the shell's name, the argument's, the ids
fn leave(agent: Agent, home: &Path, commands: &[&str]) -> (&'static str, &'static str) {
    let each = commands.iter().enumerate();
    match agent.name() {
        "claude-code" => {
            let line = |(n, command): (usize, &&str)| {
                json!({"type": "assistant", "sessionId": SESSION, "timestamp": "2026-11-15T12:02:36.528Z", "message": {
                    "role": "assistant", "content": [{"type": "text", "text": "x"},
                    {"type": "tool_use", "id": format!("id{n}"), "name": "Bash", "input": {"command": command}}]}})
            };
            put(home, ".claude/projects/-p/5e551011.jsonl", &each.map(line).collect::<Vec<_>>());
            ("Bash", "command")
        }
        "codex" => {
            let mut lines = vec![json!({"type": "session_meta", "payload": {"id": SESSION}})];
            lines.extend(each.map(|(n, command)| {
                json!({"timestamp": "2026-11-15T12:02:38.756Z", "type": "response_item", "payload": {"type": "function_call",
                    "name": "exec_command", "arguments": json!({"cmd": command}).to_string(), "call_id": format!("id{n}")}})
            }));
            put(home, ".codex/sessions/2026/11/15/rollout-x.jsonl", &lines);
            ("exec_command", "cmd")
        }
        "gemini" => {
            let mut lines = vec![json!({"sessionId": SESSION, "kind": "main"})];
            for (n, command) in each {
                let call = json!({"id": format!("id{n}"), "name": "run_shell_command", "args": {"command": command}});
                // A message is written again when its calls are done.
                lines.push(json!({"id": "m", "type": "gemini", "toolCalls": [call]}));
                lines.push(json!({"id": "m", "type": "gemini", "toolCalls": [call]}));
            }
            put(home, ".gemini/tmp/p/chats/session-x.jsonl", &lines);
            ("run_shell_command", "command")
        }
        "copilot" => {
            let line = |(n, command): (usize, &&str)| {
                json!({"type": "tool.execution_start", "timestamp": "2026-11-15T12:02:55.197Z", "data": {
                    "toolCallId": format!("id{n}"), "toolName": "bash", "arguments": {"command": command}}})
            };
            put(home, ".copilot/session-state/5e551011/events.jsonl", &each.map(line).collect::<Vec<_>>());
            ("bash", "command")
        }
        "opencode" => {
            let folder = home.join(".local/share/opencode");
            std::fs::create_dir_all(&folder).unwrap();
            let database = rusqlite::Connection::open(folder.join("opencode.db")).unwrap();
            database
                .execute_batch("CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text)")
                .unwrap();
            for (n, command) in each {
                let data = json!({"type": "tool", "tool": "bash", "callID": format!("id{n}"), "state": {"input": {"command": command}}});
                database
                    .execute(
                        "INSERT INTO part VALUES (?1, 'm', ?2, 1794744188362, 1, ?3)",
                        (n.to_string(), SESSION, data.to_string()),
                    )
                    .unwrap();
            }
            ("bash", "command")
        }
        _ => unreachable!(),
    }
}

const AGENTS: [Agent; 5] = [Agent::CLAUDE_CODE, Agent::CODEX, Agent::GEMINI, Agent::COPILOT, Agent::OPENCODE];

fn commands(calls: &[TranscriptCall], key: &str) -> Vec<String> {
    calls.iter().map(|call| call.arguments[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn calls_that_no_decision_covers_are_found() {
    for agent in AGENTS {
        let home = tempfile::tempdir().unwrap();
        let (name, key) = leave(agent, home.path(), &["ls", "ls", "rm -r x"]);
        let Read { calls, skipped, transcripts, .. } = transcripts(home.path()).read(agent).unwrap();
        assert_eq!((calls.len(), skipped.len(), transcripts), (3, 0, 1), "{agent}");
        assert_eq!(uncovered(calls.clone(), &[]).len(), 3, "{agent}");
        // By the id of the call.
        let records = [record(agent, Some("id2"), name, json!({}))];
        assert_eq!(commands(&uncovered(calls.clone(), &records), key), ["ls", "ls"], "{agent}");
        // By what it was, for agents whose hooks are not told an id; each decision covers one call.
        let records = [record(agent, None, name, json!({key: "ls"}))];
        assert_eq!(commands(&uncovered(calls.clone(), &records), key), ["ls", "rm -r x"], "{agent}");
        // Not by those of another session, agent or tool.
        let mut other = record(agent, Some("id0"), name, json!({key: "ls"}));
        other.actor.session = Some("another".to_owned());
        assert_eq!(uncovered(calls.clone(), &[other]).len(), 3, "{agent}");
        let another = record(agent, None, "other", json!({key: "ls"}));
        assert_eq!(uncovered(calls, &[another]).len(), 3, "{agent}");
    }
}

#[test]
fn what_is_shown_holds_no_secret_and_still_matches() {
    let home = tempfile::tempdir().unwrap();
    let secret = format!("curl -H 'Authorization: Bearer ghp_{}' x", "a".repeat(36));
    leave(Agent::GEMINI, home.path(), &[&secret]);
    let calls = transcripts(home.path()).read(Agent::GEMINI).unwrap().calls;
    assert!(!calls[0].arguments.to_string().contains("ghp_"), "{:?}", calls[0]);
    let kept = sayso_gate::audit::redact_arguments(&json!({"command": secret}), 4096);
    assert!(uncovered(calls, &[record(Agent::GEMINI, None, "run_shell_command", kept)]).is_empty());
}

#[test]
fn transcripts_that_are_damaged_or_hostile_are_read_as_far_as_they_go() {
    for agent in AGENTS {
        let home = tempfile::tempdir().unwrap();
        let deep = format!("{{\"toolCalls\": {}1{}, \"tool_use\": 1}}\n", "[".repeat(5000), "]".repeat(5000));
        let odd = [
            deep.as_str(),
            "\u{0}\u{0}\n",
            "[]\n",
            "null\n",
            "{\"payload\": 7, \"type\": \"session_meta\"}\n",
            "{\"message\": {\"content\": {\"type\": \"tool_use\"}}}\n",
            "{\"type\": \"tool.execution_start\", \"data\": []}\n",
            "{\"$set\": {\"messages\": 4}, \"sessionId\": [], \"toolCalls\": {}}\n",
            "{\"toolCalls\": [1, null, {\"id\": {}}]}\n",
        ];
        for path in [
            ".claude/projects/-p/a.jsonl",
            ".codex/sessions/rollout-a.jsonl",
            ".gemini/tmp/p/chats/a.jsonl",
            ".gemini/tmp/p/chats/a.json",
            ".copilot/session-state/s/events.jsonl",
            ".local/share/opencode/opencode.db",
        ] {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, odd.concat()).unwrap();
        }
        let read = transcripts(home.path()).read(agent).unwrap();
        assert!(read.calls.len() <= 4, "{agent}: {:?}", read.calls);
        // A line without a word of the agent's is nobody's business.
        let reads_it = matches!(agent.name(), "claude-code" | "gemini" | "opencode");
        assert_eq!(!read.skipped.is_empty(), reads_it, "{agent}: {:?}", read.skipped);
    }
}

#[test]
fn a_time_can_be_the_beginning() {
    let home = tempfile::tempdir().unwrap();
    leave(Agent::CODEX, home.path(), &["ls"]);
    let mut from = transcripts(home.path());
    from.since_ms = 1_794_744_158_756;
    assert_eq!(from.read(Agent::CODEX).unwrap().calls.len(), 1);
    from.since_ms += 1;
    assert_eq!(from.read(Agent::CODEX).unwrap().calls.len(), 0);
}

#[test]
fn a_database_behind_a_link_is_not_opened() {
    let home = tempfile::tempdir().unwrap();
    leave(Agent::OPENCODE, home.path(), &["ls"]);
    let database = home.path().join(".local/share/opencode/opencode.db");
    std::fs::rename(&database, home.path().join("moved.db")).unwrap();
    std::os::unix::fs::symlink(home.path().join("moved.db"), &database).unwrap();
    assert_eq!(transcripts(home.path()).read(Agent::OPENCODE).unwrap().transcripts, 0);
}

/// A decision on a subagent's call: of the session that started it, in a run of its own.
fn inner(agent: Agent, call_id: Option<&str>, name: &str, arguments: Value) -> Record {
    let mut record = record(agent, call_id, name, arguments);
    let main = record.actor.clone();
    record.actor.run = Some("5ub".to_owned());
    record.actor.subagent = true;
    record.actor.parent = Some(Box::new(main));
    record
}

#[test]
fn a_subagents_calls_are_covered_by_their_decisions_and_by_no_others() {
    for agent in [Agent::CODEX, Agent::GEMINI, Agent::COPILOT, Agent::OPENCODE] {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let (name, arguments, id) = match agent.name() {
            "codex" => {
                let call = json!({"type": "function_call", "name": "exec_command", "call_id": "in",
                    "arguments": json!({"cmd": "ls"}).to_string()});
                put(
                    home,
                    ".codex/sessions/2026/11/16/rollout-y.jsonl",
                    &[
                        json!({"type": "session_meta", "payload": {"id": "5ub"}}),
                        json!({"type": "response_item", "payload": call}),
                    ],
                );
                ("exec_command", json!({"cmd": "ls"}), Some("in"))
            }
            "gemini" => {
                let call = json!({"id": "in", "name": "run_shell_command", "args": {"command": "ls"}});
                put(
                    home,
                    &format!(".gemini/tmp/p/chats/{SESSION}/5ub.jsonl"),
                    &[
                        json!({"sessionId": "5ub", "kind": "subagent"}),
                        json!({"id": "m", "type": "gemini", "toolCalls": [call]}),
                    ],
                );
                ("run_shell_command", json!({"command": "ls"}), None)
            }
            "copilot" => {
                put(
                    home,
                    &format!(".copilot/session-state/{SESSION}/events.jsonl"),
                    &[json!({
                    "type": "tool.execution_start", "agentId": "5ub", "data": {"toolCallId": "in", "toolName": "bash",
                    "arguments": {"command": "ls"}, "parentToolCallId": "x"}})],
                );
                ("bash", json!({"command": "ls"}), None)
            }
            _ => {
                let folder = home.join(".local/share/opencode");
                std::fs::create_dir_all(&folder).unwrap();
                let database = rusqlite::Connection::open(folder.join("opencode.db")).unwrap();
                let part =
                    json!({"type": "tool", "tool": "bash", "callID": "in", "state": {"input": {"command": "ls"}}});
                database
                    .execute_batch("CREATE TABLE part (id text, message_id text, session_id text, time_created integer, time_updated integer, data text)")
                    .unwrap();
                database.execute("INSERT INTO part VALUES ('1', 'm', '5ub', 1, 1, ?1)", [part.to_string()]).unwrap();
                ("bash", json!({"command": "ls"}), Some("in"))
            }
        };
        let calls = transcripts(home).read(agent).unwrap().calls;
        assert_eq!(calls.len(), 1, "{agent}");
        assert_eq!(uncovered(calls.clone(), &[]).len(), 1, "{agent}");
        let decision = match agent.name() {
            // Its hooks are not told of subagents.
            "gemini" => record(agent, id, name, arguments.clone()),
            _ => inner(agent, id, name, arguments.clone()),
        };
        assert_eq!(uncovered(calls.clone(), &[decision]), [], "{agent}");
        // Another subagent's, and another session's.
        let mut other = inner(agent, id, name, arguments);
        other.actor.run = Some("other".to_owned());
        other.actor.session = Some("other".to_owned());
        other.actor.parent = None;
        assert_eq!(uncovered(calls, &[other]).len(), 1, "{agent}");
    }
}

#[test]
fn a_decision_on_a_subagents_call_covers_one_call() {
    let dir = tempfile::tempdir().unwrap();
    let line = |agent: Option<&str>| json!({"type": "tool.execution_start", "agentId": agent, "data": {"toolName": "bash", "arguments": {"command": "ls"}}});
    put(dir.path(), &format!(".copilot/session-state/{SESSION}/events.jsonl"), &[line(Some("5ub")), line(None)]);
    let calls = transcripts(dir.path()).read(Agent::COPILOT).unwrap().calls;
    let decision = inner(Agent::COPILOT, None, "bash", json!({"command": "ls"}));
    assert_eq!(uncovered(calls, &[decision]).len(), 1);
}

#[test]
fn calls_of_mcp_servers_are_covered_however_an_agent_spells_them() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    put(
        home,
        ".gemini/tmp/p/chats/session-x.jsonl",
        &[
            json!({"sessionId": SESSION, "kind": "main"}),
            json!({"toolCalls": [{"id": "1", "name": "mcp_demo_echo", "args": {"text": "yo"}}]}),
        ],
    );
    put(
        home,
        &format!(".copilot/session-state/{SESSION}/events.jsonl"),
        &[json!({"type": "tool.execution_start",
        "data": {"toolCallId": "1", "toolName": "demo-echo", "arguments": {"text": "yo"}}})],
    );
    for (agent, name, server) in [(Agent::GEMINI, "echo", Some("demo")), (Agent::COPILOT, "mcp-demo-echo", None)] {
        let calls = transcripts(home).read(agent).unwrap().calls;
        let decided = |name: &str, text: &str| {
            let mut record = record(agent, None, name, json!({"text": text}));
            record.called_as.server = server.map(str::to_owned);
            record
        };
        assert_eq!(uncovered(calls.clone(), &[decided(name, "yo")]), [], "{agent}");
        assert_eq!(uncovered(calls.clone(), &[decided(name, "other")]).len(), 1, "{agent}");
        assert_eq!(uncovered(calls, &[decided("other", "yo")]).len(), 1, "{agent}");
    }
}
