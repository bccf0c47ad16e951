//! `sayso run` as a part of a call: when it counts as held, and when it does not.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

use sayso_policy::shell::{Environment, MemoryFiles};
use sayso_policy::{Facts, Operation, Policy, PolicyText, Protected, State, ToolCall, Workspace};
use std::path::Path;

const SAYSO: &str = "/opt/sayso/bin/sayso";

struct Env;

impl Environment for Env {
    fn get(&self, name: &str) -> Option<String> {
        match name {
            "HOME" => Some("/home/ann".to_owned()),
            "PATH" => Some("/usr/bin:/bin".to_owned()),
            _ => None,
        }
    }
}

#[test]
fn only_the_registered_program_in_the_workspace_itself_counts() {
    let protected = Protected { registration: vec![SAYSO.into()], ..Protected::default() };
    let policy = Policy::compile(&[PolicyText::preset("developer")]).unwrap().protecting(protected);
    let mut files = MemoryFiles::new();
    for program in [SAYSO, "/usr/bin/sayso", "/home/ann/app/sayso"] {
        files.program(program, b"");
    }
    files.file("/home/ann/app/sub/x", b"");
    files.link("/home/ann/app/out", "/home/ann/other");
    files.file("/home/ann/other/x", b"");
    let facts = Facts { files: &files, env: &Env };
    for (command, expected) in [
        ("S run -- strange", "allow"),
        ("S run --try -- strange", "allow"),
        ("cd /home/ann/app && S run -- strange", "allow"),
        // There every rule would speak of another folder.
        ("cd sub && S run -- strange", "ask"),
        ("cd out && S run -- strange", "ask"),
        ("cd /tmp && S run -- strange", "ask"),
        ("sayso run -- strange", "ask"),
        ("./sayso run -- strange", "ask"),
        ("HOME=/tmp S run -- strange", "ask"),
        ("env HOME=/tmp S run -- strange", "ask"),
        ("export HOME=/tmp; S run -- strange", "ask"),
        ("S run --need files -- strange", "ask"),
        ("S run --permit 7 -- strange", "ask"),
        ("S run -- strange; other", "ask"),
        ("S run -- strange | other", "ask"),
        ("S run -- strange & other", "ask"),
        ("S run -- strange $(other)", "ask"),
        ("S run -- strange <(other)", "ask"),
        ("S run -- git push", "ask"),
        ("S run -- cat .env", "deny"),
    ] {
        let call = ToolCall {
            cwd: Some("/home/ann/app".into()),
            workspace: Workspace::new("/home/ann/app", Some(Path::new("/home/ann"))),
            home: Some("/home/ann".into()),
            ..ToolCall::command(command.replace("S ", &format!("{SAYSO} ")).as_bytes())
        };
        let decision = policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
        assert_eq!(decision.answer.as_str(), expected, "{command}: {:?}", decision.reasons);
    }
}
