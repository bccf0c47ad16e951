//! The scenarios of the five united designs through the real gate and the real store: what happened before is made to
//! happen, calls and answers and all.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::approval::{Approval, Remember, Reply, Width};
use sayso_gate::store::{Answering, Memo, Subject};
use sayso_gate::{
    Asking, Circumstances, Expected, FactsOf, Gate, InForce, Judged, Memory, Otherwise, Outcome, Places, Unrecorded,
    Which,
};
use sayso_policy::shell::{Environment, MemoryFiles, NoEnvironment};
use sayso_policy::{Answer, Counting, Facts, Person, Policy, Scope, ToolCall};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

fn lines() -> Vec<Value> {
    let folder = std::env::var_os("SAYSO_VECTORS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sayso-formats/tests/vectors"),
        PathBuf::from,
    );
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("scenario-"));
    files.sort();
    let text: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

struct Path(String);

impl Environment for Path {
    fn get(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| self.0.clone())
    }
}

struct Stage {
    _dir: tempfile::TempDir,
    memory: Memory,
    gate: Gate,
}

impl Stage {
    fn of(line: &Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::of(&Places::below(&dir.path().join("home"), dir.path()));
        let format = sayso_formats::Format::by_name(line["format"].as_str().unwrap()).unwrap();
        let file = sayso_formats::read(Some(format), "vector.json", &line["config"].to_string()).unwrap();
        let policy = Policy::from_foreign(vec![file]).with_integrity();
        let in_force = InForce { policy, files: Vec::new(), notices: Vec::new(), floor: None };
        let mut files = MemoryFiles::new();
        let mut folders = Vec::new();
        for path in line["scenario"]["path_of"].as_object().into_iter().flatten().filter_map(|(_, path)| path.as_str())
        {
            files.program(path, b"");
            folders.push(path.rsplit_once('/').unwrap().0.to_owned());
        }
        let env: Box<dyn Environment + Send + Sync> =
            if folders.is_empty() { Box::new(NoEnvironment) } else { Box::new(Path(folders.join(":"))) };
        let gate =
            Gate::new(in_force, Box::new(Unrecorded)).with_memory(memory.clone()).with_facts(Box::new(files), env);
        Self { _dir: dir, memory, gate }
    }

    fn judge(&self, call: ToolCall, asking: Asking) -> Judged {
        let expected = Expected::default();
        self.gate
            .judge(
                call,
                Circumstances {
                    way_in: "test".into(),
                    peer: None,
                    event: None,
                    call_id: None,
                    asking,
                    expected,
                    findings: Vec::new(),
                    can_hold: sayso_policy::CanHold::No,
                },
                FactsOf::Gate,
            )
            .settle()
            .record()
    }

    /// Judges a call whose question waits for somebody who comes later; the question.
    fn put(&self, call: ToolCall) -> Approval {
        let judged = self.judge(call, Asking::Queue { until: Instant::now(), otherwise: Otherwise::Nobody });
        let mut waiting = self.memory.store().unwrap().approvals(true, 10).unwrap();
        assert_eq!(waiting.len(), 1, "an approval needs an ask: {:?}", judged.decision.reasons);
        waiting.remove(0)
    }

    fn reply(&self, id: &str, reply: &Reply, now_ms: u64) -> bool {
        let files = MemoryFiles::new();
        let facts = Facts { files: &files, env: &NoEnvironment };
        let person = &Person::named("alice");
        let answer = Answering { id, person, via: "test", reply, policy: None, facts, now_ms };
        self.memory.store().unwrap().answer(&answer).is_ok()
    }

    /// Makes it so that this was used before.
    fn use_up(&self, scenario: &Value) {
        let harmless = || call("A", "read_file", json!({}));
        let number = |key: &str| scenario["usage"][key].as_u64().unwrap_or(0);
        if number("wall_time_ms") > 0 {
            // The run began that long ago.
            let counting = Counting { scopes: vec![Scope::Run, Scope::Session], ..Counting::default() };
            let actor = harmless().actor;
            let began = Subject {
                now_ms: now() - number("wall_time_ms"),
                actor: &actor,
                site: None,
                digest: "",
                grants: None,
                counting: &counting,
                hosts: &[],
                call: "",
            };
            self.memory.store().unwrap().turn(&began, &mut |_| Memo::denied()).unwrap();
        }
        for _ in 0..number("tool_calls") {
            assert_eq!(self.judge(harmless(), Asking::Nobody).decision.answer, Answer::Allow);
        }
        let outcome = Outcome {
            input_tokens: Some(number("input_tokens")),
            output_tokens: Some(number("output_tokens")),
            cost_micros: Some(number("cost_cents") * 10_000),
            ..Outcome::default()
        };
        if outcome != (Outcome { input_tokens: Some(0), output_tokens: Some(0), cost_micros: Some(0), ..outcome }) {
            let judged = self.judge(harmless(), Asking::Nobody);
            assert!(self.gate.settle(&Which::Record(judged.record.id), &outcome).unwrap());
        }
        for _ in 0..scenario["blocked"].as_u64().unwrap_or(0) {
            // Nobody's file allows this.
            let denied = self.judge(call("A", "exec", json!({ "command": "sayso approvals list" })), Asking::Nobody);
            assert_eq!(denied.decision.answer, Answer::Deny);
        }
    }
}

fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn call(session: &str, tool: &str, arguments: Value) -> ToolCall {
    let mut call = ToolCall::tool(tool, arguments);
    call.actor.session = Some(session.to_owned());
    call.home = Some("/home/u".into());
    call.cwd = Some("/w".into());
    call
}

/// The last answer of a scenario.
fn play(line: &Value) -> &'static str {
    let stage = Stage::of(line);
    let scenario = &line["scenario"];
    if scenario.get("acp").is_some() {
        return permission(&stage, scenario);
    }
    if let Some(approval) = scenario.get("approval") {
        return approved(&stage, approval, scenario.get("then"));
    }
    if let Some(steps) = scenario.get("seq").and_then(Value::as_array) {
        return sequence(&stage, scenario, steps);
    }
    stage.use_up(scenario);
    let command = scenario.get("command").map_or(json!({}), |command| json!({ "command": command }));
    let arguments = scenario.get("args").cloned().unwrap_or(command);
    let call = call("A", scenario["tool"].as_str().unwrap_or("bash_execute"), arguments);
    let nobody = matches!(scenario["approver"].as_str(), Some("unreachable" | "timeout" | "none"));
    let asking = if nobody { Asking::Nobody } else { Asking::OwnPrompt };
    stage.judge(call, asking).decision.answer.as_str()
}

/// What a person answered to a call, and what the next call gets.
fn approved(stage: &Stage, approval: &Value, then: Option<&Value>) -> &'static str {
    let of = |value: &Value| {
        let arguments = value["args"].as_str().map_or(json!({}), |text| json!({ "which": text }));
        call("A", value["tool"].as_str().unwrap(), arguments)
    };
    let question = stage.put(of(approval)).question;
    let reply = if approval["resolve"] == "approve" { Reply::allow_once() } else { Reply::deny() };
    let late = approval["age"].as_str() == Some("after expiry");
    assert_eq!(stage.reply(&question.id, &reply, if late { question.expires_ms } else { now() }), !late);
    let asking = if late { Asking::Nobody } else { Asking::OwnPrompt };
    stage.judge(of(then.unwrap_or(approval)), asking).decision.answer.as_str()
}

/// Calls one after the other, some with a person's answer.
fn sequence(stage: &Stage, scenario: &Value, steps: &[Value]) -> &'static str {
    let tool = scenario["tool"].as_str().unwrap_or(if steps[0].is_string() { "exec" } else { "bash_execute" });
    let mut last = Answer::Deny;
    for step in steps.iter().chain(scenario.get("then")) {
        let session = step["session"].as_str().or(scenario["session"].as_str()).unwrap_or("A");
        let command = step.as_str().or_else(|| step["command"].as_str()).unwrap();
        let call = || call(session, tool, json!({ "command": command }));
        let reply = match step["user"].as_str() {
            Some("allow-once") => Some(Reply::allow_once()),
            Some("allow-always") => Some(Reply::allow_once().remembered(Remember::Session, Width::Exact)),
            Some("deny") => Some(Reply::deny()),
            _ => None,
        };
        if let Some(reply) = reply {
            let question = stage.put(call()).question;
            assert!(stage.reply(&question.id, &reply, now()));
        }
        last = stage.judge(call(), Asking::OwnPrompt).decision.answer;
    }
    last.as_str()
}

/// An agent's own question over ACP: answered only with an option that it offers.
fn permission(stage: &Stage, scenario: &Value) -> &'static str {
    let mut call = ToolCall::command(scenario["raw_input"]["command"].as_str().unwrap());
    call.reported_kind = scenario["kind"].as_str().map(str::to_owned);
    let offers = |prefix: &str| {
        scenario["options"].as_array().unwrap().iter().any(|option| option.as_str().unwrap().starts_with(prefix))
    };
    match stage.judge(call, Asking::OwnPrompt).decision.answer {
        Answer::Allow if offers("allow_") => "allow",
        Answer::Deny if offers("reject_") => "deny",
        _ => "ask",
    }
}

#[test]
fn every_scenario_ends_as_it_says() {
    let all = lines();
    let differ = |line: &Value| {
        let (said, expected) = (play(line), line["expect"].as_str().unwrap());
        (said != expected).then(|| format!("{}: {said} instead of {expected} ({})", line["id"], line["why"]))
    };
    let failures: Vec<String> = all.iter().filter_map(differ).collect();
    assert!(all.len() >= 22, "{} scenarios", all.len());
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), all.len(), failures.join("\n"));
}
