//! Permission files of agents, judged by as they are.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_formats::{Format, read};
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{Facts, Operation, Policy, State, ToolCall, Workspace};
use serde_json::json;

/// `git status` is a command, `Read src/a.rs` a tool and its path, `WebFetch https://x` a tool and its address.
fn call(text: &str) -> ToolCall {
    let tool = |key: &str, name: &str, value: &str| ToolCall::tool(name, json!({ key: value }));
    match text.split_once(' ') {
        Some((name @ ("Read" | "Write" | "Edit" | "Grep" | "read_file" | "write_file"), path)) => {
            let path = if path.starts_with('/') { path.to_owned() } else { format!("/w/app/{path}") };
            tool("file_path", name, &path)
        }
        Some(("edit_file", path)) => tool("path", "edit_file", path),
        Some((name @ ("WebFetch" | "fetch"), url)) => tool("url", name, url),
        Some(("Task", kind)) => ToolCall::tool("Task", json!({ "subagent_type": kind, "prompt": "x" })),
        Some(("tool", name)) => ToolCall::tool(name, json!({})),
        _ => ToolCall::tool("Bash", json!({ "command": text })),
    }
}

fn answers(format: Format, name: &str, text: &str, cases: &[(&str, &str)]) {
    let detected = read(None, name, text).unwrap();
    let named = read(Some(format), name, text).unwrap();
    let mut files = MemoryFiles::new();
    files.folder("/w/app/src").file("/w/app/.env", b"").file("/w/app/src/a.rs", b"");
    let facts = Facts { files: &files, env: &NoEnvironment };
    for policy in [Policy::from_foreign(vec![named]), Policy::from_foreign(vec![detected])] {
        for (written, expected) in cases {
            let mut call = call(written);
            call.cwd = Some("/w/app".into());
            call.home = Some("/home/u".into());
            call.workspace = Workspace::new("/w/app", Some("/home/u".as_ref()));
            let decision = policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
            let why: Vec<&str> = decision.reasons.iter().map(|reason| reason.text.as_str()).collect();
            assert_eq!(decision.answer.as_str(), *expected, "{} on {written}: {why:?}", format.name());
        }
    }
}

#[test]
fn claude_code_denies_before_it_asks_before_it_allows() {
    let text = r#"{
  "model": "opus",
  "permissions": {
    "allow": ["Bash(git status)", "Bash(git log:*)", "Bash(npm run test *)", "Bash(ls*)", "Edit(src/**)", "WebFetch(domain:docs.rs)", "mcp__github", "Agent(explorer)"],
    "ask": ["Bash(git push:*)", "Read(~/notes/**)"],
    "deny": ["Bash(touch:*)", "Read(.env)", "Edit(/src/gen/**)", "mcp__github__delete_repo", "WebSearch"]
  }
}"#;
    answers(
        Format::ClaudeCode,
        "settings.json",
        text,
        &[
            ("git status", "allow"),
            ("git status -s", "ask"),
            ("git log --oneline", "allow"),
            ("git logs", "ask"),
            ("npm run test", "allow"),
            ("npm run test unit", "allow"),
            ("npm run tests", "ask"),
            ("lsof", "allow"),
            ("git log && git status", "allow"),
            ("git log && make", "ask"),
            ("git log | touch ran", "deny"),
            ("X=1 git log", "ask"),
            ("timeout 5 git log", "allow"),
            ("env git log", "ask"),
            ("git push", "ask"),
            ("git log; git push -f", "ask"),
            ("touch ran", "deny"),
            ("/usr/bin/touch ran", "deny"),
            ("env touch ran", "deny"),
            ("bash -c 'touch ran'", "deny"),
            ("to''uch ran", "deny"),
            ("echo $(touch ran)", "deny"),
            ("T=touch; $T ran", "deny"),
            ("$T ran", "ask"),
            ("git log > src/x", "allow"),
            ("git log > x", "ask"),
            ("git log > src/gen/x", "deny"),
            ("ls .env", "deny"),
            ("cat .env", "deny"),
            ("Read src/a.rs", "allow"),
            ("Read /etc/hosts", "ask"),
            ("Read .env", "deny"),
            ("Read sub/.env", "deny"),
            ("Read /home/u/notes/x", "ask"),
            ("Edit src/a.rs", "allow"),
            ("Write src/gen/a.rs", "deny"),
            ("Write x", "ask"),
            ("WebFetch https://docs.rs/serde", "allow"),
            ("WebFetch https://evil.example/docs.rs", "ask"),
            ("tool WebSearch", "deny"),
            ("tool mcp__github__get_issue", "allow"),
            ("tool mcp__github__delete_repo", "deny"),
            ("tool mcp__gitlab__get_issue", "ask"),
            ("Task explorer", "allow"),
            ("Task other", "ask"),
        ],
    );
}

#[test]
fn claude_codes_modes_are_its_defaults() {
    let text = |mode: &str| format!(r#"{{"permissions": {{"defaultMode": "{mode}", "deny": ["Bash(rm:*)"]}}}}"#);
    for (mode, make, edit, outside) in [
        ("default", "ask", "ask", "ask"),
        ("acceptEdits", "ask", "allow", "ask"),
        ("plan", "ask", "deny", "deny"),
        ("dontAsk", "deny", "deny", "deny"),
        ("bypassPermissions", "allow", "allow", "allow"),
    ] {
        let cases = [("make", make), ("Edit src/a.rs", edit), ("Edit /etc/x", outside), ("rm x", "deny")];
        answers(Format::ClaudeCode, "settings.json", &text(mode), &cases);
    }
}

#[test]
fn codex_takes_the_strictest_of_all_rules_that_match() {
    let text = r#"
# What is safe.
prefix_rule(
    pattern = ["git", ["status", "log"]],
    decision = "allow",
    match = ["git status -s", ["git", "log"]],
    not_match = ["git push"],
)
prefix_rule(pattern = ["git"], decision = "prompt", justification = "ask first")
prefix_rule(pattern = ["ls"])
prefix_rule(pattern = ["touch"], decision = "forbidden")
host_executable(name = "git", paths = ["/usr/bin/git"])
network_rule(host = "evil.example", protocol = "https", decision = "deny")
"#;
    answers(
        Format::Codex,
        "default.rules",
        text,
        &[
            ("git status", "ask"),
            ("ls -la", "allow"),
            ("ls && ls -a | ls", "allow"),
            ("ls > x", "ask"),
            ("ls $HOME", "allow"),
            ("ls $UNKNOWN", "ask"),
            ("ls *", "ask"),
            ("ls $(ls)", "ask"),
            ("(ls)", "allow"),
            ("X=1 ls", "ask"),
            ("env ls", "ask"),
            ("ls; touch x", "deny"),
            ("bash -c 'touch x'", "deny"),
            ("make", "ask"),
            ("curl https://evil.example/x", "deny"),
            ("tool whatever", "ask"),
        ],
    );
}

#[test]
fn what_gemini_asks_in_some_modes_only_hides_no_deny() {
    let text = r#"
[[rule]]
toolName = "run_shell_command"
commandPrefix = "git"
decision = "ask_user"
modes = ["default"]
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git push"
decision = "deny"
priority = 50

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git status"
decision = "allow"
priority = 50
"#;
    answers(
        Format::Gemini,
        "policy.toml",
        text,
        &[("git push origin", "deny"), ("git status", "ask"), ("git log", "ask")],
    );
    let both = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git\"\nargsPattern = \".*\"\ndecision = \"allow\"\n";
    assert!(sayso_formats::read(Some(Format::Gemini), "policy.toml", both).is_err());
}

#[test]
fn geminis_highest_priority_wins() {
    let text = r#"
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git status", "git log"]
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git"
decision = "deny"
priority = 50

[[rule]]
toolName = "run_shell_command"
commandRegex = "npm (test|run lint)"
decision = "allow"
priority = 10

[[rule]]
toolName = "write_file"
decision = "deny"
priority = 10

[[rule]]
mcpName = "github"
decision = "allow"
priority = 5

[[rule]]
toolName = "web_fetch"
argsPattern = '"url":"https://docs\.rs'
decision = "allow"
"#;
    answers(
        Format::Gemini,
        "policy.toml",
        text,
        &[
            ("git status -s", "allow"),
            ("git statuses", "deny"),
            ("git push", "deny"),
            ("git log && git push", "deny"),
            ("git log && make", "ask"),
            ("git log > x", "ask"),
            ("npm test", "allow"),
            ("npm testing", "allow"),
            ("npm install", "ask"),
            ("bash -c 'git push'", "deny"),
            ("write_file x", "deny"),
            ("read_file src/a.rs", "allow"),
            ("tool mcp__github__get", "allow"),
            ("tool mcp__other__get", "ask"),
            ("WebFetch https://docs.rs/x", "allow"),
            ("WebFetch https://evil.example", "ask"),
        ],
    );
}

#[test]
fn opencodes_last_match_wins() {
    let text = r#"{
  // the order counts
  "permission": {
    "bash": { "*": "ask", "git *": "allow", "git push *": "deny", "touch *": "deny", },
    "edit": { "*": "allow", "src/*": "ask" },
    "webfetch": "deny",
    "demo_*": "ask",
  },
}"#;
    answers(
        Format::Opencode,
        "opencode.jsonc",
        text,
        &[
            ("git", "allow"),
            ("git status", "allow"),
            ("git push", "deny"),
            ("git push origin", "deny"),
            ("git log; touch x", "deny"),
            ("env touch x", "deny"),
            ("make", "ask"),
            ("Edit x", "allow"),
            ("Edit src/a.rs", "ask"),
            ("Read src/a.rs", "allow"),
            ("Read .env", "deny"),
            ("Read /etc/hosts", "ask"),
            ("WebFetch https://x.example", "deny"),
            ("tool demo_echo", "ask"),
            ("tool other", "allow"),
        ],
    );
    let reversed = r#"{"permission": {"bash": {"touch *": "deny", "*": "allow"}}}"#;
    answers(Format::Opencode, "opencode.json", reversed, &[("touch x", "allow"), ("make", "allow")]);
    answers(
        Format::Opencode,
        "opencode.json",
        r#"{"permission": "ask"}"#,
        &[("make", "ask"), ("Read src/a.rs", "ask")],
    );
}

#[test]
fn zed_denies_before_it_confirms_before_it_allows() {
    let text = r#"{
  "agent": { "tool_permissions": {
    "default": "allow",
    "tools": {
      "terminal": {
        "default": "confirm",
        "always_allow": [{ "pattern": "^cargo\\s+(build|test)" }, { "pattern": "^GIT status", "case_sensitive": true }],
        "always_confirm": [{ "pattern": "sudo" }],
        "always_deny": [{ "pattern": "rm\\s+-rf" }],
      },
      "edit_file": { "default": "confirm", "always_allow": [{ "pattern": "^src/" }], "always_deny": [{ "pattern": "\\.env" }] },
      "mcp:github:create_issue": { "default": "deny" },
    },
  } },
}"#;
    answers(
        Format::Zed,
        "settings.json",
        text,
        &[
            ("cargo build", "allow"),
            ("CARGO build", "allow"),
            ("git status", "ask"),
            ("cargo build && make", "ask"),
            ("cargo build && rm -rf x", "deny"),
            ("cargo test --sudo", "ask"),
            ("cargo build > x", "ask"),
            ("edit_file src/a.rs", "allow"),
            ("edit_file docs/a.md", "ask"),
            ("edit_file src/.env", "deny"),
            ("tool mcp__github__create_issue", "deny"),
            ("tool other", "allow"),
        ],
    );
}

#[test]
fn cursor_and_copilot_let_a_deny_win() {
    let text = r#"{ "permissions": {
  "allow": ["Shell(git)", "Shell(npm:run test)", "Read(src/**)", "Write(docs/**)", "Mcp(github:*)"],
  "deny": ["Shell(rm)", "Read(.env*)", "Write(**/*.pem)"] } }"#;
    answers(
        Format::Cursor,
        "cli-config.json",
        text,
        &[
            ("git push", "allow"),
            ("npm run test", "allow"),
            ("npm install", "ask"),
            ("git log; rm x", "deny"),
            ("Read .env.local", "deny"),
            ("Write docs/a.md", "allow"),
            ("Write docs/a.pem", "deny"),
            ("Write x", "ask"),
            ("tool mcp__github__get", "allow"),
        ],
    );
    let text = "# for this project\n--allow-tool 'shell(git:*)' --deny-tool='shell(git push)'\n--allow-tool write --deny-tool \"demo(danger)\" --allow-tool demo\n";
    answers(
        Format::Copilot,
        "copilot.txt",
        text,
        &[
            ("git status", "allow"),
            ("git push origin", "deny"),
            ("git status > x", "ask"),
            ("make", "ask"),
            ("Write x", "allow"),
            ("tool mcp__demo__echo", "allow"),
            ("tool mcp__demo__danger", "deny"),
        ],
    );
}

#[test]
fn what_is_wrong_is_told_with_file_line_and_key() {
    for (name, text, expected) in [
        (
            "settings.json",
            "{\"permissions\": {\n\"alow\": []}}",
            "settings.json:2: permissions.alow: unknown key; did you mean `allow`?",
        ),
        (
            "settings.json",
            "{\"permissions\": {\"deny\": [\n\"Bash(x\"]}}",
            "settings.json:2: permissions.deny[0]: a rule ends with `)`",
        ),
        (
            "x.rules",
            "prefix_rule(pattern=['a'])\nprefix_rule(pattern=['a'], match=['b'])",
            "x.rules:2: prefix_rule.match: the example `b` is not matched by this rule",
        ),
        ("x.rules", "load('x')", "x.rules:1: "),
        (
            "opencode.json",
            "{\"permission\": {\n\"bash\": {\"*\": \"maybe\"}}}",
            "opencode.json:2: permission.bash.*: `maybe` is not one of",
        ),
        (
            "zed.json",
            "{\"agent\": {\"tool_permissions\": {\"tools\": {\"terminal\": {\n\"always_deny\": [{\"pattern\": \"(\"}]}}}}}",
            "zed.json:2: agent.tool_permissions.tools.terminal.always_deny[0].pattern: ",
        ),
        (
            "c.json",
            "{\"permissions\": {\"deny\": [\"Shell(x)\", \"Skip(y)\"]}}",
            "c.json:1: permissions.deny[1]: `Skip` is not one of",
        ),
        ("copilot.txt", "--allow-tool", "copilot.txt:1: --allow-tool: missing value"),
    ] {
        let error = read(None, name, text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_deny_that_cannot_be_compiled_denies_everything() {
    let long = "x*".repeat(60_000);
    let text = json!({ "permissions": { "deny": [format!("Bash({long})")], "allow": ["Bash(ls)"] } }).to_string();
    answers(Format::ClaudeCode, "settings.json", &text, &[("ls", "deny")]);
    let text = json!({ "permissions": { "allow": [format!("Bash({long})")] } }).to_string();
    answers(Format::ClaudeCode, "settings.json", &text, &[("ls", "ask")]);
}
