//! `sayso acp` as a process: bytes, pipes that close, programs that end, and chains.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::approval::{Approval, Presence, Remember, Reply, Standing, Width};
use sayso_gate::store::Answering;
use sayso_gate::{Memory, Places, ProcessEnvironment, RealFiles};
use sayso_policy::{Facts, Person, Verdict};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const POLICY: &str = "[allow]\nread = [\"./**\"]\n\n[ask]\nrun = [\"mkdir\"]\n\n[deny]\nwrite = [\"/etc/**\"]\n";

struct Piped {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

impl Piped {
    /// With this agent behind the proxy.
    fn before(agent: &[&str]) -> Self {
        let mut arguments = vec!["--"];
        arguments.extend_from_slice(agent);
        Self::start(&arguments)
    }

    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("policy.toml");
        std::fs::write(&policy, POLICY).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_sayso"))
            .args(["acp", "--policy", policy.to_str().unwrap()])
            .args(arguments)
            .env("HOME", folder.path())
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, folder }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    fn message(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Says nothing more, and gives back what still comes, with the exit code.
    fn rest(mut self) -> (String, i32) {
        drop(self.input.take());
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        (text, self.child.wait().unwrap().code().unwrap())
    }
}

#[test]
fn what_goes_in_comes_out() {
    // An agent that says what it hears: everything goes through both pumps.
    let mut piped = Piped::before(&["cat"]);
    let mut sent = String::new();
    for n in 0..2000 {
        let odd = if n % 3 == 0 { " " } else { "" };
        sent.push_str(&format!(
            "{{\"jsonrpc\":\"2.0\",{odd}\"method\":\"_x/{n}\",\"params\":{{\"text\":\"{}\"}}}}\n",
            "é😀x".repeat(n % 50)
        ));
    }
    let mut input = piped.input.take().unwrap();
    let bytes = sent.clone().into_bytes();
    let writer = std::thread::spawn(move || input.write_all(&bytes).unwrap());
    let mut text = String::new();
    piped.output.read_to_string(&mut text).unwrap();
    writer.join().unwrap();
    assert!(text == sent, "something changed on the way");
    assert!(piped.child.wait().unwrap().success());
}

#[test]
fn a_long_message_comes_out_whole_and_one_over_the_limit_is_refused_with_its_id() {
    let mut piped = Piped::before(&["cat"]);
    let long = format!("{{\"method\":\"_x\",\"params\":\"{}\"}}", "y".repeat(3_000_000));
    let (mut input, sent) = (piped.input.take().unwrap(), long.clone());
    let writer = std::thread::spawn(move || {
        writeln!(input, "{sent}").unwrap();
        write!(input, "{{\"method\":\"_x\",\"params\":\"").unwrap();
        let part = "z".repeat(1024 * 1024);
        for _ in 0..65 {
            input.write_all(part.as_bytes()).unwrap();
        }
        writeln!(input, "\",\"id\":77}}").unwrap();
        writeln!(input, "{{\"method\":\"_after\"}}").unwrap();
        input
    });
    assert_eq!(piped.line().trim_end(), long);
    let mut both = [piped.message(), piped.message()];
    both.sort_by_key(|message| message["method"].is_string());
    assert_eq!((&both[0]["id"], &both[0]["error"]["code"]), (&json!(77), &json!(-32600)));
    assert_eq!(both[1]["method"], "_after");
    drop(writer.join().unwrap());
}

#[test]
fn a_denied_request_is_answered_to_the_agent_and_never_reaches_the_client() {
    let mut piped = Piped::before(&["cat"]);
    piped.send(r#"{"id":1,"method":"fs/write_text_file","params":{"sessionId":"s","path":"/etc/x","content":""}}"#);
    // The echo of the error that the agent got.
    let answer = piped.message();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32010)));
}

#[test]
fn the_agents_exit_code_is_ours() {
    for (script, code) in [("exit 7", 7), ("exit 0", 0), ("kill -9 $$", 137)] {
        let (text, ended) = Piped::before(&["sh", "-c", script]).rest();
        assert_eq!((text.as_str(), ended), ("", code), "{script}");
    }
}

#[test]
fn an_agent_may_speak_after_the_client_has_finished() {
    let script = "cat >/dev/null; sleep 0.3; echo '{\"method\":\"_bye\"}'; exit 3";
    assert_eq!(Piped::before(&["sh", "-c", script]).rest(), ("{\"method\":\"_bye\"}\n".to_owned(), 3));
}

#[test]
fn a_client_that_is_gone_ends_the_agent() {
    let mut piped = Piped::before(&["sh", "-c", "while :; do echo '{\"method\":\"_x\"}'; done"]);
    piped.line();
    drop(piped.output);
    assert_ne!(piped.child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_agent_is_ended_with_us() {
    let mut piped =
        Piped::before(&["sh", "-c", "echo '{\"method\":\"_up\"}'; trap '' HUP; while :; do sleep 0.1; done"]);
    piped.line();
    assert!(Command::new("kill").arg(piped.child.id().to_string()).status().unwrap().success());
    assert_eq!(piped.child.wait().unwrap().code(), Some(143));
    assert_eq!(piped.line(), "", "nobody holds the pipe any more");
}

#[test]
fn an_agent_that_takes_no_more_messages_leaves_nobody_waiting() {
    let mut piped = Piped::before(&["sh", "-c", "exec <&-; sleep 1; echo '{\"method\":\"_late\"}'"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    piped.send(r#"{"id":"q","method":"session/prompt"}"#);
    assert_eq!(piped.message()["id"], "q");
    assert_eq!(piped.message()["method"], "_late");
}

#[test]
fn an_agent_that_asks_without_reading_stops_nobody() {
    // 3,000 answers are more than a pipe holds, and fewer than are let wait.
    let script = "i=0; while [ $i -lt 3000 ]; do echo '{\"id\":'$i',\"method\":\"fs/write_text_file\",\"params\":{\"sessionId\":\"s\",\"path\":\"/etc/x\",\"content\":\"\"}}'; i=$((i+1)); done; \
                  echo '{\"method\":\"_done\"}'; n=$(wc -l); echo '{\"method\":\"_heard\",\"params\":['$n']}'";
    let mut piped = Piped::before(&["sh", "-c", script]);
    assert_eq!(piped.message()["method"], "_done");
    let (text, code) = piped.rest();
    assert_eq!((text.as_str(), code), ("{\"method\":\"_heard\",\"params\":[3000]}\n", 0));
}

#[test]
fn an_agent_that_cannot_be_started_is_named() {
    let piped = Piped::before(&["/nonexistent/agent"]);
    let mut stderr = String::new();
    let mut child = piped.child;
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(stderr.contains("/nonexistent/agent") && stderr.contains("agent's own command"), "{stderr}");
    drop(piped.folder);
}

#[test]
fn a_server_that_the_editor_hands_over_is_put_behind_the_gateway() {
    let mut piped = Piped::before(&["cat"]);
    let folder = piped.folder.path().to_str().unwrap().to_owned();
    let entry = json!({"name": "demo", "command": "demo-server", "args": ["-x"], "env": []});
    piped
        .send(&json!({"id": 1, "method": "session/new", "params": {"cwd": folder, "mcpServers": [entry]}}).to_string());
    let server = piped.message()["params"]["mcpServers"][0].clone();
    let arguments: Vec<&str> = server["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(arguments[0], "mcp");
    assert_eq!(arguments[arguments.len() - 3..], ["--", "demo-server", "-x"]);
    // The gateway of this very program takes these words.
    let told =
        Command::new(server["command"].as_str().unwrap()).args(&arguments).env("HOME", &folder).output().unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert!(!said.contains("Usage") && !said.contains("unexpected argument"), "{said}");
}

/// Somebody at Sayso's own queue.
struct Queue(Memory);

impl Queue {
    fn of(piped: &Piped) -> Self {
        Self(Memory::of(&Places::below(piped.folder.path(), std::path::Path::new("/"))))
    }

    fn now() -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        u64::try_from(since.as_millis()).unwrap()
    }

    fn attend(&self) {
        let presence = Presence { id: "ann".into(), person: Person::named("ann"), via: "test".into() };
        self.0.store().unwrap().attend(&presence, Self::now()).unwrap();
    }

    /// The question that waits, as soon as there is one.
    fn question(&self) -> Approval {
        loop {
            self.attend();
            if let Some(first) = self.0.store().unwrap().approvals(true, 10).unwrap().into_iter().next() {
                return first;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    fn answer(&self, verdict: Verdict) {
        let reply = Reply { verdict, remember: Remember::Once, width: Width::default(), parts: None };
        let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
        let (id, person) = (self.question().question.id, Person::named("ann"));
        let answering = Answering {
            id: &id,
            person: &person,
            via: "test",
            reply: &reply,
            policy: None,
            facts,
            now_ms: Self::now(),
        };
        self.0.store().unwrap().answer(&answering).unwrap();
    }

    fn standing(&self, id: &str) -> Standing {
        self.0.store().unwrap().approval(id).unwrap().unwrap().standing
    }
}

fn mkdir(id: u64) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": {"sessionId": "s",
        "toolCall": {"toolCallId": format!("c{id}"), "rawInput": {"command": format!("mkdir /tmp/never-made-{id}")}},
        "options": [{"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}]}})
    .to_string()
}

#[test]
fn people_in_the_queue_answer_before_the_editor_is_asked() {
    let mut piped = Piped::before(&["cat"]);
    let queue = Queue::of(&piped);
    queue.attend();
    for (id, verdict, option) in [(1, Verdict::Allow, "y"), (2, Verdict::Deny, "n")] {
        piped.send(&mkdir(id));
        queue.answer(verdict);
        // What the agent was answered comes back as its echo.
        let answered = piped.message();
        assert_eq!((&answered["id"], &answered["result"]["outcome"]["optionId"]), (&json!(id), &json!(option)));
    }
}

#[test]
fn a_question_in_the_queue_is_cancelled_with_its_request() {
    let mut piped = Piped::before(&["cat"]);
    let queue = Queue::of(&piped);
    queue.attend();
    piped.send(&mkdir(1));
    let asked = queue.question().question.id;
    piped.send(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#);
    let answered = piped.message();
    assert_eq!((&answered["id"], &answered["result"]["outcome"]["outcome"]), (&json!(1), &json!("cancelled")));
    assert_eq!(queue.standing(&asked), Standing::Cancelled);

    piped.send(&mkdir(2));
    let asked = queue.question().question.id;
    piped.send(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#);
    let both = [piped.message(), piped.message()];
    assert!(both.iter().any(|one| one["method"] == "session/cancel"));
    assert!(both.iter().any(|one| one["id"] == 2 && one["result"]["outcome"]["outcome"] == "cancelled"));
    assert_eq!(queue.standing(&asked), Standing::Cancelled);

    piped.send(&mkdir(3));
    let asked = queue.question().question.id;
    drop(piped.input.take());
    assert!(piped.child.wait().unwrap().success());
    assert_eq!(queue.standing(&asked), Standing::Cancelled);
}

#[test]
fn as_a_component_it_wraps_for_the_agent_and_unwraps_for_the_client() {
    for (prefix, successor) in [("proxy", "proxy/successor"), ("_proxy", "_proxy/successor")] {
        let mut piped = Piped::start(&[]);
        piped.send(&json!({"jsonrpc": "2.0", "id": 0, "method": format!("{prefix}/initialize"), "params": {"protocolVersion": 1, "_x": [1]}}).to_string());
        let sent = piped.message();
        assert_eq!(
            sent,
            json!({"jsonrpc": "2.0", "id": 0, "method": successor, "params": {"method": "initialize", "params": {"protocolVersion": 1, "_x": [1]}}})
        );
        let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"agentInfo":{"name":"gemini-cli"}, "z":1}}"#;
        piped.send(answer);
        assert_eq!(piped.line().trim_end(), answer);

        piped.send(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#);
        assert_eq!(
            piped.message(),
            json!({"jsonrpc": "2.0", "method": successor, "params": {"method": "session/cancel", "params": {"sessionId": "s"}}})
        );
        piped.send(&json!({"jsonrpc": "2.0", "method": successor, "params": {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "x"}}}}).to_string());
        assert_eq!(
            piped.message(),
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "x"}}})
        );

        let write = json!({"sessionId": "s", "path": "/etc/x", "content": ""});
        piped.send(&json!({"jsonrpc": "2.0", "id": 5, "method": successor, "params": {"method": "fs/write_text_file", "params": write}}).to_string());
        let denied = piped.message();
        assert_eq!((&denied["id"], &denied["error"]["code"]), (&json!(5), &json!(-32010)));
        piped.send(&json!({"jsonrpc": "2.0", "id": 6, "method": successor, "params": {"method": successor, "params": {"method": "fs/write_text_file", "params": write}}}).to_string());
        assert!(piped.message()["error"].is_object());
        piped
            .send(r#"{"jsonrpc":"2.0","id":7,"method":"session/set_mode","params":{"sessionId":"s","modeId":"yolo"}}"#);
        assert_eq!(piped.message()["error"]["code"], -32010);
        let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#;
        piped.send(cancel);
        assert_eq!(piped.line().trim_end(), cancel);
        assert_eq!(piped.rest(), (String::new(), 0));
    }
}

#[test]
fn without_an_agent_and_without_a_chain_it_says_so() {
    let mut piped = Piped::start(&[]);
    piped.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    let answer = piped.message();
    assert!(answer["error"]["message"].as_str().unwrap().contains("sayso acp -- COMMAND"), "{answer}");
}
