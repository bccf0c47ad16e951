//! Behaviours of the united designs, a JSON object a line. `SAYSO_VECTORS` names another folder of such files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

mod scenario;

use sayso_formats::Format;
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{Actor, Facts, Operation, Policy, Request, State, ToolCall, Workspace};
use serde_json::Value;
use std::path::PathBuf;

fn folder() -> PathBuf {
    std::env::var_os("SAYSO_VECTORS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"), PathBuf::from)
}

fn policy(line: &Value) -> Result<Policy, sayso_formats::Error> {
    let format = Format::by_name(line["format"].as_str().unwrap()).unwrap();
    let text = line["config"].to_string();
    sayso_formats::read(Some(format), "vector.json", &text).map(|file| Policy::from_foreign(vec![file]))
}

/// A line of `check --jsonl` as a call.
fn call(input: &Value) -> ToolCall {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let request = match input.get("command") {
        Some(command) => Request::Command(command.as_str().unwrap().as_bytes().to_vec()),
        None => Request::Tool {
            name: input["tool"].as_str().unwrap().to_owned(),
            arguments: input.get("args").cloned().unwrap_or_else(|| serde_json::json!({})),
            server: None,
        },
    };
    let mut call = ToolCall::new(request);
    call.cwd = text(&input["cwd"]).map(PathBuf::from);
    let root = text(&input["workspace"]).map(PathBuf::from).or_else(|| call.cwd.clone());
    call.workspace = root.map_or_else(Workspace::unknown, |root| Workspace::new(root, None));
    call.home = Some(text(&input["home"]).map_or_else(|| PathBuf::from("/home/u"), PathBuf::from));
    call.reported_kind = text(&input["kind"]);
    let context = &input["context"];
    call.actor = Actor {
        agent: text(&context["agent"]),
        provider: text(&context["provider"]),
        team: text(&context["group"]),
        member: text(&context["member"]),
        tenant: text(&context["tenant"]),
        session: text(&context["session"]),
        subagent: context["subagent"].as_bool().unwrap_or(false),
        ..Actor::default()
    };
    call
}

fn lines(scenarios: bool) -> Vec<Value> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.ends_with(".jsonl") && name.starts_with("scenario-") == scenarios
    };
    let texts: Vec<String> =
        files.iter().filter(|path| wanted(path)).map(|path| std::fs::read_to_string(path).unwrap()).collect();
    texts
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn report(failures: &[String], total: usize) {
    assert!(failures.is_empty(), "{} of {total} lines differ:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_single_call_gets_its_answer() {
    let files = MemoryFiles::new();
    let facts = Facts { files: &files, env: &NoEnvironment };
    let all = lines(false);
    let mut failures = Vec::new();
    for line in &all {
        let policy = match policy(line) {
            Ok(policy) => policy,
            Err(error) => {
                failures.push(format!("{}: {error}", line["id"]));
                continue;
            }
        };
        let decision = policy.evaluate(&Operation::new(call(&line["input"]), facts), &State::default(), facts);
        let (said, expected) = (decision.answer.as_str(), line["expect"].as_str().unwrap());
        if said != expected {
            let why = decision.reasons.first().map(|reason| reason.text.clone()).unwrap_or_default();
            failures.push(format!("{}: {said} instead of {expected} ({}): {why}", line["id"], line["why"]));
        }
    }
    assert!(!all.is_empty());
    report(&failures, all.len());
}

#[test]
fn every_scenario_ends_as_it_says() {
    let all = lines(true);
    let mut failures = Vec::new();
    for line in &all {
        let (said, expected) = (scenario::play(line), line["expect"].as_str().unwrap());
        if said != expected {
            failures.push(format!("{}: {said} instead of {expected} ({})", line["id"], line["why"]));
        }
    }
    report(&failures, all.len());
}
