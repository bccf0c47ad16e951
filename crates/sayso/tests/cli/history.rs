//! `sayso history`: fixture homes of five agents.

use crate::person::Person;
use crate::pty::{at_terminal, the_number};
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
        assert_eq!((&agent["skipped"], &agent["unreadable"]), (&json!([]), &0.into()), "{agent}");
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
       1 asked by preset:developer:201:5  [loses-work]

Rules that would avoid most prompts, each counted on top of those above it:

  1. avoids 2 prompts
     [[rule]]
     allow = { run = \"acmectl status\" }
     also allows  acmectl status /etc/x

1 prompt left with all of them.
2 prompts go away where such runs are held: see `sayso doctor` and `sayso run`.
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

#[test]
fn older_formats_of_transcripts_are_read_and_damaged_ones_counted() {
    let person = Person::new();
    let (home, project) = (person.home(), person.project());
    // Claude Code 1.0: the result of a refused call is a list of texts, and there is no version in each line.
    let line = |content: Value| json!({"sessionId": "c1", "cwd": project, "timestamp": "2025-06-01T10:00:00.000Z", "message": {"content": [content]}});
    let refused = "The user doesn't want to take this action right now. STOP what you are doing.";
    put(
        &home,
        ".claude/projects/-p/c1.jsonl",
        &[
            json!({"type": "summary", "summary": "tool_use", "leafUuid": "x"}),
            line(json!({"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "acmectl status"}})),
            line(json!({"type": "tool_result", "tool_use_id": "a", "content": "ok"})),
            line(json!({"type": "tool_use", "id": "b", "name": "Bash", "input": {"command": "rm x"}})),
            line(
                json!({"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": [{"type": "text", "text": refused}]}),
            ),
        ],
    );
    std::fs::write(home.join(".claude/projects/-p/broken.jsonl"), "{\"tool_use\": \n{\"tool_use\n").unwrap();
    // Codex before 0.32: items without an envelope.
    let arguments = json!({"command": ["bash", "-lc", "acmectl status"], "workdir": project}).to_string();
    put(
        &home,
        ".codex/sessions/2025/06/01/rollout-2025-06-01-x.jsonl",
        &[
            json!({"id": "x1", "timestamp": "2025-06-01T10:00:00.000Z", "instructions": null}),
            json!({"record_type": "state"}),
            json!({"type": "function_call", "name": "shell", "call_id": "k1", "arguments": arguments}),
            json!({"type": "function_call_output", "call_id": "k1", "output": "{\"output\":\"\",\"metadata\":{\"exit_code\":2}}"}),
            json!({"type": "local_shell_call", "call_id": "k2", "action": {"type": "exec", "command": ["ls"]}}),
            json!({"type": "function_call_output", "call_id": "k2", "output": "exec command rejected by user"}),
        ],
    );
    // Gemini CLI before lines: one value.
    let call = |id: &str, status: &str| json!({"id": id, "name": "run_shell_command", "args": {"command": "acmectl status"}, "status": status});
    let chat = json!({"sessionId": "g1", "messages": [{"type": "gemini", "toolCalls": [call("1", "success"), call("2", "cancelled")]}]});
    put(&home, ".gemini/tmp/p/chats/session-1.json", &[chat]);
    put(&home, ".gemini/tmp/p/chats/session-2.json", &[json!("x")]);
    std::fs::write(home.join(".gemini/tmp/p/chats/session-3.json"), "{").unwrap();
    // OpenCode before its database: a file for each part.
    let part = |id: &str, state: Value| json!({"id": id, "messageID": "m", "sessionID": "o1", "type": "tool", "callID": id, "tool": "bash", "state": state});
    let storage = ".local/share/opencode/storage";
    put(&home, &format!("{storage}/session/p/o1.json"), &[json!({"id": "o1", "directory": project})]);
    let input = json!({"command": "acmectl status"});
    let time = json!({"start": 1_748_772_000_000_u64, "end": 1_748_772_004_000_u64});
    put(
        &home,
        &format!("{storage}/part/m/a.json"),
        &[part("a", json!({"status": "completed", "input": input, "time": time}))],
    );
    let error = "The user rejected permission to use this specific tool call.";
    put(
        &home,
        &format!("{storage}/part/m/b.json"),
        &[part("b", json!({"status": "error", "error": error, "input": input, "time": time}))],
    );
    put(
        &home,
        &format!("{storage}/part/m/c.json"),
        &[json!({"id": "c", "sessionID": "o1", "type": "text", "text": "x"})],
    );

    let said = person.run(&["history", "--json"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let of = |agent: &str| {
        let all = report["agents"].as_array().unwrap();
        let of = all.iter().find(|it| it["agent"] == agent).unwrap();
        ["sessions", "calls", "refused", "failed", "unreadable"].map(|key| of[key].as_u64().unwrap())
    };
    assert_eq!(of("claude-code"), [1, 2, 1, 0, 1], "{report:#}");
    assert_eq!(of("codex"), [1, 2, 1, 1, 0], "{report:#}");
    assert_eq!(of("gemini"), [1, 2, 1, 0, 1], "{report:#}");
    assert_eq!(of("opencode"), [1, 2, 1, 0, 0], "{report:#}");
    // A refusal tells how long it waited where the agent wrote both times.
    assert_eq!((&report["waits"]["calls"], &report["waits"]["longest_ms"]), (&2.into(), &4000.into()), "{report:#}");
}

#[test]
fn no_file_is_opened_for_writing() {
    let person = Person::new();
    five_agents(&person);
    let trace = person.home().with_extension("trace");
    let mut strace = std::process::Command::new("strace");
    strace.args([
        "-f",
        "-e",
        "trace=openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat",
        "-o",
    ]);
    strace.arg(&trace).arg(env!("CARGO_BIN_EXE_sayso")).args(["history", "--json"]);
    strace.env("HOME", person.home()).current_dir(person.project());
    match strace.output() {
        Ok(output) if output.status.success() => {}
        other => {
            eprintln!("NOT TESTED: what is opened for writing, because strace does not run here: {other:?}");
            return;
        }
    }
    let text = std::fs::read_to_string(&trace).unwrap();
    let writes = |line: &&str| {
        !line.contains("= -1 ")
            && ["O_WRONLY", "O_RDWR", "O_CREAT", "creat(", "rename", "unlink", "mkdir", "link("]
                .iter()
                .any(|it| line.contains(it))
            && !line.contains("\"/dev/")
    };
    let found: Vec<&str> = text.lines().filter(writes).collect();
    assert!(text.contains("rollout-x.jsonl") && found.is_empty(), "{found:#?}");
}

#[test]
fn a_policy_is_tried_on_transcripts_before_it_is_put_in_force() {
    let person = Person::new();
    five_agents(&person);
    let file = person.project().join("new.toml");
    std::fs::write(
        &file,
        "extends = [\"developer\"]\n[allow]\nrun = [\"acmectl status\"]\n[deny]\nrun = [\"rm -r\"]\n",
    )
    .unwrap();
    let said = person.run(&["policy", "try", "new.toml", "--since", "2026-01-01", "--on", "transcripts", "--json"]);
    assert_eq!(said.code, 4, "{}", said.err);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        (&found["calls"], &found["asked_before"], &found["asked_after"]),
        (&15.into(), &15.into(), &0.into()),
        "{found:#}"
    );
    let groups = found["flips"].as_array().unwrap();
    let count = |verdict: &str| {
        groups.iter().filter(|it| it["new"]["verdict"] == verdict).map(|it| it["calls"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!((count("allow"), count("deny")), (10, 5), "{found:#}");
    assert_eq!(groups.iter().map(|it| it["refused"].as_u64().unwrap()).sum::<u64>(), 5, "{found:#}");
    std::fs::write(&file, "[allow]\nrun = 5\n").unwrap();
    assert_eq!(person.run(&["policy", "try", "new.toml"]).code, 2);
}

#[test]
fn an_ask_ends_with_the_rule_that_would_let_it_pass_or_with_what_to_do_instead() {
    let person = Person::new();
    let last = |command: &str| {
        let said = person.run(&["check", command]);
        assert_eq!(said.code, 3, "{command}: {}", said.out);
        said.out.lines().last().unwrap().trim().to_owned()
    };
    assert!(last("acmectl status").starts_with("to pass  allow = { run = \"acmectl status\" }"));
    assert!(last("python3 -c 1").starts_with("instead  `python3` runs whatever it is given"));
    assert!(last("git push").starts_with("instead  A rule asks about this on purpose."));
    let denied = person.run(&["check", "cat .env"]);
    assert!(denied.code == 4 && !denied.out.contains("to pass") && !denied.out.contains("instead"), "{}", denied.out);
    let json: Value = serde_json::from_str(&person.run(&["check", "--json", "acmectl status"]).out).unwrap();
    assert_eq!(json["allow"]["rule"], "[[rule]]\nallow = { run = \"acmectl status\" }\n");
    // Agents may not say so themselves.
    for command in [
        "sayso allow ls",
        "env X=1 sayso deny ls",
        "bash -c 'sayso allow ls'",
        "sa''yso al\\low ls",
        "sayso history --write",
    ] {
        let said = person.run(&["check", command]);
        assert!(said.code == 4 && said.out.contains("[operator-command]"), "{command}: {}", said.out);
    }
}

#[test]
fn allow_and_deny_show_a_rule_and_write_it_once_their_owner_confirms_at_a_terminal() {
    let person = Person::new();
    let file = person.home().join(".config/sayso/policy.toml");
    let (code, shown) = at_terminal(&person, &["allow", "acmectl status"], &mut |shown| {
        shown
            .contains(" to continue: ")
            .then(|| "not the number".to_owned())
            .filter(|_| !shown.contains("not the number"))
    });
    assert!(code != 0 && !file.exists(), "{code}: {shown}");
    let (code, shown) = at_terminal(&person, &["allow", "acmectl status"], &mut the_number());
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("+allow = { run = \"acmectl status\" }") && shown.contains("also allows  acmectl status"),
        "{shown}"
    );
    let first = std::fs::read_to_string(&file).unwrap();
    assert_eq!(first, "extends = [\"developer\"]\n\n[[rule]]\nallow = { run = \"acmectl status\" }\n");
    assert_eq!(person.run(&["check", "acmectl status web"]).code, 0);
    let (code, shown) = at_terminal(&person, &["deny", "acmectl status --all"], &mut the_number());
    assert_eq!(code, 0, "{shown}");
    let second = std::fs::read_to_string(&file).unwrap();
    // What stood there stays as it was.
    assert!(second.starts_with(first.trim_end()) && second.contains("deny = { run = \"acmectl status"), "{second}");
    assert_eq!(person.run(&["check", "acmectl status --all"]).code, 4, "{second}");
    assert_eq!(person.run(&["policy", "versions"]).code, 0);
}

#[test]
fn history_writes_what_it_proposes_once_its_owner_confirms_at_a_terminal() {
    let person = Person::new();
    five_agents(&person);
    let (code, shown) = at_terminal(&person, &["history", "--write"], &mut the_number());
    assert_eq!(code, 0, "{shown}");
    let file = std::fs::read_to_string(person.home().join(".config/sayso/policy.toml")).unwrap();
    assert_eq!(file, "extends = [\"developer\"]\n\n[[rule]]\nallow = { run = \"acmectl status\" }\n", "{shown}");
}
