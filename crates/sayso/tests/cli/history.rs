//! `sayso history`: fixture homes of five agents.

use crate::person::Person;
use serde_json::{Value, json};
use std::path::Path;

fn put(home: &Path, path: &str, lines: &[Value]) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

/// Three calls of each agent: one that ran, one that failed, one that a person refused after two seconds, as each agent
/// writes them down; those of Copilot CLI with the time that each waited.
fn five_agents(person: &Person) {
    let (home, project) = (person.home(), person.project());
    let at = |second: u32| format!("2026-11-15T12:02:{second:02}.000Z");
    let commands = ["acmectl status a", "acmectl status b", "rm -rf src"];

    let mut claude = Vec::new();
    for (n, command) in (0_u32..).zip(commands) {
        let common = json!({"sessionId": "s1", "cwd": project, "isSidechain": false, "version": "2.1.325"});
        let mut made = common.clone();
        made["timestamp"] = at(10 * n).into();
        made["message"] = json!({"content": [{"type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": {"command": command}}]});
        let mut ended = common;
        ended["timestamp"] = at(10 * n + 2).into();
        let content =
            ["ok", "Exit code 1", "The user doesn't want to proceed with this tool use. The tool use was rejected."];
        ended["message"] = json!({"content": [{"type": "tool_result", "tool_use_id": format!("t{n}"), "is_error": n > 0, "content": content[n as usize]}]});
        claude.extend([made, ended]);
    }
    put(&home, ".claude/projects/-p/s1.jsonl", &claude);

    let mut codex = vec![json!({"type": "session_meta", "payload": {"id": "s2", "cwd": project}})];
    for (n, command) in (0_u32..).zip(commands) {
        let output =
            ["Process exited with code 0\nok", "Process exited with code 1\n", "exec command rejected by user"];
        codex.push(json!({"timestamp": at(10 * n), "type": "response_item", "payload": {"type": "function_call",
            "name": "exec_command", "arguments": json!({"cmd": command}).to_string(), "call_id": format!("c{n}")}}));
        codex.push(json!({"timestamp": at(10 * n + 2), "type": "response_item", "payload": {
            "type": "function_call_output", "call_id": format!("c{n}"), "output": output[n as usize]}}));
    }
    put(&home, ".codex/sessions/2026/11/15/rollout-x.jsonl", &codex);

    let mut gemini = vec![json!({"sessionId": "s3", "kind": "main"})];
    for (n, command) in (0_u32..).zip(commands) {
        let status = ["success", "error", "cancelled"][n as usize];
        let call = json!({"id": format!("g{n}"), "name": "run_shell_command", "args": {"command": command},
            "status": status, "timestamp": at(n)});
        gemini.push(json!({"id": "m", "type": "gemini", "toolCalls": [call]}));
    }
    put(&home, ".gemini/tmp/p/chats/session-x.jsonl", &gemini);
    std::fs::write(home.join(".gemini/tmp/p/.project_root"), project.to_str().unwrap()).unwrap();

    let mut copilot = vec![json!({"type": "session.start", "data": {"context": {"cwd": project}}})];
    for (n, command) in (0_u32..).zip(commands) {
        let event = |kind: &str, second: u32, data: Value| json!({"type": kind, "timestamp": at(second), "data": data});
        let (call, request) = (format!("p{n}"), format!("r{n}"));
        let result = if n == 2 { "denied-interactively-by-user" } else { "approved" };
        copilot.push(event(
            "tool.execution_start",
            10 * n,
            json!({"toolCallId": call, "toolName": "bash", "arguments": {"command": command}}),
        ));
        copilot.push(event(
            "permission.requested",
            10 * n,
            json!({"requestId": request, "permissionRequest": {"kind": "shell", "toolCallId": call}}),
        ));
        copilot.push(event(
            "permission.completed",
            10 * n + 2,
            json!({"requestId": request, "result": {"kind": result}}),
        ));
        copilot.push(event("tool.execution_complete", 10 * n + 3, json!({"toolCallId": call, "success": n == 0})));
    }
    put(&home, ".copilot/session-state/s4/events.jsonl", &copilot);

    let folder = home.join(".local/share/opencode");
    std::fs::create_dir_all(&folder).unwrap();
    let database = rusqlite::Connection::open(folder.join("opencode.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE session (id text, directory text, parent_id text);
             CREATE TABLE part (id text, message_id text, session_id text, time_created integer, time_updated integer, data text)",
        )
        .unwrap();
    database.execute("INSERT INTO session VALUES ('s5', ?1, NULL)", [project.to_str().unwrap()]).unwrap();
    for (n, command) in (0_i64..).zip(commands) {
        let state = match n {
            0 => json!({"status": "completed"}),
            1 => json!({"status": "error", "error": "exit 1"}),
            _ => json!({"status": "error", "error": "The user rejected permission to use this specific tool call.",
                "time": {"end": 1_794_744_190_362_i64}}),
        };
        let mut data = json!({"type": "tool", "tool": "bash", "callID": format!("o{n}"), "state": state});
        data["state"]["input"] = json!({"command": command});
        let values = (n.to_string(), 1_794_744_188_362_i64, data.to_string());
        database.execute("INSERT INTO part VALUES (?1, 'm', 's5', ?2, 1, ?3)", values).unwrap();
    }
}

/// Every file below a folder with its content.
fn tree(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                found.push((entry.path(), std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn calls_sessions_waits_and_refusals_of_five_agents_are_counted_and_nothing_is_written() {
    let person = Person::new();
    five_agents(&person);
    let before = (tree(&person.home()), tree(&person.project()));
    let said = person.run(&["history", "--json"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&report["calls"], &report["sessions"]), (&15.into(), &5.into()), "{report:#}");
    for agent in report["agents"].as_array().unwrap() {
        let counts = ["transcripts", "sessions", "calls", "refused", "failed"].map(|key| agent[key].as_u64().unwrap());
        assert_eq!(counts, [1, 1, 3, 1, 1], "{agent}");
        assert_eq!(agent["skipped"], json!([]), "{agent}");
    }
    // Refusals of four agents tell their time, and every question of Copilot CLI.
    assert_eq!(report["waits"], json!({"calls": 6, "total_ms": 12_000, "longest_ms": 2_000}), "{report:#}");
    let verdicts = &report["verdicts"];
    assert_eq!((&verdicts["ask"], verdicts.get("allow")), (&15.into(), None), "{report:#}");
    // What was refused is not proposed; what is proposed says what it saves.
    let proposals = report["proposals"].as_array().unwrap();
    assert_eq!(proposals.len(), 1, "{report:#}");
    assert_eq!(proposals[0]["rule"], "[[rule]]\nallow = { run = \"acmectl status\" }\n");
    assert_eq!((&proposals[0]["saved"], &proposals[0]["refused"]), (&10.into(), &0.into()));
    assert_eq!(report["asks_left"], 5);
    assert_eq!((tree(&person.home()), tree(&person.project())), before);
}

#[test]
fn what_a_proposal_saves_is_what_is_not_asked_once_it_is_written() {
    let person = Person::new();
    five_agents(&person);
    let of = |person: &Person| -> Value { serde_json::from_str(&person.run(&["history", "--json"]).out).unwrap() };
    let before = of(&person);
    let saved: u64 = before["proposals"].as_array().unwrap().iter().map(|it| it["saved"].as_u64().unwrap()).sum();
    let rules: String = before["proposals"].as_array().unwrap().iter().map(|it| it["rule"].as_str().unwrap()).collect();
    person.policy(&format!("extends = [\"developer\"]\n\n{rules}"));
    let after = of(&person);
    let asks = |report: &Value| report["verdicts"]["ask"].as_u64().unwrap_or_default();
    assert_eq!(asks(&before) - asks(&after), saved);
    assert_eq!(before["asks_left"].as_u64().unwrap(), asks(&after));
}

#[test]
fn a_report_for_people_names_what_it_counts_and_the_next_step() {
    let person = Person::new();
    five_agents(&person);
    let said = person.run(&["history", "codex"]);
    assert_eq!(
        said.out,
        "codex              3 calls in 1 session, 1 refused, 1 failed

1 call waited 2 s for a person, the longest 2 s.

With this policy: 0 allowed, 3 asked, 0 denied.
       2 asked by built-in  [default]
       1 asked by preset:developer:187:5  [loses-work]

Rules that would avoid most prompts, each counted on top of those above it:

  1. avoids 2 prompts
     [[rule]]
     allow = { run = \"acmectl status\" }
     also allows  acmectl status /etc/x

1 prompt left with all of them.
Next:  sayso history --write     append these rules to your policy file
"
    );
    // Only a person at a terminal changes the policy.
    assert_eq!(person.run(&["history", "--write"]).code, 2);
    assert!(!person.home().join(".config/sayso/policy.toml").exists());
    assert_eq!(person.run(&["history", "zed"]).code, 2);
}

#[test]
fn secrets_in_transcripts_are_judged_and_never_shown() {
    let person = Person::new();
    let secret = format!("ghp_{}", "a".repeat(36));
    let line = json!({"sessionId": "s", "cwd": person.project(), "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash",
        "input": {"command": format!("acmectl login --token {secret}")}}]}});
    put(&person.home(), ".claude/projects/-p/s.jsonl", &[line]);
    for arguments in [&["history"][..], &["history", "--json"]] {
        let said = person.run(arguments);
        assert!(said.code == 0 && !said.out.contains(&secret), "{}", said.out);
    }
}

#[test]
fn transcripts_are_kept_where_one_says() {
    let person = Person::new();
    five_agents(&person);
    let kept = person.project().join("kept");
    assert_eq!(person.run(&["history", "--json", "--keep", kept.to_str().unwrap()]).code, 0);
    let copied: Vec<_> = tree(&kept);
    assert_eq!(copied.len(), 5, "{:?}", copied.iter().map(|it| &it.0).collect::<Vec<_>>());
    for (path, content) in copied {
        let below: std::path::PathBuf = path.strip_prefix(&kept).unwrap().components().skip(1).collect();
        assert!(std::fs::read(person.home().join(&below)).unwrap() == content, "{}", below.display());
    }
}
