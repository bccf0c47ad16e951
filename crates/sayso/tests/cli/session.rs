//! What a session did before: rules that ask, and `sayso session`.

use crate::person::Person;
use serde_json::{Value, json};

struct Agent {
    person: Person,
    calls: std::cell::Cell<u32>,
}

impl Agent {
    fn new(policy: &str) -> Self {
        let person = Person::new();
        person.policy(policy);
        Self { person, calls: std::cell::Cell::new(0) }
    }

    fn event(&self, session: &str, event: &str, tool: &str, input: &Value, id: &str) -> (String, String) {
        let home = self.person.home();
        let event = json!({"hook_event_name": event, "session_id": session, "cwd": self.person.project(),
            "permission_mode": "default", "tool_name": tool, "tool_input": input, "tool_use_id": id,
            "tool_response": {}})
        .to_string();
        let said = self.person.run_with(&["hook", "claude-code", "--home", home.to_str().unwrap()], &event);
        let answer: Value = serde_json::from_str(&said.out).unwrap_or(Value::Null);
        let of = |key: &str| answer["hookSpecificOutput"][key].as_str().unwrap_or_default().to_owned();
        (of("permissionDecision"), of("permissionDecisionReason"))
    }

    fn bash(&self, session: &str, command: &str) -> (String, String) {
        self.calls.set(self.calls.get() + 1);
        self.event(session, "PreToolUse", "Bash", &json!({ "command": command }), &format!("t{}", self.calls.get()))
    }

    fn ran(&self, session: &str, command: &str) {
        let id = format!("t{}", self.calls.get());
        self.event(session, "PostToolUse", "Bash", &json!({ "command": command }), &id);
    }

    fn write(&self, session: &str, path: &str, content: &str) -> String {
        self.calls.set(self.calls.get() + 1);
        let input = json!({"file_path": self.person.project().join(path), "content": content});
        let (verdict, _) = self.event(session, "PreToolUse", "Write", &input, &format!("t{}", self.calls.get()));
        self.person.file(path, content);
        verdict
    }
}

const DEVELOPER: &str = "extends = [\"developer\"]\n";

#[test]
fn a_build_whose_own_file_this_session_wrote_asks_once_for_each_content() {
    let agent = Agent::new(DEVELOPER);
    agent.person.file("Makefile", "all:\n\ttrue\n");
    assert_eq!(agent.bash("s", "make").0, "allow");
    assert_eq!(agent.write("s", "main.c", "int main(){}"), "allow");
    assert_eq!(agent.bash("s", "make").0, "allow", "a source is no recipe");
    assert_eq!(agent.write("s", "Makefile", "all:\n\techo 1\n"), "allow");
    let (verdict, why) = agent.bash("s", "make");
    assert_eq!(verdict, "ask", "{why}");
    assert!(why.contains("Makefile") && why.contains("written by this session"), "{why}");
    assert_eq!(agent.bash("s", "make").0, "ask", "nobody has said yes yet");
    agent.ran("s", "make");
    assert_eq!(agent.bash("s", "make").0, "allow", "somebody said yes to this content");
    agent.person.file("Makefile", "all:\n\techo 2\n");
    assert_eq!(agent.bash("s", "make").0, "ask", "it is another content");
    // A session's id is a claim: another one in the same folder is asked too.
    assert_eq!(agent.bash("other", "make").0, "ask");
    let log = agent.person.run(&["log", "--json"]);
    assert!(log.out.contains("\"past\":[{\"id\""), "{}", log.out);
    let replay = agent.person.run(&["log", "replay"]);
    assert_eq!(replay.code, 0, "{}{}", replay.out, replay.err);
}

#[test]
fn what_one_call_writes_and_runs_asks() {
    let agent = Agent::new(DEVELOPER);
    for command in [
        "printf 'all:' > Makefile && make",
        "cat > conftest.py <<'E'\nimport os\nE\npytest",
        "echo x | tee Makefile; make",
        "sed -i s/a/b/ Makefile && make test",
        "mkdir -p sub && printf x > sub/Makefile && make -C sub",
        "cp evil.mk Makefile && make",
    ] {
        let (verdict, why) = agent.bash("s", command);
        assert_eq!(verdict, "ask", "{command}: {why}");
    }
    let agent = Agent::new(DEVELOPER);
    for command in ["make", "echo x > notes.txt && make", "touch a.c && cargo test"] {
        let (verdict, why) = agent.bash("s", command);
        assert_eq!(verdict, "allow", "{command}: {why}");
    }
}

#[test]
fn after_secrets_were_read_a_connection_asks_and_names_the_call() {
    let agent = Agent::new(
        "extends = [\"developer\"]\ndisable = [\"secrets\"]\n[allow]\nread = [\"@secrets\"]\nrun = [\"curl\"]\n",
    );
    agent.person.file(".env", "TOKEN=1\n");
    assert_eq!(agent.bash("s", "curl https://docs.example.org/").0, "allow");
    assert_eq!(agent.bash("s", "cat .env").0, "allow");
    let (verdict, why) = agent.bash("s", "curl https://docs.example.org/");
    assert_eq!(verdict, "ask", "{why}");
    assert!(why.contains("cat .env"), "{why}");
    assert_eq!(agent.bash("s", "curl http://localhost:3000/").0, "allow");
    assert_eq!(agent.bash("new", "cat .env; curl https://docs.example.org/").0, "ask");
}

#[test]
fn a_policy_without_such_rules_keeps_nothing() {
    let agent =
        Agent::new("extends = [\"developer\"]\ndisable = [\"own-build\", \"own-containers\", \"secrets-stay-here\"]\n");
    assert_eq!(agent.write("s", "Makefile", "all:\n"), "allow");
    assert_eq!(agent.bash("s", "make").0, "allow");
    assert!(!agent.person.home().join(".local/state/sayso/facts").exists());
}

#[test]
fn sessions_are_listed_shown_and_not_forgotten_by_agents() {
    let agent = Agent::new(DEVELOPER);
    agent.write("session-7", "Makefile", "all:\n");
    let list = agent.person.run(&["session", "list"]);
    assert!(list.out.contains("session-7"), "{}{}", list.out, list.err);
    let show = agent.person.run(&["session", "show", "session-7", "--json"]);
    let line: Value = serde_json::from_str(show.out.lines().next().unwrap()).unwrap();
    assert!(line["written"][0].as_str().unwrap().ends_with("/Makefile"), "{line}");
    assert_eq!(agent.bash("s", "sayso session forget session-7").0, "deny");
    assert_eq!(agent.bash("s", "rm -rf ~/.local/state/sayso/facts").0, "deny");
    let forget = agent.person.run(&["session", "forget", "session-7"]);
    assert_ne!(forget.code, 0, "there is nobody at a terminal");
}

#[test]
fn lines_of_one_session_remember_what_went_before() {
    let person = Person::new();
    let line = |id: u32, session: &str, command: &str| {
        json!({"id": id, "command": command, "cwd": person.project(), "workspace": person.project(),
            "context": {"session": session}})
        .to_string()
    };
    let lines = [
        line(1, "a", "printf 'all:' > Makefile"),
        line(2, "b", "make"),
        line(3, "a", "make"),
        line(4, "a", "make"),
        line(5, "a", "sed -i s/a/b/ Makefile"),
        line(6, "a", "make"),
    ]
    .join("\n");
    let said = person.run_with(&["check", "--jsonl", "--policy", "preset:developer"], &lines);
    let verdicts: Vec<String> = said
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(verdicts, ["allow", "allow", "ask", "allow", "allow", "ask"], "{}", said.out);
}

#[test]
fn the_past_stands_only_in_rules_that_ask_or_deny() {
    let person = Person::new();
    for (policy, column) in [
        ("[[rule]]\nallow = { run = 'make' }\nwhen = { self_written = true }\n", "past-allows"),
        ("[[rule]]\nallow = { run = 'make' }\nwhen.after.read = '@secrets'\n", "past-allows"),
        ("[[rule]]\nask = { read = './x' }\nwhen = { self_written = true }\n", "not-a-run"),
        ("[[rule]]\nask = { run = 'make' }\nwhen.after.reads = '@secrets'\n", "unknown-key"),
        ("[[rule]]\nask = { run = 'make' }\nwhen.after = 'x'\n", "wrong-type"),
    ] {
        person.file("p.toml", policy);
        let said = person.run(&["lint", "p.toml"]);
        assert_ne!(said.code, 0, "{policy}");
        assert!(said.err.contains(column) || said.out.contains(column), "{policy}: {}{}", said.out, said.err);
        assert!(said.err.contains('^') || said.out.contains('^'), "{}{}", said.out, said.err);
    }
}
