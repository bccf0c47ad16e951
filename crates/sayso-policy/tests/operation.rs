//! From tool calls as agents send them to effects.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

use sayso_policy::shell::{Effect, HostTarget, MemoryFiles, NoEnvironment, NoFiles, PathTarget, Target, Verb};
use sayso_policy::{Facts, Kind, Operation, Request, ToolCall};
use serde_json::{Value, json};

fn facts(files: &MemoryFiles) -> Facts<'_> {
    Facts { files, env: &NoEnvironment }
}

fn operation(name: &str, arguments: Value) -> Operation {
    let mut call = ToolCall::tool(name, arguments);
    call.cwd = Some("/w".into());
    call.home = Some("/home/a".into());
    Operation::new(call, facts(&MemoryFiles::new()))
}

fn told(effect: &Effect) -> String {
    let verb = match effect.verb {
        Verb::Run => "run",
        Verb::Read => "read",
        Verb::Write => "write",
        Verb::Delete => "delete",
        Verb::Connect => "connect",
        Verb::Call => "call",
    };
    let target = match &effect.target {
        Target::Path(PathTarget::Exact(path)) => format!(" {}", path.display()),
        Target::Path(PathTarget::Below(path)) => format!(" {}/**", path.display()),
        Target::Path(PathTarget::Glob { base, pattern, .. }) => format!(" {}:{pattern:?}", base.display()),
        Target::Path(PathTarget::Listed(listing)) => format!(" names in {listing}"),
        Target::Path(PathTarget::Sifted(listing)) => format!(" sifted {listing}"),
        Target::Path(PathTarget::Unknown(_)) => " ?".to_owned(),
        Target::Host(HostTarget::Exact { host, port: None }) => format!(" {host}"),
        Target::Host(HostTarget::Exact { host, port: Some(port) }) => format!(" {host}:{port}"),
        Target::Host(HostTarget::Configured(label)) => format!(" ({label})"),
        Target::Host(HostTarget::Unknown) => " ?".to_owned(),
        Target::Anything => " anything".to_owned(),
        Target::Tool => String::new(),
        other => format!(" {other:?}"),
    };
    format!("{verb}{target}{}", if effect.certain { "" } else { "~" })
}

/// Effects without the call, which must be the last one; `?` in front where they do not decide.
fn effects(operation: &Operation) -> String {
    let (call, rest) = operation.effects.split_last().unwrap();
    assert_eq!(told(call), "call");
    assert_eq!(operation.effects.len(), operation.resolved.len());
    let told: Vec<_> = rest.iter().map(told).collect();
    format!("{}{}", if operation.known { "" } else { "? " }, told.join(", "))
}

#[test]
fn tools_on_files_do_what_their_parameters_say() {
    for (tool, arguments, kind, expected) in [
        ("Read", json!({"file_path": "/w/a.txt", "offset": 3}), Kind::Read, "read /w/a.txt"),
        ("read", json!({"filePath": "a.txt"}), Kind::Read, "read /w/a.txt"),
        ("view", json!({"path": "../x"}), Kind::Read, "read /w/../x"),
        ("read_file", json!({"path": "a", "file_path": "b"}), Kind::Read, "read /w/a, read /w/b"),
        ("Read", json!("{\"file_path\":\"a\"}"), Kind::Read, "read /w/a"),
        ("Read", json!({"input": {"file_path": "a"}}), Kind::Read, "read /w/a"),
        ("Read", json!({"file_path": "~/.ssh/id"}), Kind::Read, "read /w/~/.ssh/id, read /home/a/.ssh/id"),
        ("Write", json!({"file_path": "/w/a", "content": "/etc/passwd"}), Kind::Edit, "write /w/a"),
        ("create", json!({"path": "a", "file_text": "x"}), Kind::Edit, "write /w/a"),
        ("Edit", json!({"file_path": "a", "old_string": "x", "new_string": "y"}), Kind::Edit, "read /w/a, write /w/a"),
        (
            "MultiEdit",
            json!({"edits": [{"file_path": "a", "old_string": "/x"}, {"file_path": "b"}]}),
            Kind::Edit,
            "read /w/a, write /w/a, read /w/b, write /w/b",
        ),
        ("write", json!({"files": [{"path": "a"}, {"path": "b"}]}), Kind::Edit, "write /w/a, write /w/b"),
        (
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "new_source": "x"}),
            Kind::Edit,
            "read /w/n.ipynb, write /w/n.ipynb",
        ),
        ("delete_file", json!({"path": "a"}), Kind::Delete, "delete /w/a/**"),
        (
            "move_file",
            json!({"source": "a", "destination": "b"}),
            Kind::Move,
            "read /w/a/**, delete /w/a/**, write /w/b/**",
        ),
        ("copy_file", json!({"old_path": "a", "new_path": "b"}), Kind::Edit, "read /w/a/**, write /w/b/**"),
        ("LS", json!({"path": "/w/d"}), Kind::Read, "read /w/d"),
        ("list_directory", json!({}), Kind::Read, "read /w"),
        ("Glob", json!({"pattern": "**/*.rs"}), Kind::Search, "read /w"),
        ("Glob", json!({"pattern": "/etc/*.conf"}), Kind::Search, "read /w, read /etc"),
        ("Glob", json!({"pattern": "../*"}), Kind::Search, "read /w, read ?"),
        ("Grep", json!({"pattern": "x", "path": "src"}), Kind::Search, "read /w/src/**"),
        (
            "Grep",
            json!({"pattern": "x", "glob": "*.{ts,tsx}"}),
            Kind::Search,
            "read /w:\"**/*.ts\", read /w:\"**/*.tsx\"",
        ),
        ("Grep", json!({"pattern": "x", "glob": "!*.ts"}), Kind::Search, "read /w/**"),
        ("Grep", json!({"pattern": "x", "glob": "*"}), Kind::Search, "read /w/**"),
        ("Grep", json!({"pattern": "x", "glob": "Cargo.toml"}), Kind::Search, "read /w:\"**/Cargo.toml\""),
        ("Grep", json!({"pattern": "x", "glob": "Cargo.toml,.env"}), Kind::Search, "read /w/**"),
        ("Grep", json!({"pattern": "x", "glob": "Cargo.toml .env"}), Kind::Search, "read /w/**"),
        ("Grep", json!({"pattern": "x", "type": "rust"}), Kind::Search, "read /w:\"**/*.rs\""),
        ("Grep", json!({"pattern": "x", "type": "all"}), Kind::Search, "read /w/**"),
        ("Grep", json!({"pattern": "x", "type": "rust", "glob": ".*"}), Kind::Search, "read /w/**"),
        ("grep", json!({"pattern": "x", "type": "rust"}), Kind::Search, "read /w/**"),
        ("search_file_content", json!({"pattern": "x", "include": "config"}), Kind::Search, "read /w/**"),
        // This tool has no such parameter.
        ("grep", json!({"pattern": "x", "glob": "*.ts"}), Kind::Search, "read /w/**"),
        ("read_many_files", json!({"include": ["*"]}), Kind::Read, "read /w/**"),
        ("read_many_files", json!({"include": ["src/*.rs"]}), Kind::Read, "read /w/src:\"**/*.rs\""),
        ("Grep", json!({"pattern": "/etc/passwd"}), Kind::Search, "read /w/**"),
        (
            "read_many_files",
            json!({"include": ["src/**/*.rs", "a.txt"]}),
            Kind::Read,
            "read /w/src:\"**/*.rs\", read /w/a.txt/**",
        ),
        ("str_replace_based_edit_tool", json!({"command": "view", "path": "a"}), Kind::Read, "read /w/a"),
        ("str_replace_based_edit_tool", json!({"command": "create", "path": "a"}), Kind::Edit, "read /w/a, write /w/a"),
    ] {
        let operation = operation(tool, arguments.clone());
        assert_eq!(effects(&operation), expected, "{tool} {arguments}");
        assert_eq!(operation.kind, kind, "{tool} {arguments}");
    }
}

/// Names of the programs of a call, with the folder each starts in; `~` in front of what is not certain.
fn programs(operation: &Operation) -> String {
    let analysis = operation.analysis.as_ref().unwrap();
    let told = |effect: &Effect| match &effect.target {
        Target::Program(id) | Target::Wrapper(id) => {
            let run = analysis.run(*id).unwrap();
            let certain = if effect.certain { "" } else { "~" };
            let folder = run.cwd.as_ref().map_or("?".into(), |cwd| cwd.display().to_string());
            Some(format!("{certain}{}@{folder}", run.name().unwrap_or("?")))
        }
        _ => None,
    };
    operation.effects.iter().filter_map(told).collect::<Vec<_>>().join(" ")
}

#[test]
fn tools_with_a_shell_run_its_programs() {
    for (tool, arguments, expected) in [
        ("Bash", json!({"command": "git status | cat", "description": "sudo"}), "git@/w cat@/w"),
        ("shell", json!({"command": ["bash", "-lc", "touch ran"], "workdir": "/w/sub"}), "bash@/w/sub touch@/w/sub"),
        ("exec_command", json!({"cmd": "ls", "workdir": "sub"}), "ls@/w/sub"),
        // Nobody knows whether this tool looks at the folder.
        ("Bash", json!({"command": "ls", "cwd": "/etc"}), "ls@/w ls@/etc"),
        ("exec", json!({"command": "ls", "workdir": "~/x"}), "ls@?"),
        ("Bash", json!({"command": "ls", "cmd": "pwd"}), "ls@/w pwd@/w"),
        ("Bash", json!({"commands": ["ls", "sudo x"]}), "ls@/w sudo@/w x@/w"),
        ("Bash", json!({"command": "ls", "commands": [{"identifier": "ls", "readOnly": true}]}), "ls@/w"),
        ("terminal", json!({"command": "npm", "args": ["run", "a b"]}), "npm@/w"),
        ("whatever", json!({"command": "sudo x"}), "~sudo@/w ~x@/w"),
    ] {
        let operation = operation(tool, arguments.clone());
        assert_eq!(programs(&operation), expected, "{tool} {arguments}");
        assert_eq!(operation.folders.len(), operation.analysis.as_ref().unwrap().runs.len());
    }
}

#[test]
fn a_command_that_leaves_the_sandbox_needs_a_yes_of_its_own() {
    for (arguments, leaves) in [
        (json!({"command": "ls", "dangerouslyDisableSandbox": true}), true),
        (json!({"command": "ls", "dangerouslyDisableSandbox": false}), false),
        (json!({"command": "ls", "elevated": "full"}), true),
        (json!({"command": "ls", "sandbox_permissions": "require_escalated"}), true),
        (json!({"command": "ls", "sandbox_permissions": "use_default"}), false),
    ] {
        assert_eq!(effects(&operation("Bash", arguments.clone())).contains("anything"), leaves, "{arguments}");
    }
}

#[test]
fn spans_point_into_the_text_of_all_commands() {
    let operation = operation("Bash", json!({"command": "ls a", "cmd": "cat b | wc"}));
    let text = operation.command.clone().unwrap();
    assert_eq!(String::from_utf8_lossy(&text), "ls a\ncat b | wc");
    let analysis = operation.analysis.as_ref().unwrap();
    for run in &analysis.runs {
        let (start, end) = (run.span.start as usize, run.span.end as usize);
        assert!(String::from_utf8_lossy(&text[start..end]).starts_with(run.name().unwrap()));
    }
    let pipes: Vec<_> = analysis.runs.iter().map(|run| run.pipe.is_some()).collect();
    assert_eq!(pipes, [false, true, true]);
}

#[test]
fn a_command_by_itself_is_the_shell_tool() {
    let mut call = ToolCall::command("cat /etc/passwd");
    call.cwd = Some("/w".into());
    let operation = Operation::new(call, facts(&MemoryFiles::new()));
    assert_eq!(
        (operation.tool.canonical.as_str(), operation.kind, operation.known),
        ("bash_execute", Kind::Execute, true)
    );
    assert!(effects(&operation).contains("read /etc/passwd"));
    assert!(effects(&Operation::execute("echo $(")).contains("anything"));
}

#[test]
fn a_patch_names_its_files() {
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n-x\n+*** Delete File: no\n*** Delete File: d\n*** End Patch\n";
    let expected = "write /w/a, read /w/b, write /w/b, write /w/c, delete /w/b, delete /w/d";
    for arguments in [json!({"command": patch}), json!({"input": patch}), json!({"patchText": patch}), json!(patch)] {
        let operation = operation("apply_patch", arguments);
        assert_eq!(effects(&operation), expected);
        assert_eq!(operation.kind, Kind::Delete);
        assert!(operation.tool.restricts(|name| name == "file_delete"));
        assert!(!operation.tool.allows(|name| name == "file_delete"));
    }
    for patch in ["", "*** Begin Patch\n*** End Patch", "--- a/x\n+++ b/x\n", "*** Begin Patch\n*** Chmod File: x\n"] {
        assert!(effects(&operation("apply_patch", json!({"input": patch}))).contains("anything"), "{patch}");
    }
}

#[test]
fn tools_on_the_web_connect_to_the_hosts_they_name() {
    for (tool, arguments, expected) in [
        ("WebFetch", json!({"url": "https://docs.rs/x", "prompt": "summarize"}), "connect docs.rs"),
        (
            "web_fetch",
            json!({"prompt": "compare https://a.example/x with http://b.example:81/"}),
            "connect a.example, connect b.example:81",
        ),
        ("web_fetch", json!({"prompt": "the weather"}), "connect ?"),
        ("fetch", json!({"urls": ["https://a.example", "https://b.example"]}), "connect a.example, connect b.example"),
        ("fetch", json!({"url": "file:///etc/passwd"}), "read /etc/passwd"),
        ("fetch", json!({"url": "https://good.example\\@evil.example"}), "connect ?, connect good.example~"),
        (
            "fetch",
            json!({"url": "https://x.example", "save_to": "/etc/cron.d/x"}),
            "connect x.example, read /etc/cron.d/x~, write /etc/cron.d/x~, delete /etc/cron.d/x~",
        ),
        ("WebSearch", json!({"query": "rust"}), "? connect ?~"),
    ] {
        let operation = operation(tool, arguments.clone());
        assert_eq!(effects(&operation), expected, "{tool} {arguments}");
        assert_eq!(operation.kind, Kind::Fetch);
    }
}

#[test]
fn arguments_of_the_wrong_kind_may_mean_anything() {
    for (tool, arguments) in [
        ("Read", json!({})),
        ("Read", json!({"file_path": 3})),
        ("Read", json!({"file_path": {"x": "a"}})),
        ("Read", json!(null)),
        ("Read", json!([])),
        ("Write", json!({"content": "x"})),
        ("Bash", json!({})),
        ("Bash", json!({"command": 7})),
        ("Bash", json!({"command": null})),
        ("Bash", json!({"command": {"a": 1}})),
        ("Bash", json!({"command": ["ls", 1]})),
        ("Bash", json!({"command": "ls", "env": {"LD_PRELOAD": "/x"}})),
        ("Bash", json!({"command": "ls", "shell": "/tmp/x"})),
        ("move_file", json!({"source": "a"})),
        ("fetch", json!({"url": 1})),
    ] {
        let operation = operation(tool, arguments.clone());
        assert!(effects(&operation).starts_with("? "), "{tool} {arguments}");
        assert!(effects(&operation).contains("run anything"), "{tool} {arguments}: {}", effects(&operation));
    }
}

#[test]
fn what_nobody_knows_may_use_what_its_arguments_look_like() {
    let uses = "read {}~, write {}~, delete {}~";
    let at = |path: &str| uses.replace("{}", path);
    for (tool, arguments, expected) in [
        ("whatever", json!({}), "? ".to_owned()),
        ("whatever", json!({"x": "/etc/passwd"}), format!("? {}", at("/etc/passwd"))),
        ("whatever", json!({"x": [{"y": ".env"}]}), format!("? {}", at("/w/.env"))),
        ("whatever", json!({"/etc/shadow": 1}), format!("? {}", at("/etc/shadow"))),
        ("whatever", json!({"x": "{\"y\": \"/etc/x\"}"}), format!("? {}", at("/etc/x"))),
        ("whatever", json!({"x": "https://a.example/b"}), "? connect a.example~".to_owned()),
        ("whatever", json!({"x": "hello there"}), "? ".to_owned()),
        ("whatever", json!({"x": "--out=/etc/x"}), format!("? {}", at("/etc/x"))),
        ("mcp__github__get_issue", json!({"owner": "a", "n": 3}), "? ".to_owned()),
        ("mcp__x__bash", json!({"path": "a"}), format!("? {}", at("/w/a"))),
        ("mcp__filesystem__read_file", json!({"path": "a"}), "? read /w/a".to_owned()),
        (
            "mcp__filesystem__move_file",
            json!({"source": "a", "destination": "b"}),
            "? read /w/a/**, delete /w/a/**, write /w/b/**".to_owned(),
        ),
        ("mcp__filesystem__unheard_of", json!({"path": "a"}), format!("? {}", at("/w/a"))),
        ("mcp__fetch__fetch", json!({"url": "https://a.example"}), "? connect a.example".to_owned()),
        ("mcp__git__git_commit", json!({"repo_path": "/w", "message": "x"}), "? read /w/**, write /w/**".to_owned()),
        ("TodoWrite", json!({"todos": [{"content": "/etc/passwd"}]}), String::new()),
        ("Task", json!({"prompt": "say hi", "description": "sub"}), "? ".to_owned()),
        ("b\u{430}sh", json!({"x": 1}), "? ".to_owned()),
    ] {
        assert_eq!(effects(&operation(tool, arguments.clone())), expected, "{tool} {arguments}");
    }
}

#[test]
fn more_arguments_than_are_looked_at_may_mean_anything() {
    let wide: Vec<_> = (0..20_000).map(|n| json!(format!("/p/{n}"))).collect();
    let mut deep = json!("x");
    for _ in 0..60 {
        deep = json!({"a": deep});
    }
    for arguments in [json!(wide), deep] {
        let operation = operation("whatever", arguments);
        assert!(effects(&operation).contains("run anything"));
        assert!(operation.effects.len() < 300);
    }
}

#[test]
fn paths_are_resolved_through_links() {
    let mut files = MemoryFiles::new();
    files.file("/etc/passwd", b"").folder("/w").link("/w/link", "/etc");
    let mut call = ToolCall::tool("Read", json!({"file_path": "link/passwd"}));
    call.cwd = Some("/w".into());
    let operation = Operation::new(call.clone(), facts(&files));
    assert_eq!(operation.resolved[0].canonical.as_deref(), Some("/etc/passwd".as_ref()));
    assert_eq!(operation.resolved[0].lexical.as_deref(), Some("/w/link/passwd".as_ref()));
    let blind = Operation::new(call, Facts { files: &NoFiles, env: &NoEnvironment });
    assert_eq!(blind.resolved[0].canonical, None);
}

#[test]
fn a_reported_kind_is_kept_only_where_it_tightens() {
    let mut call = ToolCall::tool("Bash", json!({"command": "ls"}));
    call.reported_kind = Some("think".to_owned());
    let operation = Operation::new(call, facts(&MemoryFiles::new()));
    assert_eq!((operation.kind, operation.reported_kind), (Kind::Execute, None));
    let mut call = ToolCall::tool("Read", json!({"path": "x"}));
    call.reported_kind = Some("delete".to_owned());
    let operation = Operation::new(call, facts(&MemoryFiles::new()));
    assert_eq!((operation.kind, operation.reported_kind), (Kind::Read, Some(Kind::Delete)));
}

#[test]
fn a_certain_server_makes_a_tool_that_servers_own() {
    let call = ToolCall::new(Request::Tool {
        name: "Bash".into(),
        arguments: json!({"command": "ls"}),
        server: Some("x".into()),
    });
    let operation = Operation::new(call, facts(&MemoryFiles::new()));
    assert_eq!(operation.tool.canonical, "mcp:x/bash");
    assert!(!operation.known);
}

mod any {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,40}".prop_map(Value::from),
            "(~|/|\\.\\.|@|file://|https?://)?[a-z./:@%\\[\\]-]{0,20}".prop_map(Value::from),
            "\\*\\*\\* (Add|Update|Delete|Move) (File|to): .{0,10}".prop_map(Value::from),
        ];
        let key = prop_oneof![
            "(path|file_path|command|url|prompt|edits|files|source|destination|env|args|workdir|input|pattern)",
            ".{0,8}",
        ];
        leaf.prop_recursive(5, 60, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((key.clone(), inner.clone()), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
                inner.prop_map(|inner| Value::from(inner.to_string())),
            ]
        })
    }

    const TOOLS: &str = "(Bash|Read|Write|Edit|MultiEdit|apply_patch|fetch|web_search|Glob|Grep|LS|move_file|process|\
        read_many_files|text_editor|notebook_edit|TodoWrite|Task|mcp__filesystem__move_file|mcp__git__git_log|\
        mcp__fetch__fetch|mcp_a_b_c|.{0,12})";

    proptest! {
        #[test]
        fn call_becomes_an_operation_of_bounded_size(name in TOOLS, arguments in value(), server in prop::option::of(".{0,6}")) {
            let mut call = ToolCall::new(Request::Tool { name, arguments, server });
            call.cwd = Some("/w".into());
            let operation = Operation::new(call, facts(&MemoryFiles::new()));
            prop_assert!(!operation.effects.is_empty() && operation.effects.len() == operation.resolved.len());
            prop_assert_eq!(operation.effects.last().map(|effect| effect.verb), Some(Verb::Call));
            prop_assert!(!operation.tool.readings.is_empty());
            // INVARIANT: an MCP tool or a disguised one never decides by its effects.
            prop_assert!(!operation.known || !(operation.tool.mcp || operation.tool.disguised));
            if operation.tool.disguised {
                prop_assert!(!operation.tool.allows(|_| true));
            }
        }
    }
}
