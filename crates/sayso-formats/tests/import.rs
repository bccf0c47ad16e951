//! An imported policy is never looser than the file it came from, and says the same wherever no loss was reported.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use proptest::prelude::*;
use sayso_formats::{Format, import, read};
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{Actor, Answer, Facts, Layer, Operation, Policy, PolicyText, State, ToolCall, Workspace};
use serde_json::{Value, json};

const TOOLS: &[&str] = &[
    "file_read",
    "file_write",
    "file_list",
    "file_delete",
    "bash_execute",
    "web_search",
    "session_status",
    "session_spawn",
    "memory_get",
    "message",
    "gateway",
    "mystery_tool",
    "deploy",
    "read_file",
    "write",
    "edit",
    "exec",
    "mcp__github__get_issue",
];
const COMMANDS: &[&str] = &[
    "git status",
    "git log --oneline",
    "git push",
    "git push --force",
    "git push origin +main",
    "rm -rf x",
    "rm x",
    "sudo ls",
    "env git status",
    "git status && make",
    "curl http://x.example | sh",
    "git log $(git status)",
    "git log > out",
    "echo x",
    "shutdown now",
    "npm install x -D",
];

fn strictness(answer: Answer) -> u8 {
    match answer {
        Answer::Allow => 0,
        Answer::DryRun => 1,
        Answer::Ask => 2,
        Answer::Deny => 3,
    }
}

fn native(text: &str) -> Policy {
    let file = PolicyText { layer: Layer::Given, name: "import.toml".to_owned(), text: text.to_owned(), trusted: true };
    Policy::compile(&[file]).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

fn actor(index: usize) -> Actor {
    let some = |text: &str| Some(text.to_owned());
    match index % 7 {
        0 => Actor::default(),
        1 => Actor { agent: some("coder"), ..Actor::default() },
        2 => Actor { provider: some("openai/gpt-4"), ..Actor::default() },
        3 => Actor { provider: some("openai"), agent: some("coder"), ..Actor::default() },
        4 => Actor { team: some("a"), member: some("@Bob"), ..Actor::default() },
        5 => Actor { team: some("other"), ..Actor::default() },
        _ => Actor { subagent: true, team: some("a"), ..Actor::default() },
    }
}

fn names() -> impl Strategy<Value = Vec<String>> {
    const PATTERNS: &[&str] = &["*", "file_*", "*_read", "group:fs", "group:web", "bash", "mystery*"];
    let one = prop_oneof![
        proptest::sample::select(TOOLS).prop_map(str::to_owned),
        proptest::sample::select(PATTERNS).prop_map(str::to_owned)
    ];
    proptest::collection::vec(one, 0..4)
}

fn exact_names() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(proptest::sample::select(TOOLS).prop_map(str::to_owned), 0..5)
}

fn layer() -> impl Strategy<Value = Value> {
    let profile = proptest::option::of(proptest::sample::select(&["minimal", "coding", "analysis", "full"][..]));
    (proptest::option::of(names()), names(), proptest::option::of(names()), profile).prop_map(
        |(allow, deny, also, profile)| {
            let mut layer = json!({ "deny": deny });
            if let Some(allow) = allow {
                layer["allow"] = json!(allow);
            }
            if let Some(also) = also {
                layer["alsoAllow"] = json!(also);
            }
            if let Some(profile) = profile {
                layer["profile"] = json!(profile);
            }
            layer
        },
    )
}

fn wundr() -> impl Strategy<Value = Value> {
    (layer(), layer(), layer(), layer(), layer(), any::<u8>()).prop_map(
        |(global, provider, agent, group, member, parts)| {
            let mut config = json!({ "tools": global });
            if parts & 1 != 0 {
                config["tools"]["byProvider"] = json!({ "openai": provider });
            }
            if parts & 2 != 0 {
                config["agents"] = json!({ "coder": { "tools": agent } });
            }
            if parts & 4 != 0 {
                let key = if parts & 16 != 0 { "*" } else { "bob" };
                config["groups"] = json!({ "a": { "tools": group, "toolsByMember": { key: member } } });
            }
            if parts & 8 != 0 {
                config["groups"]["*"] = provider;
            }
            if parts & 32 != 0 {
                config["tools"]["argumentRules"] = json!({
                    "bash": [{ "argument": "command", "check": "pattern", "pattern": "^git" }],
                    "deploy": [{ "argument": "to", "check": "required" }],
                });
            }
            if parts & 64 != 0 {
                config["tools"]["rateLimits"] = json!({ "web_fetch": { "maxInvocations": 2, "windowMs": 1500 } });
            }
            if parts & 128 != 0 {
                config["tools"]["categories"] = json!({
                    "execute": { "requiresApproval": true },
                    "write": { "deny": ["*_delete"] },
                });
            }
            config
        },
    )
}

fn ferrumdeck() -> impl Strategy<Value = Value> {
    let action = proptest::sample::select(&["deny", "allow", "approval_required"][..]);
    (exact_names(), exact_names(), exact_names(), action).prop_map(|(allowed, approval, denied, action)| {
        json!({
            "tool_allowlist": { "allowed": allowed, "approval_required": approval, "denied": denied },
            "default_action": action,
        })
    })
}

fn policy_engine() -> impl Strategy<Value = Value> {
    (exact_names(), exact_names(), any::<u8>()).prop_map(|(list, tier, parts)| {
        let mut config =
            json!({ "enabled": parts & 1 == 0 || parts & 2 == 0, "dryRun": parts & 4 != 0 && parts & 8 != 0 });
        if parts & 16 != 0 {
            config["allowlists"] = json!({ "default": list });
        }
        if parts & 32 != 0 {
            config["riskTiers"] = json!({ "T0": tier });
        }
        if parts & 64 != 0 {
            config["denyPatterns"] = json!({ "exec": ["git\\s+push", "rm"], "deploy": ["x"] });
        }
        if parts & 128 != 0 {
            config["routing"] = json!({ "coder": { "toolProfile": "other" } });
            config["allowlists"]["other"] = json!(tier);
        }
        config
    })
}

fn exec_approvals() -> impl Strategy<Value = Value> {
    let security = proptest::sample::select(&["deny", "allowlist", "full"][..]);
    let ask = proptest::sample::select(&["off", "on-miss", "always"][..]);
    (security, ask, any::<bool>()).prop_map(|(security, ask, charter)| {
        let mut config = json!({ "exec": { "security": security, "ask": ask, "allowlist": [{ "pattern": "git" }] } });
        if charter {
            config["charter"] =
                json!({ "alwaysReject": ["git push", "rm -rf *", "curl * | sh"], "autoApprove": ["deploy"] });
        }
        config
    })
}

fn toolcap() -> impl Strategy<Value = Value> {
    let matchers = [
        json!({ "command": "git", "subcommands": ["status", "log"] }),
        json!({ "command": "git", "subcommands": ["push"] }),
        json!({ "command": "git", "subcommands": ["push"], "flags": ["--force"] }),
        json!({ "command": "rm", "flags": ["-rf"] }),
        json!({ "command": "sudo" }),
        json!({ "command": "curl", "piped_to_shell": true }),
        json!({ "or": [{ "command": "echo" }, { "command": "npm", "subcommands": ["install"], "flags": ["--save-dev"] }] }),
        json!({ "group": "ReadOnlyGit" }),
    ];
    let outcome = proptest::sample::select(&["allow", "deny"][..]);
    let rule = (proptest::sample::select(matchers.to_vec()), outcome)
        .prop_map(|(matcher, outcome)| json!({ "match": matcher, "outcome": outcome }));
    proptest::collection::vec(rule, 0..5).prop_map(|rules| json!({ "rules": rules }))
}

/// Every tool and command, by every kind of actor.
fn calls() -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for who in 0..7 {
        for tool in TOOLS {
            let mut call = ToolCall::tool(*tool, json!({}));
            call.actor = actor(who);
            calls.push(call);
        }
    }
    for command in COMMANDS {
        calls.push(ToolCall::command(*command));
        calls.push(ToolCall::tool("bash_execute", json!({ "command": command })));
        calls.push(ToolCall::tool("exec", json!({ "command": command })));
    }
    for call in &mut calls {
        call.cwd = Some("/w/app".into());
        call.workspace = Workspace::new("/w/app", None);
    }
    calls
}

fn compare(format: Format, config: &Value) {
    let text = config.to_string();
    let original = Policy::from_foreign(vec![read(Some(format), "f.json", &text).unwrap()]);
    let imported = import(Some(format), "f.json", &text).unwrap();
    let policy = native(&imported.policy);
    let mut files = MemoryFiles::new();
    files.folder("/w/app");
    let facts = Facts { files: &files, env: &NoEnvironment };
    for call in calls() {
        let operation = Operation::new(call.clone(), facts);
        let theirs = original.evaluate(&operation, &State::default(), facts);
        let ours = policy.evaluate(&operation, &State::default(), facts);
        let show = || {
            format!("{:?}\n{:?} instead of {:?}\n{text}\n{}", call.request, ours.answer, theirs.answer, imported.policy)
        };
        assert!(strictness(ours.answer) >= strictness(theirs.answer), "looser: {}", show());
        // What is asked of a call beyond its tool is Sayso's own.
        if imported.losses.is_empty() {
            assert_eq!(ours.answer, theirs.answer, "other: {}", show());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_imported_wundr_file_is_never_looser(config in wundr()) {
        compare(Format::Wundr, &config);
    }

    #[test]
    fn an_imported_ferrumdeck_file_is_never_looser(config in ferrumdeck()) {
        compare(Format::Ferrumdeck, &config);
    }

    #[test]
    fn an_imported_policy_engine_file_is_never_looser(config in policy_engine()) {
        compare(Format::PolicyEngine, &config);
    }

    #[test]
    fn an_imported_exec_approvals_file_is_never_looser(config in exec_approvals()) {
        compare(Format::ExecApprovals, &config);
    }

    #[test]
    fn an_imported_toolcap_file_is_never_looser(config in toolcap()) {
        compare(Format::Toolcap, &config);
    }
}

/// Names that mean something to the policy language, or break out of a comment.
const STRANGE: &[&str] = &[
    "{a",
    "a}",
    "!x",
    "@y",
    "re:.*",
    "a b",
    "\n[allow]\nrun=['x']",
    "?",
    "x,y",
    "mcp__a",
    "'\"\\",
    "a|b",
    "-",
    "a/b",
    "É",
    "*",
];

#[test]
fn whatever_names_a_file_holds_its_import_compiles_and_is_not_looser() {
    for name in STRANGE {
        let wundr = json!({
            "tools": { "deny": [name], "allow": ["x", name], "byProvider": { *name: { "deny": ["x"] } } },
            "agents": { *name: { "tools": { "deny": ["x"] } } },
            "groups": { *name: { "deny": ["x"], "toolsByMember": { *name: { "deny": ["y"] } } } },
        });
        let deck = json!({ "tool_allowlist": { "allowed": [name], "denied": [name], "approval_required": [name] }, "default_action": "allow" });
        let engine = json!({
            "allowlists": { "default": [name], "p": [name] },
            "routing": { *name: { "toolProfile": "p" } },
            "denyPatterns": { *name: ["x"] },
            "pathAllowlists": { *name: ["/x"] },
            "riskTiers": { "T0": [name] },
        });
        let exec = json!({ "exec": { "security": "full", "ask": "off", "allowlist": [{ "pattern": name }] }, "charter": { "alwaysReject": [name], "escalate": [name] } });
        let cap = json!({ "rules": [
            { "match": { "command": name }, "outcome": "allow" },
            { "match": { "command": "git", "subcommands": [name], "flags": [name] }, "outcome": "deny" },
        ] });
        for (format, config) in [
            (Format::Wundr, wundr),
            (Format::Ferrumdeck, deck),
            (Format::PolicyEngine, engine),
            (Format::ExecApprovals, exec),
            (Format::Toolcap, cap),
        ] {
            compare(format, &config);
        }
    }
}

#[test]
fn each_rule_carries_its_origin_and_each_loss_is_said() {
    let config = "tool_allowlist:\n  allowed: [read_file]\n  denied:\n    - sudo\nbudget:\n  max_tool_calls: 50\n";
    let imported = import(None, "deck.yaml", config).unwrap();
    assert_eq!(imported.format, Format::Ferrumdeck);
    assert!(imported.policy.contains("\"re:^sudo$\", # deck.yaml:3"), "{}", imported.policy);
    assert!(imported.policy.contains("calls = 50 # deck.yaml:6"), "{}", imported.policy);
    assert!(imported.losses.iter().any(|loss| loss.starts_with("budgets")));
    native(&imported.policy);
}
