//! The hook as a process: one complete object or a block with a reason, whatever the agent does. `sayso-hook` is what
//! agents start; `sayso hook` must say the same.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// The hook alone, and the program that holds everything.
const PROGRAMS: [&str; 2] = [env!("CARGO_BIN_EXE_sayso-hook"), env!("CARGO_BIN_EXE_sayso")];

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn hook(&self, arguments: &[&str]) -> Command {
        self.hook_of(PROGRAMS[0], arguments)
    }

    fn hook_of(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.arg("hook").args(arguments).env("HOME", self.0.path()).current_dir(self.0.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Output {
        let [small, whole] = PROGRAMS.map(|program| {
            let mut child = self.hook_of(program, arguments).spawn().unwrap();
            // A hook that refuses early does not read all of it.
            let _ = child.stdin.take().unwrap().write_all(input);
            child.wait_with_output().unwrap()
        });
        assert_eq!(small, whole, "{arguments:?}");
        small
    }

    fn read_event(&self) -> Vec<u8> {
        let project = self.0.path().join("project");
        std::fs::create_dir_all(&project).unwrap();
        let event = serde_json::json!({
            "session_id": "s", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "Read",
            "tool_input": {"file_path": project.join("a.txt")}, "tool_use_id": "t",
        });
        event.to_string().into_bytes()
    }
}

fn blocked(output: &Output) -> bool {
    output.status.code() == Some(2) && output.stdout.is_empty() && !output.stderr.is_empty()
}

#[test]
fn an_answer_is_one_complete_object_and_nothing_else() {
    let home = Home::new();
    let output = home.run(&["claude-code", "--policy", "preset:developer"], &home.read_event());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow");
    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 1);
}

#[test]
fn the_registered_home_counts_and_not_the_environments() {
    let (real, other) = (Home::new(), Home::new());
    let policy = real.0.path().join(".config/sayso/policy.toml");
    std::fs::create_dir_all(policy.parent().unwrap()).unwrap();
    std::fs::write(&policy, "[deny]\nread = [\"./**\"]\n").unwrap();
    let output = other.run(&["claude-code", "--home", real.0.path().to_str().unwrap()], &other.read_event());
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""), "{output:?}");
    assert!(real.0.path().join(".local/state/sayso/spool").exists());
    assert!(!other.0.path().join(".local").exists());
}

#[test]
fn what_goes_wrong_blocks_with_a_reason() {
    let home = Home::new();
    let event = home.read_event();
    for (arguments, input) in [
        (&["claude-code"][..], &b""[..]),
        (&["claude-code"], b"{\"hook_event_name\": \"PreToolUse\""),
        (&["claude-code"], b"not json at all"),
        (&["claude-code", "--policy", "/nonexistent/policy.toml"], &event),
        (&["claude-code", "--policy", "preset:nonsense"], &event),
        (&["claude-code", "--home", "relative"], &event),
        (&["claude-code", "--frobnicate"], &event),
        (&["no-such-agent"], &event),
        (&[], &event),
    ] {
        let output = home.run(arguments, input);
        let denied = String::from_utf8_lossy(&output.stdout).contains("\"permissionDecision\":\"deny\"");
        assert!(blocked(&output) || output.status.success() && denied, "{arguments:?}: {output:?}");
    }
}

#[test]
fn too_much_input_blocks() {
    let home = Home::new();
    let output = home.run(&["claude-code"], &vec![b'['; 9 * 1024 * 1024]);
    assert!(blocked(&output), "{output:?}");
}

#[test]
fn an_answer_that_nobody_takes_is_a_block() {
    let home = Home::new();
    let mut child = home.hook(&["claude-code"]).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(&home.read_event()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn an_agent_that_never_stops_talking_is_answered_by_the_watchdog() {
    let home = Home::new();
    let mut child = home.hook(&["claude-code"]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"hook_event_name\": ").unwrap();
    let output = child.wait_with_output().unwrap(); // its input stays open until here
    drop(input);
    assert!(blocked(&output), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("in time"), "{output:?}");
}

/// An event about a command, in each agent's shape.
fn command_event(agent: &str, project: &std::path::Path, command: &str) -> Vec<u8> {
    let input = serde_json::json!({"command": command});
    let event = match agent {
        "claude-code" | "codex" => {
            serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": project,
            "tool_name": "Bash", "tool_input": input, "tool_use_id": "t"})
        }
        "gemini" => serde_json::json!({"hook_event_name": "BeforeTool", "session_id": "s", "cwd": project,
            "tool_name": "run_shell_command", "tool_input": input}),
        "copilot" => {
            serde_json::json!({"sessionId": "s", "timestamp": 1, "cwd": project, "toolName": "bash", "toolArgs": input})
        }
        "cursor" => {
            serde_json::json!({"hook_event_name": "beforeShellExecution", "conversation_id": "s", "cwd": project,
            "workspace_roots": [project], "command": command})
        }
        _ => serde_json::json!({"event": "tool.before", "sessionID": "s", "callID": "c", "cwd": project,
            "directory": project, "tool": "bash", "args": input}),
    };
    event.to_string().into_bytes()
}

const AGENTS: &[&str] = &["claude-code", "codex", "gemini", "copilot", "opencode", "cursor", "openclaw"];

#[test]
fn every_agent_is_answered() {
    let home = Home::new();
    let project = home.0.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let policy = home.0.path().join("p.toml");
    std::fs::write(&policy, "default = \"ask\"\n[allow]\nrun = [\"true\"]\n[deny]\nrun = [\"git push --force\"]\n")
        .unwrap();
    for agent in AGENTS {
        let arguments = [*agent, "--wait", "1", "--policy", policy.to_str().unwrap()];
        let allowed = home.run(&arguments, &command_event(agent, &project, "true"));
        assert!(allowed.status.success() && allowed.stderr.is_empty(), "{agent}: {allowed:?}");
        let said = String::from_utf8_lossy(&allowed.stdout).into_owned();
        // To Codex an allow is silence; it takes the word for a failure.
        assert_eq!(said.contains("\"allow\""), *agent != "codex", "{agent}: {said}");
        let denied = home.run(&arguments, &command_event(agent, &project, "git push --force"));
        let said = String::from_utf8_lossy(&denied.stdout).into_owned();
        assert!(
            denied.status.success() && denied.stderr.is_empty() && said.contains("\"deny\""),
            "{agent}: {denied:?}"
        );
        assert!(blocked(&home.run(&arguments, b"{")), "{agent}");
    }
}

/// Signals that end a process or stop it, and that a process can do something about. Not those that nobody heeds (17, 18,
/// 23, 28), nor the two that threads use among themselves (32, 33).
fn signals() -> impl Iterator<Item = u32> {
    (1..=64).filter(|number| ![9, 13, 17, 18, 19, 23, 28, 32, 33].contains(number))
}

/// Whether the process has come to its watchdog: it blocks signals.
fn blocks_signals(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap_or_default();
    u64::from_str_radix(blocked.trim(), 16).unwrap_or(0) > 0
}

#[test]
fn a_hook_that_is_told_to_end_blocks_the_call_whatever_the_signal() {
    let agents = ["gemini", "codex", "claude-code"];
    for (signal, agent) in signals().zip(agents.iter().cycle()) {
        let home = Home::new();
        let mut child = home.hook(&[agent]).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // It has been started, and waits for the rest.
        input.write_all(b"{").unwrap();
        let began = std::time::Instant::now();
        while !blocks_signals(child.id()) {
            assert!(began.elapsed() < std::time::Duration::from_secs(60), "the hook did not start");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let number = format!("-{signal}");
        assert!(Command::new("kill").args([&number, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        drop(input);
        assert!(blocked(&output), "{agent} {signal}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("was terminated"), "{output:?}");
    }
}

#[test]
fn a_hook_that_may_write_no_file_blocks_the_call() {
    let home = Home::new();
    let limits = ["-f 0", "-f 1", "-n 4"].into_iter();
    for (limit, program) in limits.flat_map(|limit| PROGRAMS.map(|program| (limit, program))) {
        let mut command = Command::new("bash");
        let script = format!("ulimit {limit}; exec \"$0\" hook claude-code --policy preset:developer");
        command.args(["-c", &script, program]).env("HOME", home.0.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(&home.read_event());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let denied = output.status.success() && said.contains("\"deny\"");
        // With a kilobyte a short record may find room, and then it is kept.
        let kept = limit == "-f 1" && said.contains("\"allow\"");
        assert!(blocked(&output) || denied || kept, "{limit}: {output:?}");
    }
}

/// Runs the program below a limit of its memory, in kilobytes.
fn within_memory(home: &Home, kilobytes: u64, arguments: &str, input: &[u8]) -> std::process::Output {
    let mut command = Command::new("bash");
    let script = format!("ulimit -v {kilobytes}; exec \"$0\" {arguments}");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_sayso")]).env("HOME", home.0.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn a_hook_that_gets_no_more_memory_blocks_the_call() {
    let home = Home::new();
    let text = "x".repeat(6 * 1024 * 1024);
    let event = serde_json::json!({"session_id": "s", "cwd": home.0.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Write", "tool_input": {"file_path": "a", "content": text}, "tool_use_id": "t"});
    let event = event.to_string();
    // The least with which the program starts at all; below that the kernel ends it.
    let starts = |megabytes: &u64| within_memory(&home, megabytes * 1024, "--version", b"").status.success();
    let least = (8..1024).step_by(4).find(starts).unwrap();
    for megabytes in (least..least + 32).step_by(4) {
        let output = within_memory(&home, megabytes * 1024, "hook claude-code", event.as_bytes());
        let answered = output.status.success() && !output.stdout.is_empty();
        assert!(answered || blocked(&output), "{megabytes}: {:?} {}", output.status, output.stderr.len());
    }
}

#[test]
fn a_hook_for_an_agent_without_hooks_blocks() {
    let home = Home::new();
    assert!(blocked(&home.run(&["zed"], &home.read_event())));
}

#[test]
fn what_is_known_of_many_folders_is_kept_for_the_next_call() {
    let home = Home::new();
    let project = home.0.path().canonicalize().unwrap().join("project");
    for at in 0..100 {
        let folder = project.join(format!("src/part{at}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("module.ts"), "x").unwrap();
    }
    let policy = home.0.path().join(".config/sayso/policy.toml");
    std::fs::create_dir_all(policy.parent().unwrap()).unwrap();
    std::fs::write(&policy, "extends = [\"developer\"]\n").unwrap();
    let answer = || {
        let event = serde_json::json!({
            "session_id": "s", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "grep -rn foo ."}, "tool_use_id": "t",
        });
        let output = home.run(&["claude-code"], event.to_string().as_bytes());
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["hookSpecificOutput"].clone()
    };
    // Folders that changed a moment ago may change again unseen: they are kept once they are at rest.
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert_eq!(answer()["permissionDecision"], "allow");
    let listings = std::fs::read_dir(home.0.path().join(".local/state/sayso/listings")).unwrap();
    assert_eq!(listings.count(), 1);
    // What is kept counts only where nothing changed.
    std::fs::write(project.join("src/part7/.env"), "KEY=1").unwrap();
    assert_eq!(answer()["permissionDecision"], "ask");
}

#[test]
fn nothing_but_a_hook_can_be_reached_through_the_small_program() {
    let home = Home::new();
    for words in [&["approvals"][..], &["mode", "off"], &["--help"], &["claude-code"], &[]] {
        let output = Command::new(PROGRAMS[0]).args(words).env("HOME", home.0.path()).output().unwrap();
        assert!(blocked(&output), "{words:?}: {output:?}");
    }
    let version = Command::new(PROGRAMS[0]).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&version.stdout), format!("sayso-hook {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_small_program_alone_blocks_what_only_the_whole_one_can_read() {
    let home = Home::new();
    let alone = home.0.path().join("sayso-hook");
    std::fs::copy(PROGRAMS[0], &alone).unwrap();
    let mut child = home.hook_of(alone.to_str().unwrap(), &["claude-code", "--policy", "preset:ci"]).spawn().unwrap();
    drop(child.stdin.take());
    assert!(blocked(&child.wait_with_output().unwrap()));
}

#[test]
fn a_closed_standard_output_blocks_every_call() {
    let home = Home::new();
    let event = home.read_event();
    let text = String::from_utf8(event).unwrap();
    for program in PROGRAMS {
        for agent in ["claude-code", "codex"] {
            for ends in [">&-", ">&- 2>&-", ">/dev/null", ">/dev/null 2>&1"] {
                let script = format!("printf %s \"$EVENT\" | {program} hook {agent} --policy preset:developer {ends}");
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", &script]).env("HOME", home.0.path()).env("EVENT", &text);
                assert_eq!(shell.status().unwrap().code(), Some(2), "{script}");
            }
            // What is told afterwards needs no answer.
            let after = text.replace("PreToolUse", "SessionEnd");
            let script = format!("printf %s \"$EVENT\" | {program} hook {agent} >&-");
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", &script]).env("HOME", home.0.path()).env("EVENT", &after);
            assert_eq!(shell.status().unwrap().code(), Some(0), "{script}");
        }
    }
}
