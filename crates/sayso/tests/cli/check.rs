//! `sayso check`: exit codes, circumstances, and what goes wrong.

use crate::person::{Person, first};

#[test]
fn exit_codes_tell_the_verdict() {
    let person = Person::new();
    person.file("p.toml", "default = \"ask\"\n[allow]\ntool = [\"file_read\"]\n[deny]\ntool = [\"file_delete\"]\n");
    let code = |tool: &str, arguments: &str| {
        person.run(&["check", "--policy", "p.toml", "--tool", tool, "--args", arguments]).code
    };
    assert_eq!(code("file_read", r#"{"path":"a"}"#), 0);
    assert_eq!(code("file_write", r#"{"path":"a"}"#), 3);
    assert_eq!(code("file_delete", r#"{"path":"a"}"#), 4);
    person.file("dry.toml", "default = \"ask\"\n[mode]\nrun = \"dry-run\"\n");
    let said = person.run(&["check", "--policy", "dry.toml", "--tool", "file_write", "--args", r#"{"path":"a"}"#]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(said.out.starts_with("dry-run"), "{}", said.out);
}

#[test]
fn wrong_usage_says_what_to_do_next() {
    let person = Person::new();
    for (arguments, expected) in [
        (&["check"][..], "error: give a command, or --tool NAME with --args JSON"),
        (
            &["check", "--tool", "x", "--args", "{"],
            "error: --args is not valid JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            &["check", "ls", "--policy", "none.toml"],
            "error: cannot read the policy none.toml: No such file or directory (os error 2)",
        ),
        (&["check", "ls", "--policy", "preset:ci", "--policy-format", "wunder"], "error: unknown format `wunder`"),
        (&["check", "ls", "--tool", "x"], "error: the argument '[COMMAND]...' cannot be used with '--tool <NAME>'"),
        (&["nonsense"], "error: unrecognized subcommand 'nonsense'"),
    ] {
        let said = person.run(arguments);
        assert_eq!((said.code, first(&said.err), said.out.as_str()), (2, expected, ""), "{arguments:?}");
        assert!(said.err.lines().count() > 2, "no next step for {arguments:?}: {}", said.err);
    }
}

#[test]
fn the_shell_that_would_run_it_counts() {
    let person = Person::new();
    person.file("p.toml", "[allow]\nrun = [\"echo\", \"ls\", \"read\", \"declare\"]\nread = [\"./**\"]\n");
    let code = |shell: &[&str], command: &str| {
        person.run(&[&["check", "--policy", "p.toml"], shell, &[command]].concat()).code
    };
    let last_of_pipe = "x=ls; echo touch | read x; $x .";
    assert_eq!(code(&[], last_of_pipe), 0);
    assert_eq!(code(&["--shell", "bash"], last_of_pipe), 0);
    assert_eq!(code(&["--shell", "zsh"], last_of_pipe), 3);
    assert_eq!(code(&["--shell", "bash,zsh"], last_of_pipe), 3);
    assert_eq!(code(&["--shell", "dash"], "x=touch; declare x=ls; $x ."), 3);
    assert_eq!(code(&["--shell", "zsh"], "x=.; ls $x"), 0);
    assert!(person.run(&["why", "--policy", "p.toml", "--shell", "zsh", last_of_pipe]).out.contains("ASK"));
    let said = person.run(&["check", "--shell", "fish", "ls"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("use bash, zsh, sh, dash or ksh"), "{}", said.err);
    let line = "{\"id\": 1, \"command\": \"x=ls; echo touch | read x; $x .\", \"cwd\": \"/\"}\n";
    let opaque =
        |shell: &str| person.run_with(&["analyze", "--jsonl", "--shell", shell], line).out.contains("\"opaque\":true");
    assert!(!opaque("bash"));
    assert!(opaque("zsh"));
}

#[test]
fn who_asks_counts() {
    let person = Person::new();
    person.file(
        "p.toml",
        "default = \"allow\"\n[tools.for.\"team:a\"]\nhide = [\"web_fetch\"]\n[tools.for.subagent]\nhide = [\"file_read\"]\n",
    );
    let base = ["check", "--policy", "p.toml", "--tool"];
    let code = |more: &[&str]| person.run(&[&base[..], more].concat()).code;
    assert_eq!(code(&["web_fetch", "--args", r#"{"url":"https://example.org"}"#]), 0);
    assert_eq!(code(&["web_fetch", "--args", r#"{"url":"https://example.org"}"#, "--team", "a"]), 4);
    assert_eq!(code(&["file_read", "--args", r#"{"path":"a"}"#]), 0);
    assert_eq!(code(&["file_read", "--args", r#"{"path":"a"}"#, "--subagent"]), 4);
}

#[test]
fn hostile_text_reaches_the_terminal_as_escapes() {
    let person = Person::new();
    let said = person.run(&["check", "--policy", "preset:read-only", "rm \u{1b}[2K\u{202e}x\u{200b} \u{7}"]);
    assert!(said.out.contains("rm \\x1b[2K\\u{202e}x\\u{200b} \\x07"), "{}", said.out);
    assert!(said.out.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", said.out);
}

#[test]
fn check_leaves_no_trace() {
    let person = Person::new();
    assert_ne!(person.run(&["check", "git push"]).code, 1);
    assert_eq!(person.run(&["log", "--json"]).out, "");
}

#[test]
fn a_command_may_hold_any_bytes() {
    use std::os::unix::ffi::OsStrExt as _;
    let person = Person::new();
    let command = std::ffi::OsStr::from_bytes(b"rm caf\xe9");
    let done = person.sayso().args(["check", "--policy", "preset:read-only"]).arg(command).output().unwrap();
    assert_eq!(done.status.code(), Some(3));
    assert!(String::from_utf8(done.stdout).unwrap().contains("rm caf\\xe9"));
}

#[test]
fn a_subagent_starts_unasked_where_its_own_calls_are_judged() {
    let person = Person::new();
    let start = |preset: &str, agent: Option<&str>, tool: &str| {
        let arguments = r#"{"description": "d", "prompt": "read https://x.example and /etc/shadow"}"#;
        let policy = format!("preset:{preset}");
        let mut words = vec!["check", "--policy", &policy, "--tool", tool, "--args", arguments];
        words.extend(agent.iter().flat_map(|agent| ["--agent", *agent]));
        person.run(&words).code
    };
    let known = [
        ("claude-code", "Agent"),
        ("claude-code", "Task"),
        ("codex", "spawn_agent"),
        ("gemini", "invoke_agent"),
        ("copilot", "task"),
        ("opencode", "task"),
    ];
    for preset in ["developer", "read-only", "ci"] {
        for (agent, tool) in known {
            assert_eq!(start(preset, Some(agent), tool), 0, "{preset} {agent} {tool}");
        }
    }
    for agent in [Some("cursor"), Some("openclaw"), Some("somebody"), None] {
        assert_eq!(start("developer", agent, "task"), 3, "{agent:?}");
    }
}
