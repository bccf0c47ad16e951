//! Scenarios: what is remembered between calls, handed in as a value.

use crate::{call, policy};
use sayso_policy::shell::{Environment, MemoryFiles, NoEnvironment};
use sayso_policy::{
    Actor, Answer, Facts, Grant, GrantSelector, Operation, Person, Policy, Scope, State, Usage, Verdict,
};
use serde_json::{Value, json};

/// The last answer of a scenario.
pub(crate) fn play(line: &Value) -> &'static str {
    let Ok(policy) = policy(line) else { return "error" };
    let scenario = &line["scenario"];
    if scenario.get("acp").is_some() {
        return permission(&policy, scenario);
    }
    if let Some(approval) = scenario.get("approval") {
        return approved(&policy, approval, scenario.get("then"));
    }
    if let Some(steps) = scenario.get("seq").and_then(Value::as_array) {
        return sequence(&policy, scenario, steps);
    }
    let mut state = State::default();
    state.usage.insert(Scope::Run, usage(scenario));
    state.usage.insert(Scope::Session, usage(scenario));
    let (files, env) = world(scenario);
    let facts = Facts { files: &files, env: env.as_ref() };
    let decision = policy.evaluate(&Operation::new(call(&one(scenario)), facts), &state, facts);
    match (decision.answer, scenario.get("approver").and_then(Value::as_str)) {
        (Answer::Ask, Some("unreachable" | "timeout" | "none")) => {
            decision.unanswered.unwrap_or(Verdict::Deny).as_str()
        }
        (answer, _) => answer.as_str(),
    }
}

/// A call of a scenario as a line of input.
fn one(scenario: &Value) -> Value {
    let command = scenario.get("command").cloned();
    let args = scenario
        .get("args")
        .cloned()
        .unwrap_or_else(|| command.map_or(json!({}), |command| json!({ "command": command })));
    json!({ "tool": scenario["tool"].as_str().unwrap_or("bash_execute"), "args": args, "cwd": scenario["cwd"] })
}

fn usage(scenario: &Value) -> Usage {
    let number = |key: &str| scenario["usage"][key].as_u64().unwrap_or(0);
    Usage {
        calls: number("tool_calls"),
        input_tokens: number("input_tokens"),
        output_tokens: number("output_tokens"),
        cost_micros: number("cost_cents") * 10_000,
        wall_ms: number("wall_time_ms"),
        blocked: scenario["blocked"].as_u64().unwrap_or(0),
        ..Usage::default()
    }
}

#[derive(Debug)]
struct Path(String);

impl Environment for Path {
    fn get(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| self.0.clone())
    }
}

/// The files and the PATH that a scenario tells of.
fn world(scenario: &Value) -> (MemoryFiles, Box<dyn Environment>) {
    let mut files = MemoryFiles::new();
    let Some(programs) = scenario.get("path_of").and_then(Value::as_object) else {
        return (files, Box::new(NoEnvironment));
    };
    let mut folders = Vec::new();
    for path in programs.values().filter_map(Value::as_str) {
        files.program(path, b"");
        folders.push(path.rsplit_once('/').unwrap().0.to_owned());
    }
    (files, Box::new(Path(folders.join(":"))))
}

/// What a person answered to a call, and what the next call gets.
fn approved(policy: &Policy, approval: &Value, then: Option<&Value>) -> &'static str {
    let facts = Facts { files: &MemoryFiles::new(), env: &NoEnvironment };
    let operation = |value: &Value| Operation::new(call(&json!({ "tool": value["tool"], "args": {} })), facts);
    let asked = policy.evaluate(&operation(approval), &State::default(), facts);
    assert_eq!(asked.answer, Answer::Ask, "an approval needs an ask");
    if approval["age"].as_str() == Some("after expiry") {
        // Nobody answered in time.
        return asked.unanswered.unwrap_or(Verdict::Deny).as_str();
    }
    if matches!(approval["resolve"].as_str(), Some("reject" | "deny")) && then.is_none() {
        return "deny";
    }
    let given = grant("first", Some(1), approval["resolve"].as_str() == Some("approve"));
    let next = then.unwrap_or(approval);
    let same = then.is_none_or(|then| then["args"].as_str() != Some("different"));
    let digest = Some(if same { "first" } else { "second" }.to_owned());
    let state = State { grants: vec![given], digest, ..State::default() };
    policy.evaluate(&operation(next), &state, facts).answer.as_str()
}

fn grant(digest: &str, uses_left: Option<u32>, yes: bool) -> Grant {
    Grant {
        id: "1".to_owned(),
        selector: GrantSelector::Digest(digest.to_owned()),
        workspace: None,
        session: None,
        uses_left,
        expires_ms: None,
        givers: vec![Person::named("alice")],
        verdict: if yes { Verdict::Allow } else { Verdict::Deny },
        actor: Actor::default(),
        plan: None,
    }
}

/// Calls one after the other. Denied calls are counted for each session; answers are remembered by command.
fn sequence(policy: &Policy, scenario: &Value, steps: &[Value]) -> &'static str {
    let facts = Facts { files: &MemoryFiles::new(), env: &NoEnvironment };
    let tool = scenario["tool"].as_str().unwrap_or(if steps[0].is_string() { "exec" } else { "bash_execute" });
    let first = scenario["session"].as_str().unwrap_or("A").to_owned();
    let mut calls: Vec<(String, String, Option<String>)> = steps
        .iter()
        .map(|step| {
            let command = step.as_str().or_else(|| step["command"].as_str()).unwrap().to_owned();
            let session = step["session"].as_str().map_or_else(|| first.clone(), str::to_owned);
            (session, command, step["user"].as_str().map(str::to_owned))
        })
        .collect();
    if let Some(then) = scenario.get("then") {
        let session = then["session"].as_str().unwrap_or(&first).to_owned();
        calls.push((session, then["command"].as_str().unwrap().to_owned(), None));
    }
    let mut blocked = std::collections::BTreeMap::<String, u64>::new();
    let mut grants: Vec<Grant> = Vec::new();
    let mut last = Answer::Deny;
    for (session, command, user) in calls {
        let denied = blocked.entry(session.clone()).or_default();
        let mut state = State { digest: Some(command.clone()), grants: grants.clone(), ..State::default() };
        state.usage.insert(Scope::Session, Usage { blocked: *denied, ..Usage::default() });
        let input = json!({ "tool": tool, "args": { "command": command }, "context": { "session": session } });
        last = policy.evaluate(&Operation::new(call(&input), facts), &state, facts).answer;
        *denied += u64::from(last == Answer::Deny);
        match (last, user.as_deref()) {
            // Spent by the very call that it was given for.
            (Answer::Ask, Some("allow-once")) => grants.push(grant(&command, Some(0), true)),
            (Answer::Ask, Some("allow-always")) => {
                grants.push(Grant { session: Some(session), ..grant(&command, None, true) });
            }
            _ => {}
        }
    }
    last.as_str()
}

/// An agent's own question over ACP: answered only with an option that it offers.
fn permission(policy: &Policy, scenario: &Value) -> &'static str {
    let facts = Facts { files: &MemoryFiles::new(), env: &NoEnvironment };
    let command = scenario["raw_input"]["command"].as_str().unwrap();
    let input = json!({ "command": command, "kind": scenario["kind"] });
    let answer = policy.evaluate(&Operation::new(call(&input), facts), &State::default(), facts).answer;
    let offers = |prefix: &str| {
        scenario["options"].as_array().unwrap().iter().any(|option| option.as_str().unwrap().starts_with(prefix))
    };
    match answer {
        Answer::Allow if offers("allow_") => "allow",
        Answer::Deny if offers("reject_") => "deny",
        _ => "ask",
    }
}
