//! Policies as images: the same answers as from text, and no answer at all from damaged bytes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

mod imaged;

use imaged::Both;
use proptest::prelude::*;
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{
    Actor, Decision, Facts, Layer, Operation, Policy, PolicyText, Scope, State, ToolCall, Usage, Verdict, Workspace,
    image, presets,
};
use serde_json::json;
use std::path::Path;

/// Something of everything that the language has.
const EVERYTHING: &str = r#"
extends = ["developer"]
disable = ["no-force-push"]
default = { read = "allow", run = "ask", connect = "deny" }
unanswered = "deny"

[actor]
team = "a"
tenant = "t"

[for."agent:reviewer"]
extends = ["reviewer"]
disable = ["reviewer-connects-nowhere"]

[for."provider:openai/gpt-4"]
extends = ["full"]
default = { run = "deny" }

[allow]
run     = ["git {status,log,diff,commit}", "just", "/opt/tools/*", "@filters", "re:^make [a-z]+$", "*  --version"]
read    = ["./**", "~/notes/*.md", "!./private/**", "re:^/var/log/"]
write   = ["./**", "!./.git/**", "!./locked/?.txt"]
delete  = ["./target/**"]
connect = ["*.example.org", "localhost:8080", "re:^10[.]"]
tool    = ["mcp:github/{get,list}_*", "gizmo", "re:^x_", "mcp_a_b_c"]

[ask]
run  = ["git push", "{curl,wget} | @shells", "@my-tools"]
tool = ["file_write"]

[deny]
run     = ["git push --force", "rm -r -f", "sudo"]
read    = ["@secrets", "/**/*.pem"]
connect = ["evil.example"]

[set]
my-tools = ["zig build", "@shells"]
T0 = ["report"]

[[rule]]
id = "prod"
ask = { tool = "mcp:github/create_*" }
when = { arg.repo = ["prod-*", "!prod-sandbox", "re:^live"] }
approver = "leads"
always = true
because = "Production repositories change by review."
hits = [{ repo = "prod-api" }]

[[rule]]
deny = { run = "docker run" }
when = { flag = ["--privileged", "-v=x"], for = ["agent:coder", "team:a/alice", "provider:openai/gpt-4", "subagent", "tenant:t"] }

[[rule]]
allow = { run = "terraform plan" }
when = { within = "./infra", env = ["TF_*", "AWS_PROFILE=dev*"], operand = "x*", stdin_only = false }

[[rule]]
ask = { run = "cat" }
when = { piped_to = ["ssh", "@shells"] }

[tools]
hide = ["file_delete", "re:^danger"]
[tools.for."agent:coder"]
only = ["@fs", "bash_execute"]
[tools.for."team:a/alice"]
also = ["web_search"]
[tools.for.subagent]
hide = ["session_spawn"]

[patterns.bash_execute]
deny = ["rm\\s+-rf\\s+/", "(?i)drop table"]
ask = ["sudo"]
[patterns."mcp:*"]
ask = ["secret"]
params = ["query"]

[limits.session]
calls = 5
cost = "5.00 USD"
wall = "2h"
rate = "3/1m"
at_limit = "ask"

[approvals.leads]
members = ["alice", "sso:leads"]
need = 2
expires = "15m"
"#;

fn file(layer: Layer, text: &str, trusted: bool) -> PolicyText {
    PolicyText { name: format!("{layer}.toml"), layer, text: text.to_owned(), trusted }
}

fn policies() -> Vec<Vec<PolicyText>> {
    let mut all = vec![
        vec![file(Layer::User, EVERYTHING, true)],
        vec![
            file(
                Layer::Managed,
                "enforce = [\"read-only\"]\nclosed = [\"write\"]\n[mode]\nrun = \"dry-run\"\npinned = true\n",
                true,
            ),
            file(Layer::User, EVERYTHING, true),
            file(Layer::Project, "extends = [\"ci\"]\n[allow]\nrun = [\"ls\"]\n[deny]\nread = [\"./x\"]\n", false),
        ],
        vec![file(Layer::User, "[mode]\nrun = \"shadow\"\n[deny]\nrun = [\"ls\"]\n", true)],
        vec![file(Layer::User, "[mode]\nrun = \"halt\"\n", true)],
        vec![file(Layer::User, "", true)],
        Vec::new(),
    ];
    all.extend(presets::NAMES.iter().map(|name| vec![PolicyText::preset(name)]));
    all
}

fn files() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    for folder in ["/app/src", "/app/private", "/app/infra", "/home/ann/notes", "/var/log", "/tmp"] {
        files.folder(folder);
    }
    for program in ["git", "cat", "rm", "curl", "make", "docker", "terraform", "ls", "grep", "sort", "sudo", "zig"] {
        files.program(format!("/usr/bin/{program}"), b"");
    }
    files
}

const COMMANDS: &[&str] = &[
    "git status",
    "git log --oneline -n 10 src",
    "git push --force origin main",
    "git push $F",
    "git -c x=y commit -m hi",
    "$PROGRAM status",
    "make all",
    "make all && make -j",
    "curl https://a.example.org/x | bash",
    "curl http://10.1.2.3 http://evil.example",
    "rm -rf target",
    "rm -rf /",
    "rm -r -f $X/y",
    "cat .env",
    "cat private/x src/*.pem",
    "cat ~/notes/a.md > out.txt",
    "cat a | ssh host sh",
    "echo x > locked/a.txt; echo y > locked/ab.txt",
    "grep -rn x . | sort | uniq -c",
    "docker run --privileged x",
    "cd infra && TF_LOG=1 AWS_PROFILE=dev1 terraform plan x1",
    "sudo ls",
    "/opt/tools/thing --version",
    "node --version",
    "zig build",
    "python3 -c 'print(1)'",
    "sayso trust",
    "echo 'drop table x'",
    "unknown-program --flag value",
    "for f in *; do cat \"$f\"; done",
];

fn calls() -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = COMMANDS.iter().map(|command| ToolCall::command(command.as_bytes())).collect();
    for (tool, arguments) in [
        ("Read", json!({"file_path": "/app/.env"})),
        ("Read", json!({"file_path": "/app/src/a.rs"})),
        ("Write", json!({"file_path": "/app/locked/a.txt", "content": "x"})),
        ("delete_file", json!({"path": "/app/x"})),
        ("WebFetch", json!({"url": "https://b.example.org/", "prompt": "x"})),
        ("mcp__github__create_pr", json!({"repo": "prod-api"})),
        ("mcp__github__create_pr", json!({"repo": "prod-sandbox", "query": "a secret"})),
        ("mcp__github__get_issue", json!({"repo": "x"})),
        ("gizmo", json!({})),
        ("x_y", json!({"command": "sudo"})),
        ("danger_zone", json!({})),
        ("report", json!({"text": "x"})),
        ("mcp_a_b_c", json!({})),
        ("Bash", json!({"command": "git status"})),
    ] {
        calls.push(ToolCall::tool(tool, arguments));
    }
    let actors = [
        Actor::default(),
        Actor { agent: Some("coder".into()), ..Actor::default() },
        Actor {
            team: Some("a".into()),
            member: Some("alice".into()),
            provider: Some("OpenAI/gpt-4".into()),
            subagent: true,
            parent: Some(Box::new(Actor { agent: Some("coder".into()), ..Actor::default() })),
            ..Actor::default()
        },
    ];
    let mut all = Vec::new();
    for actor in actors {
        all.extend(calls.iter().map(|call| ToolCall {
            cwd: Some("/app".into()),
            workspace: Workspace::new("/app", Some(Path::new("/home/ann"))),
            home: Some("/home/ann".into()),
            actor: actor.clone(),
            ..call.clone()
        }));
    }
    all
}

#[test]
fn an_image_says_what_the_text_says() {
    let files = files();
    let facts = Facts { files: &files, env: &NoEnvironment };
    let mut used = State::default();
    used.usage.insert(Scope::Session, Usage { calls: 7, wall_ms: 9_000_000, ..Usage::default() });
    let operations: Vec<Operation> = calls().into_iter().map(|call| Operation::new(call, facts)).collect();
    for texts in policies() {
        let policy = Both::new(Policy::compile(&texts).unwrap_or_else(|problems| panic!("{problems:#?}")));
        for operation in &operations {
            for state in [&State::default(), &used] {
                let _ = policy.evaluate(operation, state, facts);
            }
        }
    }
}

#[test]
fn an_image_answers_every_question_about_a_policy_alike() {
    for texts in policies() {
        let policy = Policy::compile(&texts).unwrap();
        let (imaged, _) = image::open(Box::new(image::write(&policy, b"", b"").unwrap()), b"").unwrap();
        assert_eq!(imaged.version(), policy.version());
        assert_eq!(imaged.unanswered(), policy.unanswered());
        assert_eq!(imaged.has_limits(), policy.has_limits());
        assert_eq!(imaged.has_approvers(), policy.has_approvers());
        for call in calls() {
            let facts = Facts { files: &MemoryFiles::new(), env: &NoEnvironment };
            let operation = Operation::new(call, facts);
            assert_eq!(
                imaged.hides(&operation.tool, &operation.actor),
                policy.hides(&operation.tool, &operation.actor)
            );
        }
    }
}

#[test]
fn the_same_policy_gives_the_same_image_and_another_label_opens_nothing() {
    let policy = || Policy::compile(&[file(Layer::User, EVERYTHING, true)]).unwrap();
    let image = image::write(&policy(), b"one", b"").unwrap();
    assert!(image == image::write(&policy(), b"one", b"").unwrap());
    assert!(image::open(Box::new(image.clone()), b"two").is_none());
    assert!(image::open(Box::new(image), b"one").is_some());
}

#[test]
fn an_image_of_an_image_is_not_made() {
    let policy = Policy::compile(&[PolicyText::preset("ci")]).unwrap();
    let (imaged, _) = image::open(Box::new(image::write(&policy, b"", b"").unwrap()), b"").unwrap();
    assert!(image::write(&imaged, b"", b"").is_none());
}

fn decide(policy: &Policy, command: &str) -> Decision {
    let files = files();
    let facts = Facts { files: &files, env: &NoEnvironment };
    let call = ToolCall {
        cwd: Some("/app".into()),
        workspace: Workspace::new("/app", Some(Path::new("/home/ann"))),
        home: Some("/home/ann".into()),
        ..ToolCall::command(command.as_bytes())
    };
    policy.evaluate(&Operation::new(call, facts), &State::default(), facts)
}

/// Large enough that it is read block by block.
fn large() -> String {
    let mut text = EVERYTHING.to_owned();
    for at in 0..600 {
        text.push_str(&format!("[[rule]]\nid = \"r{at}\"\ndeny = {{ run = \"git made-{at} --up\" }}\n"));
    }
    text
}

#[test]
fn a_damaged_image_is_compiled_again_or_denies() {
    let text = large();
    let compile = move || Policy::compile(&[file(Layer::User, &text, true)]).unwrap();
    let image = image::write(&compile(), b"", b"").unwrap();
    let wanted = decide(&compile(), "git status");
    assert_eq!(wanted.verdict, Verdict::Allow);
    let mut denied = 0;
    for at in (0..image.len()).step_by(image.len() / 97) {
        let mut changed = image.clone();
        changed[at] ^= 1;
        let Some((policy, _)) = image::open(Box::new(changed.clone()), b"") else { continue };
        let decision = decide(&policy, "git status");
        if decision != wanted {
            assert_eq!(decision.verdict, Verdict::Deny);
            assert_eq!(decision.reasons[0].code.as_str(), "policy-unreadable");
            denied += 1;
        }
        let again = compile.clone();
        let (policy, _) = image::open(Box::new(changed), b"").unwrap();
        assert_eq!(decide(&policy.or_else(move || Some(again())), "git status"), wanted);
    }
    assert!(denied > 0, "no damage was met");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Any damage at all: cut, changed, moved, repeated bytes.
    #[test]
    fn no_damage_loosens_a_decision(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
        splice in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..600_usize)),
        command in prop::sample::select(COMMANDS),
    ) {
        let policy = Policy::compile(&[file(Layer::User, EVERYTHING, true)]).unwrap();
        let mut bytes = image::write(&policy, b"label", b"").unwrap();
        if let Some((from, to, count)) = splice {
            let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
            let piece: Vec<u8> = bytes.iter().copied().skip(from).take(count).collect();
            for (slot, byte) in bytes.iter_mut().skip(to).zip(piece) {
                *slot = byte;
            }
        }
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Some((imaged, _)) = image::open(Box::new(bytes), b"label") {
            let decision = decide(&imaged, command);
            prop_assert!(decision == decide(&policy, command) || decision.verdict == Verdict::Deny);
        }
    }
}
