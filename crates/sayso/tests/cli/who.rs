//! Who asks: what agents report of themselves, and what the owner states.

use crate::person::Person;
use serde_json::{Value, json};

fn hook(person: &Person, agent: &str, more: &[&str], extra: &Value) -> (String, String) {
    let home = person.home();
    let mut event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(),
        "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
    for (key, value) in extra.as_object().unwrap() {
        event[key] = value.clone();
    }
    let mut words = vec!["hook", agent, "--home", home.to_str().unwrap()];
    words.extend_from_slice(more);
    let said = person.run_with(&words, &event.to_string());
    let answer: Value = serde_json::from_str(&said.out).unwrap_or(Value::Null);
    let verdict = answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("allow").to_owned();
    (verdict, format!("{}{}", said.out, said.err))
}

fn last_layer(person: &Person) -> String {
    let log = person.run(&["log", "--json"]);
    let last = log.out.lines().last().unwrap().to_owned();
    serde_json::from_str::<Value>(&last).unwrap()["reasons"][0]["layer"].as_str().unwrap().to_owned()
}

#[test]
fn the_type_and_the_model_that_an_agent_reports_bring_their_layers() {
    let person = Person::new();
    person.policy(
        "default = \"allow\"\n[tools.for.\"agent:explore\"]\nonly = [\"file_read\"]\n\
         [tools.for.\"provider:openai/gpt-5.4\"]\nhide = [\"@runtime\"]\n",
    );
    let plain = json!({});
    assert_eq!(hook(&person, "claude-code", &[], &plain).0, "allow");
    let explore = json!({"agent_id": "a1", "agent_type": "explore"});
    assert_eq!(hook(&person, "claude-code", &[], &explore).0, "deny");
    assert_eq!(last_layer(&person), "tools agent:explore");
    assert_eq!(hook(&person, "codex", &[], &json!({"model": "gpt-5.4"})).0, "deny");
    assert_eq!(last_layer(&person), "tools provider:openai/gpt-5.4");
    assert_eq!(hook(&person, "codex", &[], &json!({"model": "gpt-5.5"})).0, "allow");
}

#[test]
fn what_is_reported_satisfies_no_allow_and_replaces_no_layer() {
    let person = Person::new();
    person.policy(
        "default = \"ask\"\n[[rule]]\nallow = { run = \"ls\" }\nwhen = { for = \"agent:deployer\" }\n\
         [tools.for.\"agent:claude-code\"]\nhide = [\"web_fetch\"]\n",
    );
    let claims = json!({"agent_id": "a1", "agent_type": "deployer"});
    assert_eq!(hook(&person, "claude-code", &[], &claims).0, "ask", "a claim allows nothing");
    assert_eq!(hook(&person, "claude-code", &["--as", "agent:deployer"], &json!({})).0, "allow", "its owner says so");
    let fetch = json!({"tool_name": "WebFetch", "tool_input": {"url": "https://example.org", "prompt": "x"}});
    assert_eq!(
        hook(&person, "claude-code", &["--as", "agent:deployer"], &fetch).0,
        "deny",
        "the product's layer stays"
    );
    let wrong = person.run_with(&["hook", "claude-code", "--as", "role:x"], "{}");
    assert_eq!(wrong.code, 2, "{}", wrong.err);
}

#[test]
fn a_team_and_a_tenant_are_stated() {
    let person = Person::new();
    person.policy("default = \"allow\"\n[tools.for.\"team:a/alice\"]\nhide = [\"@runtime\"]\n");
    assert_eq!(hook(&person, "claude-code", &[], &json!({})).0, "allow");
    assert_eq!(hook(&person, "claude-code", &["--as", "team:a/alice,tenant:t"], &json!({})).0, "deny");
}

#[test]
fn the_layers_of_a_parent_are_the_ceiling_in_lines() {
    let person = Person::new();
    person.file("p.toml", "default = \"allow\"\n[tools.for.\"agent:lead\"]\nhide = [\"@runtime\"]\n");
    let line = |context: &Value| json!({"id": 1, "command": "ls", "cwd": "/", "context": context}).to_string();
    let check = |context: &Value| person.run_with(&["check", "--jsonl", "--policy", "p.toml"], &line(context)).out;
    assert!(check(&json!({"agent": "worker"})).contains("\"allow\""));
    let said = check(&json!({"agent": "worker", "parent": {"agent": "helper", "parent": {"agent": "lead"}}}));
    assert!(said.contains("\"deny\"") && said.contains("agent:lead"), "{said}");
    let mut deep = json!({"agent": "x"});
    for _ in 0..9 {
        deep = json!({"agent": "x", "parent": deep});
    }
    assert!(check(&deep).contains("more than 8 deep"), "{}", check(&deep));
}

/// What Claude Code 2.1.325 and Codex 0.166 send before a command, as captured, but for the folder and the session.
fn captured(person: &Person, agent: &str) -> Value {
    match agent {
        "claude-code" => json!({
            "session_id": "6352d46c-a72d-4011-b611-17e715bc0c01", "cwd": person.project(),
            "transcript_path": "/tmp/claude/home/.claude/projects/-tmp-claude-proj/6352d46c-a72d-4011-b611-17e715bc0c01.jsonl",
            "prompt_id": "26494d4e-3c3f-49ef-b85c-39886b73ede3", "permission_mode": "default", "effort": {"level": "medium"},
            "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "touch proof", "description": "scripted command"}, "tool_use_id": "toolu_s0t0c0x",
        }),
        _ => json!({
            "session_id": "01a1de00-f8da-7413-a927-c7166b6765b9", "turn_id": "01a1de00-f9ac-7120-b166-8ec707c269ea",
            "transcript_path": "/tmp/codex/home/.codex/sessions/2026/11/15/rollout-2026-11-15T06-59-28-01a1de00.jsonl",
            "cwd": person.project(), "hook_event_name": "PreToolUse", "model": "fake-model",
            "permission_mode": "bypassPermissions", "tool_name": "Bash", "tool_input": {"command": "touch proof"},
            "tool_use_id": "call_s0t0c0x",
        }),
    }
}

#[test]
fn captured_events_reach_the_layers_of_the_type_and_the_model_that_they_name() {
    let person = Person::new();
    person.policy(
        "default = \"allow\"\n[models]\nonly = [\"openai/fake-*\", \"anthropic/*\"]\n[tools.for.\"agent:explore\"]\nonly = [\"file_read\"]\n\
         [tools.for.\"provider:openai/gpt-5.4\"]\nhide = [\"@runtime\"]\n",
    );
    let with = |agent: &str, more: &Value| hook(&person, agent, &[], &merged(captured(&person, agent), more)).0;
    assert_eq!(with("claude-code", &json!({})), "allow");
    assert_eq!(with("claude-code", &json!({"agent_id": "a391", "agent_type": "explore"})), "deny");
    assert_eq!(last_layer(&person), "tools agent:explore");
    assert_eq!(with("codex", &json!({})), "allow");
    assert_eq!(with("codex", &json!({"model": "gpt-5.4"})), "deny");
    assert_eq!(last_layer(&person), "tools provider:openai/gpt-5.4");
    // Of a model that the list does not name somebody decides; Codex' hook cannot ask, and denies.
    assert_ne!(with("codex", &json!({"model": "gpt-5.5"})), "allow");
    let log = person.run(&["log", "--json"]);
    assert!(log.out.lines().last().unwrap().contains("model-not-listed"), "{}", log.out);
}

fn merged(mut event: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    event
}

#[test]
fn an_openclaw_agents_id_reaches_its_profile() {
    let person = Person::new();
    person.policy("default = \"allow\"\n[tools.for.\"agent:weatherbot\"]\nonly = [\"web_fetch\"]\n");
    let call = |more: &Value| {
        let event = merged(
            json!({"event": "tool.before", "sessionID": "s", "cwd": person.project(), "tool": "exec",
                "args": {"command": "ls"}, "callID": "c"}),
            more,
        );
        let home = person.home();
        let said = person.run_with(&["hook", "openclaw", "--home", home.to_str().unwrap()], &event.to_string());
        serde_json::from_str::<Value>(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err))
    };
    let main = call(&json!({"agentType": "main"}));
    assert!(main["decision"] == "allow" || main["verdict"] == "allow", "{main}");
    let weather = call(&json!({"agentType": "weatherbot"}));
    assert!(weather["decision"] == "deny" || weather["verdict"] == "deny", "{weather}");
    assert_eq!(last_layer(&person), "tools agent:weatherbot");
}

#[test]
fn what_actor_states_counts_at_every_call_and_stands_in_the_record() {
    let person = Person::new();
    person.policy(
        "default = \"ask\"\n[actor]\nteam = \"a\"\nmember = \"alice\"\ntenant = \"t1\"\n\
         [[rule]]\nid = \"ours\"\nallow = { run = \"ls\" }\nwhen = { for = \"team:a/alice\" }\n",
    );
    assert_eq!(hook(&person, "claude-code", &[], &json!({})).0, "allow");
    let log = person.run(&["log", "--json"]);
    let record: Value = serde_json::from_str(log.out.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&record["actor"]["team"], &record["actor"]["member"], &record["actor"]["tenant"]),
        (&json!("a"), &json!("alice"), &json!("t1")),
        "{record}"
    );
    // What is registered says more of one way in.
    assert_eq!(hook(&person, "claude-code", &["--as", "team:b"], &json!({})).0, "ask");
    assert_eq!(person.run(&["check", "ls"]).code, 0);
    assert_eq!(person.run(&["check", "--team", "b", "ls"]).code, 3);
    let project = person.project().join(".sayso.toml");
    std::fs::write(project, "[actor]\nteam = \"b\"\n").unwrap();
    let said = person.run(&["lint", ".sayso.toml"]);
    assert!(said.code == 2 && said.err.contains("^") && said.err.contains("owner-only"), "{}", said.err);
}

#[test]
fn the_layers_in_force_for_an_agent_are_shown_with_their_places() {
    let person = Person::new();
    person.policy(
        "extends = [\"developer\"]\n[tools]\nprofile = \"coding\"\n[tools.for.\"agent:coder\"]\nhide = [\"@web\"]\n\
         [tools.for.\"provider:openai\"]\nhide = [\"x\"]\n[tools.for.\"provider:openai/gpt-4\"]\nhide = [\"@runtime\"]\n",
    );
    let said = person.run(&["policy", "show", "--agent", "coder", "--provider", "openai/gpt-4"]);
    let lines: Vec<String> =
        said.out.lines().skip(2).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        [
            "layer for says where",
            "user presets developer ~/.config/sayso/policy.toml:1:12",
            "user tools profile coding ~/.config/sayso/policy.toml:2:1",
            "user tools agent:coder hide @web ~/.config/sayso/policy.toml:4:12",
            "user tools provider:openai hide x ~/.config/sayso/policy.toml:6:12 replaced by provider:openai/gpt-4",
            "user tools provider:openai/gpt-4 hide @runtime ~/.config/sayso/policy.toml:8:12",
        ],
        "{}{}",
        said.out,
        said.err
    );
    let said = person.run(&["policy", "show", "--subagent", "--json"]);
    let shown: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&shown["actor"]["subagent"], shown["layers"].as_array().unwrap().len()), (&json!(true), 2), "{shown}");
}

#[test]
fn lint_points_at_roles_that_nothing_states() {
    let person = Person::new();
    let rule = "[[rule]]\nid = \"r\"\nallow = { run = \"ls\" }\nwhen = { for = \"agent:explore\" }\n";
    person.policy(rule);
    let said = person.run(&["lint"]);
    assert!(
        said.code == 0 && said.out.contains("role-not-stated") && said.out.contains("^"),
        "{}{}",
        said.out,
        said.err
    );
    person.policy(&format!("trust_roles = true\n{rule}"));
    assert_eq!(person.run(&["lint"]).out, "~/.config/sayso/policy.toml: valid\n");
}
