//! Where an approver is connected, a call waits for their answer and goes on with it.

use crate::answer::meaning;
use crate::session::Session;
use sayso_agents::Agent;
use sayso_gate::approval::{Presence, Reply};
use sayso_gate::store::Answering;
use sayso_gate::{Memory, ProcessEnvironment, RealFiles};
use sayso_policy::{Facts, Person};
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn event(agent: Agent) -> Value {
    let input = json!({"command": "mkdir d"});
    match agent.name() {
        "claude-code" | "codex" => json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "$P",
            "tool_name": "Bash", "tool_input": input, "tool_use_id": "t"}),
        "gemini" => json!({"hook_event_name": "BeforeTool", "session_id": "s", "cwd": "$P",
            "tool_name": "run_shell_command", "tool_input": input}),
        "copilot" => json!({"sessionId": "s", "cwd": "$P", "toolName": "bash", "toolArgs": input}),
        "cursor" => json!({"hook_event_name": "beforeShellExecution", "conversation_id": "s", "cwd": "$P",
            "workspace_roots": ["$P"], "command": "mkdir d"}),
        _ => json!({"event": "tool.before", "sessionID": "s", "callID": "c", "cwd": "$P", "directory": "$P",
            "tool": "bash", "args": input}),
    }
}

fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// What the agent hears while somebody is there who gives this answer.
fn answered(agent: Agent, reply: &Reply) -> &'static str {
    let mut session = Session::new(agent);
    session.setting.wait = Some(Duration::from_secs(60));
    let memory = Memory::of(&session.setting.places);
    let store = memory.store().unwrap();
    let person = Person::named("ann");
    store.attend(&Presence { id: "ann".into(), person: person.clone(), via: "test".into() }, now()).unwrap();
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let deadline = Instant::now() + Duration::from_secs(40);
            loop {
                if let Some(first) = store.approvals(true, 10).unwrap().first() {
                    let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
                    let id = &first.question.id;
                    let answer =
                        Answering { id, person: &person, via: "test", reply, policy: None, facts, now_ms: now() };
                    return store.answer(&answer).map(|_| ()).unwrap();
                }
                assert!(Instant::now() < deadline, "no question came");
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let (said, _) = meaning(agent, &session.hook(session.here(&event(agent).to_string()).as_bytes()));
        answering.join().unwrap();
        said
    })
}

#[test]
fn a_yes_or_a_no_from_the_queue_reaches_every_agent() {
    for agent in Agent::ALL.iter().copied().filter(|agent| agent.has_hooks()) {
        let yes = if agent == Agent::CODEX { "silent" } else { "allow" };
        assert_eq!(answered(agent, &Reply::allow_once()), yes, "{agent}");
        assert_eq!(answered(agent, &Reply::deny()), "deny", "{agent}");
    }
}
